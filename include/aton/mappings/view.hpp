// SPDX-License-Identifier: MIT
// Views: aten's reshape, squeeze, permute, expand ..., which change the shape but not the elements.
// Public header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <aton/mappings/detail/bit_views.hpp>
#include <aton/mappings/detail/complex.hpp>
#include <aton/mappings/detail/elements.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline constexpr auto to_sizes = [](graph<7> g, value self, size_list size) { return reshape(g, self, size); };
inline constexpr auto to_sizes_of = [](graph<7> g, value self, value other) {
    return reshape(g, self, g.sizes(other));
};
inline constexpr auto view_as_dtype = [](graph<7> g, value self, dtype dtype) { return viewed_as(g, self, dtype); };

/// Whether squeeze drops a dimension. If its size is dynamic, the recorded rank of the result decides; symbols are
/// larger than 1, as in torch.export.
inline bool squeezes(graph<7> g, value x, std::int64_t axis) {
    if (dim const& d = x.size(axis); d.is_static()) return d.size() == 1;
    auto const& expected = g.context().expected;
    if (expected.size() == 1 && expected[0].shape.has_rank() &&
        static_cast<std::int64_t>(expected[0].shape.rank()) == x.rank())
        return false;
    if (x.size(axis).is_symbolic()) return false;
    throw unsupported_error("squeeze of a dimension of unknown size");
}
inline value squeeze_ones(graph<7> g, value x, axis_list axes) {
    safe_vector<std::int64_t> gone;
    if (x.rank() != 0)
        for (std::int64_t axis : normalize_axes(axes, x.rank()))
            if (squeezes(g, x, axis)) gone.push_back(axis);
    return gone.empty() ? x : squeeze(g, x, gone);
}
inline constexpr auto squeeze_all = [](graph<7> g, value self) { return squeeze_ones(g, self, iota(self.rank())); };
inline constexpr auto squeeze_dim = [](graph<7> g, value self, std::int64_t dim) {
    return squeeze_ones(g, self, {&dim, 1});
};
inline constexpr auto squeeze_dims = [](graph<7> g, value self, axis_list dim) { return squeeze_ones(g, self, dim); };
inline constexpr auto unsqueeze_dim = [](graph<7> g, value self, std::int64_t dim) {
    return unsqueeze(g, self, normalize_axis(dim, self.rank() + 1));
};

/// Transpose takes float8 since opset 21; below, as the floats that it stands for.
template <class Function>
value transposed(graph<7> g, value x, Function const& in_order) {
    if (!is_float8(x.dtype()) || g.opset() < 19 || g.opset() >= 21) return in_order(x);
    return g.cast(in_order(g.cast(x, dtype::float32)), x.dtype());
}

inline constexpr auto swap_dims = [](graph<7> g, value self, std::int64_t dim0, std::int64_t dim1) {
    return transposed(g, self, [&](value x) { return swap_axes(g, x, dim0, dim1); });
};
inline constexpr auto permute_dims = [](graph<7> g, value self, axis_list dims) {
    return transposed(g, self, [&](value x) { return permute(g, x, normalize_axes(dims, x.rank())); });
};
inline constexpr auto transpose_matrix = [](graph<7> g, value self) -> value {
    return self.rank() < 2 ? self : transposed(g, self, [&](value x) { return swap_axes(g, x, 0, 1); });
};
inline constexpr auto transpose_matrices = [](graph<7> g, value self) -> value {
    return self.rank() < 2 ? self : swap_axes(g, self, -2, -1);
};
inline constexpr auto complex_adjoint = [](graph<7> g, complex_value z) {
    return conjugate(g, g.complex(transpose_matrices(g, g.real(z)), transpose_matrices(g, g.imag(z))));
};
inline constexpr auto reverse_dims = symbolic<"aten::numpy_T(self)">([](graph<7> g, value self) {
                                         safe_vector<std::int64_t> perm = iota(self.rank());
                                         std::reverse(perm.begin(), perm.end());
                                         return permute(g, self, perm);
                                     }).by_parts<"self">();
