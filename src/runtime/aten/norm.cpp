// SPDX-License-Identifier: MIT
// ATen operators: norms of vectors and matrices.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "runtime/compute/norms.hpp"
#include <aton/core/error.hpp>

#include "matrices.hpp"
#include "reducing.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// `self` in the requested dtype.
tensor floating_self(call const& c) {
    tensor const x = c.t("self");
    dtype const type = c.has_argument("dtype") ? c.type("dtype", x.dtype()) : x.dtype();
    if (!is_floating(type) && !is_complex(type)) throw error("a norm requires a floating-point dtype");
    if (is_complex(x.dtype()) && !is_complex(type)) throw error("a norm of complex numbers requires a complex dtype");
    return cast(x, type);
}

tensor norm_along(tensor const& x, double ord, axis_list const& axes, bool keep) {
    bool const is_empty = count_along(x, axes) == 0;
    if (is_empty && (ord < 0 || std::isinf(ord))) throw error("a norm of this order does not support empty axes");
    return norm(x, is_empty ? 1 : ord, axes, keep); // 0, as in ATen, where 0 to the power of 1 / ord need not be
}

results norm_of_vector(call const& c) {
    tensor const x = floating_self(c);
    return norm_along(x, c.f("ord"), axes_of(c, x), keeps(c));
}

results norm_of_all(call const& c) {
    tensor const x = floating_self(c);
    return norm_along(x, c.given("p") ? c.f("p") : 2, axes_of(c, x), keeps(c));
}

results frobenius(call const& c) {
    tensor const x = floating_self(c);
    return norm_along(x, 2, axes_of(c, x), keeps(c));
}

results distance(call const& c) {
    if (dtype const type = c.t("self").dtype(); !is_floating(type) && !is_complex(type))
        throw error("a norm requires a floating-point dtype");
    operand_pair const p = promoted_to_real(c);
    tensor const apart = p.x - p.y;
    return cast(norm_along(apart, c.f("p"), all_axes(apart), false), part_type(p.type));
}

/// The norm of a matrix in two axes, by another operator.
results norm_of_matrix(call const& c, tensor const& x, axis_list const& axes) {
    bool const named = c.argument("ord").kind == aten::argument_kind::text;
    std::vector<scalar> dim;
    for (std::int64_t const axis : axes) dim.emplace_back(axis);
    return c
        .run(named ? "aten::linalg_matrix_norm.str_ord" : "aten::linalg_matrix_norm",
             {aten_argument::of_tensor(x).named("self"),
              c.argument("ord"),
              aten_argument::of_numbers(std::move(dim)).named("dim"),
              c.argument("keepdim")})
        .results;
}

/// A vector or matrix norm, by the number of axes; without an order, over all elements.
results norm_of_either(call const& c) {
    tensor const x = floating_self(c);
    bool const named = c.argument("ord").kind == aten::argument_kind::text;
    axis_list const axes = axes_of(c, x);
    if (!c.given("ord")) return norm_along(x, 2, axes, keeps(c));
    if (axes.size() == 2) return norm_of_matrix(c, x, axes);
    if (axes.size() > 2 || named) throw error("a norm with an order is defined over 1 or 2 axes");
    return norm_along(x, c.f("ord"), axes, keeps(c));
}

/// Scales slices of an axis whose norm exceeds `maxnorm` down to it.
results renorm(call const& c) {
    term const x = c.t("self");
    if (x->rank() < 2) throw error("self must have at least 2 dimensions");
    auto const kept = static_cast<std::int64_t>(axis_at(c.i("dim"), x->rank()));
    axis_list axes = all_axes(*x);
    axes.erase(axes.begin() + kept);
    dtype const in = compute_type(x->dtype());
    double const max_norm = c.f("maxnorm");
    tensor const size = norm(cast(*x, in), c.f("p"), axes, true);
    constexpr double epsilon = 1e-7;
    tensor const factor = scalar(max_norm) / (size + scalar(epsilon));
    tensor const scaled = cast(*x, in) * where(greater(size, scalar(max_norm)), factor, scalar(1));
    return cast(scaled, x->dtype());
}

results matrix_norm(call const& c) {
    tensor x = c.t("self");
    if (dtype const type = c.type("dtype"); type != dtype::undefined) x = cast(x, type);
    std::vector<std::int64_t> const dims = c.ints("dim");
    if (dims.size() != 2) throw error("dim must have 2 elements");
    std::vector<std::size_t> const of = {axis_at(dims[0], x.rank()), axis_at(dims[1], x.rank())};
    if (of[0] == of[1]) throw error("both dimensions are the same");
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i != x.rank(); ++i)
        if (i != of[0] && i != of[1]) order.push_back(i);
    order.insert(order.end(), of.begin(), of.end());
    tensor const last = x.permuted(order);
    bool const named = c.argument("ord").kind == aten::argument_kind::text;
    tensor out = named ? *norm_of_matrices(last, c.text("ord")) : *norm_of_matrices(last, c.f("ord"));
    if (c.b("keepdim"))
        for (std::size_t const axis : {std::min(of[0], of[1]), std::max(of[0], of[1])}) out = out.unsqueezed(axis);
    return out;
}

} // namespace

rows norm() {
    static constexpr row all[] = {
        {"dist", distance},
        {"frobenius_norm.dim", frobenius},
        {"linalg_norm", norm_of_either},
        {"linalg_norm.ord_str", norm_of_either},
        {"linalg_vector_norm", norm_of_vector},
        {"norm.Scalar", norm_of_all},
        {"norm.ScalarOpt_dim", norm_of_all},
        {"norm.ScalarOpt_dim_dtype", norm_of_all},
        {"norm.ScalarOpt_dtype", norm_of_all},
        {"renorm", renorm},
        {"linalg_matrix_norm", matrix_norm},
        {"linalg_matrix_norm.str_ord", matrix_norm},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
