// SPDX-License-Identifier: MIT
// ATen operators: matrix decompositions, and solvers that use them. They run on the host, in float64.
#include <algorithm>
#include <utility>
#include <vector>

#include "matrices.hpp"
#include "products.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

tensor matrices_of(call const& c) {
    for (std::string_view const name : {"A", "self", "input"})
        if (c.has_argument(name)) {
            if (c.t(name).rank() < 2) throw error("a matrix must have at least 2 dimensions");
            return c.t(name);
        }
    throw error("at least one matrix is required");
}

/// The matrices, in a dtype that LAPACK has.
tensor lapack_matrices_of(call const& c) {
    tensor const x = matrices_of(c);
    require_lapack(x);
    return x;
}

tensor on_host(tensor const& x) { return cast(to_host(x), widest(x.dtype())); }
bool is_private(call const& c) { return c.overload().starts_with("aten::_"); }

results lu_factored(call const& c) {
    tensor const a = matrices_of(c);
    like_operand const back(a);
    lu_factors const f = lu_factor(a, c.b("pivot"));
    bool const gives_info = c.has_argument("check_errors");
    if (!gives_info || c.b("check_errors")) check_info(f.info, "a matrix is singular");
    std::vector<value> out = {back(f.lu), back.as_is(f.pivots)};
    if (gives_info) out.emplace_back(back.as_is(f.info));
    return out;
}

struct unpacked {
    tensor p;
    tensor l;
    tensor u;
};
/// The three factors of [..., M, N].
unpacked unpack(tensor const& lu, tensor const& pivots) {
    std::int64_t const rows = lu.size(lu.rank() - 2);
    std::int64_t const columns = lu.sizes().back();
    std::int64_t const smaller = std::min(rows, columns);
    tensor const l = lower_part(lu.sliced(lu.rank() - 1, 0, smaller), -1) +
                     identity(rows, lu.dtype(), lu.where()).sliced(1, 0, smaller);
    tensor const u = upper_part(lu.sliced(lu.rank() - 2, 0, smaller));
    sizes square = lu.sizes();
    square.back() = rows;
    tensor const one = identity(rows, widest(lu.dtype()), {}).expanded(square);
    return {exchange_rows(one, to_host(pivots), true), l, u};
}

results lu_unpack(call const& c) {
    tensor const lu = c.t("LU_data");
    if (lu.rank() < 2) throw error("a matrix must have at least 2 dimensions");
    like_operand const back(lu);
    unpacked const parts = unpack(lu, c.t("LU_pivots"));
    bool const data = c.b("unpack_data");
    return {
        c.b("unpack_pivots") ? back(parts.p) : back.none(), data ? parts.l : back.none(), data ? parts.u : back.none()};
}

results linalg_lu(call const& c) {
    tensor const a = matrices_of(c);
    like_operand const back(a);
    lu_factors const f = lu_factor(a, c.b("pivot"));
    unpacked const parts = unpack(f.lu, f.pivots);
    return {c.b("pivot") ? back(parts.p) : back.none(), back(parts.l), back(parts.u)};
}

/// op(A) X = B, or X op(A) = B.
results lu_solve(call const& c) {
    bool const old = c.has_argument("LU_data");
    tensor const lu = on_host(c.t(old ? "LU_data" : "LU"));
    tensor const pivots = to_host(c.t(old ? "LU_pivots" : "pivots"));
    tensor const b = c.t(old ? "self" : "B");
    like_operand const back(b);
    if (old || c.b("left")) return back(solve_factored(lu, pivots, on_host(b), !old && c.b("adjoint")));
    return back(adjoint(solve_factored(lu, pivots, adjoint(on_host(b)), !c.b("adjoint"))));
}

results solve_triangular(call const& c) {
    tensor const a = on_host(c.t("self"));
    tensor const b = on_host(c.t("B"));
    like_operand const back(c.t("self"));
    bool const upper = c.b("upper");
    bool const unit = c.b("unitriangular");
    if (c.b("left")) return back(solve_triangle(a, b, upper, unit));
    tensor const turned = solve_triangle(transpose(a, -1, -2), transpose(b, -1, -2), !upper, unit);
    return back(contiguous(transpose(turned, -1, -2)));
}

results triangular_solve(call const& c) {
    tensor const b = c.t("self");
    tensor const a = c.t("A");
    bool const turned = c.b("transpose");
    tensor const x = solve_triangle(
        turned ? transpose(on_host(a), -1, -2) : on_host(a), on_host(b), c.b("upper") != turned, c.b("unitriangular"));
    sizes to(x.sizes().begin(), x.sizes().end() - 2);
    to.insert(to.end(), a.sizes().end() - 2, a.sizes().end());
    return {like_operand(b)(x), contiguous(a.expanded(to))};
}

results cholesky_factored(call const& c) {
    tensor const a = matrices_of(c);
    like_operand const back(a);
    bool const upper = c.b("upper");
    cholesky_factor const f = cholesky(upper ? adjoint(on_host(a)) : on_host(a));
    bool const gives_info = c.has_argument("check_errors");
    if (!gives_info || c.b("check_errors")) check_info(f.info, "a matrix is not positive definite");
    tensor const factor = back(contiguous(upper ? adjoint(f.lower) : f.lower));
    if (!gives_info) return factor;
    return {factor, back.as_is(f.info)};
}

