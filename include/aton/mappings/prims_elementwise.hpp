// SPDX-License-Identifier: MIT
// Elementwise operators of prims, which torch's decompositions leave: the functions of ATen's operators, for operands
// of one dtype and shape.
// Public header.
#pragma once

#include <aton/mappings/bessel_functions.hpp>
#include <aton/mappings/binary_math.hpp>
#include <aton/mappings/bitwise.hpp>
#include <aton/mappings/comparison.hpp>
#include <aton/mappings/elementwise_binary.hpp>
#include <aton/mappings/elementwise_unary.hpp>
#include <aton/mappings/selection.hpp>
#include <aton/mappings/special_functions.hpp>
#include <aton/mappings/zeta_functions.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// |x| to the power 1/3, with the sign of x. As in torch, the magnitude of the minimum of an integer dtype is negative,
/// and its root NaN.
inline constexpr auto cube_root = symbolic<"prims::cbrt(self)">([](graph<11> g, value x) -> value {
    if (x.dtype() == dtype::bool_) return g.unsupported("bools");
    dtype const wide = opmath_type(to_floating(x.dtype()));
    value const root = g.op<"Pow">(g.cast(g.op<"Abs">(x), wide), g.scalar(1.0 / 3, wide));
    return g.cast(copysign(g, root, g.cast(x, wide)), to_floating(x.dtype()));
});

template <fixed_string Op>
inline constexpr auto prim_sum_of_complex =
    [](graph<11> g, complex_value a, complex_value b) { return complex_sum<Op>(g, promoted(g, a, b), 1); };

inline constexpr auto prim_sub = symbolic<"prims::sub(self, other)">([](graph<11> g, value a, value b) -> value {
                                     return subtract(g, a, b);
                                 }).for_complex(prim_sum_of_complex<"Sub">);

inline constexpr auto prim_add = symbolic<"prims::add(self, other)">([](graph<11> g, value a, value b) -> value {
                                     return add(g, a, b);
                                 }).for_complex(prim_sum_of_complex<"Add">);

/// Truncates if the first operand is an integer, or a Python bool; tensors of bools are divided as floats.
inline constexpr auto prim_div = symbolic<"prims::div(self, other)">([](graph<11> g, value a, value b) -> value {
                                     bool const truncates =
                                         is_integral(a.dtype()) || (a.dtype() == dtype::bool_ && a.is_wrapped_number());
                                     return truncates ? truncated_divide(g, a, b) : divide(g, a, b);
                                 }).for_complex(of_complex<divide_complex>);

/// A Python number is converted to the dtype of the tensor.
template <auto Function>
inline constexpr auto prim_extreme = [](graph<11> g, value a, value b) -> value {
    auto const like = [&](value x, value other) -> value {
        auto const n = x.is_wrapped_number() && !other.is_wrapped_number() ? known_number(x) : std::nullopt;
        return n ? element(g, *n, other.dtype()) : x;
    };
    return Function(g, like(a, b), like(b, a));
};

} // namespace detail

