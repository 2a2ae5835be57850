// SPDX-License-Identifier: MIT
// Bessel functions of order 0 and 1, and the Airy function, in float64.
// Public header.
#pragma once

#include <limits>
#include <numbers>

#include <aton/mappings/detail/bessel_coefficients.hpp>
#include <aton/mappings/special_functions.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline value infinity_of(graph<7> g, value x) { return g.scalar(std::numeric_limits<double>::infinity(), x.dtype()); }
inline value nan_of(graph<7> g, value x) { return g.scalar(std::numeric_limits<double>::quiet_NaN(), x.dtype()); }

/// The body of a function of x and of x in float64. Like the result, x has the dtype in which ATen computes: phases are
/// rounded to it.
template <auto Function>
inline constexpr auto of_rounded = [](graph<9> g, value x) -> value {
    dtype const type = to_floating(x.dtype());
    value const rounded = g.cast(g.cast(x, type), opmath_type(type));
    return g.cast(Function(g, rounded, g.cast(rounded, dtype::float64)), type);
};

/// x where the condition holds, and a number elsewhere, which keeps the function that does not apply finite.
inline value where_used(graph<9> g, value used, value x, double otherwise) {
    return g.op<"Where">(used, x, g.scalar(otherwise, x.dtype()));
}

/// The functions J and Y of one order for x > 8: an amplitude, and the products of P and Q with the phase.
struct oscillation {
    value amplitude, p, q, cos, sin;

    oscillation(graph<7> g, value rounded, value x, int order) {
        value const ratio = g.op<"Div">(g.scalar(8, x.dtype()), x);
        value const t = g.op<"Sub">(g.op<"Mul">(g.op<"Mul">(ratio, ratio), 2), 1);
        p = polynomial(g, t, order == 0 ? safe_span<double const>(bessel::phase_p0) : bessel::phase_p1);
        q = g.op<"Mul">(ratio,
                        polynomial(g, t, order == 0 ? safe_span<double const>(bessel::phase_q0) : bessel::phase_q1));
        value const turn = g.cast(g.op<"Sub">(rounded, (2 * order + 1) * std::numbers::pi / 4), x.dtype());
        cos = g.op<"Cos">(turn);
        sin = g.op<"Sin">(turn);
        amplitude = g.op<"Sqrt">(g.op<"Div">(g.scalar(2 / std::numbers::pi, x.dtype()), x));
    }

    [[nodiscard]] value j(graph<7> g) const {
        return g.op<"Mul">(amplitude, g.op<"Sub">(g.op<"Mul">(p, cos), g.op<"Mul">(q, sin)));
    }
    [[nodiscard]] value y(graph<7> g) const {
        return g.op<"Mul">(amplitude, g.op<"Add">(g.op<"Mul">(p, sin), g.op<"Mul">(q, cos)));
    }
};

/// J of the order for 0 <= x <= 8.
inline value small_bessel_j(graph<7> g, value x, int order) {
    value const t = g.op<"Sub">(g.op<"Mul">(g.op<"Mul">(x, x), 1.0 / 32), 1);
    if (order == 0) return polynomial(g, t, bessel::small_j0);
    return g.op<"Mul">(x, polynomial(g, t, bessel::small_j1));
}

/// NaN at infinity, as in ATen.
template <int Order>
value bessel_j(graph<9> g, value rounded, value x) {
    value const size = g.op<"Abs">(x);
    value const is_small = is_at_most(g, size, 8);
    value const near = small_bessel_j(g, where_used(g, is_small, size, 0), Order);
    value const far = oscillation(g, g.op<"Abs">(rounded), size, Order).j(g);
    value const magnitude = g.op<"Where">(is_small, near, far);
    if (Order == 0) return magnitude;
    return g.op<"Where">(is_less(g, x, 0), g.op<"Neg">(magnitude), magnitude);
}

/// -inf at 0, NaN below.
template <int Order>
value bessel_y(graph<9> g, value rounded, value x) {
    value const is_small = is_at_most(g, x, 8);
    value const v = where_used(g, is_small, x, 1);
    value const t = g.op<"Sub">(g.op<"Mul">(g.op<"Mul">(v, v), 1.0 / 32), 1);
    value const log = g.op<"Mul">(g.op<"Log">(g.op<"Mul">(v, 0.5)), small_bessel_j(g, v, Order));
    value const rest =
        Order == 0 ? polynomial(g, t, bessel::small_y0) : value(g.op<"Mul">(v, polynomial(g, t, bessel::small_y1)));
    value const singular = Order == 0 ? log : value(g.op<"Sub">(log, g.op<"Reciprocal">(v)));
    value const near = g.op<"Add">(g.op<"Mul">(singular, 2 / std::numbers::pi), rest);
    value const positive = g.op<"Where">(is_small, near, oscillation(g, rounded, x, Order).y(g));
    return g.op<"Where">(is_equal(g, x, 0), g.op<"Neg">(infinity_of(g, x)), positive);
}

