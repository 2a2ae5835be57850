// SPDX-License-Identifier: MIT
// Elementwise functions of one tensor: aten's abs, exp, log1p, round, sign, isnan, nan_to_num ...
// Public header.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <tuple>

#include <aton/mappings/detail/complex_functions.hpp>
#include <aton/mappings/detail/complex_inverses.hpp>
#include <aton/mappings/detail/exponents.hpp>
#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

inline constexpr auto abs = [](graph<7> g, value x) -> value { return g.op<"Abs">(x); };

/// ceil, floor, round; integers are returned unchanged.
template <fixed_string Op>
inline constexpr auto rounding = [](graph<7> g, value x) -> value {
    if (!is_floating(x.dtype())) return x;
    return without_bfloat16(g, x, [&](value v) -> value {
        if constexpr (Op.view() == "Round") return round_to_even(g, v);
        else return g.op<Op>(v);
    });
};

/// Rounds toward zero; keeps the sign of -0.
inline constexpr auto trunc = [](graph<9> g, value x) -> value {
    if (!is_floating(x.dtype())) return x;
    return without_bfloat16(
        g, x, [&](value v) -> value { return g.op<"Where">(is_less(g, v, 0), g.op<"Ceil">(v), g.op<"Floor">(v)); });
};

inline constexpr auto round_to_decimals = [](graph<7> g, value x, std::int64_t decimals) -> value {
    if (decimals == 0) return rounding<"Round">(g, x);
    if (!is_floating(x.dtype())) return g.unsupported("rounding integers to decimals");
    double power = 1;
    bool const up = decimals > 0;
    for (std::int64_t i = 0; (up ? i < decimals : i > decimals) && power < infinity; i += up ? 1 : -1) power *= 10;
    return in_opmath(g, x, [&](value v) -> value {
        if (decimals < 0) return g.op<"Mul">(round_to_even(g, g.op<"Div">(v, power)), power);
        return g.op<"Div">(round_to_even(g, g.op<"Mul">(v, power)), power);
    });
};

/// x in a dtype that supports arithmetic. Integers of 8 and 16 bits do since opset 14; below, int32 gives the same bits.
inline value to_arithmetic(graph<7> g, value x) {
    bool const small = is_integral(x.dtype()) && bits(x.dtype()) < 32;
    return small && g.opset() < 14 ? g.cast(x, dtype::int32) : x;
}

/// Neg does not support unsigned integers; they wrap around.
inline constexpr auto neg = [](graph<7> g, value x) -> value {
    if (!is_unsigned_integral(x.dtype())) return g.op<"Neg">(x);
    value const v = to_arithmetic(g, x);
    return g.cast(g.op<"Sub">(g.scalar_like(0, v), v), x.dtype());
};

/// The sign of NaN is 0 in ATen and unspecified in ONNX.
inline constexpr auto sign = [](graph<9> g, value x) -> value {
    if (x.dtype() == dtype::bool_) return x;
    if (!watches_nan(g, x)) return without_bfloat16(g, x, [&](value v) -> value { return g.op<"Sign">(v); });
    return without_bfloat16(
        g, x, [&](value v) -> value { return g.op<"Where">(is_nan(g, v), g.scalar_like(0, v), g.op<"Sign">(v)); });
};

/// True for -0 as well (1 / -0 is -inf). Below opset 26, ONNX cannot read the sign of a NaN, which counts as positive.
inline constexpr auto signbit = [](graph<7> g, value x) -> value {
    if (x.dtype() == dtype::bool_ || is_unsigned_integral(x.dtype())) return filled_like(g, x, false, dtype::bool_);
    if (is_signed_integral(x.dtype())) return is_less(g, x, 0);
    if (g.opset() >= 26) return is_less(g, bits_of_float(g.within<26>(), x), 0);
    return g.op<"Or">(is_less(g, x, 0), is_less(g, g.op<"Reciprocal">(x), 0));
};

/// pow(x, 2), whose result for bools is int64.
inline constexpr auto square = symbolic<"aten::square(self)">([](graph<7> g, value x) -> value {
                                   dtype const type = promote(x, scalar(2));
                                   value const v = to_arithmetic(g, g.cast(x, type));
                                   return g.cast(g.op<"Mul">(v, v), type);
                               }).for_complex(square_complex);

