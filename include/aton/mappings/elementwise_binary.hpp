// SPDX-License-Identifier: MIT
// Arithmetic on two tensors, or a tensor and a number: aten's add, div, pow, maximum, lerp ..., with ATen's type promotion.
// Public header.
#pragma once

#include <cmath>
#include <string_view>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/complex_functions.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The dtype in which a + alpha * b is computed, such that half-precision dtypes are rounded once.
inline dtype sum_type(dtype t, number const& alpha) { return alpha == 1 ? arithmetic_type(t) : computing_type(t); }

inline value scaled(graph<7> g, value x, number factor) {
    if (factor == 1) return x;
    return g.op<"Mul">(x, factor);
}

} // namespace detail

inline value add(graph<7> g, value a, value b, number alpha = 1) {
    dtype const type = promote(a, b);
    auto [x, y, wide] = detail::cast_rounded(g, a, b, type, detail::sum_type(type, alpha));
    if (type == dtype::bool_) {
        bool const counts = alpha.is_constant() && alpha.constant<bool>();
        return g.op<"Or">(x, counts ? y : g.op<"And">(y, element(g, alpha, type)));
    }
    return g.cast(g.op<"Add">(x, detail::scaled(g, y, alpha)), type);
}

inline value subtract(graph<7> g, value a, value b, number alpha = 1) {
    dtype const type = promote(a, b);
    auto [x, y, wide] = detail::cast_rounded(g, a, b, type, detail::sum_type(type, alpha));
    return g.cast(g.op<"Sub">(x, detail::scaled(g, y, alpha)), type);
}

inline value multiply(graph<7> g, value a, value b) {
    dtype const type = promote(a, b);
    auto const [x, y, wide] = detail::cast_factors(g, a, b, type);
    if (type == dtype::bool_) return g.op<"And">(x, y);
    return g.cast(g.op<"Mul">(x, y), type);
}

/// True division; integers and bools are converted to floats.
inline value divide(graph<7> g, value a, value b) {
    dtype const type = to_floating(promote(a, b));
    auto const [x, y, wide] = detail::cast_factors(g, a, b, type);
    return g.cast(g.op<"Div">(x, y), type);
}

namespace detail {

/// Whether x is not 0 and its sign differs from that of y. Does not multiply x by y, which could underflow.
inline value signs_differ(graph<9> g, value x, value y) {
    if (auto const n = known_number(y)) return *n < 0 ? is_greater(g, x, 0) : is_less(g, x, 0);
    return is_less(g, g.op<"Mul">(x, g.op<"Sign">(y)), 0);
}

/// Div truncates integers: subtracts 1 if the signs of the remainder and the divisor differ. Unlike (a - a mod b) / b, this
/// cannot overflow.
inline value floor_divide_integers(graph<9> g, value a, value b, dtype type) {
    auto const [x, y, wide] = cast_through(g, a, b, type, arithmetic_type(type));
    value const q = g.op<"Div">(x, y);
    if (is_unsigned_integral(type)) return g.cast(q, type);
    value const rest = g.op<"Sub">(x, g.op<"Mul">(q, y));
    return g.cast(g.op<"Sub">(q, g.cast(signs_differ(g, rest, y), wide)), type);
}

/// c10::div_floor_floating: computed from the remainder, because a / b may round up to the next integer (1 // 0.1 is 9).
inline value floor_divide_floats(graph<10> g, value a, value b, dtype type) {
    dtype const wide = opmath_type(type);
    value const x = g.cast(g.cast(a, type), wide);
    value const y = g.cast(b, wide); // as in cast_factors()
    auto const divisor = known_number(y);
    if (divisor == 0.0) return g.cast(g.op<"Div">(x, y), type);
    value const rest = g.op<"Mod">(x, y, attr::fmod_i(1));
    value const quotient = round_to_even(g, g.op<"Div">(g.op<"Sub">(x, rest), y));
    value q = g.op<"Sub">(quotient, g.cast(signs_differ(g, rest, y), wide));
    if (!divisor) q = g.op<"Where">(is_equal(g, y, 0), g.op<"Div">(x, y), q);
    return g.cast(q, type);
}

inline value truncate(graph<9> g, value x) { return choose(g, is_less(g, x, 0), g.op<"Ceil">(x), g.op<"Floor">(x)); }

} // namespace detail

inline value floor_divide(graph<10> g, value a, value b) {
    dtype const type = promote(a, b);
    return is_floating(type) ? detail::floor_divide_floats(g, a, b, type)
                             : detail::floor_divide_integers(g, a, b, type);
}