inline constexpr auto move_dim = [](graph<7> g, value self, std::int64_t source, std::int64_t destination) {
    return move_axes(g, self, {&source, 1}, {&destination, 1});
};
inline constexpr auto move_dims = [](graph<7> g, value self, axis_list source, axis_list destination) {
    return move_axes(g, self, source, destination);
};

inline constexpr auto expand_sizes = [](graph<7> g, value self, size_list size, bool) {
    return expand(g, self, safe_vector(size.begin(), size.end()));
};

/// Merges the dimensions first to last into one.
inline value flatten_axes(graph<7> g, value x, std::int64_t first, std::int64_t last) {
    std::int64_t const rank = x.rank();
    if (rank == 0) return reshape(g, x, {1});
    first = normalize_axis(first, rank);
    last = normalize_axis(last, rank);
    if (first > last) throw unsupported_error("flatten: start_dim is after end_dim");
    if (first == last) return x;
    if (first == 0 && last == rank - 1) return reshape(g, x, {-1});
    // Flatten is a single node without constants, for any batch size.
    if (first == 1 && last == rank - 1 && !x.shape().is_static()) return g.op<"Flatten">(x, attr::axis_i(1));
    safe_vector<sym_int> const sizes = g.sizes(x);
    safe_vector<sym_int> to(sizes.begin(), sizes.begin() + first);
    to.push_back(product(safe_span<sym_int const>(sizes).subspan(static_cast<std::size_t>(first),
                                                                 static_cast<std::size_t>(last - first + 1))));
    to.insert(to.end(), sizes.begin() + last + 1, sizes.end());
    return reshape(g, x, to);
}
inline constexpr auto flatten_dims = [](graph<7> g, value self, std::int64_t start_dim, std::int64_t end_dim) {
    return flatten_axes(g, self, start_dim, end_dim);
};
inline constexpr auto unflatten_dim =
    symbolic<"aten::unflatten.int(self, dim, sizes)">([](graph<7> g, value self, std::int64_t dim, size_list sizes) {
        dim = normalize_axis(dim, self.rank());
        safe_vector<sym_int> to = g.sizes(self);
        if (to.empty()) throw unsupported_error("unflatten of a 0-d tensor");
        safe_vector<sym_int> parts(sizes.begin(), sizes.end());
        sym_int rest = 1;
        for (sym_int const& s : parts)
            if (!s.is(-1)) rest = rest * s;
        for (sym_int& s : parts)
            if (s.is(-1)) s = to[static_cast<std::size_t>(dim)] / rest;
        to.erase(to.begin() + dim);
        to.insert(to.begin() + dim, parts.begin(), parts.end());
        return reshape(g, self, to);
    }).by_parts<"self">();

/// aten::atleast_1d, 2d and 3d: inserts dimensions of size 1 until x has `n` dimensions.
inline value at_least(graph<7> g, value x, std::int64_t n) {
    std::int64_t const rank = x.rank();
    if (rank >= n) return x;
    if (rank == 0) return reshape(g, x, safe_vector<sym_int>(static_cast<std::size_t>(n), 1));
    if (n == 2) return unsqueeze(g, x, 0);
    return rank == 1 ? unsqueeze(g, x, safe_vector<std::int64_t>{0, 2}) : unsqueeze(g, x, 2);
}
template <std::int64_t N>
inline constexpr auto at_least_dims = [](graph<7> g, value self) { return at_least(g, self, N); };
template <std::int64_t N>
inline constexpr auto all_at_least_dims = [](graph<7> g, safe_span<value const> tensors) {
    safe_vector<value> out;
    for (value const& v : tensors) out.push_back(at_least(g, v, N));
    return out;
};
/// Tensors of the list may be real.
template <int N>
inline constexpr auto each_at_least_dims = [](graph<7> g, safe_vector<complex_value> tensors) {
    safe_vector<value> out;
    for (complex_value const& z : tensors) {
        bool const real = !is_complex(z.tensor().dtype());
        out.push_back(real ? at_least(g, z.tensor(), N)
                           : g.to_value(g.complex(at_least(g, g.real(z), N), at_least(g, g.imag(z), N))));
    }
    return out;
};