inline value rsqrt(graph<7> g, value x) { return g.op<"Reciprocal">(g.op<"Sqrt">(x)); }
inline value log2(graph<7> g, value x) { return g.op<"Div">(g.op<"Log">(x), std::numbers::ln2); }
inline value log10(graph<7> g, value x) { return g.op<"Div">(g.op<"Log">(x), std::numbers::ln10); }
inline value exp2(graph<7> g, value x) { return g.op<"Pow">(g.scalar(2, x.dtype()), x); }
inline value deg2rad(graph<7> g, value x) { return g.op<"Mul">(x, std::numbers::pi / 180); }
inline value rad2deg(graph<7> g, value x) { return g.op<"Mul">(x, 180 / std::numbers::pi); }

/// sin(pi x) / (pi x), 1 at 0.
inline value sinc(graph<9> g, value x) {
    value const angle = g.op<"Mul">(x, std::numbers::pi);
    return g.op<"Where">(is_equal(g, x, 0), g.scalar(1, x.dtype()), g.op<"Div">(g.op<"Sin">(angle), angle));
}

/// -x * log(x); 0 at 0, -inf below 0.
inline value entr(graph<9> g, value x) {
    value const y = g.op<"Neg">(g.op<"Mul">(x, g.op<"Log">(x)));
    value const at_zero = g.op<"Where">(is_equal(g, x, 0), x, y);
    return g.op<"Where">(is_less(g, x, 0), g.scalar(-infinity, x.dtype()), at_zero);
}

/// log(x / (1 - x)), with x clamped to [eps, 1 - eps] unless eps is negative or None.
inline constexpr auto logit = [](graph<9> g, value x, std::optional<double> eps) -> value {
    return in_opmath(g, to_floats(g, x), [&](value v) -> value {
        if (eps && *eps >= 0) {
            value const low = g.scalar(*eps, v.dtype());
            v = g.op<"Where">(is_less(g, v, low), low, min_of(g, v, 1 - *eps));
        }
        return g.op<"Log">(g.op<"Div">(v, g.op<"Sub">(g.scalar(1, v.dtype()), v)));
    });
};

inline constexpr auto logical_not = [](graph<7> g, value x) -> value {
    return x.dtype() == dtype::bool_ ? g.op<"Not">(x) : is_equal(g, x, 0);
};

/// BitwiseNot was added in opset 18; below, it is all_bits - x, where all_bits is -1 or the maximum of an unsigned dtype.
inline constexpr auto bitwise_not = [](graph<18> g, value x) -> value {
    if (x.dtype() == dtype::bool_) return g.op<"Not">(x);
    if (!is_integral(x.dtype())) return g.unsupported("bitwise_not of floating-point numbers");
    return g.op<"BitwiseNot">(x);
};
inline constexpr auto bitwise_not_until_17 = [](graph<7, 17> g, value x) -> value {
    if (x.dtype() == dtype::bool_) return g.op<"Not">(x);
    if (!is_integral(x.dtype())) return g.unsupported("bitwise_not of floating-point numbers");
    value const v = to_arithmetic(g, x);
    value const all_bits = g.constant({v.dtype(), {}, std::string(bits(v.dtype()) / 8, '\xff')});
    return g.cast(g.op<"Sub">(all_bits, v), x.dtype());
};

inline constexpr auto isnan = [](graph<7> g, value x) -> value {
    return is_floating(x.dtype()) ? is_nan(g, x) : filled_like(g, x, false, dtype::bool_);
};

