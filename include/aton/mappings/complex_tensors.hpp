// SPDX-License-Identifier: MIT
// Complex tensors and their parts: aten's complex, polar, view_as_real, view_as_complex, imag. Operators that take real
// tensors, too, are in the family of their real form, with a second body or `by_parts`.
// Public header.
#pragma once

#include <aton/mappings/detail/complex.hpp>
#include <aton/mappings/joining.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// aten::complex broadcasts its operands.
inline constexpr auto complex_of =
    symbolic<"aten::complex(real, imag)">([](graph<7> g, value real, value imaginary) -> complex_value {
        if (real.dtype() != imaginary.dtype() || real.shape() == imaginary.shape()) return g.complex(real, imaginary);
        value const both[] = {real, imaginary};
        safe_vector<value> const parts = broadcast_tensors(g, both);
        return g.complex(parts[0], parts[1]);
    });

inline constexpr auto polar =
    symbolic<"aten::polar(abs, angle)">([](graph<7> g, value magnitude, value angle) -> complex_value {
        return g.complex(g.op<"Mul">(magnitude, g.op<"Cos">(angle)), g.op<"Mul">(magnitude, g.op<"Sin">(angle)));
    });

inline constexpr auto view_as_real = [](graph<7> g, complex_value z) -> value { return g.as_real(z); };
inline constexpr auto view_as_complex = [](graph<7> g, value x) { return g.as_complex(x); };
inline constexpr auto imaginary_part = [](graph<7> g, complex_value z) -> value { return g.imag(z); };

} // namespace detail

inline constexpr auto complex_tensors =
    table(detail::complex_of, detail::polar, symbolic<"aten::view_as_real(self)">(detail::view_as_real),
          symbolic<"aten::view_as_real_copy(self)">(detail::view_as_real),
          symbolic<"aten::view_as_complex(self)">(detail::view_as_complex),
          symbolic<"aten::view_as_complex_copy(self)">(detail::view_as_complex),
          symbolic<"aten::imag(self)">(detail::imaginary_part));

} // namespace ATON_NAMESPACE::mappings
