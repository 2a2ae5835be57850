// SPDX-License-Identifier: MIT
// The regularized incomplete gamma functions: a series and a continued fraction, and an integral for large parameters.
// Public header.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <tuple>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/special_functions.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The nodes and weights of Gauss and Legendre's quadrature on [0, 1].
template <std::size_t N>
struct quadrature {
    safe_vector<double> nodes;
    safe_vector<double> weights;

    quadrature() {
        constexpr auto n = static_cast<double>(N);
        for (std::size_t i = 0; i != N; ++i) {
            double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5));
            double slope = 1;
            for (int step = 0; step != 8; ++step) { // Newton's method
                double before = 1;
                double value = x;
                for (std::size_t k = 2; k <= N; ++k) {
                    auto const d = static_cast<double>(k);
                    double const next = ((2 * d - 1) * x * value - (d - 1) * before) / d;
                    before = value;
                    value = next;
                }
                slope = n * (x * value - before) / (x * x - 1);
                x -= value / slope;
            }
            nodes.push_back((1 - x) / 2);
            weights.push_back(1 / ((1 - x * x) * slope * slope));
        }
    }
};

/// For 0 < a < 100: the sum of x^k / ((a + 1) ... (a + k)) over k >= 0, for 0 < x <= a + 1.
inline value gamma_series(graph<11> g, value a, value x) {
    constexpr std::int64_t terms = 128;
    value const one = g.op<"Add">(g.op<"Mul">(g.op<"Add">(a, x), 0), 1);
    auto const [sum, last] =
        g.op<"Loop">(g.scalar(terms, dtype::int64),
                     absent,
                     one,
                     one,
                     outputs<2>,
                     attr::body_g([&](graph<11> b, value step, value goes_on, value total, value term) {
                         value const k = b.op<"Add">(b.cast(step, dtype::float64), 1);
                         value const next = b.op<"Mul">(term, b.op<"Div">(x, b.op<"Add">(a, k)));
                         return std::tuple(value(b.op<"Identity">(goes_on)), value(b.op<"Add">(total, next)), next);
                     }));
    return sum.set_shape(one.shape());
}

/// For 0 < a < 100 and x >= a + 1: x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...)), from the
/// innermost term.
inline value gamma_fraction(graph<11> g, value a, value x) {
    constexpr std::int64_t terms = 128;
    value const difference = g.op<"Sub">(x, a);
    value const whole = g.op<"Loop">(g.scalar(terms, dtype::int64),
                                     absent,
                                     g.op<"Add">(difference, static_cast<double>(2 * terms + 1)),
                                     attr::body_g([&](graph<11> b, value step, value goes_on, value inner) {
                                         value const k =
                                             b.op<"Sub">(b.scalar(terms, dtype::float64), b.cast(step, dtype::float64));
                                         value const numerator = b.op<"Mul">(k, b.op<"Sub">(k, a));
                                         value const first = b.op<"Add">(difference, b.op<"Sub">(b.op<"Mul">(k, 2), 1));
                                         return std::tuple(value(b.op<"Identity">(goes_on)),
                                                           value(b.op<"Sub">(first, b.op<"Div">(numerator, inner))));
                                     }));
    return whole.set_shape(difference.shape());
}

/// log(1 + d) - d.
inline value log1p_remainder(graph<11> g, value d) {
    value const near = g.op<"Less">(g.op<"Abs">(d), 0.01);
    value series = g.scalar(0, dtype::float64);
    for (int k = 9; k != 1; --k) series = g.op<"Mul">(g.op<"Add">(series, (k % 2 == 0 ? -1.0 : 1.0) / k), d);
    value const far = g.op<"Sub">(g.op<"Log">(g.op<"Add">(d, 1)), d);
    return g.op<"Where">(near, g.op<"Mul">(series, d), far);
}

/// For a >= 100: whether x is below the mode a - 1, and the integral of the density from x away from the mode.
inline std::tuple<value, value> gamma_tail(graph<11> g, value a, value x) {
    value const mode = g.op<"Sub">(a, 1);
    value const deviation = g.op<"Sqrt">(mode);
    value const is_low = g.op<"Less">(x, mode);
    auto const away = [&](value from, double by) -> value { return g.op<"Add">(from, g.op<"Mul">(deviation, by)); };
    value const zero = g.scalar(0, dtype::float64);
    value const lower = max_of(g, min_of(g, away(mode, -9), away(x, -6)), zero);
    value const end = g.op<"Where">(is_low, lower, max_of(g, away(mode, 9), away(x, 6)));
    quadrature<32> const rule;
    std::int64_t const last = x.rank();
    value const width = g.op<"Sub">(end, x);
    value const nodes = g.constant(rule.nodes, dtype::float64);
    value const place = g.op<"Add">(unsqueeze(g, x, last), g.op<"Mul">(unsqueeze(g, width, last), nodes));
    value const center = unsqueeze(g, mode, last);
    value const exponent = g.op<"Mul">(center, log1p_remainder(g, g.op<"Div">(g.op<"Sub">(place, center), center)));
    value const heights = g.op<"Mul">(g.op<"Exp">(exponent), g.constant(rule.weights, dtype::float64));
    value const area = reduce_sum(g, heights, std::array<std::int64_t, 1>{last}, false);
    // exp(mode (log(mode) - 1)) / gamma(a), by Stirling's series
    value const inverse = g.op<"Reciprocal">(mode);
    value const squared = g.op<"Mul">(inverse, inverse);
    value const rest = g.op<"Mul">(inverse, g.op<"Sub">(g.op<"Div">(squared, 360), 1. / 12));
    value const scale = g.op<"Div">(g.op<"Exp">(rest), g.op<"Sqrt">(g.op<"Mul">(mode, 2 * std::numbers::pi)));
    return {is_low, g.op<"Mul">(g.op<"Mul">(area, g.op<"Abs">(width)), scale)};
}