inline constexpr auto unary_prims = table(
    symbolic<"prims::abs(self)">(detail::abs).for_complex(detail::modulus),
    symbolic<"prims::neg(self)">(detail::neg).by_parts<"self">(), symbolic<"prims::sign(self)">(detail::sign),
    symbolic<"prims::signbit(self)">(detail::signbit),
    symbolic<"prims::reciprocal(self)">(detail::floating<"Reciprocal">).for_complex(detail::reciprocal_complex),
    symbolic<"prims::ceil(self)">(detail::rounding<"Ceil">), symbolic<"prims::floor(self)">(detail::rounding<"Floor">),
    symbolic<"prims::round(self)">(detail::rounding<"Round">), symbolic<"prims::trunc(self)">(detail::trunc),

    symbolic<"prims::sqrt(self)">(detail::floating<"Sqrt">).for_complex(detail::in_double<detail::square_root>),
    symbolic<"prims::rsqrt(self)">(detail::composed<detail::rsqrt>).for_complex(detail::rsqrt_complex),
    detail::cube_root, symbolic<"prims::exp(self)">(detail::floating<"Exp">).for_complex(detail::exp_complex),
    symbolic<"prims::exp2(self)">(detail::composed<detail::exp2>).for_complex(detail::exp2_complex),
    symbolic<"prims::expm1(self)">(detail::composed<detail::expm1>)
        .for_complex(detail::in_double<detail::exp_less_one>),
    symbolic<"prims::log(self)">(detail::floating<"Log">).for_complex(detail::log_complex),
    symbolic<"prims::log1p(self)">(detail::composed<detail::log1p>),
    symbolic<"prims::log2(self)">(detail::composed<detail::log2>).for_complex(detail::log2_complex),
    symbolic<"prims::log10(self)">(detail::composed<detail::log10>).for_complex(detail::log10_complex),

    symbolic<"prims::sin(self)">(detail::floating<"Sin">)
        .for_complex(detail::in_double<detail::circular<detail::hyperbolic_sine>>),
    symbolic<"prims::cos(self)">(detail::floating<"Cos">).for_complex(detail::in_double<detail::cosine>),
    symbolic<"prims::tan(self)">(detail::floating<"Tan">)
        .for_complex(detail::in_double<detail::circular<detail::hyperbolic_tangent>>),
    symbolic<"prims::asin(self)">(detail::floating<"Asin">), symbolic<"prims::acos(self)">(detail::floating<"Acos">),
    symbolic<"prims::atan(self)">(detail::floating<"Atan">),
    symbolic<"prims::sinh(self)">(detail::floating<"Sinh">).for_complex(detail::in_double<detail::hyperbolic_sine>),
    symbolic<"prims::cosh(self)">(detail::floating<"Cosh">).for_complex(detail::in_double<detail::hyperbolic_cosine>),
    symbolic<"prims::tanh(self)">(detail::floating<"Tanh">).for_complex(detail::in_double<detail::hyperbolic_tangent>),
    symbolic<"prims::asinh(self)">(detail::floating<"Asinh">),
    symbolic<"prims::acosh(self)">(detail::floating<"Acosh">),
    symbolic<"prims::atanh(self)">(detail::floating<"Atanh">),

    symbolic<"prims::erf(self)">(detail::floating<"Erf">),
    symbolic<"prims::erfc(self)">(detail::composed<detail::erfc>),
    symbolic<"prims::erfcx(self)">(detail::single_precision<detail::erfcx>),
    symbolic<"prims::erf_inv(self)">(detail::single_precision<detail::erfinv>),
    symbolic<"prims::ndtri(self)">(detail::single_precision<detail::ndtri>),
    symbolic<"prims::lgamma(self)">(detail::double_precision<detail::lgamma>),
    symbolic<"prims::digamma(self)">(detail::double_precision<detail::digamma>),
    symbolic<"prims::bessel_i0(self)">(detail::single_precision<detail::unscaled<detail::i0e>>),
    symbolic<"prims::bessel_i0e(self)">(detail::single_precision<detail::i0e>),
    symbolic<"prims::bessel_i1(self)">(detail::single_precision<detail::unscaled<detail::i1e>>),
    symbolic<"prims::bessel_i1e(self)">(detail::single_precision<detail::i1e>),
    symbolic<"prims::bessel_j0(self)">(detail::of_rounded<detail::bessel_j<0>>),
    symbolic<"prims::bessel_j1(self)">(detail::of_rounded<detail::bessel_j<1>>),
    symbolic<"prims::spherical_bessel_j0(self)">(detail::composed<detail::spherical_bessel_j0>),

    symbolic<"prims::bitwise_not(self)">(detail::bitwise_not),
    symbolic<"prims::bitwise_not(self)">(detail::bitwise_not_until_17),
    symbolic<"prims::isfinite(self)">(detail::isfinite).for_complex(detail::finite_parts));

inline constexpr auto binary_prims =
    table(detail::prim_add, detail::prim_sub,
          symbolic<"prims::mul(self, other)">(detail::of_tensors<multiply>)
              .for_complex(detail::of_complex<detail::multiply_complex>),
          detail::prim_div, symbolic<"prims::pow(self, other)">(detail::of_tensors<power>),
          symbolic<"prims::fmod(self, other)">(detail::of_tensors<truncated_remainder>),
          symbolic<"prims::remainder(self, other)">(detail::of_tensors<remainder>),
          symbolic<"prims::maximum(self, other)">(detail::prim_extreme<maximum>),
          symbolic<"prims::minimum(self, other)">(detail::prim_extreme<minimum>),
          symbolic<"prims::fmax(self, other)">(detail::of_tensors<detail::ignoring_nan<true>>),
          symbolic<"prims::fmin(self, other)">(detail::of_tensors<detail::ignoring_nan<false>>),
          symbolic<"prims::atan2(self, other)">(detail::of_tensors<detail::in_floats<detail::atan2>>),
          symbolic<"prims::hypot(self, other)">(detail::of_tensors<detail::in_floats<detail::hypot>>),
          symbolic<"prims::gcd(self, other)">(detail::of_tensors<detail::gcd>),
          symbolic<"prims::zeta(self, other)">(detail::of_tensors<detail::zeta>),

          symbolic<"prims::eq(self, other)">(detail::of_tensors<equal_to>)
              .for_complex(detail::of_complex<detail::equal_numbers>),
          symbolic<"prims::ne(self, other)">(detail::of_tensors<not_equal>)
              .for_complex(detail::of_complex<detail::different_numbers>),
          symbolic<"prims::lt(self, other)">(detail::of_tensors<less>),
          symbolic<"prims::le(self, other)">(detail::of_tensors<less_equal>),
          symbolic<"prims::gt(self, other)">(detail::of_tensors<greater>),
          symbolic<"prims::ge(self, other)">(detail::of_tensors<greater_equal>),

          symbolic<"prims::bitwise_and(self, other)">(detail::of_tensors<detail::bitwise_and>),
          symbolic<"prims::bitwise_or(self, other)">(detail::of_tensors<detail::bitwise_or>),
          symbolic<"prims::bitwise_xor(self, other)">(detail::of_tensors<detail::bitwise_xor>),
          symbolic<"prims::shift_left(self, other)">(detail::of_tensors<detail::left_shift>),
          symbolic<"prims::shift_right_arithmetic(self, other)">(detail::of_tensors<detail::right_shift>),
          symbolic<"prims::where(pred, a, b)">(detail::choose_promoted).by_parts<"a", "b">());

inline constexpr auto prims_elementwise = unary_prims + binary_prims;

} // namespace ATON_NAMESPACE::mappings
