// SPDX-License-Identifier: MIT
// Fourier transforms: lengths are factored (Cooley-Tukey), small ones are matrix products, large primes convolutions
// (Bluestein).
#include "runtime/compute/fourier.hpp"

#include <bit>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

namespace {

constexpr std::int64_t max_direct = 64;     ///< maximum length of a transform as one matrix product
constexpr std::int64_t largest_prime = 512; ///< that is not computed as a convolution

complex_parts times(complex_parts const& x, complex_parts const& y) {
    if (!x.imaginary) return {x.real * y.real, x.real * y.imaginary};
    return {x.real * y.real - x.imaginary * y.imaginary, x.real * y.imaginary + x.imaginary * y.real};
}

template <class Function>
complex_parts each(complex_parts const& x, Function const& f) {
    return {f(x.real), x.imaginary ? f(x.imaginary) : tensor()};
}

/// exp(i * angle) for rows and columns; the angle is a fraction of a turn, computed in float64.
template <class Function>
complex_parts unit_circle(sizes const& of, tensor const& like, Function const& turns) {
    tensor const cosine = tensor::empty(dtype::float64, of);
    tensor const sine = tensor::empty(dtype::float64, of);
    for (std::int64_t i = 0; i != of[0]; ++i)
        for (std::int64_t j = 0; j != of[1]; ++j) {
            double const angle = 2 * std::numbers::pi * turns(i, j);
            cosine.data<double>()[i * of[1] + j] = std::cos(angle);
            sine.data<double>()[i * of[1] + j] = std::sin(angle);
        }
    return each({cosine, sine}, [&](tensor const& t) { return to_device(cast(t, like.dtype()), like.where()); });
}

/// i * j / n, without its integer part.
double fraction(std::int64_t i, std::int64_t j, std::int64_t n) {
    return static_cast<double>(i * j % n) / static_cast<double>(n);
}

// Transforms along the last axis of [batch, n]. `sign` is that of the angle.
complex_parts transform(complex_parts const& x, double sign);

complex_parts direct(complex_parts const& x, double sign) {
    std::int64_t const n = x.real.size(1);
    complex_parts const w =
        unit_circle({n, n}, x.real, [&](std::int64_t i, std::int64_t j) { return sign * fraction(i, j, n); });
    tensor const re = matmul(x.real, w.real);
    tensor const im = matmul(x.real, w.imaginary);
    if (!x.imaginary) return {re, im};
    return {re - matmul(x.imaginary, w.imaginary), im + matmul(x.imaginary, w.real)};
}

/// n = a * b: transforms of length a over elements at distance b, twiddle factors, then transforms of length b.
complex_parts split(complex_parts const& x, std::int64_t a, double sign) {
    std::int64_t const batch = x.real.size(0);
    std::int64_t const n = x.real.size(1);
    std::int64_t const b = n / a;
    auto const columns = [&](tensor const& t) {
        return reshape(transpose(reshape(t, {batch, a, b}), 1, 2), {batch * b, a});
    };
    complex_parts const inner = transform(each(x, columns), sign);
    complex_parts const turns =
        unit_circle({b, a}, x.real, [&](std::int64_t i, std::int64_t j) { return sign * fraction(i, j, n); });
    complex_parts const turned = times(each(inner, [&](tensor const& t) { return reshape(t, {batch, b, a}); }), turns);
    auto const rows = [&](tensor const& t) { return reshape(transpose(t, 1, 2), {batch * a, b}); };
    complex_parts const outer = transform(each(turned, rows), sign);
    return each(outer,
                [&](tensor const& t) { return reshape(transpose(reshape(t, {batch, a, b}), 1, 2), {batch, n}); });
}

/// kn = (k^2 + n^2 - (k - n)^2) / 2: a convolution with a length that has small factors.
complex_parts as_convolution(complex_parts const& x, double sign) {
    std::int64_t const n = x.real.size(1);
    auto const length = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * n - 1)));
    auto const half_squares = [&](std::int64_t i) { return fraction(i, i, 2 * n); };
    complex_parts const chirp =
        unit_circle({1, n}, x.real, [&](std::int64_t, std::int64_t j) { return sign * half_squares(j); });
    auto const padded = [&](tensor const& t) { return pad(t, {0, 0}, {0, length - n}, 0); };
    complex_parts const signal = each(times(x, chirp), padded);
    complex_parts filter = unit_circle({1, length}, x.real, [&](std::int64_t, std::int64_t j) {
        return -sign * half_squares(j < n ? j : length - j);
    });
    tensor const used = full(0, x.real.dtype(), {1, length - 2 * n + 1}, x.real.where());
    for (tensor const& t : {filter.real, filter.imaginary}) // zeros between the two ends
        if (used.count() != 0) kernels_of(t.where()).copy(used, t.sliced(1, n, used.count()));
    complex_parts const product = times(transform(signal, -1), transform(filter, -1));
    complex_parts const back = transform(product, 1);
    auto const cut = [&](tensor const& t) { return t.sliced(1, 0, n) * scalar(1.0 / static_cast<double>(length)); };
    return times(each(back, cut), chirp);
}

complex_parts transform(complex_parts const& x, double sign) {
    std::int64_t const n = x.real.size(1);
    if (n <= max_direct) return direct(x, sign);
    for (std::int64_t a = max_direct; a != 1; --a)
        if (n % a == 0) return split(x, a, sign);
    for (std::int64_t a = max_direct; a * a <= n; ++a)
        if (n % a == 0) return split(x, a, sign);
    return n <= largest_prime ? direct(x, sign) : as_convolution(x, sign);
}

} // namespace

complex_parts fourier(complex_parts const& x, std::int64_t axis, bool inverse) {
    tensor const& re = x.real;
    std::size_t const at = axis_at(axis, re.rank());
    auto const last = static_cast<std::int64_t>(re.rank()) - 1;
    if (re.rank() == 0) throw error("a 0-d tensor has no axis to transform");
    if (re.count() == 0) return {re, re};
    auto const there = [&](tensor const& t) {
        tensor const moved = transpose(t, static_cast<std::int64_t>(at), last);
        return reshape(moved, {t.count() / t.size(at), t.size(at)});
    };
    sizes between = re.sizes();
    std::swap(between[at], between.back());
    auto const back = [&](tensor const& t) {
        return contiguous(transpose(reshape(t, between), static_cast<std::int64_t>(at), last));
    };
    return each(transform(each(x, there), inverse ? 1 : -1), back);
}

tensor fourier_to_real(complex_parts const& x, std::int64_t axis, std::int64_t length) {
    std::size_t const at = axis_at(axis, x.real.rank());
    if (length < 1 || x.real.rank() == 0) throw error("a transform cannot have length " + std::to_string(length));
    sizes const before(x.real.rank(), 0);
    sizes after(x.real.rank(), 0);
    std::int64_t const given = length / 2 + 1;
    after[at] = given - x.real.size(at);
    std::int64_t const mirrored = length - given;
    auto const whole = [&](tensor const& t, bool negative) {
        tensor const front = pad(t, before, after, 0);
        tensor const tail = front.sliced(at, mirrored, mirrored, -1);
        std::vector<tensor> const parts = {front, negative ? -tail : contiguous(tail)};
        return concat(parts, static_cast<std::int64_t>(at));
    };
    complex_parts const all = {whole(x.real, false), x.imaginary ? whole(x.imaginary, true) : tensor()};
    return fourier(all, axis, true).real;
}

} // namespace ATON_NAMESPACE::runtime
