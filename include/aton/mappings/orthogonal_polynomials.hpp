// SPDX-License-Identifier: MIT
// Orthogonal polynomials of any degree: aten's Chebyshev, Hermite, Laguerre and Legendre polynomials, by their recurrences.
// Public header.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/reduction.hpp>
#include <aton/mappings/selection.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// p(0) = 1, p(1) = second, p(k) = next(k, p(k - 1), p(k - 2)) for each element's degree n; 0 for negative degrees.
template <class Next>
value recurrence(graph<10> g, value second, value n, Next next) {
    value const high = broadcast_with(g, second, n);
    value const low = g.op<"Expand">(g.scalar(1, n.dtype()), g.op<"Shape">(high));
    auto const [last, last_but_one] =
        g.op<"Loop">(absent,
                     g.scalar(true, dtype::bool_),
                     high,
                     low,
                     outputs<2>,
                     attr::body_g([&](graph<10> b, value step, value, value p, value q) {
                         value const k = b.cast(b.op<"Add">(step, 2), n.dtype());
                         value const after = b.op<"Where">(is_at_most(b, k, n), next(b, k, p, q), p);
                         value const open = b.op<"And">(is_less(b, k, n), b.op<"Not">(is_nan(b, after)));
                         value const left = b.cast(open, dtype::int64);
                         value const goes_on = is_greater(b, b.op<"ReduceSum">(left, attr::keepdims_i(0)), 0);
                         return std::tuple(goes_on, after, p);
                     }));
    return g.op<"Where">(is_greater(g, n, 0), last.set_shape(high.shape()), g.cast(is_equal(g, n, 0), n.dtype()));
}

/// The degree as ATen truncates it, by a conversion to int64; NaN becomes the lowest integer, whose polynomial is 0.
inline value degree_of(graph<10> g, value n) {
    if (auto const known = known_number(n)) return g.scalar_like(std::isnan(*known) ? -1.0 : std::trunc(*known), n);
    return g.cast(g.cast(n, dtype::int64), n.dtype());
}

/// NaN for degrees whose polynomials ATen does not compute.
inline value hermite(graph<10> g, value x, value n_of, double factor) {
    value const n = degree_of(g, n_of);
    double const highest = x.dtype() == dtype::float64 ? 512 : 128;
    value const scaled = g.op<"Mul">(x, factor);
    value const is_beyond = is_greater(g, n, highest);
    value const steps = g.op<"Where">(is_beyond, g.scalar(0, n.dtype()), n);
    value const result = recurrence(g, scaled, steps, [&](graph<10> b, value k, value p, value q) -> value {
        value const weight = b.op<"Mul">(b.op<"Sub">(k, 1), factor);
        return b.op<"Sub">(b.op<"Mul">(scaled, p), b.op<"Mul">(weight, q));
    });
    return g.op<"Where">(is_beyond, g.scalar(std::numeric_limits<double>::quiet_NaN(), n.dtype()), result);
}
/// The physicists' polynomials: 2 x p - 2 (k - 1) q.
inline value hermite_h(graph<10> g, value x, value n) { return hermite(g, x, n, 2); }
/// The probabilists' polynomials: x p - (k - 1) q.
inline value hermite_he(graph<10> g, value x, value n) { return hermite(g, x, n, 1); }

// At the ends of their intervals ATen has closed forms of the others. The recurrences give the same integers there,
// without rounding.

/// p(k) = ((2 k - 1 - x) p - (k - 1) q) / k.
inline value laguerre_l(graph<10> g, value x, value n) {
    value const mirrored = g.op<"Sub">(g.scalar(1, x.dtype()), x);
    return recurrence(g, mirrored, degree_of(g, n), [&](graph<10> b, value k, value p, value q) -> value {
        value const below = b.op<"Sub">(k, 1);
        value const weight = b.op<"Add">(b.op<"Mul">(below, 2), mirrored);
        return b.op<"Div">(b.op<"Sub">(b.op<"Mul">(weight, p), b.op<"Mul">(below, q)), k);
    });
}

/// p(k) = ((2 k - 1) x p - (k - 1) q) / k.
inline value legendre_p(graph<10> g, value x, value n) {
    return recurrence(g, x, degree_of(g, n), [&](graph<10> b, value k, value p, value q) -> value {
        value const below = b.op<"Sub">(k, 1);
        value const weight = b.op<"Mul">(b.op<"Add">(below, k), x);
        return b.op<"Div">(b.op<"Sub">(b.op<"Mul">(weight, p), b.op<"Mul">(below, q)), k);
    });
}