/// (L L^H)^-1 B from L, or from U = L^H.
tensor solve_cholesky(tensor const& factor, tensor const& b, bool upper) {
    tensor const lower = upper ? adjoint(factor) : factor;
    return solve_triangle(adjoint(lower), solve_triangle(lower, b, false, false), true, false);
}
results cholesky_solve(call const& c) {
    return like_operand(c.t("self"))(solve_cholesky(on_host(c.t("input2")), on_host(c.t("self")), c.b("upper")));
}
results cholesky_inverse(call const& c) {
    tensor const a = matrices_of(c);
    tensor const one = identity(a.sizes().back(), widest(a.dtype()), {});
    return like_operand(a)(solve_cholesky(on_host(a), one, c.b("upper")));
}

/// Q and R. `complete`: Q is square.
struct orthogonal {
    tensor q;
    tensor r;
};
orthogonal qr_of(tensor const& a, bool complete) {
    reflections const h = householder(a);
    std::int64_t const rows = a.size(a.rank() - 2);
    std::int64_t const kept = complete ? rows : std::min(rows, a.sizes().back());
    return {reflected(h, kept), upper_part(h.packed.sliced(a.rank() - 2, 0, kept))};
}
results qr(call const& c) {
    tensor const a = matrices_of(c);
    like_operand const back(a);
    bool const named = c.has_argument("mode");
    std::string_view const mode = named ? c.text("mode") : c.b("some") ? "reduced" : "complete";
    if (mode != "reduced" && mode != "complete" && mode != "r") throw error("mode is '" + std::string(mode) + "'");
    orthogonal const f = qr_of(a, mode == "complete");
    return {mode == "r" ? back.none() : back(f.q), back(f.r)};
}
results geqrf(call const& c) {
    tensor const a = matrices_of(c);
    reflections const h = householder(a);
    return {like_operand(a)(h.packed), like_operand(a)(h.tau)};
}
results householder_product(call const& c) {
    tensor const a = matrices_of(c);
    return like_operand(a)(reflected({on_host(a), on_host(c.t("tau"))}, a.sizes().back()));
}
/// Q C, C Q, or with Q^H.
results ormqr(call const& c) {
    tensor const a = matrices_of(c);
    tensor q = reflected({on_host(a), on_host(c.t("input2"))}, a.size(a.rank() - 2));
    if (c.b("transpose")) q = adjoint(q);
    tensor const other = on_host(c.t("input3"));
    return like_operand(a)(c.b("left") ? matmul(q, other) : matmul(other, q));
}

results linalg_svd(call const& c) {
    tensor const a = lapack_matrices_of(c);
    like_operand const back(a);
    singular_values const f = svd(a, c.b("full_matrices"));
    if (c.has_argument("compute_uv") && !c.b("compute_uv")) return {back.none(), back.real(f.s), back.none()};
    return {back(f.u), back.real(f.s), back(f.vh)};
}
/// The deprecated svd, which returns V instead of V^H.
results svd_with_v(call const& c) {
    tensor const a = lapack_matrices_of(c);
    like_operand const back(a);
    bool const vectors = c.b("compute_uv");
    singular_values const f = svd(a, !c.b("some") || !vectors);
    auto const zeros = [](tensor const& like) { return full(0, like.dtype(), like.sizes(), like.where()); };
    tensor const v = contiguous(adjoint(f.vh));
    return {back(vectors ? f.u : zeros(f.u)), back.real(f.s), back(vectors ? v : zeros(v))};
}
results svdvals(call const& c) {
    tensor const a = lapack_matrices_of(c);
    return like_operand(a).real(svd(a, false).s);
}

eigenvalues eigh_of(call const& c) {
    std::string_view const part = c.text("UPLO");
    if (part != "U" && part != "L" && part != "u" && part != "l") throw error("UPLO is '" + std::string(part) + "'");
    tensor const a = on_host(lapack_matrices_of(c));
    return eigh(part == "U" || part == "u" ? adjoint(a) : a);
}
results linalg_eigh(call const& c) {
    like_operand const back(matrices_of(c));
    eigenvalues const e = eigh_of(c);
    bool const vectors = !is_private(c) || c.b("compute_v");
    return {back.real(e.values), vectors ? back(e.vectors) : back.none()};
}
results eigvalsh(call const& c) { return like_operand(matrices_of(c)).real(eigh_of(c).values); }
results linalg_eig(call const& c) {
    like_operand const back(matrices_of(c));
    eigenvalues const e = eig(matrices_of(c));
    return {back.complex(e.values), back.complex(e.vectors)};
}
results eigvals(call const& c) { return like_operand(matrices_of(c)).complex(eig(matrices_of(c)).values); }

