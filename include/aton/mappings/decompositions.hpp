// SPDX-License-Identifier: MIT
// Decompositions of matrices, and solvers that use them: aten's LU, Cholesky, QR, eigh and svd, triangular systems, lstsq.
// Public header.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <aton/mappings/detail/complex.hpp>
#include <aton/mappings/detail/elimination.hpp>
#include <aton/mappings/detail/rotations.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// A result that is not asked for.
inline value none_like(graph<11> g, value x) { return empty_constant(g, std::array<std::int64_t, 1>{0}, x.dtype()); }

/// ATen has LU without exchanges only for CUDA.
inline lu_parts factored(graph<11> g, value a, bool pivot) {
    if (!pivot) throw unsupported_error("pivot=False");
    return lu_factor(g, factorable(g, a));
}
inline constexpr auto linalg_lu_factor =
    symbolic<"aten::linalg_lu_factor(A, pivot)">([](graph<11> g, value a, bool pivot) -> std::tuple<value, value> {
        lu_parts const f = factored(g, a, pivot);
        return {g.cast(f.lu, a.dtype()), f.pivots};
    });
/// With LAPACK's info. ATen raises an error where it is not 0 if check_errors is true; a graph cannot.
inline constexpr auto linalg_lu_factor_ex = [](graph<11> g, value a, bool pivot,
                                               bool) -> std::tuple<value, value, value> {
    lu_parts const f = factored(g, a, pivot);
    return {g.cast(f.lu, a.dtype()), f.pivots, lu_info(g, f.lu)};
};

/// L [..., m, k] and U [..., k, n] for k = min(m, n).
inline value lower_factor(graph<11> g, value lu, sym_int const& k) {
    value const left = first_columns(g, lu, k);
    value const below = lower_part(g, left, true);
    return g.op<"Add">(below, identity_matrix(g, g.size(left, -2), g.size(left, -1), lu.dtype()));
}
inline value upper_factor(graph<11> g, value lu, sym_int const& k) { return upper_part(g, slice(g, lu, -2, 0, k)); }
inline sym_int smaller_size(graph<11> g, value x) { return min(g.size(x, -2), g.size(x, -1)); }

inline constexpr auto linalg_lu =
    symbolic<"aten::linalg_lu(A, pivot)">([](graph<11> g, value a, bool pivot) -> std::tuple<value, value, value> {
        lu_parts const f = factored(g, a, pivot);
        value const lu = g.cast(f.lu, a.dtype());
        sym_int const k = smaller_size(g, a);
        return {permutation_matrix(g, f.order, a.dtype()), lower_factor(g, lu, k), upper_factor(g, lu, k)};
    });
inline constexpr auto lu_unpack = symbolic<"aten::lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots)">(
    [](graph<11> g, value lu, value pivots, bool data, bool permutation) -> std::tuple<value, value, value> {
        if (lu.rank() < 2) throw unsupported_error("a matrix with fewer than 2 dimensions");
        sym_int const k = smaller_size(g, lu);
        value const p = permutation ? permutation_matrix(g, order_of_pivots(g, pivots, g.size(lu, -2)), lu.dtype())
                                    : none_like(g, lu);
        if (!data) return {p, none_like(g, lu), none_like(g, lu)};
        return {p, lower_factor(g, lu, k), upper_factor(g, lu, k)};
    });

inline constexpr auto lu_solve =
    symbolic<"aten::lu_solve(self, LU_data, LU_pivots)">([](graph<11> g, value b, value lu, value pivots) -> value {
        value const order = order_of_pivots(g, pivots, g.size(lu, -2));
        return g.cast(solve_factored(g, square_factorable(g, lu), order, factorable(g, b), false), b.dtype());
    });
inline constexpr auto linalg_lu_solve = symbolic<"aten::linalg_lu_solve(LU, pivots, B, left, adjoint)">(
    [](graph<11> g, value lu, value pivots, value b, bool left, bool adjoint) -> value {
        value const order = order_of_pivots(g, pivots, g.size(lu, -2));
        value const factors = square_factorable(g, lu);
        value const right = factorable(g, b);
        value const x = left ? solve_factored(g, factors, order, right, adjoint)
                             : transpose_last(g, solve_factored(g, factors, order, transpose_last(g, right), !adjoint));
        return g.cast(x, b.dtype());
    });

