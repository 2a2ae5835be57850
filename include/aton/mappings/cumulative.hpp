// SPDX-License-Identifier: MIT
// Cumulative reductions along an axis: cumsum, cumprod, cummax ..., and differences and trapezoids of adjacent elements.
// Public header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include <aton/mappings/binary_math.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/long_axes.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// ONNX has cumulative operators only for sums and, since opset 26, products. For short axes, the others reduce all
/// prefixes at once: the axis is moved to the end, and position i reduces row i of a lower triangle. That takes memory
/// quadratic in the size of the axis, so long axes are reduced in a Loop.
struct prefixes {
    value row;                       ///< [..., 1, n]
    value visible;                   ///< [n, n]: j <= i
    value position;                  ///< [n]: j, int64
    safe_vector<std::int64_t> order; ///< the permutation that moves the axis to the end
};

inline safe_vector<std::int64_t> move_to_end(std::int64_t axis, std::int64_t rank) {
    safe_vector<std::int64_t> order = all_but(axis, rank);
    order.push_back(axis);
    return order;
}
inline safe_vector<std::int64_t> inverse_permutation(safe_vector<std::int64_t> const& order) {
    safe_vector<std::int64_t> out(order.size());
    for (std::size_t i = 0; i != order.size(); ++i)
        out[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    return out;
}

inline prefixes make_prefixes(graph<7> g, value x, std::int64_t axis) {
    safe_vector<std::int64_t> order = move_to_end(axis, x.rank());
    value const position = range_to(g, [&] { return g.to_value(g.size(x, axis)); });
    value const visible = is_at_most(g, position, unsqueeze(g, position, 1));
    return {unsqueeze(g, permute(g, x, order), -2), visible, position, order};
}

/// Reduces the prefix of `row` that each position sees; the other elements are replaced by `neutral`.
template <fixed_string Reduce>
value reduce_prefixes(graph<9> g, prefixes const& p, value row, value neutral) {
    value const seen = g.op<"Where">(p.visible, row, neutral);
    return reduce<Reduce>(g, seen, std::array{seen.rank() - 1}, false);
}

/// `combine` reduces two elements.
template <fixed_string Reduce>
value scan(graph<9> g, value x, std::int64_t dim, scalar neutral,
           std::function<value(graph<13>, value, value)> const& combine) {
    if (x.rank() == 0) return x;
    value const y = selectable(g, x);
    std::int64_t const axis = normalize_axis(dim, x.rank());
    if (g.opset() >= 13 && are_many(x.size(axis), few_prefixes))
        return g.cast(reduce_so_far(g.within<13>(), y, axis, combine), x.dtype());
    prefixes const p = make_prefixes(g, y, axis);
    return g.cast(
        permute(g, reduce_prefixes<Reduce>(g, p, p.row, g.scalar_like(neutral, y)), inverse_permutation(p.order)),
        x.dtype());
}

inline scalar min_value(dtype t) {
    if (is_floating(t)) return -std::numeric_limits<double>::infinity();
    if (is_unsigned_integral(t) || t == dtype::bool_) return 0;
    return bits(t) >= 64 ? std::numeric_limits<std::int64_t>::min() : -(std::int64_t{1} << (bits(t) - 1));
}
inline scalar max_value(dtype t) {
    if (is_floating(t)) return std::numeric_limits<double>::infinity();
    if (t == dtype::bool_) return 1;
    if (is_unsigned_integral(t))
        return bits(t) >= 64 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits(t)) - 1;
    return bits(t) >= 64 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << (bits(t) - 1)) - 1;
}

/// The index of the extreme of all elements so far along an axis, as for running_extreme.
inline value place_of_extreme(graph<13> g, value x, std::int64_t axis, bool is_max) {
    safe_vector<std::int64_t> to(static_cast<std::size_t>(x.rank()), 1);
    to[static_cast<std::size_t>(axis)] = -1;
    value const numbers = g.op<"Reshape">(arithmetic_sequence(g, 0, g.size(x, axis)), g.ints(to));
    value const places = g.op<"Expand">(numbers, g.op<"Shape">(x));
    auto const extreme_of = [&](graph<13> b, auto earlier, auto later) {
        value is_later =
            is_max ? b.op<"GreaterOrEqual">(later[0], earlier[0]) : b.op<"LessOrEqual">(later[0], earlier[0]);
        if (watches_nan(g, x)) is_later = b.op<"Or">(is_later, b.op<"IsNaN">(later[0]));
        return safe_vector<value>{b.op<"Where">(is_later, later[0], earlier[0]),
                                  b.op<"Where">(is_later, later[1], earlier[1])};
    };
    return reduce_so_far(g, safe_vector<value>{x, places}, axis, extreme_of)[1];
}

