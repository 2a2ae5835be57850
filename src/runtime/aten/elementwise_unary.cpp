// SPDX-License-Identifier: MIT
// ATen operators: functions of one number.
#include <cmath>
#include <numbers>

#include <aton/core/error.hpp>

#include "elementwise.hpp"
#include "runtime/compute/complex.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

tensor no_bool(call const& c) {
    tensor const x = c.t("self");
    if (x.dtype() == dtype::bool_) throw error("this function does not support bool");
    return x;
}

results negative(call const& c) { return -no_bool(c); }
results positive(call const& c) { return no_bool(c); }

/// Bools become integers, as with pow.
results squared(call const& c) {
    tensor const x = c.t("self");
    return square(x.dtype() == dtype::bool_ ? cast(x, dtype::int64) : x);
}

results has_sign_bit(call const& c) {
    tensor const x = c.t("self");
    if (!is_floating(x.dtype())) return less(cast(x, x.dtype() == dtype::bool_ ? dtype::uint8 : x.dtype()), 0);
    return less(binary(binary_op::copysign, scalar(1), x), 0);
}

results round_to_decimals(call const& c) {
    tensor const x = c.t("self");
    std::int64_t const decimals = c.i("decimals");
    if (!is_floating(x.dtype())) return x;
    if (decimals == 0) return round(x);
    scalar const power(std::pow(10.0, std::abs(static_cast<double>(decimals))));
    return computed_in(x.dtype(), x, [&](tensor const& v) {
        return decimals < 0 ? round(v / power) * power : round(v * power) / power;
    });
}

results fraction(call const& c) {
    tensor const x = c.t("self");
    if (!is_floating(x.dtype())) throw error("frac requires a floating-point dtype");
    return x - trunc(x);
}

results cardinal_sine(call const& c) {
    tensor const x = c.t("self");
    return computed_in(to_real(x.dtype()), x, [](tensor const& v) {
        tensor const angle = v * scalar(std::numbers::pi);
        return where(equal(v, 0), scalar(1), sin(angle) / angle);
    });
}

results scaled(call const& c, double factor) {
    tensor const x = c.t("self");
    return computed_in(to_real(x.dtype()), x, [&](tensor const& v) { return v * scalar(factor); });
}
results degrees_to_radians(call const& c) { return scaled(c, std::numbers::pi / 180); }
results radians_to_degrees(call const& c) { return scaled(c, 180 / std::numbers::pi); }

results angle(call const& c) {
    tensor const x = c.t("self");
    if (is_complex(x.dtype())) return binary(binary_op::atan2, imaginary_part(x), real_part(x));
    tensor const v = cast(x, to_real(x.dtype()));
    return where(isnan(v), v, where(less(v, 0), scalar(std::numbers::pi), full_like(v, 0)));
}

/// Rounded after each step, as in ATen.
results logit(call const& c) {
    tensor x = c.t("self");
    x = cast(x, to_real(x.dtype()));
    if (c.given("eps") && c.f("eps") >= 0) { // the lower bound is applied first
        scalar const low = c.f("eps");
        x = where(
            less(x, low), cast(full(low, x.dtype(), {}, x.where()), x.dtype()), clamp(x, -infinity, 1 - c.f("eps")));
    }
    return log(x / (scalar(1) - x));
}

/// -x log(x); 0 for 0, -infinity for negative numbers.
results entropy(call const& c) {
    tensor const x = c.t("self");
    return computed_in(to_real(x.dtype()), x, [](tensor const& v) {
        tensor const inner = where(greater(v, 0), -v * log(v), scalar(-infinity));
        return where(isnan(v), v, where(equal(v, 0), scalar(0), inner));
    });
}

template <bool Negative, bool Positive>
results is_infinite(call const& c) {
    tensor const x = c.t("self");
    if (is_complex(x.dtype()) && !(Negative && Positive)) throw error("complex numbers cannot be ordered");
    return unary(unary_op::isinf, x, {Negative ? 1.0 : 0.0, Positive ? 1.0 : 0.0, 0});
}

results is_real_number(call const& c) {
    tensor const x = c.t("self");
    if (is_complex(x.dtype())) return equal(imaginary_part(x), 0);
    return full(true, dtype::bool_, x.sizes(), x.where());
}

