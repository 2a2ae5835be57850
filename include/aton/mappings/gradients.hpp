// SPDX-License-Identifier: MIT
// Gradients of functions from their values on a grid: aten's gradient.
// Public header.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <aton/mappings/cumulative.hpp>
#include <aton/mappings/elementwise_binary.hpp>
#include <aton/mappings/slicing.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// a op b in the dtype that ATen promotes both to; quotients of integers are float32.
template <fixed_string Op>
value combined(graph<7> g, value a, value b) {
    dtype const type = Op.view() == "Div" ? to_floating(promote(a, b)) : promote(a, b);
    return arithmetic<Op>(g, g.cast(a, type), g.cast(b, type));
}

/// Derivatives along an axis: of second order inside, and of first or (`curved`) second order at both ends.
struct derivative {
    graph<7> g;
    value f;
    std::int64_t axis;
    bool curved;

    [[nodiscard]] value at(std::int64_t start, std::int64_t end) const { return slice(g, f, axis, start, end); }
    [[nodiscard]] value times(double factor, value x) const { return combined<"Mul">(g, x, wrapped_number(g, factor)); }
    /// ATen multiplies by the integer 2: products of integers wrap around.
    [[nodiscard]] value twice(value x) const { return combined<"Add">(g, x, x); }
    [[nodiscard]] value sum_of(value a, value b, value c) const {
        return combined<"Add">(g, combined<"Add">(g, a, b), c);
    }
    [[nodiscard]] value slope(value after, value before, value width) const {
        return combined<"Div">(g, combined<"Sub">(g, after, before), width);
    }
    [[nodiscard]] value joined(value first, value inside, value last) const {
        dtype const type = aten::promote_types(first.dtype(), inside.dtype());
        return g.op<"Concat">(safe_vector<value>{g.cast(first, type), g.cast(inside, type), g.cast(last, type)},
                              attr::axis_i(axis));
    }

    /// For elements at the distance h.
    [[nodiscard]] value with_step(number const& distance) const {
        value const h = wrapped_number(g, distance);
        auto const rise = [&](value after, value before) {
            return divide(g, combined<"Sub">(g, after, before), h); // which may be beyond the dtype of f
        };
        value const inside = divide(g, rise(at(2, to_the_end), at(0, -2)), wrapped_number(g, 2));
        if (!curved) return joined(rise(at(1, 2), at(0, 1)), inside, rise(at(-1, to_the_end), at(-2, -1)));
        value const first = sum_of(times(-1.5, at(0, 1)), twice(at(1, 2)), times(-0.5, at(2, 3)));
        value const near = combined<"Sub">(g, times(0.5, at(-3, -2)), twice(at(-2, -1)));
        value const last = combined<"Add">(g, near, times(1.5, at(-1, to_the_end)));
        return joined(divide(g, first, h), inside, divide(g, last, h));
    }

    /// The factors of three neighbors, whose gaps are u and v, in the derivative at the first one; `mirrored` at the
    /// last one. Numerators are negated before the division, and only the last one doubles an integer as such, as in
    /// ATen: integers wrap around.
    [[nodiscard]] std::array<value, 3> one_sided(value u, value v, bool mirrored) const {
        value const both = combined<"Add">(g, u, v);
        auto const negated = [&](value x, bool if_mirrored) {
            return mirrored == if_mirrored ? value(g.op<"Neg">(x)) : x;
        };
        return {combined<"Div">(g,
                                negated(combined<"Add">(g, mirrored ? twice(u) : times(2, u), v), false),
                                combined<"Mul">(g, u, both)),
                combined<"Div">(g, negated(both, true), combined<"Mul">(g, u, v)),
                combined<"Div">(g, negated(u, false), combined<"Mul">(g, v, both))};
    }
    /// The same at the middle one.
    [[nodiscard]] std::array<value, 3> two_sided(value u, value v) const {
        value const both = combined<"Add">(g, u, v);
        return {combined<"Div">(g, g.op<"Neg">(v), combined<"Mul">(g, u, both)),
                combined<"Div">(g, combined<"Sub">(g, v, u), combined<"Mul">(g, u, v)),
                combined<"Div">(g, u, combined<"Mul">(g, v, both))};
    }
    [[nodiscard]] value weighted(std::array<value, 3> const& by, value a, value b, value c) const {
        return sum_of(combined<"Mul">(g, by[0], a), combined<"Mul">(g, by[1], b), combined<"Mul">(g, by[2], c));
    }

    /// For elements at these coordinates, 1-d.
    [[nodiscard]] value with_coordinates(value x) const {
        value const gaps = step(g, x, 0);
        auto const gap = [&](std::int64_t i) { return select(g, gaps, 0, i); };
        safe_vector<sym_int> along(static_cast<std::size_t>(f.rank()), 1);
        along[static_cast<std::size_t>(axis)] = -1;
        auto by = two_sided(slice(g, gaps, 0, 0, -1), slice(g, gaps, 0, 1, to_the_end));
        for (value& v : by) v = reshape(g, v, along);
        value const inside = weighted(by, at(0, -2), at(1, -1), at(2, to_the_end));
        if (!curved)
            return joined(slope(at(1, 2), at(0, 1), gap(0)), inside, slope(at(-1, to_the_end), at(-2, -1), gap(-1)));
        value const first = weighted(one_sided(gap(0), gap(1), false), at(0, 1), at(1, 2), at(2, 3));
        // In the order in which ATen adds.
        auto const [last, middle, before] = one_sided(gap(-1), gap(-2), true);
        value const end = weighted({before, middle, last}, at(-3, -2), at(-2, -1), at(-1, to_the_end));
        return joined(first, inside, end);
    }
};