inline constexpr auto solve_triangular = symbolic<"aten::linalg_solve_triangular(self, B, upper, left, unitriangular)">(
    [](graph<11> g, value a, value b, bool upper, bool left, bool unit) -> value {
        value const matrix = square_factorable(g, a);
        value const right = factorable(g, b);
        if (left) return g.cast(solve_triangle(g, matrix, right, upper, unit), a.dtype());
        value const x = solve_triangle(g, transpose_last(g, matrix), transpose_last(g, right), !upper, unit);
        return g.cast(transpose_last(g, x), a.dtype());
    });
/// The solution, and A broadcast to its leading dimensions.
inline constexpr auto triangular_solve = symbolic<"aten::triangular_solve(self, A, upper, transpose, unitriangular)">(
    [](graph<11> g, value b, value a, bool upper, bool transpose, bool unit) -> std::tuple<value, value> {
        value const given = square_factorable(g, a);
        value const matrix = transpose ? transpose_last(g, given) : given;
        value const x = solve_triangle(g, matrix, factorable(g, b), upper != transpose, unit);
        return {g.cast(x, b.dtype()), broadcast_batch(g, at_least_rank(g, a, x.rank()), x)};
    });

/// The factor from the lower triangle of A, or its transpose from the upper one.
inline cholesky_parts cholesky_of(graph<11> g, value a, bool upper) {
    value const x = square_factorable(g, a);
    cholesky_parts const parts = cholesky_factor(g, upper ? transpose_last(g, x) : x);
    return {g.cast(upper ? transpose_last(g, parts.lower) : parts.lower, a.dtype()), parts.info};
}
inline constexpr auto cholesky = [](graph<11> g, value a, bool upper) -> value {
    return cholesky_of(g, a, upper).lower;
};
inline constexpr auto cholesky_ex = symbolic<"aten::linalg_cholesky_ex(self, upper, check_errors)">(
    [](graph<11> g, value a, bool upper, bool) -> std::tuple<value, value> {
        cholesky_parts const parts = cholesky_of(g, a, upper);
        return {parts.lower, parts.info};
    });
inline constexpr auto cholesky_solve =
    symbolic<"aten::cholesky_solve(self, input2, upper)">([](graph<11> g, value b, value factor, bool upper) -> value {
        return g.cast(solve_cholesky(g, square_factorable(g, factor), factorable(g, b), upper), b.dtype());
    });
inline constexpr auto cholesky_inverse =
    symbolic<"aten::cholesky_inverse(self, upper)">([](graph<11> g, value factor, bool upper) -> value {
        value const x = square_factorable(g, factor);
        sym_int const n = g.size(x, -1);
        return g.cast(solve_cholesky(g, x, identities(g, x, n, n), upper), factor.dtype());
    });

inline constexpr auto geqrf = symbolic<"aten::geqrf(self)">([](graph<11> g, value a) -> std::tuple<value, value> {
    reflections const h = householder(g, factorable(g, a));
    return {g.cast(h.packed, a.dtype()), g.cast(h.tau, a.dtype())};
});
inline std::tuple<value, value> qr_of(graph<11> g, value a, bool complete, bool with_q) {
    reflections const h = householder(g, factorable(g, a));
    sym_int const kept = complete ? g.size(a, -2) : smaller_size(g, a);
    value const r = g.cast(upper_part(g, slice(g, h.packed, -2, 0, kept)), a.dtype());
    return {with_q ? g.cast(orthogonal_columns(g, h, kept), a.dtype()) : none_like(g, a), r};
}
inline constexpr auto linalg_qr = symbolic<"aten::linalg_qr(A, mode)">([](graph<11> g, value a, std::string_view mode) {
    if (mode != "reduced" && mode != "complete" && mode != "r") throw unsupported_error("mode=" + std::string(mode));
    return qr_of(g, a, mode == "complete", mode != "r");
});
inline constexpr auto qr =
    symbolic<"aten::qr(self, some)">([](graph<11> g, value a, bool some) { return qr_of(g, a, !some, true); });

inline constexpr auto householder_product =
    symbolic<"aten::linalg_householder_product(input, tau)">([](graph<11> g, value a, value tau) -> value {
        reflections const h{factorable(g, a), g.cast(tau, dtype::float64)};
        return g.cast(orthogonal_columns(g, h, g.size(a, -1)), a.dtype());
    });
