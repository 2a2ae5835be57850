// SPDX-License-Identifier: MIT
// ATen operators: norms of vectors and matrices.
#include <cmath>
#include <utility>
#include <vector>

#include "runtime/compute/norms.hpp"
#include <aton/core/error.hpp>

#include "reducing.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

dtype real_of(dtype t) { return t == dtype::complex64 ? dtype::float32 : t == dtype::complex128 ? dtype::float64 : t; }

/// `self` in the dtype that is asked for.
tensor floating_self(call const& c) {
    tensor const x = c.t("self");
    dtype const type = c.has_argument("dtype") ? c.type("dtype", x.dtype()) : x.dtype();
    if (!is_floating(type) && !is_complex(type)) throw error("a norm is one of floating types");
    if (is_complex(x.dtype()) && !is_complex(type)) throw error("a norm of complex numbers takes a complex dtype");
    return cast(x, type);
}

tensor norm_along(tensor const& x, double ord, axis_list const& axes, bool keep) {
    if (std::isinf(ord) && count_along(x, axes) == 0) throw error("no elements have no largest or smallest one");
    return norm(x, ord, axes, keep);
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
        throw error("a norm is one of floating types");
    operand_pair const p = promoted_to_real(c);
    tensor const apart = p.x - p.y;
    return cast(norm(apart, c.f("p"), all_axes(apart)), real_of(p.type));
}

/// The norm of a matrix in two axes: another operator's.
results norm_of_matrix(call const& c, tensor const& x, axis_list const& axes) {
    std::vector<aten_argument> arguments(4);
    arguments[0].name = "self";
    arguments[0].is = aten_argument::kind::tensor;
    arguments[0].tensor = x;
    arguments[1] = c.argument("ord");
    arguments[2].name = "dim";
    arguments[2].is = aten_argument::kind::numbers;
    for (std::int64_t const axis : axes) arguments[2].numbers.emplace_back(axis);
    arguments[3] = c.argument("keepdim");
    bool const named = arguments[1].is == aten_argument::kind::text;
    return c.run(named ? "aten::linalg_matrix_norm.str_ord" : "aten::linalg_matrix_norm", std::move(arguments)).results;
}

/// Of a vector or a matrix, by the number of axes; without an order of all elements.
results norm_of_either(call const& c) {
    tensor const x = floating_self(c);
    bool const named = c.argument("ord").is == aten_argument::kind::text;
    axis_list const axes = axes_of(c, x);
    if (!c.given("ord")) return norm_along(x, 2, axes, keeps(c));
    if (axes.size() == 2) return norm_of_matrix(c, x, axes);
    if (axes.size() > 2 || named) throw error("a norm of an order is one of 1 or 2 axes");
    return norm_along(x, c.f("ord"), axes, keeps(c));
}

} // namespace

rows norms() {
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
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
