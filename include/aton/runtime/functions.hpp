// SPDX-License-Identifier: MIT
// The enumerations of the functions of one and of two numbers, for code that only names them.
// Internal header.
#pragma once

#include <cstdint>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::runtime {

/// The names are ATen's. Comments list the parameters of functions that have some.
enum class unary_op : std::uint8_t {
    abs,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    bitwise_not,
    ceil,
    celu,  // alpha
    clamp, // least, most; keeps NaN
    cos,
    cosh,
    elu, // alpha, scale, input_scale
    erf,
    erfc,
    exp,
    exp2,
    expm1,
    floor,
    gelu,
    gelu_tanh,
    hard_sigmoid, // slope, offset: ONNX's
    hardsigmoid,  // ATen's, which divides by 6
    hard_swish,
    leaky_relu, // slope
    lgamma,
    log,
    log10,
    log1p,
    log2,
    logical_not,
    mish,
    neg,
    reciprocal,
    relu,
    round,
    rsqrt,
    shrink, // bias, lambda
    sigmoid,
    sign,
    sin,
    sinh,
    softplus, // beta, threshold
    softsign,
    sqrt,
    square,
    swish, // alpha: x * sigmoid(alpha * x)
    tan,
    tanh,
    threshold, // lambda, value: x if x > lambda, otherwise value
    trunc,
    airy_ai, // special functions
    bessel_j0,
    bessel_j1,
    bessel_y0,
    bessel_y1,
    digamma,
    erfcx,
    erfinv,
    i0,
    i0e,
    i1,
    i1e,
    log_ndtr,
    modified_bessel_k0,
    modified_bessel_k1,
    ndtri,
    scaled_modified_bessel_k0,
    scaled_modified_bessel_k1,
    spherical_bessel_j0,
    trigamma,
    mantissa, // x = mantissa * 2^exponent, 0.5 <= |mantissa| < 1
    exponent,
    isfinite,
    isnan,
    isinf, // parameters: detect negative infinities, detect positive ones (1 or 0)
    count_
};

struct unary_parameters {
    double a = 0;
    double b = 0;
    double c = 0;
};

enum class binary_op : std::uint8_t {
    add,
    sub,
    mul,
    div,       // integers round towards zero
    floor_div, // rounds towards minus infinity
    fmod,      // has the sign of the first operand
    remainder, // has the sign of the second operand
    pow,
    maximum, // NaN if either operand is NaN
    minimum,
    prelu, // x, slope
    atan2, // floats only, as all that follow
    copysign,
    hypot,
    nextafter, // float32 and float64 only
    igamma,
    igammac,
    zeta,        // s, q: the sum of (q + k)^-s
    chebyshev_t, // polynomials: x, degree
    chebyshev_u,
    chebyshev_v,
    chebyshev_w,
    hermite_h,
    hermite_he,
    laguerre_l,
    legendre_p,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    shift_left,
    shift_right,
    gcd,
    lcm,
    logical_and,
    logical_or,
    logical_xor,
    eq,
    ne,
    lt,
    le,
    gt,
    ge,
    count_
};

} // namespace ATON_NAMESPACE::runtime