/// Q C, C Q, or with Q^T. The transpose of C Q is Q^T C^T.
inline constexpr auto ormqr = symbolic<"aten::ormqr(self, input2, input3, left, transpose)">(
    [](graph<11> g, value a, value tau, value other, bool left, bool transpose) -> value {
        reflections const h{factorable(g, a), g.cast(tau, dtype::float64)};
        value const c = factorable(g, other);
        value const out =
            left ? reflected(g, h, c, transpose) : transpose_last(g, reflected(g, h, transpose_last(g, c), !transpose));
        return g.cast(out, a.dtype());
    });

inline bool reads_upper(std::string_view part) {
    if (part != "U" && part != "u" && part != "L" && part != "l") throw unsupported_error("UPLO=" + std::string(part));
    return part == "U" || part == "u";
}
inline value hermitian_of(graph<11> g, value a, std::string_view part) {
    return symmetric(g, square_factorable(g, a), reads_upper(part));
}
inline std::tuple<value, value> eigh_of(graph<11> g, value a, std::string_view part, bool vectors) {
    value const x = hermitian_of(g, a, part);
    if (is_empty(a)) {
        safe_vector<sym_int> sizes = g.sizes(a);
        sizes.pop_back();
        return {filled(g, sizes, 0, a.dtype()), vectors ? a : none_like(g, a)};
    }
    safe_vector<value> const found = eigenvalues(g, x, a.dtype(), vectors);
    return {g.cast(found[0], a.dtype()), vectors ? g.cast(found[1], a.dtype()) : none_like(g, a)};
}
inline constexpr auto linalg_eigh = symbolic<"aten::linalg_eigh(self, UPLO)">(
    [](graph<11> g, value a, std::string_view part) { return eigh_of(g, a, part, true); });
inline constexpr auto eigh_with_choice = symbolic<"aten::_linalg_eigh(A, UPLO, compute_v)">(
    [](graph<11> g, value a, std::string_view part, bool vectors) { return eigh_of(g, a, part, vectors); });
inline constexpr auto eigvalsh = symbolic<"aten::linalg_eigvalsh(self, UPLO)">(
    [](graph<11> g, value a, std::string_view part) -> value { return std::get<0>(eigh_of(g, a, part, false)); });

/// The driver chooses LAPACK's or cuSOLVER's algorithm, and CPUs have only one.
inline std::tuple<value, value, value> svd_of(graph<11> g, value a, bool is_full) {
    value const x = factorable(g, a);
    sym_int const m = g.size(a, -2);
    sym_int const n = g.size(a, -1);
    sym_int const k = min(m, n);
    if (is_empty(a)) {
        safe_vector<sym_int> sizes = g.sizes(a);
        sizes.pop_back();
        sizes.back() = k;
        value const u = identities(g, x, m, is_full ? m : k);
        value const v = identities(g, x, is_full ? n : k, n);
        return {g.cast(u, a.dtype()), filled(g, sizes, 0, a.dtype()), g.cast(v, a.dtype())};
    }
    auto const [u, s, vh] = singular_vectors(g, x, a.dtype(), is_full);
    return {g.cast(u, a.dtype()), g.cast(s, a.dtype()), g.cast(vh, a.dtype())};
}
inline constexpr auto linalg_svd = symbolic<"aten::linalg_svd(A, full_matrices, driver)">(
    [](graph<11> g, value a, bool is_full, std::optional<std::string_view>) { return svd_of(g, a, is_full); });
inline constexpr auto svd_with_choice = symbolic<"aten::_linalg_svd(A, full_matrices, compute_uv, driver)">(
    [](graph<11> g, value a, bool is_full, bool vectors,
       std::optional<std::string_view>) -> std::tuple<value, value, value> {
        if (vectors) return svd_of(g, a, is_full);
        return {none_like(g, a), singular_values_of(g, a), none_like(g, a)};
    });
inline constexpr auto linalg_svdvals = symbolic<"aten::linalg_svdvals(A, driver)">(
    [](graph<11> g, value a, std::optional<std::string_view>) -> value { return singular_values_of(g, a); });
