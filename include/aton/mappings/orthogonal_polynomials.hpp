// SPDX-License-Identifier: MIT
// Orthogonal polynomials of any degree: aten's Chebyshev, Hermite, Laguerre and Legendre polynomials, by their recurrences.
// Public header.
#pragma once

#include <cstdint>
#include <limits>
#include <tuple>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/reduction.hpp>
#include <aton/mappings/selection.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// p(0) = 1, p(1) = second, p(k) = next(k, p(k - 1), p(k - 2)) for each element's degree n, in as many steps as the highest degree needs.
template <class Next>
value recurrence(graph<10> g, value second, value n, Next next) {
    value const high = broadcast_with(g, second, n);
    value const low = g.op<"Add">(g.op<"Mul">(broadcast_with(g, n, high), 0), 1);
    value const degrees = reshape(g, g.cast(n, dtype::int64), {-1});
    value const and_one = g.op<"Concat">(safe_vector<value>{degrees, g.ints({1})}, attr::axis_i(0)); // not empty
    value const highest = reduce<"ReduceMax">(g, and_one, safe_vector<std::int64_t>{0}, false);
    auto const [last, last_but_one] =
        g.op<"Loop">(g.op<"Sub">(highest, 1),
                     absent,
                     high,
                     low,
                     outputs<2>,
                     attr::body_g([&](graph<10> b, value step, value goes_on, value p, value q) {
                         value const k = b.cast(b.op<"Add">(step, 2), n.dtype());
                         value const after = b.op<"Where">(is_at_most(b, k, n), next(b, k, p, q), p);
                         return std::tuple(value(b.op<"Identity">(goes_on)), after, p);
                     }));
    value const positive = g.op<"Where">(is_equal(g, n, 0), g.scalar(1, n.dtype()), last);
    return g.op<"Where">(is_less(g, n, 0), g.scalar(0, n.dtype()), positive);
}

/// The degree as ATen truncates it to int64; NaN and what int64 cannot hold count as negative.
inline value degree_of(graph<10> g, value n) {
    value const valid = is_less(g, g.op<"Abs">(n), 1e9);
    value const safe = g.op<"Where">(valid, n, g.scalar(-1, n.dtype()));
    return g.cast(g.cast(safe, dtype::int64), n.dtype());
}

inline value is_odd(graph<10> g, value degree) {
    return is_equal(g, g.op<"Mod">(degree, g.scalar(2, degree.dtype()), attr::fmod_i(1)), 1);
}

inline value hermite(graph<10> g, value x, value n_of, double factor) {
    value const n = degree_of(g, n_of);
    value const too_high = is_greater(g, n, x.dtype() == dtype::float64 ? 512 : 128);
    value const reachable = g.op<"Where">(too_high, g.scalar(0, n.dtype()), n);
    value const scaled = g.op<"Mul">(x, factor);
    value const result = recurrence(g, scaled, reachable, [&](graph<10> b, value k, value p, value q) -> value {
        value const weight = b.op<"Mul">(b.op<"Sub">(k, 1), factor);
        return b.op<"Sub">(b.op<"Mul">(scaled, p), b.op<"Mul">(weight, q));
    });
    return g.op<"Where">(too_high, g.scalar(std::numeric_limits<double>::quiet_NaN(), n.dtype()), result);
}
/// The physicists' polynomials: 2 x p - 2 (k - 1) q.
inline value hermite_h(graph<10> g, value x, value n) { return hermite(g, x, n, 2); }
/// The probabilists' polynomials: x p - (k - 1) q.
inline value hermite_he(graph<10> g, value x, value n) { return hermite(g, x, n, 1); }

/// Degrees with a closed form at some x: the recurrence does not run for them.
inline value without(graph<10> g, value n, value known) {
    return g.op<"Where">(known, min_of(g, n, g.scalar(0, n.dtype())), n);
}

/// p(k) = ((2 k - 1 - x) p - (k - 1) q) / k; 1 at 0.
inline value laguerre_l(graph<10> g, value x, value n_of) {
    value const n = without(g, degree_of(g, n_of), is_equal(g, x, 0));
    value const mirrored = g.op<"Sub">(g.scalar(1, x.dtype()), x);
    return recurrence(g, mirrored, n, [&](graph<10> b, value k, value p, value q) -> value {
        value const below = b.op<"Sub">(k, 1);
        value const weight = b.op<"Add">(b.op<"Mul">(below, 2), mirrored);
        return b.op<"Div">(b.op<"Sub">(b.op<"Mul">(weight, p), b.op<"Mul">(below, q)), k);
    });
}

