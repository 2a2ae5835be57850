// SPDX-License-Identifier: MIT
// Linear algebra: aten's det, inverse, solve, matrix_power, matrix_exp, cross and vander.
// Public header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <tuple>

#include <aton/mappings/cumulative.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/elimination.hpp>
#include <aton/mappings/matrix_product.hpp>
#include <aton/mappings/repeating.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// a[1, 2, 0] * b[2, 0, 1] - a[2, 0, 1] * b[1, 2, 0] along a dimension of size 3.
inline constexpr auto cross =
    symbolic<"aten::linalg_cross(self, other, dim)">([](graph<7> g, value a, value b, std::int64_t dim) -> value {
        dtype const t = promote(a, b);
        value const x = g.cast(a, t);
        value const y = g.cast(b, t);
        auto const axis = attr::axis_i(dim);
        value const forward = g.ints({1, 2, 0});
        value const backward = g.ints({2, 0, 1});
        return g.op<"Sub">(g.op<"Mul">(g.op<"Gather">(x, forward, axis), g.op<"Gather">(y, backward, axis)),
                           g.op<"Mul">(g.op<"Gather">(x, backward, axis), g.op<"Gather">(y, forward, axis)));
    });

/// The default dim of torch.cross: the first dimension of size 3.
inline std::int64_t cross_dim(value a, value b) {
    for (std::int64_t d = 0; d != a.rank(); ++d)
        if (a.size(d).is(3)) return d;
    for (std::int64_t d = 0; d != b.rank(); ++d)
        if (b.size(d).is(3)) return d;
    throw unsupported_error("cross without dim needs a static dimension of size 3");
}

/// A^-1. Like those of an unchecked solver, the elements for a singular matrix are infinite or NaN.
inline constexpr auto inverse_matrix = [](graph<11> g, value x) -> value {
    value const a = square_factorable(g, x);
    sym_int const n = g.size(a, -1);
    return g.cast(solve_square(g, a, identities(g, a, n, n)), x.dtype());
};
inline constexpr auto complex_inverse = [](graph<11> g, complex_value z) -> complex_value {
    value const a = as_real_matrix(g, z);
    sym_int const n = g.size(a, -1);
    value const columns = first_columns(g, identities(g, a, n, n), n / 2); // [1, 0]
    return as_complex_matrix(g, solve_square(g, a, columns), z.dtype());
};

/// The inverse and LAPACK's info. ATen raises an error for a singular matrix if check_errors is true; a graph cannot.
inline constexpr auto linalg_inv_ex =
    symbolic<"aten::linalg_inv_ex(A, check_errors)">([](graph<11> g, value x, bool) -> std::tuple<value, value> {
        value const a = square_factorable(g, x);
        sym_int const n = g.size(a, -1);
        lu_parts const parts = lu_factor(g, a);
        value const inverse = solve_factored(g, parts.lu, parts.order, identities(g, a, n, n), false);
        return {g.cast(inverse, x.dtype()), lu_info(g, parts.lu)};
    });

inline value matrix_power_of(graph<11> g, value x, std::int64_t n) {
    if (n < 0) return matrix_power_of(g, inverse_matrix(g, x), checked_subtract(0, n));
    if (n == 0) {
        sym_int const rows = g.size(x, -2);
        value const r = range_to(g, [&] { return g.to_value(rows); });
        value const eye = g.cast(is_equal(g, unsqueeze(g, r, 1), unsqueeze(g, r, std::int64_t{0})), x.dtype());
        return expand_by(g, eye, g.shape_of(x));
    }
    value out = x;
    for (std::int64_t i = 1; i != n; ++i) out = matmul(g, out, x);
    return out;
}

inline constexpr auto determinant = [](graph<11> g, value a) -> value { return g.op<"Det">(a); };

inline constexpr auto matrix_power = [](graph<11> g, value self, std::int64_t n) -> value {
    return matrix_power_of(g, self, n);
};

inline constexpr auto complex_cross = [](graph<7> g, complex_value a, complex_value b,
                                         std::int64_t dim) -> complex_value {
    return product_of_parts(g, promoted(g, a, b), [&](value x, value y) -> value { return cross(g, x, y, dim); });
};
inline constexpr auto cross_row =
    symbolic<"aten::cross(self, other, dim)">([](graph<7> g, value self, value other,
                                                 std::optional<std::int64_t> dim) -> value {
        return cross(g, self, other, dim ? *dim : cross_dim(self, other));
    }).for_complex([](graph<7> g, complex_value a, complex_value b, std::optional<std::int64_t> dim) -> complex_value {
        return complex_cross(g, a, b, dim ? *dim : cross_dim(g.real(a), g.real(b)));
    });