// Chebyshev polynomials: p(k) = 2 x p - q. Like ATen, of high degree and inside -1..1 by the angle acos(x).

struct chebyshev_kind {
    value second; ///< p(1)
    value by_angle;
    double highest; ///< degree that the recurrence computes inside -1..1
};
template <class Kind>
value chebyshev(graph<10> g, value x, value n_of, Kind of) {
    value const n = degree_of(g, n_of);
    chebyshev_kind const kind = of(n, g.op<"Acos">(x));
    value const far_inside = g.op<"And">(is_greater(g, n, kind.highest), is_less(g, g.op<"Abs">(x), 1));
    value const steps = g.op<"Where">(far_inside, g.scalar(0, n.dtype()), n);
    value const sum = recurrence(g, kind.second, steps, [&](graph<10> b, value, value p, value q) -> value {
        return b.op<"Sub">(b.op<"Mul">(b.op<"Add">(x, x), p), q);
    });
    return g.op<"Where">(far_inside, kind.by_angle, sum);
}
inline value chebyshev_t(graph<10> g, value x, value n) {
    return chebyshev(g, x, n, [&](value degree, value angle) -> chebyshev_kind {
        return {x, g.op<"Cos">(g.op<"Mul">(degree, angle)), 6};
    });
}
inline value chebyshev_u(graph<10> g, value x, value n) {
    return chebyshev(g, x, n, [&](value degree, value angle) -> chebyshev_kind {
        value const next = g.op<"Add">(degree, 1);
        value const ratio = g.op<"Div">(g.op<"Sin">(g.op<"Mul">(next, angle)), g.op<"Sin">(angle));
        return {g.op<"Add">(x, x), ratio, 8};
    });
}
inline value chebyshev_v(graph<10> g, value x, value n) {
    return chebyshev(g, x, n, [&](value degree, value angle) -> chebyshev_kind {
        value const middle = g.op<"Add">(degree, 0.5);
        value const ratio = g.op<"Div">(g.op<"Cos">(g.op<"Mul">(middle, angle)), g.op<"Cos">(g.op<"Mul">(angle, 0.5)));
        return {g.op<"Sub">(g.op<"Add">(x, x), 1), ratio, 8};
    });
}
inline value chebyshev_w(graph<10> g, value x, value n) {
    return chebyshev(g, x, n, [&](value degree, value angle) -> chebyshev_kind {
        value const middle = g.op<"Add">(degree, 0.5);
        value const ratio = g.op<"Div">(g.op<"Sin">(g.op<"Mul">(middle, angle)), g.op<"Sin">(g.op<"Mul">(angle, 0.5)));
        return {g.op<"Add">(g.op<"Add">(x, x), 1), ratio, 8};
    });
}
/// At 2 x - 1: of the interval 0..1.
template <auto Polynomial>
value shifted(graph_of<Polynomial> g, value x, value n) {
    return Polynomial(g, g.template op<"Sub">(g.template op<"Add">(x, x), 1), n);
}

} // namespace detail