inline constexpr auto size_of = [](graph<7> g, value self, std::int64_t dim) { return g.size(self, dim); };
inline constexpr auto rank_of = [](graph<7> g, value self) -> value { return g.scalar(self.rank(), dtype::int64); };
inline constexpr auto count_of = [](graph<7> g, value self) { return element_count(g, self); };

inline constexpr auto reshape_from_tensor =
    symbolic<"aten::_reshape_from_tensor(self, shape)">([](graph<14> g, value self, value shape) {
        return g.op<"Reshape">(self, g.cast(shape, dtype::int64), attr::allowzero_i(1));
    }).by_parts<"self">();

/// ONNX tensors do not have strides.
inline constexpr auto reshape_alias = [](graph<7> g, value self, size_list size, size_list) {
    return reshape(g, self, size);
};

inline constexpr auto ravel =
    symbolic<"aten::ravel(self)">([](graph<7> g, value self) { return flat(g, self); }).by_parts<"self">();

inline constexpr auto expand_as = [](graph<7> g, value self, value other) {
    return expand_to(g, self, g.shape_of(other));
};

inline constexpr auto broadcast_to =
    symbolic<"aten::broadcast_to(self, size)">([](graph<7> g, value self, size_list size) {
        return expand_sizes(g, self, size, false);
    }).by_parts<"self">();

inline constexpr auto shape_as_tensor = [](graph<7> g, value self) { return g.shape_of(self); };

} // namespace detail

inline constexpr auto reshaping = table(
    symbolic<"aten::view(self, size)">(detail::to_sizes).by_parts<"self">(),
    symbolic<"aten::view.dtype(self, dtype)">(detail::view_as_dtype),
    symbolic<"aten::view_copy(self, size)">(detail::to_sizes).by_parts<"self">(),
    symbolic<"aten::view_copy.dtype(self, dtype)">(detail::view_as_dtype),
    symbolic<"aten::_unsafe_view(self, size)">(detail::to_sizes).by_parts<"self">(),
    symbolic<"aten::reshape(self, shape)">(detail::to_sizes).by_parts<"self">(), detail::reshape_from_tensor,
    symbolic<"aten::_reshape_copy(self, size)">(detail::to_sizes).by_parts<"self">(),
    symbolic<"aten::_reshape_alias(self, size, stride)">(detail::reshape_alias).by_parts<"self">(),
    symbolic<"aten::_reshape_alias_copy(self, size, stride)">(detail::reshape_alias).by_parts<"self">(),
    symbolic<"aten::reshape_as(self, other)">(detail::to_sizes_of).for_complex(detail::both_parts<detail::to_sizes_of>),
    symbolic<"aten::view_as(self, other)">(detail::to_sizes_of).for_complex(detail::both_parts<detail::to_sizes_of>),
    symbolic<"aten::flatten.using_ints(self, start_dim, end_dim)">(detail::flatten_dims).by_parts<"self">(),
    detail::unflatten_dim, detail::ravel, symbolic<"aten::squeeze(self)">(detail::squeeze_all).by_parts<"self">(),
    symbolic<"aten::squeeze.dim(self, dim)">(detail::squeeze_dim).by_parts<"self">(),
    symbolic<"aten::squeeze.dims(self, dim)">(detail::squeeze_dims).by_parts<"self">(),
    symbolic<"aten::squeeze_copy(self)">(detail::squeeze_all).by_parts<"self">(),
    symbolic<"aten::squeeze_copy.dim(self, dim)">(detail::squeeze_dim).by_parts<"self">(),
    symbolic<"aten::squeeze_copy.dims(self, dim)">(detail::squeeze_dims).by_parts<"self">(),
    symbolic<"aten::unsqueeze(self, dim)">(detail::unsqueeze_dim).by_parts<"self">(),
    symbolic<"aten::unsqueeze_copy(self, dim)">(detail::unsqueeze_dim).by_parts<"self">(),
    symbolic<"aten::atleast_1d(self)">(detail::at_least_dims<1>).by_parts<"self">(),
    symbolic<"aten::atleast_2d(self)">(detail::at_least_dims<2>).by_parts<"self">(),
    symbolic<"aten::atleast_3d(self)">(detail::at_least_dims<3>).by_parts<"self">(),
    symbolic<"aten::atleast_1d.Sequence(tensors)">(detail::all_at_least_dims<1>)
        .for_complex(detail::each_at_least_dims<1>),
    symbolic<"aten::atleast_2d.Sequence(tensors)">(detail::all_at_least_dims<2>)
        .for_complex(detail::each_at_least_dims<2>),
    symbolic<"aten::atleast_3d.Sequence(tensors)">(detail::all_at_least_dims<3>)
        .for_complex(detail::each_at_least_dims<3>));