inline constexpr auto logdet =
    symbolic<"aten::logdet(self)">([](graph<11> g, value self) -> value { return g.op<"Log">(determinant(g, self)); });

inline constexpr auto linalg_slogdet = [](graph<11> g, value a) -> std::tuple<value, value> {
    value const d = determinant(g, a);
    return {g.op<"Sign">(d), g.op<"Log">(g.op<"Abs">(d))};
};

/// The factors of A, or of its transpose: ATen factors the transpose of a contiguous matrix to compute a determinant.
struct determinant_parts {
    lu_parts factors;
    value diagonal; ///< of U [..., n]
    value parity;   ///< -1 [...] after an odd number of exchanges, otherwise 1
};
inline determinant_parts determinant_of(graph<11> g, value a) {
    lu_parts const factors = lu_factor(g, transpose_last(g, square_factorable(g, a)));
    value const own = g.op<"Add">(arithmetic_sequence(g, 0, g.size(a, -1)), 1);
    value const moved = g.op<"Not">(g.op<"Equal">(g.cast(factors.pivots, dtype::int64), own));
    std::array const last{a.rank() - 2};
    value const odd = g.op<"Mod">(reduce_sum(g, g.cast(moved, dtype::int64), last, false), 2);
    return {factors, diagonal_of_matrix(g, factors.lu), g.cast(g.op<"Sub">(1, g.op<"Mul">(odd, 2)), dtype::float64)};
}

inline constexpr auto det_with_factors =
    symbolic<"aten::_linalg_det(A)">([](graph<11> g, value a) -> std::tuple<value, value, value> {
        determinant_parts const parts = determinant_of(g, a);
        value const product = iterate(g, g.size(a, -1), parts.parity, [&](graph<11> b, value k, value so_far) -> value {
            return b.op<"Mul">(so_far, gather_of(b, parts.diagonal, k, a.rank() - 2));
        });
        return {g.cast(product, a.dtype()), g.cast(parts.factors.lu, a.dtype()), parts.factors.pivots};
    });

inline constexpr auto slogdet_with_factors =
    symbolic<"aten::_linalg_slogdet(A)">([](graph<11> g, value a) -> std::tuple<value, value, value, value> {
        determinant_parts const parts = determinant_of(g, a);
        std::array const last{a.rank() - 2};
        value const signs = g.cast(g.op<"Sign">(parts.diagonal), dtype::float32);
        value const side =
            g.op<"Mul">(g.cast(parts.parity, dtype::float32), reduce<"ReduceProd">(g, signs, last, false));
        value const logarithm = reduce_sum(g, g.op<"Log">(g.op<"Abs">(parts.diagonal)), last, false);
        return {g.cast(side, a.dtype()),
                g.cast(logarithm, a.dtype()),
                g.cast(parts.factors.lu, a.dtype()),
                parts.factors.pivots};
    });

struct solution {
    value x;
    lu_parts factors;
};
/// A X = B, or X A = B; B may be vectors. In both cases, the factors are those of A, as in ATen.
inline solution solve_system(graph<11> g, value a, value b, bool left) {
    if (a.dtype() != b.dtype()) throw unsupported_error("A and B of different dtypes");
    value const matrix = square_factorable(g, a);
    value const right = g.cast(b, dtype::float64);
    bool const vectors = is_vectors(a, b);
    if (vectors && !left) throw unsupported_error("left=False with vectors");
    lu_parts const factors = lu_factor(g, matrix);
    auto const solve = [&](value columns, bool turned) {
        return solve_factored(g, factors.lu, factors.order, columns, turned);
    };
    if (!left) return {transpose_last(g, solve(transpose_last(g, right), true)), factors};
    if (!vectors) return {solve(right, false), factors};
    value const x = solve(unsqueeze(g, right, b.rank()), false);
    return {squeeze(g, x, x.rank() - 1), factors};
}

inline constexpr auto linalg_solve_ex = symbolic<"aten::linalg_solve_ex(A, B, left, check_errors)">(
    [](graph<11> g, value a, value b, bool left, bool) -> std::tuple<value, value> {
        solution const s = solve_system(g, a, b, left);
        return {g.cast(s.x, a.dtype()), lu_info(g, s.factors.lu)};
    });
