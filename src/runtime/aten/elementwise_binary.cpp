// SPDX-License-Identifier: MIT
// ATen operators: arithmetic of two or more numbers.
#include <string>
#include <string_view>

#include <aton/aten/promotion.hpp>
#include <aton/core/error.hpp>

#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

void require_no_zero(tensor const& divisor) {
    if (!is_integral(divisor.dtype()) || divisor.count() == 0) return;
    if (to_host(reduce(reduce_op::any, equal(divisor, 0), all_axes(divisor))).item().to<bool>())
        throw error("integer division by zero");
}

namespace {

bool is_one(scalar const& s) { return s == scalar(1); }

/// `y` times the argument, in the dtype of `y`.
tensor times_argument(call const& c, tensor const& y, std::string_view factor) {
    scalar const number = c.number(factor);
    return is_one(number) ? y : y * number;
}

/// Integer dtypes require integer factors, and bool requires a bool.
void require_factor(dtype type, scalar const& factor) {
    bool const fits = factor.is_bool() || is_complex(type) || (factor.is_integral() && type != dtype::bool_) ||
                      (factor.is_floating() && is_floating(type)) || is_one(factor);
    if (!fits) throw error("the factor is out of range for " + std::string(name(type)));
}

void require_no_bool(operand_pair const& p) {
    if (p.type == dtype::bool_) throw error("subtraction does not support bool");
}

results add_scaled(call const& c) {
    operand_pair const p = promoted(c);
    require_factor(p.type, c.number("alpha"));
    return p.finish(p.x + times_argument(c, p.y, "alpha"));
}
results subtract_scaled(call const& c) {
    operand_pair const p = promoted(c);
    require_no_bool(p);
    require_factor(p.type, c.number("alpha"));
    return p.finish(p.x - times_argument(c, p.y, "alpha"));
}
results subtract_from(call const& c) {
    operand_pair const p = promoted(c);
    require_no_bool(p);
    require_factor(p.type, c.number("alpha"));
    return p.finish(p.y - times_argument(c, p.x, "alpha"));
}

/// A quotient or remainder that is refused for integers divided by 0. Of a remainder, a number is rounded to the dtype first.
template <binary_op Op>
results whole(call const& c) {
    bool const is_remainder = Op == binary_op::remainder || Op == binary_op::fmod;
    operand_pair const p = is_remainder ? promoted(c) : promoted_factors(c);
    require_no_zero(p.y);
    return p.finish(binary(Op, p.x, p.y));
}

results multiplied(call const& c) {
    operand_pair const p = promoted_factors(c);
    return p.finish(binary(binary_op::mul, p.x, p.y));
}

results divided(call const& c) {
    std::string_view const mode =
        c.has_argument("rounding_mode") && c.given("rounding_mode") ? c.text("rounding_mode") : std::string_view();
    if (mode == "floor") return whole<binary_op::floor_div>(c);
    if (!mode.empty() && mode != "trunc") throw error("rounding_mode is '" + std::string(mode) + "'");
    if (mode.empty()) {
        operand_pair const p = promoted_real_factors(c);
        return p.finish(p.x / p.y);
    }
    operand_pair const p = promoted_factors(c);
    require_no_zero(p.y);
    tensor const quotient = p.x / p.y;
    return p.finish(
        trunc(p.y.rank() == 0 ? quotient : p.finish(quotient))); // the quotient of two tensors is rounded first
}

/// Some exponents that are Python numbers are special cases: everything to the power 0 is 1, complex numbers too, and
/// two powers are roots, except for float16. Of complex numbers, some powers are products and quotients.
tensor raised(call const& c, tensor const& x, tensor const& y) {
    aten_argument const& exponent = c.argument("exponent");
    aten_argument const& base = c.argument("self");
    if (is_complex(y.dtype()) && base.kind == aten::argument_kind::number && base.number == scalar(1))
        return full(1, y.dtype(), y.sizes(), y.where());
    if (exponent.kind != aten::argument_kind::number) return pow(x, y);
    if (exponent.number == scalar(0)) return full(1, x.dtype(), x.sizes(), x.where());
    bool const has_roots =
        is_floating(x.dtype()) && (c.t("self").dtype() != dtype::float16 || x.dtype() == dtype::float64);
    if (has_roots && exponent.number == scalar(0.5)) return sqrt(x);
    if (has_roots && exponent.number == scalar(-0.5)) return scalar(1) / sqrt(x);
    if (is_complex(x.dtype())) {
        if (exponent.number == scalar(2)) return x * x;
        if (exponent.number == scalar(3)) return x * x * x;
        if (exponent.number == scalar(-1)) return scalar(1) / x;
        if (exponent.number == scalar(-2)) return scalar(1) / (x * x);
        if (exponent.number == scalar(0.5)) return sqrt(x);
        if (exponent.number == scalar(-0.5)) return scalar(1) / sqrt(x);
    }
    return pow(x, y);
}

/// Integers to a negative Python number are refused; to negative elements of a tensor they are 0, 1 or -1.
results power(call const& c) {
    operand_pair const p = promoted_factors(c, "self", "exponent");
    if (p.type == dtype::bool_) throw error("pow does not support bool");
    aten_argument const& exponent = c.argument("exponent");
    if (is_integral(p.type) && exponent.kind == aten::argument_kind::number && exponent.number.to<double>() < 0)
        throw error("an integer cannot be raised to a negative power");
    if (exponent.kind == aten::argument_kind::number && exponent.number == scalar(1)) return p.finish(p.x);
    return p.finish(raised(c, p.x, p.y));
}

/// Computed in float64 or complex128.
results power_in_double(call const& c) {
    bool const complex = is_complex(result_type(c, {"self", "exponent"}));
    dtype const type = complex ? dtype::complex128 : dtype::float64;
    return raised(c, operand(c, "self", type), operand(c, "exponent", type));
}

/// If one operand is NaN, the other one.
template <binary_op Op>
results ignoring_nan(call const& c) {
    operand_pair const p = promoted(c);
    if (!is_floating(p.x.dtype())) return p.finish(binary(Op, p.x, p.y));
    return p.finish(where(isnan(p.x), p.y, where(isnan(p.y), p.x, binary(Op, p.x, p.y))));
}

results step(call const& c) {
    operand_pair const p = promoted(c, "self", "values");
    tensor const above = cast(greater(p.x, 0), p.x.dtype());
    return p.finish(where(equal(p.x, 0), p.y, above));
}

/// Interpolates from the nearer end. The weight must have the dtype of the ends unless it is a number or a 0-d tensor.
results interpolated(call const& c) {
    bool const weight_is_tensor = c.argument("weight").kind == aten::argument_kind::tensor;
    if (weight_is_tensor && c.t("weight").rank() > 0 && c.t("weight").dtype() != c.t("self").dtype())
        throw error("the dtype of weight does not match that of self and end");
    dtype const type = weight_is_tensor ? result_type(c, {"self", "end", "weight"}) : result_type(c, {"self", "end"});
    if (is_integral(type) || type == dtype::bool_) throw error("lerp requires a floating-point or complex dtype");
    tensor const x = operand(c, "self", compute_type(type));
    tensor const y = operand(c, "end", compute_type(type));
    tensor const w = operand(c, "weight", compute_type(type));
    tensor const across = y - x;
    tensor const near = less(abs(w), 0.5);
    return cast(where(near, x + w * across, y - across * (scalar(1) - w)), type);
}

/// self + value * tensor1 * tensor2, or / tensor2.
template <binary_op Op>
results add_combined(call const& c) {
    dtype const type = result_type(c, {"self", "tensor1", "tensor2"});
    if (Op == binary_op::div && !is_floating(type) && !is_complex(type))
        throw error("this function does not support integers");
    if (type == dtype::bool_) throw error("this function does not support bool");
    dtype const in = compute_type(type);
    require_factor(type, c.number("value"));
    tensor const x = times_argument(c, operand(c, "tensor1", in), "value");
    return cast(operand(c, "self", in) + binary(Op, x, operand(c, "tensor2", in)), type);
}

/// self * 2^other. For integer exponents the power itself may overflow, so it is applied in three parts.
results scaled_by_power(call const& c) {
    tensor const exponent = c.t("other");
    if (is_floating(c.t("self").dtype()) && is_integral(exponent.dtype())) {
        constexpr double limit = 2100; // from the smallest subnormal to infinity
        tensor const n = cast(clamp(cast(exponent, dtype::int32), -limit, limit), dtype::float64);
        tensor const third = trunc(n / scalar(3.0));
        tensor const factor = pow(full(2, dtype::float64, {}, n.where()), third);
        tensor const rest = pow(full(2, dtype::float64, {}, n.where()), n - third * scalar(2.0));
        return cast(cast(c.t("self"), dtype::float64) * factor * factor * rest, c.t("self").dtype());
    }
    dtype const power_type = to_real(exponent.dtype());
    tensor const power = cast(binary(binary_op::pow, scalar(2), cast(exponent, compute_type(power_type))), power_type);
    aton::aten::promotion types;
    types.add_tensor(c.t("self").dtype(), c.t("self").rank() != 0);
    types.add_tensor(power_type, exponent.rank() != 0);
    dtype const type = types.result();
    return cast(cast(c.t("self"), compute_type(type)) * cast(power, compute_type(type)), type);
}

} // namespace