/// aten::cummax (ReduceMax) and cummin (ReduceMin). The index is that of the last of equal extremes or, once there was
/// a NaN, of the last NaN.
template <fixed_string Reduce>
inline constexpr auto running_extreme = [](graph<9> g, value self, std::int64_t dim) -> std::tuple<value, value> {
    if (self.rank() == 0) return {self, g.scalar(0, dtype::int64)};
    constexpr bool is_max = Reduce.view() == "ReduceMax";
    bool const narrow = self.dtype() == dtype::bool_ || (is_integral(self.dtype()) && bits(self.dtype()) < 32);
    value const x = selectable(g, g.cast(self, narrow ? dtype::int32 : self.dtype()));
    std::int64_t const axis = normalize_axis(dim, self.rank());
    if (g.opset() >= 13 && are_many(x.size(axis), few_prefixes)) {
        value const place = place_of_extreme(g.within<13>(), x, axis, is_max);
        return {elements_at(g, self, place, axis), place};
    }
    prefixes const p = make_prefixes(g, x, axis);
    value const best =
        reduce_prefixes<Reduce>(g, p, p.row, g.scalar_like(is_max ? min_value(x.dtype()) : max_value(x.dtype()), x));
    auto const last = [&](value found) {
        return reduce<"ReduceMax">(g,
                                   g.op<"Where">(g.op<"And">(p.visible, found), p.position, g.scalar(-1, dtype::int64)),
                                   std::array{self.rank()},
                                   false);
    };
    value index = last(is_equal(g, p.row, unsqueeze(g, best, -1)));
    if (watches_nan(g, x)) {
        value const nan = last(is_nan(g, p.row));
        index = g.op<"Where">(is_less(g, nan, 0), index, nan);
    }
    index = permute(g, index, inverse_permutation(p.order));
    return {elements_at(g, self, index, axis), index};
};

/// x[1:] - x[:-1] along an axis; for bools, whether adjacent elements differ.
inline value step(graph<7> g, value x, std::int64_t axis) {
    value const after = slice(g, x, axis, 1, to_the_end);
    value const before = slice(g, x, axis, 0, -1);
    return x.dtype() == dtype::bool_ ? value(g.op<"Xor">(after, before)) : arithmetic<"Sub">(g, after, before);
}

/// y * dx. As in ATen, a number beyond the range of a half-precision dtype is not rounded to infinity.
inline value times_spacing(graph<7> g, value y, value dx, dtype type) {
    if (!is_floating(type)) return arithmetic<"Mul">(g, g.cast(y, type), g.cast(dx, type));
    auto const [a, b, wide] = cast_factors(g, y, dx, type);
    return g.cast(g.op<"Mul">(a, b), type);
}

/// dx * (y[i] + y[i + 1]) along an axis; dx is 0-d or broadcasts. As in ATen, integers wrap around.
inline value double_trapezoids(graph<7> g, value y, std::int64_t axis, value dx) {
    dtype const type = promote(y, dx);
    value const pairs = arithmetic<"Add">(g, slice(g, y, axis, 0, -1), slice(g, y, axis, 1, to_the_end));
    return times_spacing(g, pairs, dx, type);
}

/// The result of a trapezoid over zero points, which in ATen has the dtype of y; absent if there may be points.
inline optional_value empty_area(graph<7> g, value y, std::int64_t axis) {
    if (!y.size(axis).is(0)) return absent;
    safe_vector<sym_int> to = g.sizes(y);
    to.erase(to.begin() + axis);
    return filled(g, to, 0, y.dtype());
}

inline value halved(graph<7> g, value x) { return g.op<"Div">(g.cast(x, to_floating(x.dtype())), 2.0); }

/// The widths of the intervals between the points x, which broadcast against y; a 1-d x is aligned with `axis` of y.
inline value widths(graph<7> g, value y, value x, std::int64_t axis) {
    if (x.rank() != 1) return step(g, x, x.rank() == y.rank() ? axis : normalize_axis(axis - y.rank(), x.rank()));
    safe_vector<std::int64_t> after;
    for (std::int64_t i = axis + 1; i < y.rank(); ++i) after.push_back(i - axis);
    value const dx = step(g, x, 0);
    return after.empty() ? dx : unsqueeze(g, dx, after);
}

/// A Python number as an operand of y: a floating-point number, or a complex one of the dtype of the result.
inline value spacing(graph<7> g, value y, number n) {
    return n.is_complex() ? rounded_constant(g, n, promote(y, n)) : wrapped_number(g, n * 1.0);
}