inline constexpr auto solve_with_factors = symbolic<"aten::_linalg_solve_ex(A, B, left, check_errors)">(
    [](graph<11> g, value a, value b, bool left, bool) -> std::tuple<value, value, value, value> {
        solution const s = solve_system(g, a, b, left);
        lu_parts const& f = s.factors;
        return {g.cast(s.x, a.dtype()), g.cast(f.lu, a.dtype()), f.pivots, lu_info(g, f.lu)};
    });
/// A X = B with the parts of the numbers as blocks of real matrices.
inline constexpr auto linalg_solve =
    symbolic<"aten::linalg_solve(A, B, left)">([](graph<11> g, value a, value b, bool left) -> value {
        return g.cast(solve_system(g, a, b, left).x, a.dtype());
    }).for_complex([](graph<11> g, complex_value a, complex_value b, bool left) -> complex_value {
        if (a.dtype() != b.dtype()) throw unsupported_error("A and B of different dtypes");
        value const re = require_square(g.real(a));
        bool const vectors = is_vectors(re, g.real(b));
        if (!left) throw unsupported_error("complex numbers with left=False");
        if (!vectors)
            return as_complex_matrix(g, solve_square(g, as_real_matrix(g, a), stacked_parts(g, b)), a.dtype());
        auto const column = [&](value part) { return unsqueeze(g, part, part.rank()); };
        complex_value const columns = g.complex(column(g.real(b)), column(g.imag(b)));
        complex_value const x =
            as_complex_matrix(g, solve_square(g, as_real_matrix(g, a), stacked_parts(g, columns)), a.dtype());
        auto const vector = [&](value part) { return squeeze(g, part, part.rank() - 1); };
        return g.complex(vector(g.real(x)), vector(g.imag(x)));
    });

/// The inverse of the linear map from the last dimensions to the first `ind`.
inline constexpr auto tensorinv =
    symbolic<"aten::linalg_tensorinv(self, ind)">([](graph<11> g, value self, std::int64_t ind) -> value {
        if (ind < 1 || ind >= self.rank())
            return g.unsupported("ind of a tensor with " + std::to_string(self.rank()) + " dimensions");
        safe_vector<sym_int> sizes = g.sizes(self);
        safe_vector<sym_int> const rows(sizes.begin(), sizes.begin() + ind);
        safe_vector<sym_int> to(sizes.begin() + ind, sizes.end());
        sym_int const n = product(rows);
        value const flat = reshape(g, self, {n, n});
        to.insert(to.end(), rows.begin(), rows.end());
        return reshape(g, inverse_matrix(g, flat), to);
    });
inline constexpr auto tensorsolve = symbolic<"aten::linalg_tensorsolve(self, other, dims)">(
    [](graph<11> g, value self, value other, int_list_or_none dims) -> value {
        value x = self;
        if (dims) {
            safe_vector<std::int64_t> const from = normalize_axes(*dims, self.rank());
            safe_vector<std::int64_t> to_end;
            for (std::size_t i = from.size(); i != 0; --i) to_end.push_back(-static_cast<std::int64_t>(i));
            x = move_axes(g, self, from, to_end);
        }
        safe_vector<sym_int> const sizes = g.sizes(x);
        if (other.rank() > x.rank()) return g.unsupported("other has more dimensions than self");
        safe_vector<sym_int> const to(sizes.begin() + other.rank(), sizes.end());
        sym_int const n = product(to);
        value const found = linalg_solve(g, reshape(g, x, {n, n}), reshape(g, other, {n, 1}), true);
        return reshape(g, found, to);
    });