/// The derivatives along some axes; `along(d, i)` is the i-th of them.
template <class Along>
safe_vector<value> derivatives(graph<7> g, value f, safe_span<std::int64_t const> axes, std::int64_t edge_order,
                               Along along) {
    if (edge_order != 1 && edge_order != 2) throw unsupported_error("edge_order " + std::to_string(edge_order));
    safe_vector<value> all;
    for (std::size_t i = 0; i != axes.size(); ++i) {
        std::int64_t const axis = normalize_axis(axes[i], f.rank());
        if (dim const& n = f.size(axis); n.is_static() && n.size() <= edge_order)
            throw unsupported_error("a gradient along a dimension of size " + std::to_string(n.size()));
        all.push_back(along(derivative{g, f, axis, edge_order == 2}, i));
    }
    return all;
}

/// By one distance for all axes, or one for each.
inline safe_vector<value> gradients_by_steps(graph<7> g, value f, safe_span<std::int64_t const> dim,
                                             safe_span<scalar const> spacing, std::int64_t edge_order) {
    if (spacing.size() != dim.size()) throw unsupported_error("spacing and dim have different lengths");
    return derivatives(
        g, f, dim, edge_order, [&](derivative const& d, std::size_t i) { return d.with_step(spacing[i]); });
}
inline safe_vector<value> gradients_by_coordinates(graph<7> g, value f, safe_span<std::int64_t const> dim,
                                                   safe_span<value const> spacing, std::int64_t edge_order) {
    if (spacing.size() != dim.size()) throw unsupported_error("spacing and dim have different lengths");
    return derivatives(
        g, f, dim, edge_order, [&](derivative const& d, std::size_t i) { return d.with_coordinates(spacing[i]); });
}

inline constexpr auto gradient_by_step = symbolic<"aten::gradient.scalararray(self, spacing, dim, edge_order)">(
    [](graph<7> g, value self, number spacing, axis_list dim, std::int64_t edge_order) {
        return derivatives(
            g, self, dim, edge_order, [&](derivative const& d, std::size_t) { return d.with_step(spacing); });
    });
inline constexpr auto gradient_along_axes = symbolic<"aten::gradient.array(self, dim, edge_order)">(
    [](graph<7> g, value self, axis_list dim, std::int64_t edge_order) {
        return gradient_by_step(g, self, 1, dim, edge_order);
    });
inline constexpr auto gradient_along_any = symbolic<"aten::gradient.scalarint(self, spacing, dim, edge_order)">(
    [](graph<7> g, value self, std::optional<number> spacing, std::optional<std::int64_t> dim,
       std::int64_t edge_order) {
        return gradient_by_step(g, self, spacing.value_or(1), axis_or_all(dim, self), edge_order);
    });
inline constexpr auto gradient_by_steps = symbolic<"aten::gradient.scalarrayarray(self, spacing, dim, edge_order)">(
    [](graph<7> g, value self, safe_span<scalar const> spacing, axis_list dim, std::int64_t edge_order) {
        return gradients_by_steps(g, self, dim, spacing, edge_order);
    });
inline constexpr auto gradient_by_steps_along_any =
    symbolic<"aten::gradient.scalarrayint(self, spacing, dim, edge_order)">(
        [](graph<7> g, value self, safe_span<scalar const> spacing, std::optional<std::int64_t> dim,
           std::int64_t edge_order) {
            return gradients_by_steps(g, self, axis_or_all(dim, self), spacing, edge_order);
        });
inline constexpr auto gradient_by_coordinates = symbolic<"aten::gradient.tensorarray(self, spacing, dim, edge_order)">(
    [](graph<7> g, value self, safe_span<value const> spacing, axis_list dim, std::int64_t edge_order) {
        return gradients_by_coordinates(g, self, dim, spacing, edge_order);
    });
inline constexpr auto gradient_by_coordinates_along_any =
    symbolic<"aten::gradient.tensorarrayint(self, spacing, dim, edge_order)">(
        [](graph<7> g, value self, safe_span<value const> spacing, std::optional<std::int64_t> dim,
           std::int64_t edge_order) {
            return gradients_by_coordinates(g, self, axis_or_all(dim, self), spacing, edge_order);
        });

} // namespace detail

inline constexpr auto gradients =
    table(detail::gradient_along_axes, detail::gradient_along_any, detail::gradient_by_step,
          detail::gradient_by_steps_along_any, detail::gradient_by_steps, detail::gradient_by_coordinates_along_any,
          detail::gradient_by_coordinates);

} // namespace ATON_NAMESPACE::mappings
