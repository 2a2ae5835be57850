// SPDX-License-Identifier: MIT
// Operators of prims: elementwise functions.
#include "elementwise.hpp"
#include "prims.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

template <fixed_string Aten>
results unary_prim(call const& c) {
    return run_aten(c, Aten.view(), {{"self", "self"}});
}

template <fixed_string Aten>
results binary_prim(call const& c) {
    require_alike(c, {"self", "other"});
    constexpr bool is_power = Aten.view().starts_with("aten::pow");
    return run_aten(c, Aten.view(), {{"self", "self"}, {"other", is_power ? "exponent" : "other"}});
}

results spherical_bessel(call const& c) { return run_aten(c, "aten::special_spherical_bessel_j0", {{"self", "x"}}); }

/// A number is converted to the dtype of the tensor.
template <fixed_string Aten>
results extreme_prim(call const& c) {
    require_alike(c, {"self", "other"});
    auto const is_number = [&](std::string_view name) { return c.argument(name).kind == aten::argument_kind::number; };
    auto const like = [&](std::string_view name, std::string_view other) {
        tensor const x = c.t(name);
        if (!is_number(name) || is_number(other)) return x;
        dtype const type = c.t(other).dtype();
        return constant(c, fitting(c.f(name), type), type);
    };
    return c
        .run(Aten.view(),
             {aten_argument::of_tensor(like("self", "other")).named("self"),
              aten_argument::of_tensor(like("other", "self")).named("other")})
        .results;
}

/// Truncates the quotient if the first operand is an integer, or a bool that is not a tensor.
results div_prim(call const& c) {
    require_alike(c, {"self", "other"});
    dtype const first = c.t("self").dtype();
    bool const is_number = c.argument("self").kind == aten::argument_kind::number;
    if (!is_integral(first) && !(is_number && first == dtype::bool_))
        return run_aten(c, "aten::div.Tensor", {{"self", "self"}, {"other", "other"}});
    return c
        .run("aten::div.Tensor_mode",
             {c.argument("self"), c.argument("other"), aten_argument::of_text("trunc").named("rounding_mode")})
        .results;
}

results cube_root(call const& c) {
    tensor const x = c.t("self");
    if (is_complex(x.dtype()) || x.dtype() == dtype::bool_) throw error("cbrt is a function of real numbers");
    auto const run = [&](std::string_view overload, std::vector<aten_argument> arguments) {
        return c.run(overload, std::move(arguments)).results[0].one();
    };
    tensor const magnitude = run("aten::abs", {aten_argument::of_tensor(x).named("self")});
    tensor const root =
        run("aten::pow.Tensor_Scalar",
            {aten_argument::of_tensor(magnitude).named("self"), aten_argument::of_number(1.0 / 3).named("exponent")});
    return run("aten::copysign.Tensor",
               {aten_argument::of_tensor(root).named("self"), aten_argument::of_tensor(x).named("other")});
}

results where_prim(call const& c) {
    require_alike(c, {"a", "b"});
    require_alike(c, {"pred", "a", "b"}, false);
    return run_aten(c, "aten::where.self", {{"pred", "condition"}, {"a", "self"}, {"b", "other"}});
}

} // namespace