/// The Taylor series of a matrix divided by a power of 2, squared as often. As in ATen, the result for a matrix with an
/// element that is not finite is NaN.
inline value matrix_exponential(graph<11> g, value a) {
    constexpr std::int64_t terms = 18;
    constexpr double max_squarings = 1100;
    std::int64_t const r = a.rank();
    sym_int const n = g.size(a, -1);
    value const one = identity_matrix(g, n, n, dtype::float64);
    value const sums = reduce_sum(g, g.op<"Abs">(a), std::array{r - 1}, true);
    value const norm = reduce<"ReduceMax">(g, sums, std::array{r - 2}, true);
    // The norm of the divided matrix is below 1.
    value const zero = g.scalar(0, dtype::float64);
    value const exponent = g.op<"Ceil">(g.op<"Div">(g.op<"Log">(norm), std::numbers::ln2));
    value const is_finite = g.op<"Less">(norm, g.scalar(std::numeric_limits<double>::infinity(), dtype::float64));
    value const squarings =
        clip(g, g.op<"Where">(is_finite, exponent, zero), zero, g.scalar(max_squarings, dtype::float64));
    value const part = g.op<"Div">(a, g.op<"Pow">(g.scalar(2, dtype::float64), squarings));
    value const start = expand(g, one, g.sizes(a));
    value const series = iterate(g, terms, start, [&](graph<11> b, value k, value sum) -> value {
        value const factor = b.cast(b.op<"Sub">(b.scalar(terms, dtype::int64), k), dtype::float64);
        return b.op<"Add">(b.op<"Div">(b.op<"MatMul">(part, sum), factor), one);
    });
    value const most = reduce<"ReduceMax">(g, squarings, iota(r), false);
    value const all =
        iterate(g, value(g.cast(most, dtype::int64)), series, [&](graph<11> b, value k, value x) -> value {
            value const goes_on = b.op<"Less">(b.cast(k, dtype::float64), squarings);
            return b.op<"Where">(goes_on, b.op<"MatMul">(x, x), x);
        });
    return g.op<"Where">(is_finite, all, g.scalar(std::numeric_limits<double>::quiet_NaN(), dtype::float64));
}
inline constexpr auto matrix_exp = [](graph<11> g, value self) -> value {
    // In half precision, ATen's intermediate results overflow.
    if (self.dtype() != dtype::float32 && self.dtype() != dtype::float64)
        return g.unsupported("the exponential of " + std::string(name(self.dtype())));
    if (is_empty(self)) return self;
    return g.cast(matrix_exponential(g, g.cast(require_square(self), dtype::float64)), self.dtype());
};
inline constexpr auto complex_matrix_exp = [](graph<11> g, complex_value self) -> complex_value {
    value const re = require_square(g.real(self));
    if (is_empty(re)) return self;
    value const all = matrix_exponential(g, as_real_matrix(g, self));
    return as_complex_matrix(g, first_columns(g, all, g.size(re, -1)), self.dtype());
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

inline constexpr auto linalg_vander =
    symbolic<"aten::linalg_vander(x, N)">([](graph<9> g, value x, std::optional<sym_int> count) -> value {
        value const v = x.rank() == 0 ? unsqueeze(g, x, 0) : x;
        sym_int const n = count ? *count : g.size(v, -1);
        if (n.is_constant() && n.constant() < 2) return g.unsupported("N below 2");
        return powers(g, v, n);
    });
inline constexpr auto vander = symbolic<"aten::vander(x, N, increasing)">(
    [](graph<9> g, value x, std::optional<sym_int> count, bool increasing) -> value {
        sym_int const n = count ? *count : g.size(x, 0);
        if (n.is(0)) {
            dtype const type = is_floating(x.dtype()) ? x.dtype() : dtype::int64;
            return filled(g, safe_vector<sym_int>{g.size(x, 0), 0}, 0, type);
        }
        value const columns = powers(g, x, n);
        return increasing ? columns : flip_axes(g, columns, safe_vector<std::int64_t>{1});
    });

} // namespace detail

inline constexpr auto linear_algebra = table(
    symbolic<"aten::linalg_inv(A)">(detail::inverse_matrix).for_complex(detail::complex_inverse),
    symbolic<"aten::inverse(self)">(detail::inverse_matrix).for_complex(detail::complex_inverse), detail::linalg_inv_ex,
    detail::linalg_solve, detail::linalg_solve_ex, detail::solve_with_factors, detail::tensorinv, detail::tensorsolve,
    symbolic<"aten::linalg_matrix_exp(self)">(detail::matrix_exp).for_complex(detail::complex_matrix_exp),
    symbolic<"aten::matrix_exp(self)">(detail::matrix_exp).for_complex(detail::complex_matrix_exp),
    symbolic<"aten::linalg_matrix_power(self, n)">(detail::matrix_power),
    symbolic<"aten::matrix_power(self, n)">(detail::matrix_power), detail::cross_row,
    detail::cross.for_complex(detail::complex_cross), symbolic<"aten::det(self)">(detail::determinant),
    symbolic<"aten::linalg_det(A)">(detail::determinant), detail::det_with_factors, detail::slogdet_with_factors,
    detail::logdet, symbolic<"aten::linalg_slogdet(A)">(detail::linalg_slogdet),
    symbolic<"aten::slogdet(self)">(detail::linalg_slogdet), detail::linalg_vander, detail::vander);

} // namespace ATON_NAMESPACE::mappings