/// exp(x) K(x), or K(x); infinite at 0, NaN below.
template <int Order, bool Scaled>
value bessel_k(graph<9> g, value x) {
    value const is_small = is_at_most(g, x, 2);
    value const v = where_used(g, is_small, x, 1);
    value const t = g.op<"Sub">(g.op<"Mul">(g.op<"Mul">(v, v), 0.5), 1);
    value const log = g.op<"Log">(g.op<"Mul">(v, 0.5));
    value const near = [&]() -> value {
        if (Order == 0)
            return g.op<"Sub">(polynomial(g, t, bessel::small_k0),
                               g.op<"Mul">(log, polynomial(g, t, bessel::small_i0)));
        value const regular =
            g.op<"Add">(polynomial(g, t, bessel::small_k1), g.op<"Mul">(log, polynomial(g, t, bessel::small_i1)));
        return g.op<"Add">(g.op<"Mul">(v, regular), g.op<"Reciprocal">(v));
    }();
    value const w = g.op<"Sub">(g.op<"Div">(g.scalar(4, x.dtype()), x), 1);
    value const far = g.op<"Div">(
        polynomial(g, w, Order == 0 ? safe_span<double const>(bessel::large_k0) : bessel::large_k1), g.op<"Sqrt">(x));
    value const factor = g.op<"Exp">(Scaled ? v : value(g.op<"Neg">(x)));
    value const positive = Scaled ? g.op<"Where">(is_small, g.op<"Mul">(near, factor), far)
                                  : g.op<"Where">(is_small, near, g.op<"Mul">(far, factor));
    value const bounded = g.op<"Where">(is_equal(g, x, 0), infinity_of(g, x), positive);
    return g.op<"Where">(is_less(g, x, 0), nan_of(g, x), bounded);
}

/// NaN at infinity, as in ATen.
inline value airy_ai(graph<9> g, value rounded, value x) {
    value const is_middle = g.op<"And">(is_at_least(g, x, -4), is_at_most(g, x, 2));
    value const third = g.op<"Mul">(g.op<"Add">(where_used(g, is_middle, x, 0), 1), 1.0 / 3);
    value const middle = polynomial(g, third, bessel::middle_airy);
    value const size = where_used(g, g.op<"Not">(is_middle), g.op<"Abs">(x), 4);
    value const root = g.op<"Sqrt">(size);
    value const z = g.op<"Mul">(g.op<"Mul">(size, root), 2.0 / 3);
    value const amplitude = g.op<"Reciprocal">(g.op<"Sqrt">(root));
    constexpr double z_of_2 = 4 * std::numbers::sqrt2 / 3;
    value const t = g.op<"Sub">(g.op<"Div">(g.scalar(2 * z_of_2, x.dtype()), z), 1);
    value const above =
        g.op<"Mul">(g.op<"Mul">(amplitude, polynomial(g, t, bessel::large_airy)), g.op<"Exp">(g.op<"Neg">(z)));
    constexpr double z_of_4 = 16.0 / 3;
    value const ratio = g.op<"Div">(g.scalar(z_of_4, x.dtype()), z);
    value const s = g.op<"Sub">(g.op<"Mul">(g.op<"Mul">(ratio, ratio), 2), 1);
    value const p = polynomial(g, s, bessel::airy_p);
    value const q = g.op<"Mul">(ratio, polynomial(g, s, bessel::airy_q));
    value const below_zero = g.op<"Neg">(rounded);
    value const rounded_z = g.op<"Div">(
        g.op<"Mul">(g.op<"Mul">(below_zero, 2), g.op<"Sqrt">(max_of(g, below_zero, g.scalar_like(0, rounded)))), 3);
    value const turn = g.cast(g.op<"Add">(rounded_z, std::numbers::pi / 4), x.dtype());
    value const wave = g.op<"Sub">(g.op<"Mul">(p, g.op<"Sin">(turn)), g.op<"Mul">(q, g.op<"Cos">(turn)));
    value const outside = g.op<"Where">(is_greater(g, x, 0), above, g.op<"Mul">(amplitude, wave));
    value const finite = g.op<"Where">(is_middle, middle, outside);
    return g.op<"Where">(is_infinite(g, x), nan_of(g, x), finite);
}

} // namespace detail

inline constexpr auto bessel_functions =
    table(symbolic<"aten::special_bessel_j0(self)">(detail::of_rounded<detail::bessel_j<0>>),
          symbolic<"aten::special_bessel_j1(self)">(detail::of_rounded<detail::bessel_j<1>>),
          symbolic<"aten::special_bessel_y0(self)">(detail::of_rounded<detail::bessel_y<0>>),
          symbolic<"aten::special_bessel_y1(self)">(detail::of_rounded<detail::bessel_y<1>>),
          symbolic<"aten::special_modified_bessel_k0(self)">(detail::double_precision<detail::bessel_k<0, false>>),
          symbolic<"aten::special_modified_bessel_k1(self)">(detail::double_precision<detail::bessel_k<1, false>>),
          symbolic<"aten::special_scaled_modified_bessel_k0(x)">(detail::double_precision<detail::bessel_k<0, true>>),
          symbolic<"aten::special_scaled_modified_bessel_k1(x)">(detail::double_precision<detail::bessel_k<1, true>>),
          symbolic<"aten::special_airy_ai(x)">(detail::of_rounded<detail::airy_ai>));

} // namespace ATON_NAMESPACE::mappings
