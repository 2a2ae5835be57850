// SPDX-License-Identifier: MIT
// What singular values tell: aten's condition numbers, ranks and pseudoinverses.
// Public header.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <aton/mappings/detail/complex.hpp>
#include <aton/mappings/detail/elimination.hpp>
#include <aton/mappings/detail/rotations.hpp>
#include <aton/mappings/norm.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The norm of A times that of its inverse; infinite for singular matrices.
template <class Norm>
value condition_by_inverse(graph<11> g, value a, Norm const& norm) {
    value const x = square_factorable(g, a);
    sym_int const n = g.size(a, -1);
    lu_parts const parts = lu_factor(g, x);
    value const inverse = g.cast(solve_factored(g, parts.lu, parts.order, identities(g, x, n, n), false), a.dtype());
    value const singular = g.op<"Not">(g.op<"Equal">(lu_info(g, parts.lu), g.scalar(0, dtype::int32)));
    value const infinite = g.scalar(std::numeric_limits<double>::infinity(), a.dtype());
    return g.op<"Where">(singular, infinite, g.op<"Mul">(norm(a), norm(inverse)));
}
/// As in ATen, the condition number of a matrix without elements is 0.
inline value zero_for_each_matrix(graph<11> g, value a, dtype type) {
    safe_vector<sym_int> sizes = g.sizes(a);
    sizes.pop_back();
    sizes.pop_back();
    return filled(g, sizes, 0, type);
}
inline constexpr auto cond =
    symbolic<"aten::linalg_cond(self, p)">([](graph<11> g, value a, std::optional<scalar> p) -> value {
        (void)factorable(g, a);
        double const order = p ? p->to<double>() : 2;
        if (is_empty(a)) return zero_for_each_matrix(g, a, a.dtype());
        safe_vector<std::int64_t> const last{a.rank() - 2, a.rank() - 1};
        if (!exactly_equal(std::fabs(order), 2))
            return condition_by_inverse(g, a, [&](value x) { return matrix_norm<false>(g, x, order, last, false); });
        value const values = singular_values(g, factorable(g, a), a.dtype());
        value const largest = select(g, values, -1, 0);
        value const smallest = select(g, values, -1, -1);
        return g.cast(order > 0 ? g.op<"Div">(largest, smallest) : g.op<"Div">(smallest, largest), a.dtype());
    });
inline constexpr auto cond_named = symbolic<"aten::linalg_cond.p_str(self, p)">([](graph<11> g, value a,
                                                                                   std::string_view p) -> value {
    (void)square_factorable(g, a);
    if (is_empty(a)) return zero_for_each_matrix(g, a, a.dtype());
    safe_vector<std::int64_t> const last{a.rank() - 2, a.rank() - 1};
    return condition_by_inverse(g, a, [&](value x) { return named_norm<false>(g, x, p, last, false, std::nullopt); });
});

inline value number_limit(graph<11> g, double n) { return g.scalar(n, dtype::float64); }
inline value tensor_limit(graph<11> g, value x) { return g.cast(x, dtype::float64); }

inline singular_limits limits_from(graph<11> g, value a, std::optional<double> atol, std::optional<double> rtol) {
    if (rtol) return {number_limit(g, atol.value_or(0)), number_limit(g, *rtol)};
    return {number_limit(g, atol.value_or(0)), atol && *atol > 0 ? number_limit(g, 0) : usual_limit(g, a)};
}
inline singular_limits limits_from(graph<11> g, value a, optional_value atol, optional_value rtol) {
    value const absolute = atol ? tensor_limit(g, *atol) : number_limit(g, 0);
    if (rtol) return {absolute, tensor_limit(g, *rtol)};
    value const usual = usual_limit(g, a);
    return {absolute, atol ? value(g.op<"Where">(g.op<"Greater">(absolute, 0), number_limit(g, 0), usual)) : usual};
}