/// The deprecated svd returns V instead of its transpose, and zeros instead of vectors that are not asked for.
inline constexpr auto svd = symbolic<"aten::svd(self, some, compute_uv)">(
    [](graph<11> g, value a, bool some, bool vectors) -> std::tuple<value, value, value> {
        if (vectors) {
            auto const [u, s, vh] = svd_of(g, a, !some);
            return {u, s, transpose_last(g, vh)};
        }
        auto const zeros = [&](sym_int const& n) {
            safe_vector<sym_int> sizes = g.sizes(a);
            sizes[sizes.size() - 2] = n;
            sizes.back() = n;
            return filled(g, sizes, 0, a.dtype());
        };
        return {zeros(g.size(a, -2)), singular_values_of(g, a), zeros(g.size(a, -1))};
    });

/// The least-squares solution of minimum norm, residuals, rank and singular values. What a driver does not compute is empty.
inline constexpr auto lstsq = symbolic<"aten::linalg_lstsq(self, b, rcond, driver)">(
    [](graph<11> g, value a, value b, std::optional<double> rcond,
       std::optional<std::string_view> driver) -> std::tuple<value, value, value, value> {
        std::string_view const name = driver.value_or("gelsy");
        bool const full_rank = name == "gels";
        bool const gives_values = name == "gelsd" || name == "gelss";
        if (!full_rank && !gives_values && name != "gelsy") throw unsupported_error("driver=" + std::string(name));
        if (rcond && name == "gelsy") throw unsupported_error("driver=gelsy with rcond: a pivoted QR decides the rank");
        value const matrix = factorable(g, a);
        dim const& m = a.size(-2);
        dim const& n = a.size(-1);
        if (is_empty(a) || !m.is_static() || !n.is_static())
            throw unsupported_error("empty matrices, or computed numbers of rows");
        bool const is_tall = m.size() > n.size();
        if (is_tall && gives_values)
            throw unsupported_error("driver=" + std::string(name) +
                                    " with more rows than columns: there are residuals only if the rank is full");
        bool const vectors = is_vectors(a, b);
        value const given = g.cast(b, dtype::float64);
        value const right = vectors ? unsqueeze(g, given, b.rank()) : given;
        value const zero = g.scalar(0, dtype::float64);
        value const relative = full_rank ? zero : rcond ? g.scalar(*rcond, dtype::float64) : usual_limit(g, a);
        pseudoinverse_parts const p = pseudoinverse(g, matrix, a.dtype(), {zero, relative});
        value const x = g.op<"MatMul">(p.inverse, right);
        value residuals = none_like(g, a);
        if (is_tall && full_rank) {
            value const rest = g.op<"Sub">(right, g.op<"MatMul">(matrix, x));
            residuals = g.cast(reduce_sum(g, g.op<"Mul">(rest, rest), std::array{rest.rank() - 2}, false), a.dtype());
        }
        value const counts = g.cast(p.counts, dtype::int64);
        value const rank = full_rank ? empty_constant(g, std::array<std::int64_t, 1>{0}, dtype::int64)
                                     : reduce_sum(g, counts, std::array{counts.rank() - 1}, false);
        return {g.cast(vectors ? squeeze(g, x, x.rank() - 1) : x, a.dtype()),
                residuals,
                rank,
                gives_values ? g.cast(p.values, a.dtype()) : none_like(g, a)};
    });

/// Raises an error in ATen where a decomposition failed, which a graph cannot; it computes nothing.
inline constexpr auto check_errors =
    symbolic<"aten::_linalg_check_errors(info, api_name, is_matrix)">([](graph<11>, value, std::string_view, bool) {});

} // namespace detail

inline constexpr auto decompositions =
    table(detail::linalg_lu, detail::linalg_lu_factor,
          symbolic<"aten::linalg_lu_factor_ex(A, pivot, check_errors)">(detail::linalg_lu_factor_ex),
          symbolic<"aten::_lu_with_info(self, pivot, check_errors)">(detail::linalg_lu_factor_ex), detail::lu_unpack,
          detail::lu_solve, detail::linalg_lu_solve, detail::solve_triangular, detail::triangular_solve,
          symbolic<"aten::cholesky(self, upper)">(detail::cholesky),
          symbolic<"aten::linalg_cholesky(self, upper)">(detail::cholesky), detail::cholesky_ex, detail::cholesky_solve,
          detail::cholesky_inverse, detail::geqrf, detail::linalg_qr, detail::qr, detail::householder_product,
          detail::ormqr, detail::linalg_eigh, detail::eigh_with_choice, detail::eigvalsh, detail::linalg_svd,
          detail::svd_with_choice, detail::linalg_svdvals, detail::svd, detail::lstsq, detail::check_errors);

} // namespace ATON_NAMESPACE::mappings