results ldl_factored(call const& c) {
    tensor const a = matrices_of(c);
    if (c.b("hermitian") && is_complex(a.dtype())) throw error("complex Hermitian matrices are not supported");
    like_operand const back(a);
    lu_factors const f = ldl_factor(a);
    bool const gives_info = c.has_argument("check_errors");
    if (!gives_info || c.b("check_errors")) check_info(f.info, "a matrix is singular");
    std::vector<value> out = {back(lower_part(f.lu)), back.as_is(f.pivots)};
    if (gives_info) out.emplace_back(back.as_is(f.info));
    return out;
}
results solved_from_ldl(call const& c) {
    tensor const ld = c.t("LD");
    if (c.b("hermitian") && is_complex(ld.dtype())) throw error("complex Hermitian matrices are not supported");
    return like_operand(ld)(ldl_solve(on_host(ld), to_host(c.t("pivots")), on_host(c.t("B"))));
}

/// The least-squares solution of minimum norm. LAPACK's gelsy decides the rank by a pivoted QR decomposition: what it cuts at a given rcond
/// are not singular values, and depends on the pivots of the matrix before it.
results lstsq(call const& c) {
    tensor const a = matrices_of(c);
    tensor b = c.t("b");
    like_operand const back(a);
    std::string_view const driver = c.given("driver") ? c.text("driver") : "gelsy";
    if (driver == "gelsy" && c.given("rcond")) throw error("driver='gelsy' with rcond is not supported");
    bool const vectors = b.rank() + 1 == a.rank();
    if (vectors) b = b.unsqueezed(b.rank());
    std::int64_t const rows = a.size(a.rank() - 2);
    std::int64_t const columns = a.sizes().back();
    singular_values const f = svd(a, false);
    bool const has_values = f.s.sizes().back() != 0;
    bool const full_rank = driver == "gels";
    double const usual = to_host(tolerances_of(c, a).relative).item().to<double>();
    double const limit = full_rank ? 0 : c.given("rcond") ? c.f("rcond") : usual;
    tensor const counts = has_values ? greater(f.s, max(f.s, {-1}, true) * scalar(limit)) : cast(f.s, dtype::bool_);
    tensor const inverted = where(counts, 1.0 / f.s, scalar(0));
    tensor const weighted = matmul(adjoint(f.u), on_host(b)) * cast(inverted, f.u.dtype()).unsqueezed(inverted.rank());
    tensor const x = matmul(adjoint(f.vh), weighted);
    tensor const rank = sum(cast(counts, dtype::int64), {-1});
    tensor residuals = back.none(back.real_type());
    bool const all_full =
        full_rank || rank.count() == 0 || to_host(min(rank, all_axes(rank))).item().to<std::int64_t>() == columns;
    if (rows > columns && driver != "gelsy" && all_full) {
        tensor const rest = abs(on_host(b) - matmul(on_host(a), x));
        tensor const squares = sum(square(rest), {-2});
        residuals = back.real(full_rank && columns == 0 ? full(0, squares.dtype(), squares.sizes(), squares.where())
                                                        : squares); // as in ATen
    }
    bool const gives_values = driver == "gelss" || driver == "gelsd";
    return {back(vectors ? x.squeezed(x.rank() - 1) : x),
            residuals,
            full_rank ? back.none(dtype::int64) : back.as_is(rank),
            gives_values ? back.real(f.s) : back.none(back.real_type())};
}

results check_errors(call const& c) {
    check_info(c.t("info"), std::string(c.text("api_name")) + ": the decomposition of a matrix failed");
    return std::vector<value>{};
}

} // namespace

rows decompositions() {
    static constexpr row all[] = {
        {"linalg_lu", linalg_lu},
        {"linalg_lu_factor", lu_factored},
        {"linalg_lu_factor_ex", lu_factored},
        {"_lu_with_info", lu_factored},
        {"lu_unpack", lu_unpack},
        {"lu_solve", lu_solve},
        {"linalg_lu_solve", lu_solve},
        {"linalg_solve_triangular", solve_triangular},
        {"triangular_solve", triangular_solve},
        {"cholesky", cholesky_factored},
        {"linalg_cholesky", cholesky_factored},
        {"linalg_cholesky_ex", cholesky_factored},
        {"cholesky_solve", cholesky_solve},
        {"cholesky_inverse", cholesky_inverse},
        {"qr", qr},
        {"linalg_qr", qr},
        {"geqrf", geqrf},
        {"linalg_householder_product", householder_product},
        {"ormqr", ormqr},
        {"svd", svd_with_v},
        {"linalg_svd", linalg_svd},
        {"_linalg_svd", linalg_svd},
        {"linalg_svdvals", svdvals},
        {"linalg_eigh", linalg_eigh},
        {"_linalg_eigh", linalg_eigh},
        {"linalg_eigvalsh", eigvalsh},
        {"linalg_eig", linalg_eig},
        {"linalg_eigvals", eigvals},
        {"linalg_ldl_factor", ldl_factored},
        {"linalg_ldl_factor_ex", ldl_factored},
        {"linalg_ldl_solve", solved_from_ldl},
        {"linalg_lstsq", lstsq},
        {"_linalg_check_errors", check_errors},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