/// P(a, x), or 1 - P(a, x) if `Upper`, for 0 < a and 0 < x, both finite.
template <bool Upper>
value ordinary_gamma(graph<11> g, value a, value x) {
    value const one = g.scalar(1, dtype::float64);
    value const limit = g.scalar(100, dtype::float64);
    value const is_small = g.op<"Less">(a, limit);
    auto const complement = [&](value p) -> value { return g.op<"Sub">(one, p); };

    value const b = g.op<"Where">(is_small, a, one);
    value const y = g.op<"Where">(is_small, x, one);
    value const bound = g.op<"Add">(b, 1);
    value const is_left = g.op<"Less">(y, bound);
    value const exponent = g.op<"Sub">(g.op<"Sub">(g.op<"Mul">(b, g.op<"Log">(y)), y), lgamma(g, bound));
    value const factor = g.op<"Exp">(exponent); // x^a exp(-x) / gamma(a + 1)
    value const lower = g.op<"Mul">(factor, gamma_series(g, b, min_of(g, y, bound)));
    value const fraction = gamma_fraction(g, b, max_of(g, y, bound));
    value const upper = g.op<"Div">(g.op<"Mul">(factor, b), fraction);
    value const below = Upper ? complement(lower) : lower;
    value const above = Upper ? upper : complement(upper);
    value const near = g.op<"Where">(is_left, below, above);

    auto const [is_low, area] = gamma_tail(g, g.op<"Where">(is_small, limit, a), g.op<"Where">(is_small, limit, x));
    value const other = complement(area);
    value const far = Upper ? g.op<"Where">(is_low, other, area) : g.op<"Where">(is_low, area, other);
    return g.op<"Where">(is_small, near, far);
}

/// igamma(a, x) and igammac(a, x), with ATen's results at 0, at infinity and for negative operands.
template <bool Upper>
value regularized_gamma(graph<11> g, value first, value second) {
    dtype const type = promote(first, second);
    if (!is_floating(type)) throw unsupported_error("incomplete gamma functions of integers");
    auto const wide = [&](value v) { return g.cast(g.cast(v, type), dtype::float64); };
    value const nothing = g.op<"Mul">(g.op<"Add">(wide(first), wide(second)), 0); // NaN if either is not finite
    value const zeros = g.op<"Where">(g.op<"IsNaN">(nothing), g.scalar(0, dtype::float64), nothing);
    value const a = g.op<"Add">(wide(first), zeros); // broadcast
    value const x = g.op<"Add">(wide(second), zeros);
    auto const number = [&](double n) { return g.scalar(n, dtype::float64); };
    constexpr double inf = std::numeric_limits<double>::infinity();
    auto const is_inside = [&](value v) -> value { return g.op<"And">(g.op<"Greater">(v, 0), g.op<"Less">(v, inf)); };
    value const ordinary = g.op<"And">(is_inside(a), is_inside(x));
    value const inside =
        ordinary_gamma<Upper>(g, g.op<"Where">(ordinary, a, number(1)), g.op<"Where">(ordinary, x, number(1)));
    // P is 1 where a is 0 or x is infinite, and 0 where x is 0 or a is infinite; NaN if both hold. The other operand
    // may be NaN, unless a is 0.
    value const of_zero = g.op<"And">(g.op<"Equal">(a, 0), g.op<"Not">(g.op<"IsNaN">(x)));
    value const is_one = g.op<"Or">(of_zero, g.op<"Equal">(x, inf));
    value const is_zero = g.op<"Or">(g.op<"Equal">(x, 0), g.op<"Equal">(a, inf));
    value const valid = g.op<"And">(g.op<"Not">(g.op<"Less">(a, 0)), g.op<"Not">(g.op<"Less">(x, 0)));
    value const decided = g.op<"And">(valid, g.op<"Xor">(is_one, is_zero));
    value const edge = g.op<"Where">(is_one, number(Upper ? 0 : 1), number(Upper ? 1 : 0));
    value const rest = g.op<"Where">(decided, edge, number(std::numeric_limits<double>::quiet_NaN()));
    return g.cast(g.op<"Where">(ordinary, inside, rest), type);
}

} // namespace detail

inline constexpr auto incomplete_gamma =
    table(symbolic<"aten::igamma(self, other)">(detail::of_tensors<detail::regularized_gamma<false>>),
          symbolic<"aten::igammac(self, other)">(detail::of_tensors<detail::regularized_gamma<true>>),
          symbolic<"aten::special_gammainc(self, other)">(detail::of_tensors<detail::regularized_gamma<false>>),
          symbolic<"aten::special_gammaincc(self, other)">(detail::of_tensors<detail::regularized_gamma<true>>));

} // namespace ATON_NAMESPACE::mappings