tensor with_numbers(tensor const& x, scalar const& nan, scalar const& positive, scalar const& negative) {
    tensor const finite = where(isnan(x), nan, x);
    tensor const below = where(unary(unary_op::isinf, x, {0, 1, 0}), positive, finite);
    return where(unary(unary_op::isinf, x, {1, 0, 0}), negative, below);
}

results nan_to_num(call const& c) {
    tensor const x = c.t("self");
    if (!is_floating(x.dtype()) && !is_complex(x.dtype())) return x;
    auto const number = [&](std::string_view name, double otherwise) {
        return scalar(c.given(name) ? c.f(name) : otherwise);
    };
    double const largest = largest_number(x.dtype());
    auto const replaced = [&](tensor const& v) {
        return with_numbers(v, number("nan", 0), number("posinf", largest), number("neginf", -largest));
    };
    if (is_complex(x.dtype())) return complex_of(replaced(real_part(x)), replaced(imaginary_part(x)));
    return replaced(x);
}

/// x = mantissa * 2^exponent
results mantissa_and_exponent(call const& c) {
    tensor const x = c.t("self");
    if (!is_floating(x.dtype())) throw error("frexp requires a floating-point dtype");
    return {unary(unary_op::mantissa, x), cast(unary(unary_op::exponent, x), dtype::int32)};
}

} // namespace

rows elementwise_unary() {
    using enum unary_op;
    static constexpr row all[] = {
        {"_neg_view", negative},
        {"_neg_view_copy", negative},
        {"abs", same_type<abs>},
        {"absolute", same_type<abs>},
        {"acos", real_function<acos>},
        {"acosh", real_function<acosh>},
        {"angle", angle},
        {"arccos", real_function<acos>},
        {"arccosh", real_function<acosh>},
        {"arcsin", real_function<asin>},
        {"arcsinh", real_function<asinh>},
        {"arctan", real_function<atan>},
        {"arctanh", real_function<atanh>},
        {"asin", real_function<asin>},
        {"asinh", real_function<asinh>},
        {"atan", real_function<atan>},
        {"atanh", real_function<atanh>},
        {"bitwise_not", same_type<bitwise_not>},
        {"ceil", same_type<ceil>},
        {"cos", real_function<cos>},
        {"cosh", real_function<cosh>},
        {"deg2rad", degrees_to_radians},
        {"erf", real_function<erf>},
        {"exp", real_function<exp>},
        {"exp2", real_function<exp2>},
        {"expm1", real_function<expm1>},
        {"fix", same_type<trunc>},
        {"floor", same_type<floor>},
        {"frac", fraction},
        {"frexp.Tensor", mantissa_and_exponent},
        {"isfinite", same_type<isfinite>},
        {"isinf", is_infinite<true, true>},
        {"isnan", same_type<isnan>},
        {"isneginf", is_infinite<true, false>},
        {"isposinf", is_infinite<false, true>},
        {"isreal", is_real_number},
        {"log", real_function<log>},
        {"log10", real_function<log10>},
        {"log1p", real_function<log1p>},
        {"log2", real_function<log2>},
        {"logical_not", same_type<logical_not>},
        {"logit", logit},
        {"nan_to_num", nan_to_num},
        {"neg", negative},
        {"negative", negative},
        {"positive", positive},
        {"rad2deg", radians_to_degrees},
        {"reciprocal", real_function<reciprocal>},
        {"round", same_type<round>},
        {"round.decimals", round_to_decimals},
        {"rsqrt", real_function<rsqrt>},
        {"sgn", same_type<sign>},
        {"sigmoid", real_function<sigmoid>},
        {"sign", same_type<sign>},
        {"signbit", has_sign_bit},
        {"sin", real_function<sin>},
        {"sinc", cardinal_sine},
        {"sinh", real_function<sinh>},
        {"special_entr", entropy},
        {"special_erf", real_function<erf>},
        {"special_exp2", real_function<exp2>},
        {"special_expit", real_function<sigmoid>},
        {"special_expm1", real_function<expm1>},
        {"special_log1p", real_function<log1p>},
        {"special_logit", logit},
        {"special_round", round_to_decimals},
        {"special_sinc", cardinal_sine},
        {"sqrt", real_function<sqrt>},
        {"square", squared},
        {"tan", real_function<tan>},
        {"tanh", real_function<tanh>},
        {"trunc", same_type<trunc>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
