// SPDX-License-Identifier: MIT
// The Hurwitz zeta function and the derivatives of digamma, which are multiples of it.
// Public header.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/special_functions.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// More steps than this from a negative number to the positive ones give NaN.
inline constexpr double max_steps_of_zeta = 100'000;

/// The sum of q^-s, (q + 1)^-s, ... as long as q + k < 1, and the first q + k >= 1.
inline std::tuple<value, value> sum_of_negative_terms(graph<9> g, value s, value q) {
    value const steps = g.op<"Floor">(g.op<"Sub">(g.scalar(1, q.dtype()), q));
    value const counted = is_at_most(g, steps, max_steps_of_zeta); // false for NaN
    value const known = g.op<"Where">(counted, steps, g.scalar(0, q.dtype()));
    value const all = reshape(g, g.cast(known, dtype::int64), {-1});
    value const and_zero = g.op<"Concat">(safe_vector<value>{all, g.ints({0})}, attr::axis_i(0)); // not empty
    value const start = g.op<"Where">(counted, q, g.scalar(std::numeric_limits<double>::quiet_NaN(), q.dtype()));
    auto const [sum, end] = g.op<"Loop">(
        reduce<"ReduceMax">(g, and_zero, safe_vector<std::int64_t>{0}, false),
        absent,
        g.op<"Mul">(known, 0),
        start,
        outputs<2>,
        attr::body_g([&](graph<9> b, value, value goes_on, value total, value at) {
            value const counts = is_less(b, at, 1);
            value const term = b.op<"Pow">(at, b.op<"Neg">(s));
            value const next = b.op<"Where">(counts, b.op<"Add">(total, term), total);
            return std::tuple(value(b.op<"Identity">(goes_on)), next, b.op<"Where">(counts, b.op<"Add">(at, 1), at));
        }));
    return {sum.set_shape(q.shape()), end.set_shape(q.shape())};
}

/// The sum of (q + k)^-s for all k >= 0, in float64: 20 terms, and the others by the formula of Euler and Maclaurin
/// (DLMF 25.11.28).
inline value hurwitz_zeta(graph<9> g, value s_given, value q_given) {
    value const zero = g.scalar(0, dtype::float64);
    value const s = g.op<"Add">(s_given, g.op<"Mul">(q_given, zero)); // broadcasts; NaN if either is
    value const q = g.op<"Add">(q_given, g.op<"Mul">(s_given, zero));
    auto const [negative, first] = sum_of_negative_terms(g, s, q);
    constexpr std::int64_t count = 20;
    value const places = g.cast(arithmetic_sequence(g, 0, count), dtype::float64);
    value const exponent = g.op<"Neg">(s);
    value const terms =
        g.op<"Pow">(g.op<"Add">(unsqueeze(g, first, first.rank()), places), unsqueeze(g, exponent, exponent.rank()));
    value const sum = g.op<"Add">(negative, reduce_sum(g, terms, std::array<std::int64_t, 1>{first.rank()}, false));
    value const n = g.op<"Add">(first, static_cast<double>(count));
    value const power = g.op<"Pow">(n, exponent);
    value const integral = g.op<"Div">(g.op<"Mul">(power, n), g.op<"Sub">(s, 1));
    value const squared = g.op<"Mul">(n, n);
    constexpr std::array coefficients = {
        1. / 12, -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160, -691. / 1307674368000}; // B(2 k) / (2 k)!
    value series = g.scalar(coefficients.back(), dtype::float64);
    for (std::size_t k = coefficients.size() - 1; k-- != 0;) {
        auto const i = static_cast<double>(2 * k + 1);
        value const rising = g.op<"Mul">(g.op<"Add">(s, i), g.op<"Add">(s, i + 1));
        series = g.op<"Add">(g.op<"Div">(g.op<"Mul">(series, rising), squared), coefficients[k]);
    }
    value const correction = g.op<"Div">(g.op<"Mul">(g.op<"Mul">(power, s), series), n);
    value const rest = g.op<"Add">(g.op<"Add">(integral, g.op<"Mul">(power, 0.5)), correction);
    value const small = is_equal(g, power, 0); // also for infinite s
    return g.op<"Add">(sum, g.op<"Where">(small, zero, rest));
}