inline constexpr auto transposing =
    table(symbolic<"aten::transpose.int(self, dim0, dim1)">(detail::swap_dims).by_parts<"self">(),
          symbolic<"aten::transpose_copy.int(self, dim0, dim1)">(detail::swap_dims).by_parts<"self">(),
          symbolic<"aten::swapaxes(self, axis0, axis1)">(detail::swap_dims).by_parts<"self">(),
          symbolic<"aten::swapdims(self, dim0, dim1)">(detail::swap_dims).by_parts<"self">(),
          symbolic<"aten::t(self)">(detail::transpose_matrix).by_parts<"self">(),
          symbolic<"aten::t_copy(self)">(detail::transpose_matrix).by_parts<"self">(),
          symbolic<"aten::mT(self)">(detail::transpose_matrices).by_parts<"self">(),
          symbolic<"aten::mH(self)">(detail::transpose_matrices).for_complex(detail::complex_adjoint),
          symbolic<"aten::matrix_H(self)">(detail::transpose_matrices).for_complex(detail::complex_adjoint),
          symbolic<"aten::adjoint(self)">(detail::transpose_matrices).for_complex(detail::complex_adjoint),
          detail::reverse_dims, symbolic<"aten::permute(self, dims)">(detail::permute_dims).by_parts<"self">(),
          symbolic<"aten::permute_copy(self, dims)">(detail::permute_dims).by_parts<"self">(),
          symbolic<"aten::movedim.int(self, source, destination)">(detail::move_dim).by_parts<"self">(),
          symbolic<"aten::movedim.intlist(self, source, destination)">(detail::move_dims).by_parts<"self">(),
          symbolic<"aten::moveaxis.int(self, source, destination)">(detail::move_dim).by_parts<"self">(),
          symbolic<"aten::moveaxis.intlist(self, source, destination)">(detail::move_dims).by_parts<"self">());

inline constexpr auto expanding = table(
    symbolic<"aten::expand(self, size, implicit)">(detail::expand_sizes).by_parts<"self">(),
    symbolic<"aten::expand_copy(self, size, implicit)">(detail::expand_sizes).by_parts<"self">(),
    symbolic<"aten::expand_as(self, other)">(detail::expand_as).for_complex(detail::both_parts<detail::expand_as>),
    detail::broadcast_to,
    symbolic<"aten::size.int(self, dim)">(detail::size_of).for_complex(detail::of_real_part<detail::size_of>),
    symbolic<"aten::sym_size.int(self, dim)">(detail::size_of).for_complex(detail::of_real_part<detail::size_of>),
    symbolic<"aten::dim(self)">(detail::rank_of).for_complex(detail::of_real_part<detail::rank_of>),
    symbolic<"aten::numel(self)">(detail::count_of).for_complex(detail::of_real_part<detail::count_of>),
    symbolic<"aten::sym_numel(self)">(detail::count_of).for_complex(detail::of_real_part<detail::count_of>),
    symbolic<"aten::_shape_as_tensor(self)">(detail::shape_as_tensor)
        .for_complex(detail::of_real_part<detail::shape_as_tensor>));

inline constexpr auto view = reshaping + transposing + expanding;

} // namespace ATON_NAMESPACE::mappings
