// SPDX-License-Identifier: MIT
// ATen operators: linear algebra. Decompositions run on the host, in float64; everything else runs on the device of the
// tensors.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "matrices.hpp"
#include "products.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

void require_lapack(tensor const& x) {
    if (x.dtype() != dtype::float32 && x.dtype() != dtype::float64 && !is_complex(x.dtype()))
        throw error("matrices of " + std::string(name(x.dtype())) + " are not supported");
}

void check_info(tensor const& info, std::string const& problem) {
    if (info.count() == 0) return;
    tensor const bad = unequal(info, 0);
    if (to_host(reduce(reduce_op::any, bad, all_axes(bad))).item() == scalar(true)) throw error(problem);
}

namespace {

void require_matrices(tensor const& x) {
    if (x.rank() < 2) throw error("a matrix must have at least 2 dimensions, not " + std::to_string(x.rank()));
}
void require_wide(tensor const& x) {
    if (is_floating(x.dtype()) && compute_type(x.dtype()) != x.dtype())
        throw error("matrices of " + std::string(name(x.dtype())) + " cannot be factored");
}
void require_square_matrices(tensor const& x) {
    require_matrices(x);
    if (x.size(x.rank() - 2) != x.size(x.rank() - 1))
        throw error("the matrices " + to_string(x.sizes()) + " are not square");
}

} // namespace

tensor identity(std::int64_t n, dtype type, device where) {
    tensor const at = range(n, 0, 1, where);
    return cast(equal(at.unsqueezed(1), at), type);
}

tensor solve_factored(tensor const& lu, tensor const& pivots, tensor const& b, bool is_adjoint) {
    if (!is_adjoint)
        return solve_triangle(lu, solve_triangle(lu, exchange_rows(b, pivots, false), false, true), true, false);
    tensor const turned = adjoint(cast(to_host(lu), widest(lu.dtype())));
    return exchange_rows(solve_triangle(turned, solve_triangle(turned, b, false, false), true, true), pivots, true);
}

solution solve(tensor const& a, tensor const& b) {
    require_square_matrices(a);
    require_matrices(b);
    if (a.dtype() != b.dtype()) throw error("the matrices must have the same dtype");
    lu_factors factors = lu_factor(a);
    tensor x = solve_factored(factors.lu, factors.pivots, b, false);
    return {std::move(x), std::move(factors)};
}

solution inverse_of(tensor const& a) {
    require_square_matrices(a);
    require_wide(a);
    return solve(a, identity(a.sizes().back(), a.dtype(), a.where()));
}