/// Whether x is `Sign` times infinity. IsInf supports half-precision dtypes only since opset 20.
template <int Sign>
inline constexpr auto is_infinity = [](graph<7> g, value x) -> value {
    if (!is_floating(x.dtype())) return filled_like(g, x, false, dtype::bool_);
    return is_equal(g, x, Sign * infinity);
};
inline constexpr auto isinf = [](graph<7> g, value x) -> value {
    if (x.dtype() == dtype::float32 || x.dtype() == dtype::float64) return is_infinite(g, x);
    return is_infinity<1>(g, is_floating(x.dtype()) ? value(g.op<"Abs">(x)) : x);
};
inline constexpr auto isfinite = [](graph<7> g, value x) -> value {
    if (!is_floating(x.dtype())) return filled_like(g, x, true, dtype::bool_);
    return is_less(g, g.op<"Abs">(x), infinity);
};
/// By default, infinities become the largest finite numbers of the dtype, which a single Clip does.
inline constexpr auto nan_to_num = symbolic<"aten::nan_to_num(self, nan, posinf, neginf)">(
    [](graph<9> g, value x, std::optional<double> nan, std::optional<double> above,
       std::optional<double> below) -> value {
        if (!is_floating(x.dtype())) return x;
        double const largest = largest_number(x.dtype());
        return without_bfloat16(g, x, [&](value v) -> value {
            value const y = g.op<"Where">(is_nan(g, v), rounded_constant(g, nan.value_or(0), v.dtype()), v);
            bool const by_clip = exactly_equal(above.value_or(largest), largest) &&
                                 exactly_equal(below.value_or(-largest), -largest) &&
                                 std::abs(nan.value_or(0)) <= largest;
            if (by_clip) return clip(g, y, -largest, largest);
            value const z =
                g.op<"Where">(is_equal(g, v, infinity), rounded_constant(g, above.value_or(largest), v.dtype()), y);
            return g.op<"Where">(
                is_equal(g, v, -infinity), rounded_constant(g, below.value_or(-largest), v.dtype()), z);
        });
    });

/// The angle of a real number: 0 or pi.
inline value angle(graph<9> g, value x) {
    value const zero = g.op<"Where">(is_nan(g, x), x, g.scalar(0, x.dtype()));
    return g.op<"Where">(is_less(g, x, 0), g.scalar(std::numbers::pi, x.dtype()), zero);
}

inline constexpr auto frac = symbolic<"aten::frac(self)">([](graph<9> g, value x) -> value {
    if (g.opset() >= 10) return g.within<10>().op<"Mod">(x, 1, attr::fmod_i(1));
    return g.op<"Sub">(x, g.op<"Where">(is_less(g, x, 0), g.op<"Ceil">(x), g.op<"Floor">(x)));
});

inline constexpr auto complex_nan_to_num = [](graph<9> g, complex_value z, std::optional<double> nan,
                                              std::optional<double> above, std::optional<double> below) {
    return g.complex(nan_to_num(g, g.real(z), nan, above, below), nan_to_num(g, g.imag(z), nan, above, below));
};

template <auto Predicate>
inline constexpr auto any_part =
    [](graph<7> g, complex_value z) -> value { return g.op<"Or">(Predicate(g, g.real(z)), Predicate(g, g.imag(z))); };
inline constexpr auto finite_parts = [](graph<7> g, complex_value z) -> value {
    return g.op<"And">(isfinite(g, g.real(z)), isfinite(g, g.imag(z)));
};
inline constexpr auto isreal =
    symbolic<"aten::isreal(self)">([](graph<7> g, value x) -> value {
        return filled_like(g, x, true, dtype::bool_);
    }).for_complex([](graph<7> g, complex_value z) -> value { return is_equal(g, g.imag(z), 0); });

/// Exponents and fractions with the sign of x; x itself and 0 for zeros, infinities and NaN.
inline constexpr auto frexp =
    symbolic<"aten::frexp.Tensor(self)">([](graph<11> g, value self) -> std::tuple<value, value> {
        if (!is_floating(self.dtype())) throw unsupported_error("frexp of " + std::string(name(self.dtype())));
        value const x = g.cast(self, dtype::float64);
        binary_parts const p = parts_of(g, x, self.dtype() == dtype::float64);
        value const fraction = g.op<"Where">(g.op<"Less">(x, 0), g.op<"Neg">(p.fraction), p.fraction);
        value const zero = g.scalar(0, dtype::float64);
        return {g.cast(g.op<"Where">(p.ordinary, fraction, x), self.dtype()),
                g.cast(g.op<"Where">(p.ordinary, p.exponent, zero), dtype::int32)};
    });

} // namespace detail