rows prims_elementwise() {
    static constexpr row all[] = {
        {"prims::abs", unary_prim<"aten::abs">},
        {"prims::acos", unary_prim<"aten::acos">},
        {"prims::acosh", unary_prim<"aten::acosh">},
        {"prims::add", binary_prim<"aten::add.Tensor">},
        {"prims::asin", unary_prim<"aten::asin">},
        {"prims::asinh", unary_prim<"aten::asinh">},
        {"prims::atan", unary_prim<"aten::atan">},
        {"prims::atan2", binary_prim<"aten::atan2">},
        {"prims::atanh", unary_prim<"aten::atanh">},
        {"prims::bessel_i0", unary_prim<"aten::i0">},
        {"prims::bessel_i0e", unary_prim<"aten::special_i0e">},
        {"prims::bessel_i1", unary_prim<"aten::special_i1">},
        {"prims::bessel_i1e", unary_prim<"aten::special_i1e">},
        {"prims::bessel_j0", unary_prim<"aten::special_bessel_j0">},
        {"prims::bessel_j1", unary_prim<"aten::special_bessel_j1">},
        {"prims::bitwise_and", binary_prim<"aten::bitwise_and.Tensor">},
        {"prims::bitwise_not", unary_prim<"aten::bitwise_not">},
        {"prims::bitwise_or", binary_prim<"aten::bitwise_or.Tensor">},
        {"prims::bitwise_xor", binary_prim<"aten::bitwise_xor.Tensor">},
        {"prims::cbrt", cube_root},
        {"prims::ceil", unary_prim<"aten::ceil">},
        {"prims::cos", unary_prim<"aten::cos">},
        {"prims::cosh", unary_prim<"aten::cosh">},
        {"prims::digamma", unary_prim<"aten::digamma">},
        {"prims::div", div_prim},
        {"prims::eq", binary_prim<"aten::eq.Tensor">},
        {"prims::erf", unary_prim<"aten::erf">},
        {"prims::erf_inv", unary_prim<"aten::erfinv">},
        {"prims::erfc", unary_prim<"aten::erfc">},
        {"prims::erfcx", unary_prim<"aten::special_erfcx">},
        {"prims::exp", unary_prim<"aten::exp">},
        {"prims::exp2", unary_prim<"aten::exp2">},
        {"prims::expm1", unary_prim<"aten::expm1">},
        {"prims::floor", unary_prim<"aten::floor">},
        {"prims::fmax", binary_prim<"aten::fmax">},
        {"prims::fmin", binary_prim<"aten::fmin">},
        {"prims::fmod", binary_prim<"aten::fmod.Tensor">},
        {"prims::gcd", binary_prim<"aten::gcd">},
        {"prims::ge", binary_prim<"aten::ge.Tensor">},
        {"prims::gt", binary_prim<"aten::gt.Tensor">},
        {"prims::hypot", binary_prim<"aten::hypot">},
        {"prims::isfinite", unary_prim<"aten::isfinite">},
        {"prims::le", binary_prim<"aten::le.Tensor">},
        {"prims::lgamma", unary_prim<"aten::lgamma">},
        {"prims::log", unary_prim<"aten::log">},
        {"prims::log10", unary_prim<"aten::log10">},
        {"prims::log1p", unary_prim<"aten::log1p">},
        {"prims::log2", unary_prim<"aten::log2">},
        {"prims::lt", binary_prim<"aten::lt.Tensor">},
        {"prims::maximum", extreme_prim<"aten::maximum">},
        {"prims::minimum", extreme_prim<"aten::minimum">},
        {"prims::mul", binary_prim<"aten::mul.Tensor">},
        {"prims::ndtri", unary_prim<"aten::special_ndtri">},
        {"prims::ne", binary_prim<"aten::ne.Tensor">},
        {"prims::neg", unary_prim<"aten::neg">},
        {"prims::pow", binary_prim<"aten::pow.Tensor_Tensor">},
        {"prims::reciprocal", unary_prim<"aten::reciprocal">},
        {"prims::remainder", binary_prim<"aten::remainder.Tensor">},
        {"prims::round", unary_prim<"aten::round">},
        {"prims::rsqrt", unary_prim<"aten::rsqrt">},
        {"prims::shift_left", binary_prim<"aten::bitwise_left_shift.Tensor">},
        {"prims::shift_right_arithmetic", binary_prim<"aten::bitwise_right_shift.Tensor">},
        {"prims::sign", unary_prim<"aten::sign">},
        {"prims::signbit", unary_prim<"aten::signbit">},
        {"prims::sin", unary_prim<"aten::sin">},
        {"prims::sinh", unary_prim<"aten::sinh">},
        {"prims::spherical_bessel_j0", spherical_bessel},
        {"prims::sqrt", unary_prim<"aten::sqrt">},
        {"prims::sub", binary_prim<"aten::sub.Tensor">},
        {"prims::tan", unary_prim<"aten::tan">},
        {"prims::tanh", unary_prim<"aten::tanh">},
        {"prims::trunc", unary_prim<"aten::trunc">},
        {"prims::where", where_prim},
        {"prims::zeta", binary_prim<"aten::special_zeta">},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