/// div with rounding_mode "trunc". ONNX's Div truncates integers. Half-precision dtypes are not widened, because ATen
/// truncates the rounded quotient.
inline value truncated_divide(graph<9> g, value a, value b) {
    dtype const type = promote(a, b);
    if (is_floating(type)) {
        auto const [x, y, wide] = detail::cast_factors(g, a, b, type);
        return detail::truncate(g, g.cast(g.op<"Div">(x, y), type));
    }
    auto const [x, y, wide] = detail::cast_through(g, a, b, type, detail::arithmetic_type(type));
    return g.cast(g.op<"Div">(x, y), type);
}

inline value divide_rounded(graph<10> g, value a, value b, std::optional<std::string_view> rounding_mode) {
    if (!rounding_mode) return divide(g, a, b);
    if (*rounding_mode == "floor") return floor_divide(g, a, b);
    if (*rounding_mode == "trunc") return truncated_divide(g, a, b);
    return g.unsupported("rounding_mode " + std::string(*rounding_mode));
}

/// The remainder with the sign of the divisor, as in Python.
inline value remainder(graph<10> g, value a, value b) {
    dtype const type = promote(a, b);
    auto const [x, y, wide] = detail::cast_rounded(g, a, b, type, detail::opmath_type(type));
    if (!is_floating(type)) return g.op<"Mod">(x, y);
    value const rest = g.op<"Mod">(x, y, attr::fmod_i(1)); // with the sign of the dividend: the only Mod for floats
    return g.cast(g.op<"Where">(detail::signs_differ(g, rest, y), g.op<"Add">(rest, y), rest), type);
}

/// The remainder with the sign of the dividend, as in C.
inline value truncated_remainder(graph<10> g, value a, value b) {
    auto const [x, y, type] = detail::promoted(g, a, b);
    // ONNX Runtime computes Mod with fmod in double, which cannot represent every int64.
    if (is_integral(type) && bits(type) == 64) return g.op<"Sub">(x, g.op<"Mul">(g.op<"Div">(x, y), y));
    return g.op<"Mod">(x, y, attr::fmod_i(1));
}

namespace detail {

/// x to the power n >= 1 by squaring: exact for integers, unlike ONNX Runtime's Pow, which computes in double.
inline value integer_power(graph<7> g, value x, std::int64_t n) {
    if (n == 1) return x;
    value const half = integer_power(g, x, n / 2);
    value const square = g.op<"Mul">(half, half);
    return n % 2 == 0 ? square : g.op<"Mul">(square, x);
}

/// x^0.5 and x^-0.5 as roots, as in ATen except for float16; at -inf and -0 they differ from Pow. Absent for other
/// exponents.
inline optional_value root(graph<7> g, value x, value exponent) {
    auto const n = known_number(exponent);
    if (!n || !exactly_equal(std::fabs(*n), 0.5) || x.dtype() == dtype::float16) return absent;
    value const y = g.op<"Sqrt">(x);
    return *n < 0 ? g.op<"Reciprocal">(y) : y;
}

} // namespace detail

inline value power(graph<7> g, value base, value exponent) {
    dtype const type = promote(base, exponent);
    auto const n = detail::known_number(exponent);
    if (is_floating(type)) {
        value const x = g.cast(base, type);
        if (optional_value const y = detail::root(g, x, exponent)) return *y;
        dtype const wide = detail::opmath_type(type);
        if (g.opset() < 12) return g.cast(g.op<"Pow">(g.cast(x, wide), g.cast(exponent, wide)), type); // of one dtype
        return g.op<"Pow">(x, g.cast(exponent, wide));
    }
    auto [x, y, wide] = detail::cast_through(g, base, exponent, type, detail::arithmetic_type(type));
    if (n && *n >= 1 && *n <= 64 && exactly_equal(*n, std::floor(*n)))
        return g.cast(detail::integer_power(g, x, static_cast<std::int64_t>(*n)), type);
    if (is_unsigned_integral(type) || (n && *n >= 0)) return g.cast(g.op<"Pow">(x, y), type);
    // For integers, 0 to a negative power is 0 in ATen and infinite in ONNX Runtime.
    if (g.opset() < 9) detail::refuse_below(9, "a power of integers");
    value const infinite = g.op<"And">(is_less(g, y, 0), is_equal(g, x, 0));
    return g.cast(g.op<"Pow">(x, g.within<9>().op<"Where">(infinite, g.scalar(1, wide), y)), type);
}