inline constexpr auto elementwise_unary = table(
    detail::frexp, symbolic<"aten::abs(self)">(detail::abs).for_complex(detail::modulus),
    symbolic<"aten::absolute(self)">(detail::abs).for_complex(detail::modulus),
    symbolic<"aten::neg(self)">(detail::neg).by_parts<"self">(),
    symbolic<"aten::_neg_view(self)">(detail::neg).by_parts<"self">(),
    symbolic<"aten::_neg_view_copy(self)">(detail::neg).by_parts<"self">(),
    symbolic<"aten::negative(self)">(detail::neg).by_parts<"self">(),
    symbolic<"aten::positive(self)">(detail::unchanged).by_parts<"self">(), symbolic<"aten::sign(self)">(detail::sign),
    symbolic<"aten::sgn(self)">(detail::sign).for_complex(detail::sgn_complex),
    symbolic<"aten::signbit(self)">(detail::signbit), detail::square,
    symbolic<"aten::reciprocal(self)">(detail::floating<"Reciprocal">).for_complex(detail::reciprocal_complex),

    symbolic<"aten::ceil(self)">(detail::rounding<"Ceil">), symbolic<"aten::floor(self)">(detail::rounding<"Floor">),
    symbolic<"aten::round(self)">(detail::rounding<"Round">),
    symbolic<"aten::round.decimals(self, decimals)">(detail::round_to_decimals),
    symbolic<"aten::special_round(self, decimals)">(detail::round_to_decimals),
    symbolic<"aten::trunc(self)">(detail::trunc), symbolic<"aten::fix(self)">(detail::trunc), detail::frac,

    symbolic<"aten::sqrt(self)">(detail::floating<"Sqrt">).for_complex(detail::in_double<detail::square_root>),
    symbolic<"aten::rsqrt(self)">(detail::composed<detail::rsqrt>).for_complex(detail::rsqrt_complex),
    symbolic<"aten::exp(self)">(detail::floating<"Exp">).for_complex(detail::exp_complex),
    symbolic<"aten::exp2(self)">(detail::composed<detail::exp2>).for_complex(detail::exp2_complex),
    symbolic<"aten::special_exp2(self)">(detail::composed<detail::exp2>).for_complex(detail::exp2_complex),
    symbolic<"aten::expm1(self)">(detail::composed<detail::expm1>).for_complex(detail::in_double<detail::exp_less_one>),
    symbolic<"aten::special_expm1(self)">(detail::composed<detail::expm1>)
        .for_complex(detail::in_double<detail::exp_less_one>),
    symbolic<"aten::log(self)">(detail::floating<"Log">).for_complex(detail::log_complex),
    symbolic<"aten::log1p(self)">(detail::composed<detail::log1p>)
        .for_complex(detail::with_angles<detail::log_of_one_more>),
    symbolic<"aten::special_log1p(self)">(detail::composed<detail::log1p>)
        .for_complex(detail::with_angles<detail::log_of_one_more>),
    symbolic<"aten::log2(self)">(detail::composed<detail::log2>).for_complex(detail::log2_complex),
    symbolic<"aten::log10(self)">(detail::composed<detail::log10>).for_complex(detail::log10_complex),

    symbolic<"aten::sin(self)">(detail::floating<"Sin">)
        .for_complex(detail::in_double<detail::circular<detail::hyperbolic_sine>>),
    symbolic<"aten::cos(self)">(detail::floating<"Cos">).for_complex(detail::in_double<detail::cosine>),
    symbolic<"aten::tan(self)">(detail::floating<"Tan">)
        .for_complex(detail::in_double<detail::circular<detail::hyperbolic_tangent>>),
    symbolic<"aten::asin(self)">(detail::floating<"Asin">).for_complex(detail::with_angles<detail::inverse_sine>),
    symbolic<"aten::acos(self)">(detail::floating<"Acos">).for_complex(detail::with_angles<detail::inverse_cosine>),
    symbolic<"aten::atan(self)">(detail::floating<"Atan">)
        .for_complex(detail::with_angles<detail::exchanged<detail::inverse_hyperbolic_tangent>>),
    symbolic<"aten::sinh(self)">(detail::floating<"Sinh">).for_complex(detail::in_double<detail::hyperbolic_sine>),
    symbolic<"aten::cosh(self)">(detail::floating<"Cosh">).for_complex(detail::in_double<detail::hyperbolic_cosine>),
    symbolic<"aten::tanh(self)">(detail::floating<"Tanh">).for_complex(detail::in_double<detail::hyperbolic_tangent>),
    symbolic<"aten::asinh(self)">(detail::floating<"Asinh">)
        .for_complex(detail::with_angles<detail::exchanged<detail::inverse_sine>>),
    symbolic<"aten::acosh(self)">(detail::floating<"Acosh">)
        .for_complex(detail::with_angles<detail::inverse_hyperbolic_cosine>),
    symbolic<"aten::atanh(self)">(detail::floating<"Atanh">)
        .for_complex(detail::with_angles<detail::inverse_hyperbolic_tangent>),
    symbolic<"aten::arcsin(self)">(detail::floating<"Asin">).for_complex(detail::with_angles<detail::inverse_sine>),
    symbolic<"aten::arccos(self)">(detail::floating<"Acos">).for_complex(detail::with_angles<detail::inverse_cosine>),
    symbolic<"aten::arctan(self)">(detail::floating<"Atan">)
        .for_complex(detail::with_angles<detail::exchanged<detail::inverse_hyperbolic_tangent>>),
    symbolic<"aten::arcsinh(self)">(detail::floating<"Asinh">)
        .for_complex(detail::with_angles<detail::exchanged<detail::inverse_sine>>),
    symbolic<"aten::arccosh(self)">(detail::floating<"Acosh">)
        .for_complex(detail::with_angles<detail::inverse_hyperbolic_cosine>),
    symbolic<"aten::arctanh(self)">(detail::floating<"Atanh">)
        .for_complex(detail::with_angles<detail::inverse_hyperbolic_tangent>),
    symbolic<"aten::sinc(self)">(detail::composed<detail::sinc>),
    symbolic<"aten::special_sinc(self)">(detail::composed<detail::sinc>),
    symbolic<"aten::deg2rad(self)">(detail::composed<detail::deg2rad>),
    symbolic<"aten::rad2deg(self)">(detail::composed<detail::rad2deg>),
    symbolic<"aten::angle(self)">(detail::composed<detail::angle>).for_complex(detail::phase),

    symbolic<"aten::sigmoid(self)">(detail::floating<"Sigmoid">).for_complex(detail::sigmoid_of_complex),
    symbolic<"aten::special_expit(self)">(detail::floating<"Sigmoid">).for_complex(detail::sigmoid_of_complex),
    symbolic<"aten::logit(self, eps)">(detail::logit), symbolic<"aten::special_logit(self, eps)">(detail::logit),
    symbolic<"aten::erf(self)">(detail::floating<"Erf">), symbolic<"aten::special_erf(self)">(detail::floating<"Erf">),
    symbolic<"aten::special_entr(self)">(detail::composed<detail::entr>),

    symbolic<"aten::logical_not(self)">(detail::logical_not).for_complex(detail::of_truth<detail::logical_not>),
    symbolic<"aten::bitwise_not(self)">(detail::bitwise_not),
    symbolic<"aten::bitwise_not(self)">(detail::bitwise_not_until_17),
    symbolic<"aten::isnan(self)">(detail::isnan).for_complex(detail::any_part<detail::isnan>),
    symbolic<"aten::isinf(self)">(detail::isinf).for_complex(detail::any_part<detail::isinf>),
    symbolic<"aten::isposinf(self)">(detail::is_infinity<1>), symbolic<"aten::isneginf(self)">(detail::is_infinity<-1>),
    symbolic<"aten::isfinite(self)">(detail::isfinite).for_complex(detail::finite_parts), detail::isreal,
    detail::nan_to_num.for_complex(detail::complex_nan_to_num));

} // namespace ATON_NAMESPACE::mappings
