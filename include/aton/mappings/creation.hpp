// SPDX-License-Identifier: MIT
// New tensors: aten's zeros, ones, full, empty, eye and their _like and new_ forms.
// Public header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <aton/mappings/detail/complex.hpp>
#include <aton/mappings/detail/elements.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// A tensor of a given size full of `Number`. Uninitialized tensors (empty) are filled with zeros.
template <int Number>
inline constexpr auto new_of_size = [](graph<7> g, size_list size, optional_dtype type) {
    return filled(g, size, Number, type.value_or(aten::default_dtype));
};
template <int Number>
inline constexpr auto new_like = [](graph<7> g, value self, optional_dtype type) {
    return filled(g, g.sizes(self), Number, type.value_or(self.dtype()));
};
template <int Number>
inline constexpr auto new_of_size_like = [](graph<7> g, value self, size_list size, optional_dtype type) {
    return filled(g, size, Number, type.value_or(self.dtype()));
};

/// The default dtype of torch.full for this number.
inline dtype dtype_of(number const& n) {
    if (n.is_complex()) return dtype::complex64;
    return n.is_floating() ? aten::default_dtype : n.dtype();
}

/// Ones on the diagonal of an n x m matrix.
inline constexpr auto identity =
    symbolic<"aten::eye.m(n, m, dtype)">([](graph<9> g, sym_int n, sym_int m, optional_dtype asked) -> value {
        dtype const type = asked.value_or(aten::default_dtype);
        if (n.is_constant() && m.is_constant() && n.constant() >= 0 && m.constant() >= 0 &&
            std::max<std::int64_t>(n.constant(), 1) <= 4096 / std::max<std::int64_t>(m.constant(), 1)) {
            tensor all{type, {n.constant(), m.constant()}, {}};
            for (std::int64_t i = 0; i != n.constant(); ++i)
                for (std::int64_t k = 0; k != m.constant(); ++k) all.append(i == k ? 1 : 0);
            return g.constant(std::move(all));
        }
        return g.cast(g.op<"EyeLike">(filled(g, safe_vector{n, m}, 0, dtype::float32)), type);
    });

inline constexpr auto full =
    symbolic<"aten::full(size, fill_value, dtype)">([](graph<7> g, size_list size, number n, optional_dtype type) {
        return filled(g, size, n, type.value_or(dtype_of(n)));
    }).by_parts<"fill_value">();

/// ONNX tensors do not have strides or a physical layout.
inline constexpr auto empty_strided =
    symbolic<"aten::empty_strided(size, stride, dtype)">([](graph<7> g, size_list size, size_list,
                                                            optional_dtype type) {
        return new_of_size<0>(g, size, type);
    }).by_parts<>();

inline constexpr auto empty_permuted =
    symbolic<"aten::empty_permuted(size, physical_layout, dtype)">([](graph<7> g, size_list size,
                                                                      safe_span<std::int64_t const>,
                                                                      optional_dtype type) {
        return new_of_size<0>(g, size, type);
    }).by_parts<>();

inline constexpr auto full_like =
    symbolic<"aten::full_like(self, fill_value, dtype)">([](graph<7> g, value self, number n, optional_dtype type) {
        return filled(g, g.sizes(self), n, type.value_or(self.dtype()));
    }).by_parts<"self", "fill_value">();

inline constexpr auto new_empty_strided =
    symbolic<"aten::new_empty_strided(self, size, stride, dtype)">([](graph<7> g, value self, size_list size, size_list,
                                                                      optional_dtype type) {
        return new_of_size_like<0>(g, self, size, type);
    }).by_parts<"self">();

inline constexpr auto new_full =
    symbolic<"aten::new_full(self, size, fill_value, dtype)">([](graph<7> g, value self, size_list size, number n,
                                                                 optional_dtype type) {
        return filled(g, size, n, type.value_or(self.dtype()));
    }).by_parts<"self", "fill_value">();

/// A complex tensor, unless `type` is real, whose imaginary part is 0.
inline value with_zero_imaginary(graph<7> g, value real, dtype type) {
    if (!is_complex(type)) return real;
    return g.to_value(g.complex(real, filled_like(g, real, 0, real.dtype())));
}
inline constexpr auto complex_ones = [](graph<7> g, size_list size, optional_dtype asked) -> value {
    dtype const type = asked.value_or(aten::default_dtype);
    return with_zero_imaginary(g, filled(g, size, 1, part_type(type)), type);
};
inline constexpr auto complex_ones_like = [](graph<7> g, complex_value self, optional_dtype asked) -> value {
    dtype const type = asked.value_or(self.tensor().dtype());
    return with_zero_imaginary(g, filled(g, g.sizes(self.tensor()), 1, part_type(type)), type);
};
inline constexpr auto complex_new_ones = [](graph<7> g, complex_value self, size_list size,
                                            optional_dtype asked) -> value {
    return complex_ones(g, size, asked.value_or(self.tensor().dtype()));
};
inline constexpr auto complex_identity = [](graph<9> g, sym_int n, sym_int m, optional_dtype asked) -> value {
    dtype const type = asked.value_or(aten::default_dtype);
    return with_zero_imaginary(g, identity(g, n, m, part_type(type)), type);
};
inline constexpr auto square_identity =
    symbolic<"aten::eye(n, dtype)">([](graph<9> g, sym_int n, optional_dtype type) {
        return identity(g, n, n, type);
    }).for_complex([](graph<9> g, sym_int n, optional_dtype type) -> value { return complex_identity(g, n, n, type); });

} // namespace detail

inline constexpr auto creation = table(
    symbolic<"aten::zeros(size, dtype)">(detail::new_of_size<0>).by_parts<>(),
    symbolic<"aten::ones(size, dtype)">(detail::new_of_size<1>).for_complex(detail::complex_ones),
    symbolic<"aten::empty.memory_format(size, dtype)">(detail::new_of_size<0>).by_parts<>(), detail::full,
    detail::empty_strided, detail::empty_permuted,
    symbolic<"aten::zeros_like(self, dtype)">(detail::new_like<0>).by_parts<"self">(),
    symbolic<"aten::ones_like(self, dtype)">(detail::new_like<1>).for_complex(detail::complex_ones_like),
    symbolic<"aten::empty_like(self, dtype)">(detail::new_like<0>).by_parts<"self">(), detail::full_like,
    symbolic<"aten::new_zeros(self, size, dtype)">(detail::new_of_size_like<0>).by_parts<"self">(),
    symbolic<"aten::new_ones(self, size, dtype)">(detail::new_of_size_like<1>).for_complex(detail::complex_new_ones),
    symbolic<"aten::new_empty(self, size, dtype)">(detail::new_of_size_like<0>).by_parts<"self">(),
    detail::new_empty_strided, detail::new_full, detail::square_identity,
    detail::identity.for_complex(detail::complex_identity));

} // namespace ATON_NAMESPACE::mappings
