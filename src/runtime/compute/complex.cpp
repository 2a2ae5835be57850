// SPDX-License-Identifier: MIT
// Functions of complex tensors, computed from their parts or by the C library.
#include "complex.hpp"

#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

namespace {

struct parts {
    tensor re;
    tensor im;

    [[nodiscard]] tensor whole() const { return complex_of(re, im); }
};

parts parts_of(tensor const& x) { return {real_part(x), imaginary_part(x)}; }

parts times(parts const& x, parts const& y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }

/// Smith's algorithm, which overflows only if the result does.
parts over(parts const& x, parts const& y) {
    tensor const by_real = greater_equal(abs(y.re), abs(y.im));
    tensor const large = where(by_real, y.re, y.im);
    tensor const by_zero = equal(large, 0); // divides each part by positive zero
    tensor const ratio = where(by_real, y.im, y.re) / large;
    tensor const scale = where(by_zero, scalar(0), large + where(by_real, y.im, y.re) * ratio);
    tensor const re = where(by_real, x.re + x.im * ratio, x.re * ratio + x.im);
    tensor const im = where(by_real, x.im - x.re * ratio, x.im * ratio - x.re);
    return {where(by_zero, x.re, re) / scale, where(by_zero, x.im, im) / scale};
}

tensor magnitude_of(parts const& x) {
    tensor const a = abs(x.re);
    tensor const b = abs(x.im);
    tensor const large = maximum(a, b);
    tensor const ratio = where(equal(large, 0), full(0, a.dtype(), a.sizes(), a.where()), minimum(a, b) / large);
    tensor const finite = large * sqrt(square(ratio) + scalar(1));
    tensor const infinite = logical_or(unary(unary_op::isinf, a, {1, 1, 0}), unary(unary_op::isinf, b, {1, 1, 0}));
    return where(infinite, scalar(std::numeric_limits<double>::infinity()), finite);
}

tensor angle(parts const& x) { return binary(binary_op::atan2, x.im, x.re); }

/// As in C: a real number stays real, and with an infinite real part the angle may be arbitrary.
parts exponential(parts const& x) {
    tensor const e = exp(x.re);
    tensor const none = equal(x.re, scalar(-std::numeric_limits<double>::infinity()));
    tensor const infinite = equal(x.re, scalar(std::numeric_limits<double>::infinity()));
    tensor const turned = logical_not(unary(unary_op::isfinite, x.im));
    tensor const re = where(logical_and(infinite, turned), e, e * cos(x.im));
    tensor const im = where(equal(x.im, 0), x.im, e * sin(x.im));
    return {where(none, scalar(0), re), where(none, scalar(0), im)};
}
/// Also correct if the magnitude is out of the range of the dtype.
parts logarithm(parts const& x) {
    parts const half = {x.re * scalar(0.5), x.im * scalar(0.5)};
    tensor const size = magnitude_of(x);
    tensor const large = log(magnitude_of(half)) + scalar(std::numbers::ln2);
    return {where(unary(unary_op::isinf, size, {1, 1, 0}), large, log(size)), angle(x)};
}

parts scaled(parts const& x, double factor) { return {x.re * scalar(factor), x.im * scalar(factor)}; }
/// Also accurate for numbers near 1.
parts logarithm_of_one_more(parts const& x) {
    parts const one_more{x.re + scalar(1), x.im};
    tensor const near = scalar(0.5) * unary(unary_op::log1p, x.re * (x.re + scalar(2)) + square(x.im));
    tensor const is_small = less(magnitude_of(x), 0.5);
    return {where(is_small, near, log(magnitude_of(one_more))), angle(one_more)};
}
parts exponential_less_one(parts const& x) {
    tensor const half = sin(x.im * scalar(0.5));
    return {unary(unary_op::expm1, x.re) * cos(x.im) - scalar(2) * square(half), exp(x.re) * sin(x.im)};
}

/// Computes functions that lose precision in double.
parts near_one(unary_op op, parts const& x) {
    dtype const type = x.re.dtype();
    parts const z{cast(x.re, dtype::float64), cast(x.im, dtype::float64)};
    parts const y = op == unary_op::log1p ? logarithm_of_one_more(z) : exponential_less_one(z);
    return {cast(y.re, type), cast(y.im, type)};
}

/// The C library's functions, which have the same branch cuts and infinities as ATen's.
template <class T>
std::complex<T> of_library(unary_op op, std::complex<T> const& z) {
    switch (op) {
    case unary_op::sqrt: return std::sqrt(z);
    case unary_op::sin: return std::sin(z);
    case unary_op::cos: return std::cos(z);
    case unary_op::tan: return std::tan(z);
    case unary_op::sinh: return std::sinh(z);
    case unary_op::cosh: return std::cosh(z);
    case unary_op::tanh: return std::tanh(z);
    case unary_op::asin: return std::asin(z);
    case unary_op::acos: return std::acos(z);
    case unary_op::atan: return std::atan(z);
    case unary_op::asinh: return std::asinh(z);
    case unary_op::acosh: return std::acosh(z);
    default: return std::atanh(z);
    }
}

/// Computed on the host.
template <class T>
tensor mapped(unary_op op, tensor const& x) {
    tensor const from = contiguous(to_host(x));
    tensor const to = tensor::empty(x.dtype(), x.sizes());
    T const* const parts = from.as_pairs().data<T>();
    T* const out = to.as_pairs().data<T>();
    for (std::int64_t i = 0; i != from.count(); ++i) {
        std::complex<T> const y = of_library(op, std::complex<T>(parts[2 * i], parts[2 * i + 1]));
        out[2 * i] = y.real();
        out[2 * i + 1] = y.imag();
    }
    return to_device(to, x.where());
}
tensor mapped_by_library(unary_op op, tensor const& x) {
    return x.dtype() == dtype::complex64 ? mapped<float>(op, x) : mapped<double>(op, x);
}

parts one_like(parts const& x) {
    return {full(1, x.re.dtype(), x.re.sizes(), x.re.where()), full(0, x.re.dtype(), x.re.sizes(), x.re.where())};
}

/// exp(y log(x)) in double; a power of 0 is 0 or infinite, and 1 for the exponent 0.
parts power(parts const& x, parts const& y) {
    dtype const type = x.re.dtype();
    auto const wide = [](parts const& p) { return parts{cast(p.re, dtype::float64), cast(p.im, dtype::float64)}; };
    parts const z = exponential(times(wide(y), logarithm(wide(x))));
    tensor const none = logical_and(equal(x.re, 0), equal(x.im, 0));
    auto const of_zero = [&](double raised, double inverse) {
        tensor const neither = full(std::numeric_limits<double>::quiet_NaN(), dtype::float64, {}, x.re.where());
        return where(greater(y.re, 0), scalar(raised), where(less(y.re, 0), scalar(inverse), neither));
    };
    tensor const re = where(none, of_zero(0, std::numeric_limits<double>::infinity()), z.re);
    tensor const im =
        where(none, of_zero(0, std::numeric_limits<double>::quiet_NaN()), z.im); // its argument is undefined
    return {cast(re, type), cast(im, type)};
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
    case unary_op::abs: return magnitude_of(p);
    case unary_op::exp: return exponential(p).whole();
    case unary_op::log: return logarithm(p).whole();
    case unary_op::exp2: return exponential(scaled(p, 0.69314718055994530942)).whole();
    case unary_op::log2: return scaled(logarithm(p), 1.44269504088896340736).whole();
    case unary_op::log10: return scaled(logarithm(p), 0.43429448190325182765).whole();
    case unary_op::sqrt:
    case unary_op::sin:
    case unary_op::cos:
    case unary_op::tan:
    case unary_op::sinh:
    case unary_op::cosh:
    case unary_op::tanh:
    case unary_op::asin:
    case unary_op::acos:
    case unary_op::atan:
    case unary_op::asinh:
    case unary_op::acosh:
    case unary_op::atanh: return mapped_by_library(op, x);
    case unary_op::log1p:
    case unary_op::expm1: return near_one(op, p).whole();
    case unary_op::square: return times(p, p).whole();
    case unary_op::reciprocal: return over(one_like(p), p).whole();
    case unary_op::rsqrt: return over(one_like(p), parts_of(mapped_by_library(unary_op::sqrt, x))).whole();
    case unary_op::sigmoid: {
        parts const e = exponential({-p.re, -p.im});
        return over(one_like(p), {e.re + scalar(1), e.im}).whole();
    }
    case unary_op::sign: {
        tensor const m = magnitude_of(p);
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
    default: throw error("this function does not support " + std::string(name(x.dtype())));
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
    default: throw error("this function does not support " + std::string(name(x.dtype())));
    }
}

} // namespace ATON_NAMESPACE::runtime