/// pow in float64, for operands of every dtype.
inline value float_power(graph<7> g, value base, value exponent) {
    if (is_complex(base.dtype()) || is_complex(exponent.dtype())) return g.unsupported("complex numbers");
    auto const [x, y, type] = detail::cast_both(g, base, exponent, dtype::float64);
    if (optional_value const z = detail::root(g, x, exponent)) return *z;
    return g.op<"Pow">(x, y);
}

/// The larger operand; NaN if either is NaN.
inline value maximum(graph<7> g, value a, value b) {
    auto const [x, y, type] = detail::promoted(g, a, b);
    if (type == dtype::bool_) return g.op<"Or">(x, y);
    return max_of(g, x, y);
}
inline value minimum(graph<7> g, value a, value b) {
    auto const [x, y, type] = detail::promoted(g, a, b);
    if (type == dtype::bool_) return g.op<"And">(x, y);
    return min_of(g, x, y);
}

namespace detail {

/// fmax and fmin: if one operand is NaN, the other one. Comparisons with NaN are false, so only y needs a test.
template <bool Larger>
value ignoring_nan(graph<9> g, value a, value b) {
    auto const [x, y, type] = promoted(g, a, b);
    if (!is_floating(type)) return Larger ? maximum(g, x, y) : minimum(g, x, y);
    return choose(g, g.op<"Or">(Larger ? is_greater(g, x, y) : is_less(g, x, y), is_nan(g, y)), x, y);
}

inline value heaviside(graph<9> g, value self, value values) {
    auto const [x, y, type] = promoted(g, self, values);
    if (type == dtype::bool_) return g.op<"Or">(x, y);
    return choose(g, is_equal(g, x, 0), y, g.cast(is_greater(g, x, 0), type));
}

/// self + weight * (end - self). Like ATen, lerp() uses lerp_from_end where that is more precise.
inline value lerp_from_start(graph<7> g, value self, value end, value weight) {
    return g.op<"Add">(self, g.op<"Mul">(weight, g.op<"Sub">(end, self)));
}
inline value lerp_from_end(graph<7> g, value self, value end, value weight) {
    value const rest = g.op<"Sub">(g.scalar(1, self.dtype()), weight);
    return g.op<"Sub">(end, g.op<"Mul">(g.op<"Sub">(end, self), rest));
}
inline constexpr auto lerp = [](graph<7> g, value self, value end, value weight) -> value {
    if (is_complex(self.dtype()) || is_complex(weight.dtype())) return g.unsupported("complex numbers");
    dtype const type = promote(self, end, weight);
    auto const [x, y, wide] = cast_both(g, self, end, opmath_type(type));
    value const w = g.cast(weight, wide);
    auto const n = known_number(w);
    auto const from_both_ends = [&]() -> value {
        if (g.opset() < 9) refuse_below(9, "a weight that is a tensor");
        return g.within<9>().op<"Where">(
            is_less(g, g.op<"Abs">(w), 0.5), lerp_from_start(g, x, y, w), lerp_from_end(g, x, y, w));
    };
    return g.cast(!n                   ? from_both_ends()
                  : std::abs(*n) < 0.5 ? lerp_from_start(g, x, y, w)
                                       : lerp_from_end(g, x, y, w),
                  type);
};

/// self + factor * a * b, or self + factor * a / b.
template <fixed_string Op>
value add_scaled(graph<7> g, value self, value a, value b, number factor) {
    dtype const type = promote(self, a, b);
    dtype const wide = computing_type(type);
    value const product = g.op<Op>(scaled(g, g.cast(a, wide), converted(g, factor, type)), g.cast(b, wide));
    return g.cast(g.op<"Add">(g.cast(self, wide), product), type);
}

/// self * 2^other. For integer exponents, the power itself may overflow, so it is applied in three factors.
inline value ldexp(graph<9> g, value self, value other) {
    if (is_floating(self.dtype()) && !is_floating(other.dtype())) {
        dtype const wide = opmath_type(self.dtype());
        int const limit = wide == dtype::float64 ? 2100 : 300; // takes the smallest number to infinity
        value const exponent =
            clip(g, g.cast(other, dtype::int32), g.scalar(-limit, dtype::int32), g.scalar(limit, dtype::int32));
        value const third = g.op<"Div">(exponent, g.scalar(3, dtype::int32));
        value const rest = g.op<"Sub">(exponent, g.op<"Add">(third, third));
        auto const power_of_two = [&](value n) -> value { return g.op<"Pow">(g.scalar(2, wide), g.cast(n, wide)); };
        value const factor = power_of_two(third);
        value const partial = g.op<"Mul">(g.op<"Mul">(g.cast(self, wide), factor), factor);
        return g.cast(g.op<"Mul">(partial, power_of_two(rest)), self.dtype());
    }
    return multiply(g, self, power(g, wrapped_number(g, 2.0), other));
}

inline value subtract_from(graph<7> g, value self, value other, number alpha) {
    return subtract(g, other, self, alpha);
}

template <auto Function>
inline constexpr auto with_alpha =
    [](graph_of<Function> g, value a, value b, number alpha) -> value { return Function(g, a, b, alpha); };
template <auto Function>
inline constexpr auto number_with_alpha = [](graph_of<Function> g, value a, number b, number alpha) -> value {
    return Function(g, a, wrapped_number(g, b), alpha);
};

inline constexpr auto divide_by_mode = [](graph<10> g, value a, value b,
                                          std::optional<std::string_view> mode) -> value {
    return divide_rounded(g, a, b, mode);
};
inline constexpr auto divide_by_number_mode = [](graph<10> g, value a, number b,
                                                 std::optional<std::string_view> mode) -> value {
    return divide_rounded(g, a, wrapped_number(g, b), mode);
};

inline constexpr auto lerp_by_tensor = symbolic<"aten::lerp.Tensor(self, end, weight)">(
    [](graph<9> g, value self, value end, value weight) -> value { return lerp(g, self, end, weight); });

inline constexpr auto lerp_scalar =
    symbolic<"aten::lerp.Scalar(self, end, weight)">([](graph<7> g, value self, value end, number weight) -> value {
        return lerp(g, self, end, wrapped_number(g, weight));
    });

inline constexpr auto addcmul = symbolic<"aten::addcmul(self, tensor1, tensor2, value)">(
    [](graph<7> g, value self, value a, value b, number factor) -> value {
        return add_scaled<"Mul">(g, self, a, b, factor);
    });

inline constexpr auto addcdiv = symbolic<"aten::addcdiv(self, tensor1, tensor2, value)">(
    [](graph<7> g, value self, value a, value b, number factor) -> value {
        return add_scaled<"Div">(g, self, a, b, factor);
    });

/// self + factor * a * b, or self + factor * a / b.
template <auto Function>
inline constexpr auto complex_add_scaled =
    [](graph<9> g, complex_value self, complex_value a, complex_value b, number factor) {
        dtype const type = to_complex(promote(self.tensor(), a.tensor(), b.tensor()));
        complex_value const scaled = scaled_complex(g, g.cast(a, type), factor);
        return complex_sum<"Add">(g, {g.cast(self, type), Function(g, {scaled, g.cast(b, type)})}, 1);
    };

} // namespace detail