/// The area under points at equal distances: the sum of all elements, the first and the last one halved, times dx.
inline value area_at_steps(graph<7> g, value y, number dx, std::int64_t axis) {
    value const first = slice(g, y, axis, 0, 1);
    value const last = slice(g, y, axis, -1, to_the_end);
    value const ends = halved(g, squeeze(g, arithmetic<"Add">(g, first, last), axis));
    value const total = g.cast(sum(g, y, std::array{axis}, false), ends.dtype());
    value const width = spacing(g, y, dx);
    return times_spacing(g, g.op<"Sub">(total, ends), width, promote(ends, width));
}

} // namespace detail

/// aten::cumsum. CumSum does not accept 0-d tensors. Half-precision dtypes are summed in float32, as in ATen.
inline value cumsum_of(graph<11> g, value x, std::int64_t dim, std::optional<dtype> type = {}) {
    dtype const out = type.value_or(to_accumulating(x.dtype()));
    value const y = g.cast(x, out);
    if (x.rank() == 0) return y;
    dtype const wide = detail::opmath_type(detail::reducible(out));
    return g.cast(g.op<"CumSum">(g.cast(y, wide), g.scalar(normalize_axis(dim, x.rank()), dtype::int64)), out);
}

namespace detail {

inline constexpr auto cumsum = symbolic<"aten::cumsum(self, dim, dtype)">([](graph<11> g, value self, std::int64_t dim,
                                                                             std::optional<dtype> type) {
                                   return cumsum_of(g, self, dim, type);
                               }).by_parts<"self">();

/// In steps of 1, 2, 4, ..., each element is multiplied by the one so far before it.
inline constexpr auto complex_cumprod = [](graph<7> g, complex_value self, std::int64_t dim,
                                           std::optional<dtype> type) -> complex_value {
    complex_value z = in_complex_dtype(g, self, type);
    if (z.rank() == 0) return z;
    std::int64_t const axis = normalize_axis(dim, z.rank());
    std::int64_t const n = count_of_factors(g.real(z).size(axis));
    for (std::int64_t by = 1; by < n; by *= 2) {
        complex_value const before = slice_of_complex(g, z, axis, 0, n - by);
        complex_value const after = slice_of_complex(g, z, axis, by, n);
        z = join_complex(g, slice_of_complex(g, z, axis, 0, by), multiply_complex(g, {before, after}), axis);
    }
    return z;
};

inline constexpr auto cumprod_until_25 =
    symbolic<"aten::cumprod(self, dim, dtype)">([](graph<9, 25> g, value self, std::int64_t dim,
                                                   std::optional<dtype> type) -> value {
        dtype const out = type.value_or(to_accumulating(self.dtype()));
        value const x = g.cast(g.cast(self, out), reducible(out));
        auto const product = [](graph<13> b, value earlier, value later) -> value {
            return b.op<"Mul">(earlier, later);
        };
        return g.cast(scan<"ReduceProd">(g, x, dim, 1, product), out);
    }).for_complex(complex_cumprod);

/// CumProd was added in opset 26. It does not accept 0-d tensors.
inline constexpr auto cumprod =
    symbolic<"aten::cumprod(self, dim, dtype)">([](graph<26> g, value self, std::int64_t dim,
                                                   std::optional<dtype> type) -> value {
        dtype const out = type.value_or(to_accumulating(self.dtype()));
        value const x = g.cast(g.cast(self, out), reducible(out));
        if (x.rank() == 0) return g.cast(x, out);
        return g.cast(g.op<"CumProd">(x, g.scalar(normalize_axis(dim, x.rank()), dtype::int64)), out);
    }).for_complex(complex_cumprod);

inline constexpr auto logcumsumexp = [](graph<9> g, value self, std::int64_t dim) {
    return scan<"ReduceLogSumExp">(g, self, dim, -std::numeric_limits<double>::infinity(), logaddexp);
};

inline constexpr auto diff =
    symbolic<"aten::diff(self, n, dim, prepend, append)">([](graph<7> g, value self, std::int64_t n, std::int64_t dim,
                                                             optional_value prepend, optional_value append) -> value {
        if (n == 0) return self;
        std::int64_t const axis = normalize_axis(dim, self.rank());
        safe_vector<value> parts{self};
        if (prepend) parts.insert(parts.begin(), *prepend);
        if (append) parts.push_back(*append);
        dtype const type = promote(safe_span<value const>(parts));
        for (value& part : parts) part = g.cast(part, type);
        value y = parts.size() == 1 ? parts[0] : value(g.op<"Concat">(parts, attr::axis_i(axis)));
        for (std::int64_t i = 0; i < n; ++i) y = step(g, y, axis);
        return y;
    }).by_parts<"self", "prepend", "append">();

inline constexpr auto trapezoid_dx = [](graph<7> g, value y, number dx, std::int64_t dim) -> value {
    std::int64_t const axis = normalize_axis(dim, y.rank());
    if (optional_value const none = empty_area(g, y, axis)) return *none;
    return area_at_steps(g, y, dx, axis);
};

inline constexpr auto trapezoid_x = [](graph<7> g, value y, value x, std::int64_t dim) -> value {
    std::int64_t const axis = normalize_axis(dim, y.rank());
    if (optional_value const none = empty_area(g, y, axis)) return *none;
    value const areas = double_trapezoids(g, y, axis, widths(g, y, x, axis));
    return halved(g, sum(g, areas, std::array{axis - y.rank() + areas.rank()}, false));
};

inline constexpr auto cumulative_trapezoid_dx = [](graph<11> g, value y, number dx, std::int64_t dim) {
    std::int64_t const axis = normalize_axis(dim, y.rank());
    if (dx.is_complex()) return halved(g, cumsum_of(g, double_trapezoids(g, y, axis, spacing(g, y, dx)), axis));
    value const half = spacing(g, y, dx / 2);
    return cumsum_of(g, double_trapezoids(g, y, axis, half), axis);
};

inline constexpr auto cumulative_trapezoid_x = [](graph<11> g, value y, value x, std::int64_t dim) {
    std::int64_t const axis = normalize_axis(dim, y.rank());
    value const areas = double_trapezoids(g, y, axis, widths(g, y, x, axis));
    return halved(g, cumsum_of(g, areas, axis - y.rank() + areas.rank()));
};

/// The area under complex points. ATen multiplies by a number dx as by a complex number, whose imaginary part of 0 is a
/// factor of the other part. With points x it divides the areas by 2 likewise. Both give NaN where that factor is
/// infinite.
template <auto Body, class Parameters = typename dsl::detail::body_traits<decltype(Body)>::parameters>
struct complex_area_body;
template <auto Body>
struct complex_area_body<Body, std::tuple<value, number, std::int64_t>> {
    complex_value operator()(graph<11> g, complex_value y, number dx, std::int64_t dim) const {
        if (dx.is_complex()) throw unsupported_error("complex widths of intervals");
        auto const area = [&](value part, number const& width) -> value { return Body(g, part, width, dim); };
        value const re = g.real(y);
        value const im = g.imag(y);
        return g.complex(g.op<"Sub">(area(re, dx), area(im, 0)), g.op<"Add">(area(im, dx), area(re, 0)));
    }
};
template <auto Body>
struct complex_area_body<Body, std::tuple<value, value, std::int64_t>> {
    complex_value operator()(graph<11> g, complex_value y, value x, std::int64_t dim) const {
        if (is_complex(x.dtype())) throw unsupported_error("complex widths of intervals");
        value const re = Body(g, g.real(y), x, dim);
        value const im = Body(g, g.imag(y), x, dim);
        return g.complex(g.op<"Sub">(re, g.op<"Mul">(im, 0)), g.op<"Add">(im, g.op<"Mul">(re, 0)));
    }
};
template <auto Body>
inline constexpr complex_area_body<Body> complex_area{};

} // namespace detail