/// p(k) = ((2 k - 1) x p - (k - 1) q) / k; 1 at 1, (-1)^n at -1.
inline value legendre_p(graph<10> g, value x, value n_of) {
    value const degree = degree_of(g, n_of);
    value const at_end = is_equal(g, g.op<"Abs">(x), 1);
    value const sum =
        recurrence(g, x, without(g, degree, at_end), [&](graph<10> b, value k, value p, value q) -> value {
            value const below = b.op<"Sub">(k, 1);
            value const weight = b.op<"Mul">(b.op<"Add">(below, k), x);
            return b.op<"Div">(b.op<"Sub">(b.op<"Mul">(weight, p), b.op<"Mul">(below, q)), k);
        });
    value const negative = g.op<"And">(g.op<"And">(at_end, is_odd(g, degree)), is_less(g, x, 0));
    return g.op<"Where">(negative, g.op<"Neg">(sum), sum);
}

// Chebyshev polynomials: p(k) = 2 x p - q. Like ATen, of high degree and inside -1..1 by the angle acos(x).

/// The results at x = 1 and x = -1, for each degree, and by the angle elsewhere.
struct chebyshev_kind {
    value second; ///< p(1)
    value at_one;
    value at_minus_one; ///< its magnitude; negative for odd degrees
    value by_angle;
    double highest; ///< degree that the recurrence computes inside -1..1
};
template <class Kind>
value chebyshev(graph<10> g, value x, value n_of, Kind of) {
    value const n = degree_of(g, n_of);
    chebyshev_kind const kind = of(n, g.op<"Acos">(x));
    value const size = g.op<"Abs">(x);
    value const at_end = is_equal(g, size, 1);
    value const far_inside = g.op<"And">(is_greater(g, n, kind.highest), is_less(g, size, 1));
    value const recurrent = without(g, n, g.op<"Or">(at_end, far_inside));
    value const sum = recurrence(g, kind.second, recurrent, [&](graph<10> b, value, value p, value q) -> value {
        return b.op<"Sub">(b.op<"Mul">(b.op<"Add">(x, x), p), q);
    });
    value const left = g.op<"Where">(is_odd(g, n), g.op<"Neg">(kind.at_minus_one), kind.at_minus_one);
    value const end = g.op<"Where">(is_greater(g, x, 0), kind.at_one, left);
    value const inside = g.op<"Where">(far_inside, kind.by_angle, sum);
    value const known = g.op<"Where">(at_end, end, inside);
    return g.op<"Where">(is_less(g, n, 0), g.scalar(0, n.dtype()), known);
}
inline value chebyshev_t(graph<10> g, value x, value n) {
    return chebyshev(g, x, n, [&](value degree, value angle) -> chebyshev_kind {
        value const one = g.scalar_like(1, degree);
        return {x, one, one, g.op<"Cos">(g.op<"Mul">(degree, angle)), 6};
    });
}
inline value chebyshev_u(graph<10> g, value x, value n) {
    return chebyshev(g, x, n, [&](value degree, value angle) -> chebyshev_kind {
        value const next = g.op<"Add">(degree, 1);
        value const ratio = g.op<"Div">(g.op<"Sin">(g.op<"Mul">(next, angle)), g.op<"Sin">(angle));
        return {g.op<"Add">(x, x), next, next, ratio, 8};
    });
}
inline value chebyshev_v(graph<10> g, value x, value n) {
    return chebyshev(g, x, n, [&](value degree, value angle) -> chebyshev_kind {
        value const middle = g.op<"Add">(degree, 0.5);
        value const ratio = g.op<"Div">(g.op<"Cos">(g.op<"Mul">(middle, angle)), g.op<"Cos">(g.op<"Mul">(angle, 0.5)));
        value const twice = g.op<"Add">(g.op<"Add">(degree, degree), 1);
        return {g.op<"Sub">(g.op<"Add">(x, x), 1), g.scalar_like(1, degree), twice, ratio, 8};
    });
}
inline value chebyshev_w(graph<10> g, value x, value n) {
    return chebyshev(g, x, n, [&](value degree, value angle) -> chebyshev_kind {
        value const middle = g.op<"Add">(degree, 0.5);
        value const ratio = g.op<"Div">(g.op<"Sin">(g.op<"Mul">(middle, angle)), g.op<"Sin">(g.op<"Mul">(angle, 0.5)));
        value const twice = g.op<"Add">(g.op<"Add">(degree, degree), 1);
        return {g.op<"Add">(g.op<"Add">(x, x), 1), twice, g.scalar_like(1, degree), ratio, 8};
    });
}
/// At 2 x - 1: of the interval 0..1.
template <auto Polynomial>
value shifted(graph_of<Polynomial> g, value x, value n) {
    return Polynomial(g, g.template op<"Sub">(g.template op<"Add">(x, x), 1), n);
}

} // namespace detail

