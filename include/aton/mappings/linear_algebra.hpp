// SPDX-License-Identifier: MIT
// Linear algebra: aten's det, inverse, matrix_power, cross and vander.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include <aton/mappings/cumulative.hpp>
#include <aton/mappings/matrix_product.hpp>
#include <aton/mappings/repeating.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// a[1, 2, 0] * b[2, 0, 1] - a[2, 0, 1] * b[1, 2, 0] along a dimension of size 3.
inline constexpr auto cross = [](graph<7> g, value a, value b, std::int64_t dim) -> value {
    dtype const t = promote(a, b);
    value const x = g.cast(a, t);
    value const y = g.cast(b, t);
    auto const axis = attr::axis_i(dim);
    value const forward = g.ints({1, 2, 0});
    value const backward = g.ints({2, 0, 1});
    return g.op<"Sub">(g.op<"Mul">(g.op<"Gather">(x, forward, axis), g.op<"Gather">(y, backward, axis)),
                       g.op<"Mul">(g.op<"Gather">(x, backward, axis), g.op<"Gather">(y, forward, axis)));
};

/// The default dim of torch.cross: the first dimension of size 3.
inline std::int64_t cross_dim(value a, value b) {
    for (std::int64_t d = 0; d != a.rank(); ++d)
        if (a.size(d).size() == 3) return d;
    for (std::int64_t d = 0; d != b.rank(); ++d)
        if (b.size(d).size() == 3) return d;
    throw unsupported_error("cross without dim needs a static dimension of size 3");
}

/// The inverse by cofactors, with one Det for all minors: ONNX does not have a solver. The work is O(n^5), so n is at most 8.
inline constexpr auto inverse_matrix = [](graph<11> g, value x) -> value {
    std::int64_t const n = x.size(-2).size();
    if (n != x.size(-1).size()) return g.unsupported("the inverse of a matrix that is not square");
    if (n < 0 || n > 8)
        return g.unsupported("the inverse of a matrix with more than 8 rows, or a computed number of them");
    if (n == 0) return x;
    if (n == 1) return g.op<"Reciprocal">(x);
    std::int64_t const r = x.rank();
    tensor others{dtype::int64, {n, n - 1}, {}}; // row i: all indices but i
    tensor signs{x.dtype(), {n, n}, {}};
    for (std::int64_t i = 0; i != n; ++i) {
        for (std::int64_t j = 0; j != n; ++j) {
            if (j != i) others.append(j);
            signs.append((i + j) % 2 == 0 ? 1 : -1);
        }
    }
    value const without = g.constant(others);
    // (..., i, n-1, n), then (..., i, n-1, j, n-1), then (..., i, j, n-1, n-1)
    value const rows = g.op<"Gather">(x, without, attr::axis_i(r - 2));
    value const both = g.op<"Gather">(rows, without, attr::axis_i(r));
    safe_vector<std::int64_t> perm = iota(r + 2);
    std::swap(perm[static_cast<std::size_t>(r - 1)], perm[static_cast<std::size_t>(r)]);
    value const minors = g.op<"Det">(g.op<"Transpose">(both, attr::perm_i(perm)));
    value const adjugate = transpose_last(g, g.op<"Mul">(minors.set_shape(x.shape()), g.constant(signs)));
    return g.op<"Div">(adjugate, unsqueeze(g, g.op<"Det">(x), safe_vector<std::int64_t>{-2, -1}));
};

inline value matrix_power(graph<11> g, value x, std::int64_t n) {
    if (n < 0) return matrix_power(g, inverse_matrix(g, x), checked_subtract(0, n));
    if (n == 0) {
        sym_int const rows = g.size(x, -2);
        value const r = arithmetic_sequence(g, 0, rows);
        value const eye = g.cast(is_equal(g, unsqueeze(g, r, 1), unsqueeze(g, r, std::int64_t{0})), x.dtype());
        return expand_by(g, eye, g.shape_of(x));
    }
    value out = x;
    for (std::int64_t i = 1; i != n; ++i) out = matmul(g, out, x);
    return out;
}

inline constexpr auto determinant = [](graph<11> g, value a) -> value { return g.op<"Det">(a); };

