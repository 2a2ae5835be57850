// SPDX-License-Identifier: MIT
// ATen operators based on singular values: condition numbers, ranks, pseudoinverses.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compute/norms.hpp"

#include "matrices.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// The maximum or the minimum of the last axis, by the sign of the order.
tensor outermost(tensor const& sizes, double order) {
    if (sizes.sizes().back() != 0) return reduce(order > 0 ? reduce_op::max : reduce_op::min, sizes, {-1});
    if (order < 0) throw error("a matrix without rows or columns has no minimum");
    return sum(sizes, {-1}); // 0
}

} // namespace

/// The norm of matrices in the last two axes.
term norm_of_matrices(tensor const& x, std::string_view name) {
    if (name == "fro") return norm(x, 2, {-2, -1});
    if (name != "nuc") throw error("unknown norm '" + std::string(name) + "'");
    return like_operand(x).real(sum(svd(x, false).s, {-1}));
}

term norm_of_matrices(tensor const& x, double order) {
    double const size = std::abs(order);
    if (size == 2) return like_operand(x).real(outermost(svd(x, false).s, order));
    if (size != 1 && !std::isinf(size)) throw error("unsupported matrix norm");
    return outermost(norm(x, 1, {size == 1 ? -2 : -1}), order);
}

namespace {

results linalg_cond(call const& c) {
    tensor const x = c.t("self");
    if (x.rank() < 2) throw error("a matrix must have at least 2 dimensions");
    require_lapack(x);
    bool const named = c.argument("p").kind == aten::argument_kind::text;
    double const order = named ? 0 : c.maybe_f("p").value_or(2);
    bool const by_singular_values = !named && std::abs(order) == 2;
    if (x.count() == 0 && (by_singular_values || x.size(x.rank() - 2) == x.sizes().back()))
        return like_operand(x).real(full(0, dtype::float64, sizes(x.sizes().begin(), x.sizes().end() - 2)));
    if (by_singular_values) {
        tensor const s = svd(x, false).s;
        tensor const highest = max(s, {-1});
        tensor const lowest = min(s, {-1});
        return like_operand(x).real(order > 0 ? highest / lowest : lowest / highest);
    }
    solution const s = inverse_of(x);
    tensor const turned = like_operand(x)(s.x);
    auto const norm = [&](tensor const& of) {
        return named ? norm_of_matrices(of, c.text("p")) : norm_of_matrices(of, order);
    };
    tensor const out = *(norm(x) * norm(turned));
    tensor const singular = unequal(to_device(s.factors.info, x.where()), 0);
    return where(singular, scalar(std::numeric_limits<double>::infinity()), out);
}

/// The singular values of a Hermitian matrix are the magnitudes of its eigenvalues.
struct spectrum {
    tensor left; ///< A = left diag(values) right
    tensor values;
    tensor right;
};
spectrum spectrum_of(tensor const& x, bool hermitian) {
    if (!hermitian) {
        singular_values const s = svd(x, false);
        return {s.u, s.s, s.vh};
    }
    eigenvalues const e = eigh(x);
    return {e.vectors, e.values, adjoint(e.vectors)};
}

/// Which singular values exceed the tolerance.
tensor counted(call const& c, tensor const& x, tensor const& s) {
    tolerances const t = tolerances_of(c, x);
    if (s.sizes().back() == 0) return cast(s, dtype::bool_);
    tensor const highest = max(s, {-1}, true);
    tensor const relative = t.relative.unsqueezed(t.relative.rank()) * highest;
    return greater(s, maximum(t.absolute.unsqueezed(t.absolute.rank()), relative));
}

results matrix_rank(call const& c) {
    tensor const x = c.t(c.has_argument("self") ? "self" : "input");
    if (x.rank() < 2) throw error("a matrix must have at least 2 dimensions");
    tensor const s = abs(spectrum_of(x, c.b("hermitian")).values);
    return like_operand(x).as_is(sum(cast(counted(c, x, s), dtype::int64), {-1}));
}

results pinverse(call const& c) {
    tensor const x = c.t("self");
    if (x.rank() < 2) throw error("a matrix must have at least 2 dimensions");
    like_operand const back(x);
    if (x.count() == 0) {
        sizes to = x.sizes();
        std::swap(to[to.size() - 1], to[to.size() - 2]);
        return tensor::empty(x.dtype(), to, kernels_of(x.where()).memory());
    }
    spectrum const s = spectrum_of(x, c.has_argument("hermitian") && c.b("hermitian"));
    tensor const inverted = where(counted(c, x, abs(s.values)), 1.0 / s.values, scalar(0));
    return back(
        matmul(adjoint(s.right) * cast(inverted, s.right.dtype()).unsqueezed(inverted.rank() - 1), adjoint(s.left)));
}

} // namespace

tolerances tolerances_of(call const& c, tensor const& x) {
    auto const number = [](double n) { return tensor::of_scalar(n, dtype::float64); };
    auto const given = [&](std::string_view name) { // a number or a tensor
        if (!c.has_argument(name) || !c.given(name)) return tensor();
        return cast(to_host(c.t(name)), dtype::float64);
    };
    for (std::string_view const name : {"tol", "rcond"})
        if (tensor const t = given(name)) return name == "tol" ? tolerances{t, number(0)} : tolerances{number(0), t};
    bool const wide = x.dtype() == dtype::float64 || x.dtype() == dtype::complex128;
    double const epsilon =
        wide ? std::numeric_limits<double>::epsilon() : static_cast<double>(std::numeric_limits<float>::epsilon());
    double const usual = epsilon * static_cast<double>(std::max(x.size(x.rank() - 2), x.size(x.rank() - 1)));
    tensor absolute = given("atol");
    tensor relative = given("rtol");
    if (!relative)
        relative = absolute ? where(greater(absolute, 0), scalar(0), full(usual, dtype::float64, absolute.sizes()))
                            : number(usual);
    if (!absolute) absolute = number(0);
    return {absolute, relative};
}

rows spectra() {
    static constexpr row all[] = {
        {"linalg_cond", linalg_cond},
        {"linalg_cond.p_str", linalg_cond},
        {"linalg_matrix_rank", matrix_rank},
        {"linalg_matrix_rank.tol_tensor", matrix_rank},
        {"linalg_matrix_rank.atol_rtol_float", matrix_rank},
        {"linalg_matrix_rank.atol_rtol_tensor", matrix_rank},
        {"pinverse", pinverse},
        {"linalg_pinv", pinverse},
        {"linalg_pinv.rcond_tensor", pinverse},
        {"linalg_pinv.atol_rtol_float", pinverse},
        {"linalg_pinv.atol_rtol_tensor", pinverse},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