inline constexpr auto orthogonal_polynomials = table(
    symbolic<"aten::special_chebyshev_polynomial_t(x, n)">(detail::of_tensors<detail::in_floats<detail::chebyshev_t>>),
    symbolic<"aten::special_chebyshev_polynomial_t.n_scalar(x, n)">(
        detail::with_number<detail::in_floats<detail::chebyshev_t>>),
    symbolic<"aten::special_chebyshev_polynomial_t.x_scalar(x, n)">(
        detail::number_first<detail::in_floats<detail::chebyshev_t>>),
    symbolic<"aten::special_chebyshev_polynomial_u(x, n)">(detail::of_tensors<detail::in_floats<detail::chebyshev_u>>),
    symbolic<"aten::special_chebyshev_polynomial_u.n_scalar(x, n)">(
        detail::with_number<detail::in_floats<detail::chebyshev_u>>),
    symbolic<"aten::special_chebyshev_polynomial_u.x_scalar(x, n)">(
        detail::number_first<detail::in_floats<detail::chebyshev_u>>),
    symbolic<"aten::special_chebyshev_polynomial_v(x, n)">(detail::of_tensors<detail::in_floats<detail::chebyshev_v>>),
    symbolic<"aten::special_chebyshev_polynomial_v.n_scalar(x, n)">(
        detail::with_number<detail::in_floats<detail::chebyshev_v>>),
    symbolic<"aten::special_chebyshev_polynomial_v.x_scalar(x, n)">(
        detail::number_first<detail::in_floats<detail::chebyshev_v>>),
    symbolic<"aten::special_chebyshev_polynomial_w(x, n)">(detail::of_tensors<detail::in_floats<detail::chebyshev_w>>),
    symbolic<"aten::special_chebyshev_polynomial_w.n_scalar(x, n)">(
        detail::with_number<detail::in_floats<detail::chebyshev_w>>),
    symbolic<"aten::special_chebyshev_polynomial_w.x_scalar(x, n)">(
        detail::number_first<detail::in_floats<detail::chebyshev_w>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_t(x, n)">(
        detail::of_tensors<detail::in_floats<detail::shifted<detail::chebyshev_t>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_t.n_scalar(x, n)">(
        detail::with_number<detail::in_floats<detail::shifted<detail::chebyshev_t>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_t.x_scalar(x, n)">(
        detail::number_first<detail::in_floats<detail::shifted<detail::chebyshev_t>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_u(x, n)">(
        detail::of_tensors<detail::in_floats<detail::shifted<detail::chebyshev_u>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_u.n_scalar(x, n)">(
        detail::with_number<detail::in_floats<detail::shifted<detail::chebyshev_u>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_u.x_scalar(x, n)">(
        detail::number_first<detail::in_floats<detail::shifted<detail::chebyshev_u>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_v(x, n)">(
        detail::of_tensors<detail::in_floats<detail::shifted<detail::chebyshev_v>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_v.n_scalar(x, n)">(
        detail::with_number<detail::in_floats<detail::shifted<detail::chebyshev_v>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_v.x_scalar(x, n)">(
        detail::number_first<detail::in_floats<detail::shifted<detail::chebyshev_v>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_w(x, n)">(
        detail::of_tensors<detail::in_floats<detail::shifted<detail::chebyshev_w>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_w.n_scalar(x, n)">(
        detail::with_number<detail::in_floats<detail::shifted<detail::chebyshev_w>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_w.x_scalar(x, n)">(
        detail::number_first<detail::in_floats<detail::shifted<detail::chebyshev_w>>>),
    symbolic<"aten::special_hermite_polynomial_h(x, n)">(detail::of_tensors<detail::in_floats<detail::hermite_h>>),
    symbolic<"aten::special_hermite_polynomial_h.n_scalar(x, n)">(
        detail::with_number<detail::in_floats<detail::hermite_h>>),
    symbolic<"aten::special_hermite_polynomial_h.x_scalar(x, n)">(
        detail::number_first<detail::in_floats<detail::hermite_h>>),
    symbolic<"aten::special_hermite_polynomial_he(x, n)">(detail::of_tensors<detail::in_floats<detail::hermite_he>>),
    symbolic<"aten::special_hermite_polynomial_he.n_scalar(x, n)">(
        detail::with_number<detail::in_floats<detail::hermite_he>>),
    symbolic<"aten::special_hermite_polynomial_he.x_scalar(x, n)">(
        detail::number_first<detail::in_floats<detail::hermite_he>>),
    symbolic<"aten::special_laguerre_polynomial_l(x, n)">(detail::of_tensors<detail::in_floats<detail::laguerre_l>>),
    symbolic<"aten::special_laguerre_polynomial_l.n_scalar(x, n)">(
        detail::with_number<detail::in_floats<detail::laguerre_l>>),
    symbolic<"aten::special_laguerre_polynomial_l.x_scalar(x, n)">(
        detail::number_first<detail::in_floats<detail::laguerre_l>>),
    symbolic<"aten::special_legendre_polynomial_p(x, n)">(detail::of_tensors<detail::in_floats<detail::legendre_p>>),
    symbolic<"aten::special_legendre_polynomial_p.n_scalar(x, n)">(
        detail::with_number<detail::in_floats<detail::legendre_p>>),
    symbolic<"aten::special_legendre_polynomial_p.x_scalar(x, n)">(
        detail::number_first<detail::in_floats<detail::legendre_p>>));

} // namespace ATON_NAMESPACE::mappings