inline constexpr auto cumulative = table(
    detail::cumsum, detail::cumprod, detail::cumprod_until_25,
    symbolic<"aten::logcumsumexp(self, dim)">(detail::logcumsumexp),
    symbolic<"aten::_logcumsumexp(self, dim)">(detail::logcumsumexp),
    symbolic<"aten::cummax(self, dim)">(detail::running_extreme<"ReduceMax">),
    symbolic<"aten::cummin(self, dim)">(detail::running_extreme<"ReduceMin">), detail::diff,
    symbolic<"aten::trapezoid.dx(y, dx, dim)">(detail::trapezoid_dx)
        .for_complex(detail::complex_area<detail::trapezoid_dx>),
    symbolic<"aten::trapezoid.x(y, x, dim)">(detail::trapezoid_x)
        .for_complex(detail::complex_area<detail::trapezoid_x>),
    symbolic<"aten::trapz.dx(y, dx, dim)">(detail::trapezoid_dx)
        .for_complex(detail::complex_area<detail::trapezoid_dx>),
    symbolic<"aten::trapz.x(y, x, dim)">(detail::trapezoid_x).for_complex(detail::complex_area<detail::trapezoid_x>),
    symbolic<"aten::cumulative_trapezoid.dx(y, dx, dim)">(detail::cumulative_trapezoid_dx)
        .for_complex(detail::complex_area<detail::cumulative_trapezoid_dx>),
    symbolic<"aten::cumulative_trapezoid.x(y, x, dim)">(detail::cumulative_trapezoid_x)
        .for_complex(detail::complex_area<detail::cumulative_trapezoid_x>));

} // namespace ATON_NAMESPACE::mappings