inline constexpr auto matrix_power_row = [](graph<11> g, value self, std::int64_t n) -> value {
    return matrix_power(g, self, n);
};

inline constexpr auto cross_row = [](graph<7> g, value self, value other, std::optional<std::int64_t> dim) -> value {
    return cross(g, self, other, dim ? *dim : cross_dim(self, other));
};

inline constexpr auto complex_cross = [](graph<7> g, complex_value a, complex_value b,
                                         std::int64_t dim) -> complex_value {
    return product_of_parts(g, promoted(g, a, b), [&](value x, value y) -> value { return cross(g, x, y, dim); });
};
inline constexpr auto complex_cross_row = [](graph<7> g, complex_value a, complex_value b,
                                             std::optional<std::int64_t> dim) -> complex_value {
    return complex_cross(g, a, b, dim ? *dim : cross_dim(g.real(a), g.real(b)));
};

inline constexpr auto logdet = [](graph<11> g, value self) -> value { return g.op<"Log">(determinant(g, self)); };

inline constexpr auto linalg_slogdet = [](graph<11> g, value a) -> std::tuple<value, value> {
    value const d = determinant(g, a);
    return {g.op<"Sign">(d), g.op<"Log">(g.op<"Abs">(d))};
};

/// The powers 0, 1, ..., count - 1 of each element, along a new last dimension.
inline value powers(graph<9> g, value x, sym_int const& count) {
    dtype const type = is_floating(x.dtype()) ? x.dtype() : dtype::int64;
    value const base = unsqueeze(g, g.cast(x, type), x.rank());
    safe_vector<sym_int> sizes = g.sizes(base);
    value const ones = filled(g, sizes, 1, type);
    sizes.back() = count - 1;
    value const factors = g.op<"Concat">(safe_vector<value>{ones, expand(g, base, sizes)}, attr::axis_i(x.rank()));
    if (g.opset() >= 26) return cumprod(g.within<26>(), factors, -1, std::nullopt);
    return cumprod_until_25(g.within<9, 25>(), factors, -1, std::nullopt);
}

inline constexpr auto linalg_vander = [](graph<9> g, value x, std::optional<sym_int> count) -> value {
    value const v = x.rank() == 0 ? unsqueeze(g, x, 0) : x;
    sym_int const n = count ? *count : g.size(v, -1);
    if (n.is_constant() && n.constant() < 2) return g.unsupported("N below 2");
    return powers(g, v, n);
};
inline constexpr auto vander = [](graph<9> g, value x, std::optional<sym_int> count, bool increasing) -> value {
    sym_int const n = count ? *count : g.size(x, 0);
    if (n.is(0)) {
        dtype const type = is_floating(x.dtype()) ? x.dtype() : dtype::int64;
        return filled(g, safe_vector<sym_int>{g.size(x, 0), 0}, 0, type);
    }
    value const columns = powers(g, x, n);
    return increasing ? columns : flip_axes(g, columns, safe_vector<std::int64_t>{1});
};

} // namespace detail

// clang-format off: one row per line
inline constexpr auto linear_algebra = table(
    symbolic<"aten::linalg_inv(A)">(detail::inverse_matrix),
    symbolic<"aten::inverse(self)">(detail::inverse_matrix),
    symbolic<"aten::linalg_matrix_power(self, n)">(detail::matrix_power_row),
    symbolic<"aten::matrix_power(self, n)">(detail::matrix_power_row),
    symbolic<"aten::cross(self, other, dim)">(detail::cross_row).for_complex(detail::complex_cross_row),
    symbolic<"aten::linalg_cross(self, other, dim)">(detail::cross).for_complex(detail::complex_cross),
    symbolic<"aten::det(self)">(detail::determinant),
    symbolic<"aten::linalg_det(A)">(detail::determinant),
    symbolic<"aten::logdet(self)">(detail::logdet),
    symbolic<"aten::linalg_slogdet(A)">(detail::linalg_slogdet),
    symbolic<"aten::slogdet(self)">(detail::linalg_slogdet),
    symbolic<"aten::linalg_vander(x, N)">(detail::linalg_vander),
    symbolic<"aten::vander(x, N, increasing)">(detail::vander));
// clang-format on

} // namespace ATON_NAMESPACE::mappings