// clang-format off: one row per line
inline constexpr auto orthogonal_polynomials = table(
    symbolic<"aten::special_chebyshev_polynomial_t(x, n)">(detail::of_tensors<detail::in_floats<detail::chebyshev_t>>),
    symbolic<"aten::special_chebyshev_polynomial_t.n_scalar(x, n)">(detail::with_number<detail::in_floats<detail::chebyshev_t>>),
    symbolic<"aten::special_chebyshev_polynomial_t.x_scalar(x, n)">(detail::number_first<detail::in_floats<detail::chebyshev_t>>),
    symbolic<"aten::special_chebyshev_polynomial_u(x, n)">(detail::of_tensors<detail::in_floats<detail::chebyshev_u>>),
    symbolic<"aten::special_chebyshev_polynomial_u.n_scalar(x, n)">(detail::with_number<detail::in_floats<detail::chebyshev_u>>),
    symbolic<"aten::special_chebyshev_polynomial_u.x_scalar(x, n)">(detail::number_first<detail::in_floats<detail::chebyshev_u>>),
    symbolic<"aten::special_chebyshev_polynomial_v(x, n)">(detail::of_tensors<detail::in_floats<detail::chebyshev_v>>),
    symbolic<"aten::special_chebyshev_polynomial_v.n_scalar(x, n)">(detail::with_number<detail::in_floats<detail::chebyshev_v>>),
    symbolic<"aten::special_chebyshev_polynomial_v.x_scalar(x, n)">(detail::number_first<detail::in_floats<detail::chebyshev_v>>),
    symbolic<"aten::special_chebyshev_polynomial_w(x, n)">(detail::of_tensors<detail::in_floats<detail::chebyshev_w>>),
    symbolic<"aten::special_chebyshev_polynomial_w.n_scalar(x, n)">(detail::with_number<detail::in_floats<detail::chebyshev_w>>),
    symbolic<"aten::special_chebyshev_polynomial_w.x_scalar(x, n)">(detail::number_first<detail::in_floats<detail::chebyshev_w>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_t(x, n)">(detail::of_tensors<detail::in_floats<detail::shifted<detail::chebyshev_t>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_t.n_scalar(x, n)">(detail::with_number<detail::in_floats<detail::shifted<detail::chebyshev_t>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_t.x_scalar(x, n)">(detail::number_first<detail::in_floats<detail::shifted<detail::chebyshev_t>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_u(x, n)">(detail::of_tensors<detail::in_floats<detail::shifted<detail::chebyshev_u>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_u.n_scalar(x, n)">(detail::with_number<detail::in_floats<detail::shifted<detail::chebyshev_u>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_u.x_scalar(x, n)">(detail::number_first<detail::in_floats<detail::shifted<detail::chebyshev_u>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_v(x, n)">(detail::of_tensors<detail::in_floats<detail::shifted<detail::chebyshev_v>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_v.n_scalar(x, n)">(detail::with_number<detail::in_floats<detail::shifted<detail::chebyshev_v>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_v.x_scalar(x, n)">(detail::number_first<detail::in_floats<detail::shifted<detail::chebyshev_v>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_w(x, n)">(detail::of_tensors<detail::in_floats<detail::shifted<detail::chebyshev_w>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_w.n_scalar(x, n)">(detail::with_number<detail::in_floats<detail::shifted<detail::chebyshev_w>>>),
    symbolic<"aten::special_shifted_chebyshev_polynomial_w.x_scalar(x, n)">(detail::number_first<detail::in_floats<detail::shifted<detail::chebyshev_w>>>),
    symbolic<"aten::special_hermite_polynomial_h(x, n)">(detail::of_tensors<detail::in_floats<detail::hermite_h>>),
    symbolic<"aten::special_hermite_polynomial_h.n_scalar(x, n)">(detail::with_number<detail::in_floats<detail::hermite_h>>),
    symbolic<"aten::special_hermite_polynomial_h.x_scalar(x, n)">(detail::number_first<detail::in_floats<detail::hermite_h>>),
    symbolic<"aten::special_hermite_polynomial_he(x, n)">(detail::of_tensors<detail::in_floats<detail::hermite_he>>),
    symbolic<"aten::special_hermite_polynomial_he.n_scalar(x, n)">(detail::with_number<detail::in_floats<detail::hermite_he>>),
    symbolic<"aten::special_hermite_polynomial_he.x_scalar(x, n)">(detail::number_first<detail::in_floats<detail::hermite_he>>),
    symbolic<"aten::special_laguerre_polynomial_l(x, n)">(detail::of_tensors<detail::in_floats<detail::laguerre_l>>),
    symbolic<"aten::special_laguerre_polynomial_l.n_scalar(x, n)">(detail::with_number<detail::in_floats<detail::laguerre_l>>),
    symbolic<"aten::special_laguerre_polynomial_l.x_scalar(x, n)">(detail::number_first<detail::in_floats<detail::laguerre_l>>),
    symbolic<"aten::special_legendre_polynomial_p(x, n)">(detail::of_tensors<detail::in_floats<detail::legendre_p>>),
    symbolic<"aten::special_legendre_polynomial_p.n_scalar(x, n)">(detail::with_number<detail::in_floats<detail::legendre_p>>),
    symbolic<"aten::special_legendre_polynomial_p.x_scalar(x, n)">(detail::number_first<detail::in_floats<detail::legendre_p>>));
// clang-format on

} // namespace ATON_NAMESPACE::mappings