rows elementwise_binary() {
    using enum binary_op;
    static constexpr row all[] = {
        {"add.Scalar", add_scaled},
        {"add.Tensor", add_scaled},
        {"addcdiv", add_combined<div>},
        {"addcmul", add_combined<mul>},
        {"div.Scalar", divided},
        {"div.Scalar_mode", divided},
        {"div.Tensor", divided},
        {"div.Tensor_mode", divided},
        {"divide.Scalar", divided},
        {"divide.Scalar_mode", divided},
        {"divide.Tensor", divided},
        {"divide.Tensor_mode", divided},
        {"float_power.Scalar", power_in_double},
        {"float_power.Tensor_Scalar", power_in_double},
        {"float_power.Tensor_Tensor", power_in_double},
        {"floor_divide", whole<floor_div>},
        {"floor_divide.Scalar", whole<floor_div>},
        {"fmax", ignoring_nan<binary_op::maximum>},
        {"fmin", ignoring_nan<binary_op::minimum>},
        {"fmod.Scalar", whole<fmod>},
        {"fmod.Tensor", whole<fmod>},
        {"heaviside", step},
        {"ldexp.Tensor", scaled_by_power},
        {"lerp.Scalar", interpolated},
        {"lerp.Tensor", interpolated},
        {"max.other", common_type<binary_op::maximum>},
        {"maximum", common_type<binary_op::maximum>},
        {"min.other", common_type<binary_op::minimum>},
        {"minimum", common_type<binary_op::minimum>},
        {"mul.Scalar", multiplied},
        {"mul.Tensor", multiplied},
        {"multiply.Scalar", multiplied},
        {"multiply.Tensor", multiplied},
        {"pow.Scalar", power},
        {"pow.Tensor_Scalar", power},
        {"pow.Tensor_Tensor", power},
        {"remainder.Scalar", whole<remainder>},
        {"remainder.Scalar_Tensor", whole<remainder>},
        {"remainder.Tensor", whole<remainder>},
        {"rsub.Scalar", subtract_from},
        {"rsub.Tensor", subtract_from},
        {"sub.Scalar", subtract_scaled},
        {"sub.Tensor", subtract_scaled},
        {"subtract.Scalar", subtract_scaled},
        {"subtract.Tensor", subtract_scaled},
        {"true_divide.Scalar", divided},
        {"true_divide.Tensor", divided},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
