// SPDX-License-Identifier: MIT
// Views and copies of prims, which torch's decompositions leave: broadcast_in_dim, collapse, split_dim, squeeze,
// transpose, cat, rev ...
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>

#include <aton/mappings/complex_tensors.hpp>
#include <aton/mappings/conversion.hpp>
#include <aton/mappings/joining.hpp>
#include <aton/mappings/repeating.hpp>
#include <aton/mappings/scatter.hpp>
#include <aton/mappings/view.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Dimension i of a becomes dimension broadcast_dimensions[i]; the dimensions between them are new.
inline constexpr auto broadcast_in_dim =
    symbolic<"prims::broadcast_in_dim(a, shape, broadcast_dimensions)">([](graph<11> g, value a, size_list shape,
                                                                           axis_list places) -> value {
        if (static_cast<std::int64_t>(places.size()) != a.rank())
            return g.unsupported("a number of broadcast_dimensions that is not the rank");
        safe_vector<std::int64_t> added;
        std::size_t next = 0;
        for (std::int64_t i = 0; i != static_cast<std::int64_t>(shape.size()); ++i) {
            if (next != places.size() && places[next] == i) ++next;
            else added.push_back(i);
        }
        if (next != places.size()) return g.unsupported("broadcast_dimensions that do not ascend within the shape");
        return expand(g, added.empty() ? a : unsqueeze(g, a, added), safe_vector(shape.begin(), shape.end()));
    }).by_parts<"a">();

/// dim of size n as outer_length * (n / outer_length).
inline constexpr auto split_dim =
    symbolic<"prims::split_dim(a, dim, outer_length)">([](graph<11> g, value a, std::int64_t dim,
                                                          sym_int outer) -> value {
        if (a.rank() == 0) return g.unsupported("a 0-d tensor");
        auto const axis = static_cast<std::size_t>(normalize_axis(dim, a.rank()));
        safe_vector<sym_int> to = g.sizes(a);
        if (outer.is(0)) return g.unsupported("an outer_length of 0");
        sym_int const inner = to[axis] / outer;
        to[axis] = outer;
        to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis) + 1, inner);
        return reshape(g, a, to);
    }).by_parts<"a">();

/// Drops dimensions of size 1, known or not.
inline constexpr auto squeeze_given =
    symbolic<"prims::squeeze(a, dimensions)">([](graph<11> g, value a, axis_list dimensions) -> value {
        return dimensions.empty() ? a : squeeze(g, a, normalize_axes(dimensions, a.rank()));
    }).by_parts<"a">();

inline constexpr auto reshape_prim = symbolic<"prims::reshape(a, shape)">([](graph<11> g, value a, size_list shape) {
                                         return reshape(g, a, shape);
                                     }).by_parts<"a">();
inline constexpr auto view_prim =
    symbolic<"prims::view_of(a)">([](graph<11>, value a) -> value { return a; }).by_parts<"a">();
/// ONNX tensors do not have strides.
inline constexpr auto copy_strided =
    symbolic<"prims::copy_strided(a, stride)">([](graph<11>, value a, size_list) -> value {
        return a;
    }).by_parts<"a">();

inline constexpr auto convert_prim =
    symbolic<"prims::convert_element_type(a, dtype)">([](graph<11> g, value a, dtype type) -> value {
        return convert(g, a, type);
    }).for_complex([](graph<11> g, complex_value a, dtype type) -> value { return complex_convert(g, a, type); });

inline constexpr auto scatter_strided = [](graph<11> g, value self, value src, size_list size, size_list stride,
                                           sym_int offset) -> value {
    return as_strided_scatter(g, self, src, size, stride, offset);
};

} // namespace detail

inline constexpr auto prims_shape =
    table(detail::broadcast_in_dim, symbolic<"prims::collapse(a, start, end)">(detail::flatten_dims).by_parts<"a">(),
          symbolic<"prims::collapse_view(a, start, end)">(detail::flatten_dims).by_parts<"a">(), detail::split_dim,
          detail::squeeze_given, symbolic<"prims::transpose(a, permutation)">(detail::permute_dims).by_parts<"a">(),
          detail::reshape_prim, symbolic<"prims::rev(a, dims)">(detail::flip_axes).by_parts<"a">(),
          symbolic<"prims::cat(tensors, dim)">(detail::cat).by_parts<"tensors">(), detail::view_prim,
          symbolic<"prims::view_of_dtype(a, dtype)">(detail::view_as_dtype),
          symbolic<"prims::conj(a)">(detail::unchanged).for_complex(detail::conjugate),
          symbolic<"prims::conj_physical(self)">(detail::unchanged).for_complex(detail::conjugate),
          symbolic<"prims::real(self)">(detail::unchanged).for_complex(detail::of_real_part<detail::unchanged>),
          symbolic<"prims::imag(self)">(detail::imaginary_part),
          symbolic<"prims::clone(self)">(detail::unchanged).by_parts<"self">(), detail::copy_strided,
          symbolic<"prims::device_put(a)">(detail::unchanged).by_parts<"a">(), detail::convert_prim,
          symbolic<"prims::item(a)">(detail::as_scalar).by_parts<"a">(),
          symbolic<"prims::fill(self, value)">(detail::fill_row).by_parts<"self", "value">(),
          symbolic<"prims::as_strided_scatter(self, src, size, stride, storage_offset)">(detail::scatter_strided)
              .for_complex(detail::both_parts<detail::scatter_strided>));

} // namespace ATON_NAMESPACE::mappings