/// ATen's zeta(s, q): infinite at s = 1 and for q = 0, -1, ...; NaN for s < 1, and for other negative q unless s is an
/// integer.
inline value zeta_at(graph<9> g, value s, value q) {
    value const infinite = g.scalar(std::numeric_limits<double>::infinity(), dtype::float64);
    value const no_number = g.scalar(std::numeric_limits<double>::quiet_NaN(), dtype::float64);
    value const not_positive = is_at_most(g, q, 0);
    value const is_pole = g.op<"And">(not_positive, is_equal(g, q, g.op<"Floor">(q)));
    value const is_fraction = g.op<"Not">(is_equal(g, s, g.op<"Floor">(s)));
    value const inside = g.op<"Where">(g.op<"And">(not_positive, is_fraction), no_number, hurwitz_zeta(g, s, q));
    value const right = g.op<"Where">(is_less(g, s, 1), no_number, g.op<"Where">(is_pole, infinite, inside));
    return g.op<"Where">(is_equal(g, s, 1), infinite, right);
}

inline value zeta(graph<9> g, value s, value q) {
    dtype const type = to_floating(promote(s, q));
    auto const wide = [&](value x) { return g.cast(g.cast(x, type), dtype::float64); };
    return g.cast(zeta_at(g, wide(s), wide(q)), type);
}

/// The derivative of digamma. By reflection below 1/2, as in ATen: its poles at negative integers are huge numbers.
inline value trigamma(graph<9> g, value x) {
    value const is_left = is_less(g, x, 0.5);
    value const sine = g.op<"Sin">(g.op<"Mul">(x, std::numbers::pi));
    constexpr double pi_squared = std::numbers::pi * std::numbers::pi;
    value const reflected = g.op<"Div">(g.scalar(pi_squared, x.dtype()), g.op<"Mul">(sine, sine));
    value const y = g.op<"Where">(is_left, g.op<"Sub">(g.scalar(1, x.dtype()), x), x);
    value const right = g.cast(hurwitz_zeta(g, g.scalar(2, dtype::float64), g.cast(y, dtype::float64)), x.dtype());
    return g.op<"Where">(is_left, g.op<"Sub">(reflected, right), right);
}

/// The n-th derivative of digamma: (-1)^(n + 1) n! zeta(n + 1, x).
inline constexpr auto polygamma = [](graph<9> g, std::int64_t n, value self) -> value {
    if (n < 0) throw unsupported_error("polygamma of order " + std::to_string(n));
    if (n == 0) return double_precision<digamma>(g, self);
    dtype const type = to_floating(self.dtype());
    value const x = g.cast(self, type);
    if (n == 1) return g.cast(trigamma(g, g.cast(x, opmath_type(type))), type);
    auto const order = static_cast<double>(n);
    double const factor = std::tgamma(order + 1) * (n % 2 == 0 ? -1 : 1);
    value const z = zeta_at(g, g.scalar(order + 1, dtype::float64), g.cast(x, dtype::float64));
    return g.cast(g.op<"Mul">(z, factor), type);
};

} // namespace detail

inline constexpr auto zeta_functions =
    table(symbolic<"aten::polygamma(n, self)">(detail::polygamma),
          symbolic<"aten::special_polygamma(n, self)">(detail::polygamma),
          symbolic<"aten::special_zeta(self, other)">(detail::of_tensors<detail::zeta>),
          symbolic<"aten::special_zeta.other_scalar(self, other)">(detail::with_number<detail::zeta>),
          symbolic<"aten::special_zeta.self_scalar(self, other)">(detail::number_first<detail::zeta>));

} // namespace ATON_NAMESPACE::mappings