namespace {

results cross(call const& c) {
    tensor x = c.t("self");
    tensor y = c.t("other");
    if (x.rank() != y.rank()) throw error("both tensors must have the same number of dimensions");
    sizes const to = broadcast(x.sizes(), y.sizes());
    std::optional<std::int64_t> axis = c.maybe_i("dim");
    for (std::size_t i = 0; !axis && i != to.size(); ++i)
        if (to[i] == 3) axis = static_cast<std::int64_t>(i);
    if (!axis) throw error("no dimension has size 3");
    std::size_t const at = axis_at(*axis, to.size());
    if (to.empty() || x.size(at) != 3 || y.size(at) != 3) throw error("the dimension does not have size 3");
    x = x.expanded(to);
    y = y.expanded(to);
    auto const part = [&](tensor const& t, std::int64_t i) -> term { return t.sliced(at, i % 3, 1); };
    std::vector<tensor> parts;
    for (std::int64_t i = 0; i != 3; ++i)
        parts.push_back(*(part(x, i + 1) * part(y, i + 2) - part(x, i + 2) * part(y, i + 1)));
    return concat(parts, static_cast<std::int64_t>(at));
}

/// Powers 1, x, x^2, ... along a new last axis.
tensor powers(tensor const& x, std::int64_t count) {
    constexpr std::int64_t limit = std::int64_t{1} << 20;
    if (count < 0 || count > limit) throw error("N is " + std::to_string(count));
    dtype const type = is_integral(x.dtype()) || x.dtype() == dtype::bool_ ? dtype::int64 : x.dtype();
    tensor const base = cast(x, compute_type(type)).unsqueezed(x.rank());
    sizes to = base.sizes();
    std::vector<tensor> columns;
    for (std::int64_t i = 0; i != count; ++i)
        columns.push_back(i == 0 ? full(1, base.dtype(), to, x.where()) : columns.back() * base);
    to.back() = count;
    return cast(columns.empty() ? full(0, base.dtype(), to, x.where()) : concat(columns, -1), type);
}
results linalg_vander(call const& c) {
    tensor const x = c.t("x").rank() == 0 ? c.t("x").unsqueezed(0) : c.t("x");
    std::int64_t const count = c.maybe_i("N").value_or(x.sizes().back());
    if (count < 2) throw error("N must be at least 2");
    return powers(x, count);
}
results vander(call const& c) {
    tensor const x = c.t("x");
    require_rank(x, 1, "x");
    tensor const out = powers(x, c.maybe_i("N").value_or(x.size(0)));
    return c.b("increasing") ? out : contiguous(out.sliced(1, out.size(1) - 1, out.size(1), -1));
}

struct determinant {
    tensor sign;
    tensor logarithm; ///< of its magnitude
    tensor value;
    lu_factors factors; ///< of the transpose if ATen decomposes that
};
determinant determinant_of(tensor const& x) {
    require_square_matrices(x);
    require_wide(x);
    lu_factors const factors = lu_factor(is_complex(x.dtype()) ? x : transpose(x, -1, -2));
    tensor const diagonal = contiguous(diagonal_of(factors.lu));
    tensor const own = range(diagonal.sizes().back(), 1);
    tensor const exchanged = cast(unequal(cast(factors.pivots, dtype::int64), own), dtype::int64);
    tensor const odd = binary(binary_op::remainder, sum(exchanged, {-1}), 2);
    tensor const parity = cast(scalar(1) - odd * scalar(2), diagonal.dtype());
    auto const product_of = [&](tensor const& of) { // there is no product reduction of complex numbers
        tensor out = parity;
        for (std::int64_t i = 0; i != of.sizes().back(); ++i)
            out = out * of.sliced(of.rank() - 1, i, 1).squeezed(of.rank() - 1);
        return out;
    };
    tensor const size = abs(diagonal);
    tensor const unit = unary(unary_op::sign, diagonal);
    return {product_of(unit), sum(log(size), {-1}), product_of(diagonal), factors};
}

results det(call const& c) {
    tensor const x = c.t(c.has_argument("A") ? "A" : "self");
    return like_operand(x)(determinant_of(x).value);
}
results linalg_det_with_factors(call const& c) {
    like_operand const back(c.t("A"));
    determinant const d = determinant_of(c.t("A"));
    return {back(d.value), back(d.factors.lu), back.as_is(d.factors.pivots)};
}
results slogdet(call const& c) {
    tensor const x = c.t(c.has_argument("A") ? "A" : "self");
    like_operand const back(x);
    determinant const d = determinant_of(x);
    if (!c.overload().starts_with("aten::_")) return {back(d.sign), back.real(d.logarithm)};
    return {back(d.sign), back.real(d.logarithm), back(d.factors.lu), back.as_is(d.factors.pivots)};
}
results logdet(call const& c) {
    tensor const x = c.t("self");
    determinant const d = determinant_of(x);
    if (is_complex(x.dtype())) return like_operand(x)(log(d.sign) + cast(d.logarithm, d.sign.dtype()));
    return like_operand(x)(where(equal(d.sign, -1), scalar(std::numeric_limits<double>::quiet_NaN()), d.logarithm));
}

results inverse(call const& c) {
    tensor const x = c.t(c.has_argument("A") ? "A" : "self");
    solution const s = inverse_of(x);
    check_info(s.factors.info, "a matrix is singular");
    return like_operand(x)(s.x);
}
results inverse_ex(call const& c) {
    tensor const x = c.t("A");
    solution const s = inverse_of(x);
    if (c.b("check_errors")) check_info(s.factors.info, "a matrix is singular");
    return {like_operand(x)(s.x), like_operand(x).as_is(s.factors.info)};
}

/// Whether `b` has one vector per matrix.
bool is_vectors(tensor const& a, tensor const& b) {
    return b.rank() == 1 ||
           (b.rank() + 1 == a.rank() && std::equal(b.sizes().begin(), b.sizes().end(), a.sizes().begin()));
}

/// A X = B, or X A = B.
solution solve_from(call const& c) {
    tensor const a = c.t("A");
    tensor const b = c.t("B");
    require_square_matrices(a);
    bool const vectors = is_vectors(a, b);
    if (c.b("left")) {
        solution s = solve(a, vectors ? b.unsqueezed(b.rank()) : b);
        if (vectors) s.x = s.x.squeezed(s.x.rank() - 1);
        return s;
    }
    if (vectors) throw error("the right-hand side can only be a vector if left is true");
    if (a.dtype() != b.dtype()) throw error("the matrices must have the same dtype");
    lu_factors factors = lu_factor(a); // as in ATen, of A itself
    tensor const wide = cast(to_host(b), widest(b.dtype()));
    tensor x = adjoint(solve_factored(factors.lu, factors.pivots, adjoint(wide), true));
    return {std::move(x), std::move(factors)};
}
results linalg_solve(call const& c) {
    solution const s = solve_from(c);
    check_info(s.factors.info, "a matrix is singular");
    return like_operand(c.t("A"))(contiguous(s.x));
}
results linalg_solve_ex(call const& c) {
    solution const s = solve_from(c);
    if (c.b("check_errors")) check_info(s.factors.info, "a matrix is singular");
    like_operand const back(c.t("A"));
    tensor const x = back(contiguous(s.x));
    if (!c.overload().starts_with("aten::_")) return {x, back.as_is(s.factors.info)};
    return {x, back(s.factors.lu), back.as_is(s.factors.pivots), back.as_is(s.factors.info)};
}

results tensorinv(call const& c) {
    tensor const x = c.t("self");
    std::int64_t const ind = c.i("ind");
    if (ind < 1 || ind >= static_cast<std::int64_t>(x.rank())) throw error("ind is " + std::to_string(ind));
    sizes to(x.sizes().begin() + ind, x.sizes().end());
    std::int64_t const rows = count_of(std::span(x.sizes()).first(static_cast<std::size_t>(ind)));
    tensor const flat = reshape(x, {rows, count_of(to)});
    to.insert(to.end(), x.sizes().begin(), x.sizes().begin() + ind);
    solution const s = inverse_of(flat);
    check_info(s.factors.info, "the matrix is singular");
    return like_operand(x)(reshape(s.x, to));
}

results tensorsolve(call const& c) {
    tensor x = c.t("self");
    tensor const other = c.t("other");
    if (c.given("dims")) { // these are moved to the end
        std::vector<std::size_t> order;
        std::vector<std::size_t> last;
        for (std::int64_t const dim : c.ints("dims")) last.push_back(axis_at(dim, x.rank()));
        for (std::size_t i = 0; i != x.rank(); ++i)
            if (std::find(last.begin(), last.end(), i) == last.end()) order.push_back(i);
        order.insert(order.end(), last.begin(), last.end());
        if (order.size() != x.rank()) throw error("a dimension is given twice");
        x = x.permuted(order);
    }
    if (other.rank() > x.rank()) throw error("other has more dimensions than self");
    sizes const to(x.sizes().begin() + static_cast<std::ptrdiff_t>(other.rank()), x.sizes().end());
    std::int64_t const n = count_of(to);
    solution const s = solve(reshape(x, {other.count(), n}), reshape(other, {other.count(), 1}));
    check_info(s.factors.info, "the matrix is singular");
    return like_operand(x)(reshape(s.x, to));
}

/// By repeated squaring; a negative exponent uses the inverse.
results matrix_power(call const& c) {
    tensor const x = c.t("self");
    require_square_matrices(x);
    std::int64_t n = c.i("n");
    tensor base = x;
    if (n < 0) {
        solution const s = inverse_of(x);
        check_info(s.factors.info, "a matrix is singular");
        base = like_operand(x)(s.x);
    }
    tensor out;
    auto left = n < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
    for (; left != 0; left >>= 1U) {
        if ((left & 1U) != 0) out = out ? product(out, base) : base;
        if (left > 1) base = product(base, base);
    }
    return out ? out : contiguous(identity(x.sizes().back(), x.dtype(), x.where()).expanded(x.sizes()));
}

/// The Taylor series of each matrix, divided by a power of 2 until it converges fast, then squared as often. As in ATen, the result for a
/// matrix with an element that is not finite is NaN.
results matrix_exp(call const& c) {
    tensor const x = c.t("self");
    require_square_matrices(x);
    if (!is_floating(x.dtype()) && !is_complex(x.dtype())) throw error("self must be floating-point");
    if (x.count() == 0) return x;
    tensor const wide = cast(x, widest(x.dtype()));
    tensor const norm = max(sum(cast(abs(wide), dtype::float64), {-1}, true), {-2}, true);
    tensor const is_finite = less(norm, scalar(std::numeric_limits<double>::infinity()));
    tensor const exponent = ceil(log(norm) * scalar(1 / std::log(2.0))) + scalar(2);
    tensor const halvings = maximum(where(is_finite, exponent, scalar(0)), scalar(0));
    tensor const divisor = binary(binary_op::pow, tensor::of_scalar(2.0, dtype::float64), halvings);
    tensor const part = wide / cast(divisor, wide.dtype());
    tensor const one = identity(x.sizes().back(), part.dtype(), x.where());
    constexpr int terms = 16;
    tensor out = one.expanded(x.sizes());
    for (int k = terms; k != 0; --k) out = one + matmul(part, out) * scalar(1.0 / k);
    auto const most = static_cast<int>(to_host(max(halvings, all_axes(halvings))).item().to<double>());
    for (int i = 0; i < most; ++i) out = where(greater(halvings, scalar(i)), matmul(out, out), out);
    return cast(where(is_finite, out, scalar(std::numeric_limits<double>::quiet_NaN())), x.dtype());
}

} // namespace

rows linear_algebra() {
    static constexpr row all[] = {
        {"cross", cross},
        {"linalg_cross", cross},
        {"vander", vander},
        {"linalg_vander", linalg_vander},
        {"det", det},
        {"linalg_det", det},
        {"_linalg_det", linalg_det_with_factors},
        {"slogdet", slogdet},
        {"linalg_slogdet", slogdet},
        {"_linalg_slogdet", slogdet},
        {"logdet", logdet},
        {"inverse", inverse},
        {"linalg_inv", inverse},
        {"linalg_inv_ex", inverse_ex},
        {"linalg_solve", linalg_solve},
        {"linalg_solve_ex", linalg_solve_ex},
        {"_linalg_solve_ex", linalg_solve_ex},
        {"linalg_tensorinv", tensorinv},
        {"linalg_tensorsolve", tensorsolve},
        {"matrix_power", matrix_power},
        {"linalg_matrix_power", matrix_power},
        {"matrix_exp", matrix_exp},
        {"linalg_matrix_exp", matrix_exp},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