inline constexpr auto elementwise_binary = table(
    symbolic<"aten::add.Tensor(self, other, alpha)">(detail::with_alpha<add>)
        .for_complex(detail::sum_of_complex<"Add">),
    symbolic<"aten::add.Scalar(self, other, alpha)">(detail::number_with_alpha<add>)
        .for_complex(detail::sum_of_complex_and_number<"Add">),
    symbolic<"aten::sub.Tensor(self, other, alpha)">(detail::with_alpha<subtract>)
        .for_complex(detail::sum_of_complex<"Sub">),
    symbolic<"aten::sub.Scalar(self, other, alpha)">(detail::number_with_alpha<subtract>)
        .for_complex(detail::sum_of_complex_and_number<"Sub">),
    symbolic<"aten::subtract.Tensor(self, other, alpha)">(detail::with_alpha<subtract>)
        .for_complex(detail::sum_of_complex<"Sub">),
    symbolic<"aten::subtract.Scalar(self, other, alpha)">(detail::number_with_alpha<subtract>)
        .for_complex(detail::sum_of_complex_and_number<"Sub">),
    symbolic<"aten::rsub.Tensor(self, other, alpha)">(detail::with_alpha<detail::subtract_from>)
        .for_complex(detail::sum_of_complex<"Sub", true>),
    symbolic<"aten::rsub.Scalar(self, other, alpha)">(detail::number_with_alpha<detail::subtract_from>)
        .for_complex(detail::sum_of_complex_and_number<"Sub", true>),
    symbolic<"aten::mul.Tensor(self, other)">(detail::of_tensors<multiply>)
        .for_complex(detail::of_complex<detail::multiply_complex>),
    symbolic<"aten::mul.Scalar(self, other)">(detail::with_number<multiply>)
        .for_complex(detail::of_complex_and_number<detail::multiply_complex>),
    symbolic<"aten::multiply.Tensor(self, other)">(detail::of_tensors<multiply>)
        .for_complex(detail::of_complex<detail::multiply_complex>),
    symbolic<"aten::multiply.Scalar(self, other)">(detail::with_number<multiply>)
        .for_complex(detail::of_complex_and_number<detail::multiply_complex>),
    symbolic<"aten::div.Tensor(self, other)">(detail::of_tensors<divide>)
        .for_complex(detail::of_complex<detail::divide_complex>),
    symbolic<"aten::div.Scalar(self, other)">(detail::with_number<divide>)
        .for_complex(detail::divide_complex_by_number),
    symbolic<"aten::div.Tensor_mode(self, other, rounding_mode)">(detail::divide_by_mode),
    symbolic<"aten::div.Scalar_mode(self, other, rounding_mode)">(detail::divide_by_number_mode),
    symbolic<"aten::divide.Tensor(self, other)">(detail::of_tensors<divide>)
        .for_complex(detail::of_complex<detail::divide_complex>),
    symbolic<"aten::divide.Scalar(self, other)">(detail::with_number<divide>)
        .for_complex(detail::divide_complex_by_number),
    symbolic<"aten::divide.Tensor_mode(self, other, rounding_mode)">(detail::divide_by_mode),
    symbolic<"aten::divide.Scalar_mode(self, other, rounding_mode)">(detail::divide_by_number_mode),
    symbolic<"aten::true_divide.Tensor(self, other)">(detail::of_tensors<divide>)
        .for_complex(detail::of_complex<detail::divide_complex>),
    symbolic<"aten::true_divide.Scalar(self, other)">(detail::with_number<divide>)
        .for_complex(detail::divide_complex_by_number),
    symbolic<"aten::floor_divide(self, other)">(detail::of_tensors<floor_divide>),
    symbolic<"aten::floor_divide.Scalar(self, other)">(detail::with_number<floor_divide>),
    symbolic<"aten::remainder.Tensor(self, other)">(detail::of_tensors<remainder>),
    symbolic<"aten::remainder.Scalar(self, other)">(detail::with_number<remainder>),
    symbolic<"aten::remainder.Scalar_Tensor(self, other)">(detail::number_first<remainder>),
    symbolic<"aten::fmod.Tensor(self, other)">(detail::of_tensors<truncated_remainder>),
    symbolic<"aten::fmod.Scalar(self, other)">(detail::with_number<truncated_remainder>),
    symbolic<"aten::pow.Tensor_Tensor(self, exponent)">(detail::of_tensors<power>)
        .for_complex(detail::of_complex<detail::power_of_complex>),
    symbolic<"aten::pow.Tensor_Scalar(self, exponent)">(detail::with_number<power>).for_complex(detail::complex_power),
    symbolic<"aten::pow.Scalar(self, exponent)">(detail::number_first<power>)
        .for_complex(detail::complex_power_of_number),
    symbolic<"aten::float_power.Tensor_Tensor(self, exponent)">(detail::of_tensors<float_power>),
    symbolic<"aten::float_power.Tensor_Scalar(self, exponent)">(detail::with_number<float_power>),
    symbolic<"aten::float_power.Scalar(self, exponent)">(detail::number_first<float_power>),
    symbolic<"aten::maximum(self, other)">(detail::of_tensors<maximum>),
    symbolic<"aten::max.other(self, other)">(detail::of_tensors<maximum>),
    symbolic<"aten::minimum(self, other)">(detail::of_tensors<minimum>),
    symbolic<"aten::min.other(self, other)">(detail::of_tensors<minimum>),
    symbolic<"aten::fmax(self, other)">(detail::of_tensors<detail::ignoring_nan<true>>),
    symbolic<"aten::fmin(self, other)">(detail::of_tensors<detail::ignoring_nan<false>>),
    symbolic<"aten::heaviside(self, values)">(detail::of_tensors<detail::heaviside>), detail::lerp_by_tensor,
    detail::lerp_scalar, detail::addcmul.for_complex(detail::complex_add_scaled<detail::multiply_complex>),
    detail::addcdiv.for_complex(detail::complex_add_scaled<detail::divide_complex>),
    symbolic<"aten::ldexp.Tensor(self, other)">(detail::of_tensors<detail::ldexp>));

} // namespace ATON_NAMESPACE::mappings