/// The matrix whose singular values count: of a Hermitian one, only the lower triangle is read.
inline value spectral_matrix(graph<11> g, value a, bool hermitian) {
    return hermitian ? symmetric(g, square_factorable(g, a), false) : factorable(g, a);
}
inline value rank_within(graph<11> g, value a, singular_limits const& limits, bool hermitian) {
    value const x = spectral_matrix(g, a, hermitian);
    if (is_empty(a)) return zero_for_each_matrix(g, a, dtype::int64); // ATen does not look at the tolerances
    value const counts = g.cast(counted(g, singular_values(g, x, a.dtype()), limits), dtype::int64);
    return reduce_sum(g, counts, std::array{counts.rank() - 1}, false);
}
inline value pinv_within(graph<11> g, value a, singular_limits const& limits, bool hermitian) {
    value const x = spectral_matrix(g, a, hermitian);
    if (is_empty(a)) return transpose_last(g, a);
    return g.cast(pseudoinverse(g, x, a.dtype(), limits).inverse, a.dtype());
}

inline constexpr auto rank_tol = symbolic<"aten::linalg_matrix_rank(self, tol, hermitian)">(
    [](graph<11> g, value a, double tol, bool hermitian) -> value {
        return rank_within(g, a, {number_limit(g, tol), number_limit(g, 0)}, hermitian);
    });
inline constexpr auto rank_tol_tensor = symbolic<"aten::linalg_matrix_rank.tol_tensor(input, tol, hermitian)">(
    [](graph<11> g, value a, value tol, bool hermitian) -> value {
        return rank_within(g, a, {tensor_limit(g, tol), number_limit(g, 0)}, hermitian);
    });
inline constexpr auto rank_float = symbolic<"aten::linalg_matrix_rank.atol_rtol_float(self, atol, rtol, hermitian)">(
    [](graph<11> g, value a, std::optional<double> atol, std::optional<double> rtol, bool hermitian) -> value {
        return rank_within(g, a, limits_from(g, a, atol, rtol), hermitian);
    });
inline constexpr auto rank_tensor = symbolic<"aten::linalg_matrix_rank.atol_rtol_tensor(input, atol, rtol, hermitian)">(
    [](graph<11> g, value a, optional_value atol, optional_value rtol, bool hermitian) -> value {
        return rank_within(g, a, limits_from(g, a, atol, rtol), hermitian);
    });

inline constexpr auto pinverse =
    symbolic<"aten::pinverse(self, rcond)">([](graph<11> g, value a, double rcond) -> value {
        return pinv_within(g, a, {number_limit(g, 0), number_limit(g, rcond)}, false);
    });
inline constexpr auto pinv_rcond = symbolic<"aten::linalg_pinv(self, rcond, hermitian)">(
    [](graph<11> g, value a, double rcond, bool hermitian) -> value {
        return pinv_within(g, a, {number_limit(g, 0), number_limit(g, rcond)}, hermitian);
    });
inline constexpr auto pinv_rcond_tensor = symbolic<"aten::linalg_pinv.rcond_tensor(self, rcond, hermitian)">(
    [](graph<11> g, value a, value rcond, bool hermitian) -> value {
        return pinv_within(g, a, {number_limit(g, 0), tensor_limit(g, rcond)}, hermitian);
    });
inline constexpr auto pinv_float = symbolic<"aten::linalg_pinv.atol_rtol_float(self, atol, rtol, hermitian)">(
    [](graph<11> g, value a, std::optional<double> atol, std::optional<double> rtol, bool hermitian) -> value {
        return pinv_within(g, a, limits_from(g, a, atol, rtol), hermitian);
    });
inline constexpr auto pinv_tensor = symbolic<"aten::linalg_pinv.atol_rtol_tensor(self, atol, rtol, hermitian)">(
    [](graph<11> g, value a, optional_value atol, optional_value rtol, bool hermitian) -> value {
        return pinv_within(g, a, limits_from(g, a, atol, rtol), hermitian);
    });

} // namespace detail

inline constexpr auto spectra = table(detail::cond, detail::cond_named, detail::rank_tol, detail::rank_tol_tensor,
                                      detail::rank_float, detail::rank_tensor, detail::pinverse, detail::pinv_rcond,
                                      detail::pinv_rcond_tensor, detail::pinv_float, detail::pinv_tensor);

} // namespace ATON_NAMESPACE::mappings
