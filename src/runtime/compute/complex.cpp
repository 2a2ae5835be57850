// SPDX-License-Identifier: MIT
// Functions of complex tensors, made of functions of their parts.
#include "complex.hpp"

#include <string>
#include <vector>

#include <aton/dsl/error.hpp>

namespace aton::runtime {

namespace {

struct parts {
    tensor re;
    tensor im;

    [[nodiscard]] tensor whole() const { return complex_of(re, im); }
};

parts parts_of(tensor const& x) { return {real_part(x), imaginary_part(x)}; }

parts times(parts const& x, parts const& y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }

/// Smith's way: no overflow that the result does not have.
parts over(parts const& x, parts const& y) {
    tensor const by_real = greater_equal(abs(y.re), abs(y.im));
    tensor const large = where(by_real, y.re, y.im);
    tensor const ratio = where(by_real, y.im, y.re) / large;
    tensor const scale = large + where(by_real, y.im, y.re) * ratio;
    tensor const re = where(by_real, x.re + x.im * ratio, x.re * ratio + x.im) / scale;
    tensor const im = where(by_real, x.im - x.re * ratio, x.im * ratio - x.re) / scale;
    return {re, im};
}

tensor magnitude(parts const& x) {
    tensor const a = abs(x.re);
    tensor const b = abs(x.im);
    tensor const large = maximum(a, b);
    tensor const ratio = where(equal(large, 0), full(0, a.dtype(), a.sizes(), a.where()), minimum(a, b) / large);
    tensor const finite = large * sqrt(square(ratio) + scalar(1));
    tensor const infinite = logical_or(unary(unary_op::isinf, a, {1, 1, 0}), unary(unary_op::isinf, b, {1, 1, 0}));
    return where(infinite, scalar(std::numeric_limits<double>::infinity()), finite);
}

tensor angle(parts const& x) { return binary(binary_op::atan2, x.im, x.re); }

parts exponential(parts const& x) {
    tensor const e = exp(x.re);
    return {e * cos(x.im), e * sin(x.im)};
}
parts logarithm(parts const& x) { return {log(magnitude(x)), angle(x)}; }

parts square_root(parts const& x) {
    tensor const m = magnitude(x);
    tensor const re = sqrt((m + abs(x.re)) * scalar(0.5));
    tensor const other = where(equal(re, 0), re, abs(x.im) / (re * scalar(2)));
    tensor const right = greater_equal(x.re, 0);
    tensor const im = where(right, other, re);
    return {where(right, re, other), binary(binary_op::copysign, im, x.im)};
}

parts hyperbolic_sine(parts const& x) {
    return {unary(unary_op::sinh, x.re) * cos(x.im), unary(unary_op::cosh, x.re) * sin(x.im)};
}
parts hyperbolic_cosine(parts const& x) {
    return {unary(unary_op::cosh, x.re) * cos(x.im), unary(unary_op::sinh, x.re) * sin(x.im)};
}
parts scaled(parts const& x, double factor) { return {x.re * scalar(factor), x.im * scalar(factor)}; }
parts turned(parts const& x) { return {-x.im, x.re}; }      // times i
parts turned_back(parts const& x) { return {x.im, -x.re}; } // times -i

/// Of numbers near 1 too.
parts logarithm_of_one_more(parts const& x) {
    parts const one_more{x.re + scalar(1), x.im};
    tensor const near = scalar(0.5) * unary(unary_op::log1p, x.re * (x.re + scalar(2)) + square(x.im));
    tensor const is_small = less(magnitude(x), 0.5);
    return {where(is_small, near, log(magnitude(one_more))), angle(one_more)};
}
parts exponential_less_one(parts const& x) {
    tensor const half = sin(x.im * scalar(0.5));
    return {unary(unary_op::expm1, x.re) * cos(x.im) - scalar(2) * square(half), exp(x.re) * sin(x.im)};
}

/// log(x + sqrt(x^2 + 1)) of the half plane on the right, where nothing cancels out; odd.
parts inverse_sine_h(parts const& x) {
    tensor const sign = binary(binary_op::copysign, full(1, x.re.dtype(), x.re.sizes(), x.re.where()), x.re);
    parts const right{x.re * sign, x.im * sign};
    parts const squared = times(right, right);
    parts const root = square_root({squared.re + scalar(1), squared.im});
    parts const y = logarithm({right.re + root.re, right.im + root.im});
    return {y.re * sign, y.im * sign};
}
parts inverse_sine(parts const& x) { return turned_back(inverse_sine_h(turned(x))); }
parts inverse_cosine(parts const& x) {
    parts const y = inverse_sine(x);
    return {scalar(1.57079632679489661923) - y.re, -y.im};
}
/// log(x + sqrt(x + 1) sqrt(x - 1))
parts inverse_cosine_h(parts const& x) {
    parts const root = times(square_root({x.re + scalar(1), x.im}), square_root({x.re - scalar(1), x.im}));
    return logarithm({x.re + root.re, x.im + root.im});
}
parts inverse_tangent_h(parts const& x) {
    tensor const below = scalar(1) - x.re;
    tensor const ratio = scalar(4) * x.re / (square(below) + square(x.im));
    tensor const im = binary(binary_op::atan2, scalar(2) * x.im, below * (x.re + scalar(1)) - square(x.im));
    return {unary(unary_op::log1p, ratio) * scalar(0.25), im * scalar(0.5)};
}

/// Functions that lose digits are computed in double.
parts inverse_function(unary_op op, parts const& x) {
    dtype const type = x.re.dtype();
    parts const z{cast(x.re, dtype::float64), cast(x.im, dtype::float64)};
    auto const function = [&]() -> parts {
        switch (op) {
        case unary_op::acos: return inverse_cosine(z);
        case unary_op::acosh: return inverse_cosine_h(z);
        case unary_op::asin: return inverse_sine(z);
        case unary_op::asinh: return inverse_sine_h(z);
        case unary_op::atan: return turned_back(inverse_tangent_h(turned(z)));
        case unary_op::atanh: return inverse_tangent_h(z);
        case unary_op::log1p: return logarithm_of_one_more(z);
        default: return exponential_less_one(z);
        }
    };
    parts const y = function();
    return {cast(y.re, type), cast(y.im, type)};
}

parts one_like(parts const& x) {
    return {full(1, x.re.dtype(), x.re.sizes(), x.re.where()), full(0, x.re.dtype(), x.re.sizes(), x.re.where())};
}

/// exp(y log(x)) in double; of 0 it is 0, to the power of 0 it is 1.
parts power(parts const& x, parts const& y) {
    dtype const type = x.re.dtype();
    auto const wide = [](parts const& p) { return parts{cast(p.re, dtype::float64), cast(p.im, dtype::float64)}; };
    parts const z = exponential(times(wide(y), logarithm(wide(x))));
    auto const is_zero = [](parts const& p) { return logical_and(equal(p.re, 0), equal(p.im, 0)); };
    tensor const none = is_zero(x);
    tensor const one = is_zero(y);
    return {cast(where(one, scalar(1), where(none, scalar(0), z.re)), type),
            cast(where(logical_or(one, none), scalar(0), z.im), type)};
}

} // namespace

tensor complex_of(tensor const& real, tensor const& imaginary) {
    sizes const to = broadcast(real.sizes(), imaginary.sizes());
    std::vector<tensor> const both = {real.expanded(to), imaginary.expanded(to)};
    return stack(both, static_cast<std::int64_t>(to.size())).from_pairs();
}

tensor real_part(tensor const& x) {
    tensor const pairs = x.as_pairs();
    return pairs.sliced(x.rank(), 0, 1).squeezed(x.rank());
}
tensor imaginary_part(tensor const& x) {
    tensor const pairs = x.as_pairs();
    return pairs.sliced(x.rank(), 1, 1).squeezed(x.rank());
}

tensor complex_unary(unary_op op, tensor const& x) {
    parts const p = parts_of(x);
    switch (op) {
    case unary_op::neg: return parts{-p.re, -p.im}.whole();
    case unary_op::abs: return magnitude(p);
    case unary_op::exp: return exponential(p).whole();
    case unary_op::log: return logarithm(p).whole();
    case unary_op::exp2: return exponential(scaled(p, 0.69314718055994530942)).whole();
    case unary_op::log2: return scaled(logarithm(p), 1.44269504088896340736).whole();
    case unary_op::log10: return scaled(logarithm(p), 0.43429448190325182765).whole();
    case unary_op::acos:
    case unary_op::acosh:
    case unary_op::asin:
    case unary_op::asinh:
    case unary_op::atan:
    case unary_op::atanh:
    case unary_op::log1p:
    case unary_op::expm1: return inverse_function(op, p).whole();
    case unary_op::sqrt: return square_root(p).whole();
    case unary_op::square: return times(p, p).whole();
    case unary_op::reciprocal: return over(one_like(p), p).whole();
    case unary_op::rsqrt: return over(one_like(p), square_root(p)).whole();
    case unary_op::sinh: return hyperbolic_sine(p).whole();
    case unary_op::cosh: return hyperbolic_cosine(p).whole();
    case unary_op::tanh: return over(hyperbolic_sine(p), hyperbolic_cosine(p)).whole();
    case unary_op::sin: return turned_back(hyperbolic_sine(turned(p))).whole();
    case unary_op::cos: return hyperbolic_cosine(turned(p)).whole();
    case unary_op::tan: {
        parts const q = turned(p);
        return turned_back(over(hyperbolic_sine(q), hyperbolic_cosine(q))).whole();
    }
    case unary_op::sigmoid: {
        parts const e = exponential({-p.re, -p.im});
        return over(one_like(p), {e.re + scalar(1), e.im}).whole();
    }
    case unary_op::sign: {
        tensor const m = magnitude(p);
        tensor const zero = equal(m, 0);
        return parts{where(zero, scalar(0), p.re / m), where(zero, scalar(0), p.im / m)}.whole();
    }
    case unary_op::logical_not: return logical_and(equal(p.re, 0), equal(p.im, 0));
    case unary_op::isnan: return logical_or(isnan(p.re), isnan(p.im));
    case unary_op::isinf: {
        unary_parameters const both{1, 1, 0};
        return logical_or(unary(op, p.re, both), unary(op, p.im, both));
    }
    case unary_op::isfinite: return logical_and(unary(op, p.re), unary(op, p.im));
    default: throw error("this function is not one of " + std::string(name(x.dtype())));
    }
}

tensor complex_binary(binary_op op, tensor const& x, tensor const& y) {
    parts const a = parts_of(x);
    parts const b = parts_of(y);
    auto const truth = [](parts const& p) { return logical_or(unequal(p.re, 0), unequal(p.im, 0)); };
    switch (op) {
    case binary_op::add: return parts{a.re + b.re, a.im + b.im}.whole();
    case binary_op::sub: return parts{a.re - b.re, a.im - b.im}.whole();
    case binary_op::mul: return times(a, b).whole();
    case binary_op::div: return over(a, b).whole();
    case binary_op::pow: return power(a, b).whole();
    case binary_op::eq: return logical_and(equal(a.re, b.re), equal(a.im, b.im));
    case binary_op::ne: return logical_or(unequal(a.re, b.re), unequal(a.im, b.im));
    case binary_op::logical_and:
    case binary_op::logical_or:
    case binary_op::logical_xor: return binary(op, truth(a), truth(b));
    default: throw error("this function is not one of " + std::string(name(x.dtype())));
    }
}

} // namespace aton::runtime
