// SPDX-License-Identifier: MIT
// Reshape, Transpose, Slice, Gather and Expand as functions for all families: constant sizes stay constants, others are
// computed.
// Internal header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <aton/mappings/detail/operators.hpp>

namespace ATON_NAMESPACE::mappings {

/// The end of a slice that has no end.
inline constexpr std::int64_t to_the_end = std::numeric_limits<std::int64_t>::max();

inline sym_int product(safe_span<sym_int const> sizes) {
    sym_int n = 1;
    for (sym_int const& s : sizes) n = n * s;
    return n;
}
inline sym_int element_count(graph<7> g, value x) {
    if (x.shape().is_static()) return x.shape().element_count();
    return value(g.op<"Size">(x));
}
/// A size as a 1-d value with one element.
inline value as_list(graph<7> g, sym_int s) { return g.ints(safe_span<sym_int const>(&s, 1)); }

inline bool all_constant(safe_span<sym_int const> sizes) {
    return std::all_of(sizes.begin(), sizes.end(), [](sym_int const& s) { return s.is_constant(); });
}
inline safe_vector<std::int64_t> constants(safe_span<sym_int const> sizes) {
    safe_vector<std::int64_t> out;
    for (sym_int const& s : sizes) out.push_back(s.constant());
    return out;
}
inline bool has_shape(value x, safe_span<std::int64_t const> sizes) {
    return x.has_rank() && x.shape() == shape(sizes);
}
inline bool is_empty(value x) {
    if (!x.has_rank()) return false;
    auto const& dims = x.shape().dims();
    return std::any_of(dims.begin(), dims.end(), [](dim const& d) { return d == dim(0); });
}

inline bool is_empty_along(value x, safe_span<std::int64_t const> axes) {
    return std::any_of(axes.begin(), axes.end(), [&](std::int64_t a) { return x.size(a) == dim(0); });
}
inline bool is_computed_along(value x, safe_span<std::int64_t const> axes) {
    return std::any_of(axes.begin(), axes.end(), [&](std::int64_t a) { return !x.size(a).is_static(); });
}

/// A constant without elements.
inline value empty_constant(graph<7> g, safe_span<std::int64_t const> sizes, dtype type) {
    return g.constant(tensor{type, {sizes.begin(), sizes.end()}, {}});
}

/// Reshapes 0-d to 1-d; returns other tensors unchanged.
inline value at_least_1d(graph<7> g, value x) { return x.rank() == 0 ? value(g.op<"Reshape">(x, g.ints({1}))) : x; }

namespace detail {

/// Replaces a size of -1 by its actual value, if known. Refuses sizes that x cannot be reshaped to.
inline void resolve_minus_one(value x, safe_vector<sym_int>& sizes) {
    std::int64_t const total = x.shape().element_count_or(-1);
    std::int64_t rest = 1;
    std::int64_t unknown = 0;
    bool fits = true;
    for (sym_int const& s : sizes) {
        if (!s.is_constant()) continue;
        std::int64_t const n = s.constant();
        unknown += n == -1 ? 1 : 0;
        fits = fits && n >= -1 && (n <= 0 || rest <= std::numeric_limits<std::int64_t>::max() / n);
        if (fits && n != -1) rest *= n;
    }
    fits = fits && unknown <= 1;
    if (fits && total >= 0 && all_constant(sizes))
        fits = unknown == 0 ? rest == total : rest > 0 ? total % rest == 0 : rest == 0 && total == 0;
    if (!fits) {
        std::string text;
        for (std::size_t i = 0; i != sizes.size() && i != 8; ++i)
            text += (i == 0 ? "" : ", ") + (sizes[i].is_constant() ? std::to_string(sizes[i].constant()) : "?");
        throw unsupported_error("a tensor" + (total < 0 ? "" : " of " + std::to_string(total) + " elements") +
                                " cannot be reshaped to [" + text + (sizes.size() > 8 ? ", ...]" : "]"));
    }
    if (total < 0 || !all_constant(sizes)) return;
    for (sym_int& s : sizes)
        if (s.is(-1) && rest > 0) s = total / rest;
}

} // namespace detail

/// aten::reshape. A 0 is a size of 0 in ATen but copies a dimension in ONNX, unless allowzero is set; if the result is
/// known to be empty, it is a constant.
inline value reshape(graph<7> g, value x, safe_vector<sym_int> sizes) {
    detail::resolve_minus_one(x, sizes);
    auto const count = [&](auto&& which) { return std::count_if(sizes.begin(), sizes.end(), which); };
    auto const computed = count([](sym_int const& s) { return !s.is_constant(); });
    bool const inferred = count([](sym_int const& s) { return s.is(-1); }) != 0;
    bool const zero = count([](sym_int const& s) { return s.is(0); }) != 0;
    if (computed == 0 && !inferred) {
        safe_vector<std::int64_t> const to = constants(sizes);
        if (has_shape(x, to)) return x;
        return zero ? empty_constant(g, to, x.dtype()) : value(g.op<"Reshape">(x, g.ints(to)));
    }
    if (computed == 1 && !inferred && !zero) // the only unknown size can be inferred
        for (sym_int& s : sizes)
            if (!s.is_constant()) s = -1;
    value const to = g.ints(sizes);
    if (to.is_constant() || g.opset() < 14) return g.op<"Reshape">(x, to);
    return g.within<14>().op<"Reshape">(x, to, attr::allowzero_i(1));
}
inline value reshape(graph<7> g, value x, safe_span<sym_int const> sizes) {
    return reshape(g, x, safe_vector(sizes.begin(), sizes.end()));
}
inline value reshape(graph<7> g, value x, std::initializer_list<sym_int> sizes) {
    return reshape(g, x, safe_vector(sizes));
}

/// x reshaped to 1-d.
inline value flat(graph<7> g, value x) { return x.rank() == 1 ? x : reshape(g, x, {-1}); }

/// Prepends dimensions of size 1 until x has `rank` dimensions.
inline value at_least_rank(graph<7> g, value x, std::int64_t rank) {
    return x.rank() >= rank ? x : unsqueeze(g, x, iota(rank - x.rank()));
}

/// Dimension i of the result is dimension perm[i] of x.
inline value permute(graph<7> g, value x, safe_span<std::int64_t const> perm) {
    safe_vector<std::int64_t> const all = iota(x.rank());
    if (!std::is_permutation(perm.begin(), perm.end(), all.begin(), all.end()))
        throw unsupported_error("dims that are not a permutation of the " + std::to_string(x.rank()) + " dimensions");
    if (std::is_sorted(perm.begin(), perm.end())) return x;
    return g.op<"Transpose">(x, attr::perm_i(perm));
}
inline value swap_axes(graph<7> g, value x, std::int64_t a, std::int64_t b) {
    safe_vector<std::int64_t> perm = iota(x.rank());
    a = normalize_axis(a, x.rank());
    b = normalize_axis(b, x.rank());
    if (a == b) return x;
    std::swap(perm[static_cast<std::size_t>(a)], perm[static_cast<std::size_t>(b)]);
    return permute(g, x, perm);
}
inline bool has_duplicates(safe_vector<std::int64_t> axes) {
    std::sort(axes.begin(), axes.end());
    return std::adjacent_find(axes.begin(), axes.end()) != axes.end();
}
/// Moves axis `source[i]` to `destination[i]`; the other axes keep their order.
inline value move_axes(graph<7> g, value x, safe_span<std::int64_t const> source,
                       safe_span<std::int64_t const> destination) {
    std::int64_t const rank = x.rank();
    if (rank == 0) return x;
    auto const from = normalize_axes(source, rank);
    auto const to = normalize_axes(destination, rank);
    if (from.size() != to.size() || has_duplicates(from) || has_duplicates(to))
        throw unsupported_error("a source and a destination of different lengths, or with duplicate dimensions");
    safe_vector<std::int64_t> perm;
    safe_vector<std::int64_t> rest;
    for (std::int64_t a = 0; a != rank; ++a)
        if (std::find(from.begin(), from.end(), a) == from.end()) rest.push_back(a);
    std::size_t next = 0;
    for (std::int64_t a = 0; a != rank; ++a) {
        auto const at = std::find(to.begin(), to.end(), a);
        perm.push_back(at != to.end() ? from[static_cast<std::size_t>(at - to.begin())] : rest[next++]);
    }
    return permute(g, x, perm);
}

namespace detail {

/// Slice up to opset 9: the bounds are attributes, and the step is 1. Other steps gather constant positions.
inline value slice_by_attributes(graph<7> g, value x, std::int64_t axis, sym_int const& start, sym_int const& end,
                                 sym_int const& step) {
    if (!start.is_constant() || !end.is_constant()) refuse_below(10, "a slice with a computed bound");
    if (step.is(1)) {
        std::int64_t const bounds[] = {start.constant(), end.constant()};
        return g.within<7, 9>().op<"Slice">(
            x, attr::starts_i({bounds[0]}), attr::ends_i({bounds[1]}), attr::axes_i({axis}));
    }
    if (!step.is_constant() || !x.size(axis).is_static()) refuse_below(10, "a slice with a step");
    std::int64_t const n = x.size(axis).size();
    auto const clamped = [n](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + n : at, 0, n); };
    safe_vector<std::int64_t> positions;
    for (std::int64_t at = clamped(start.constant()); at < clamped(end.constant()); at += step.constant()) {
        positions.push_back(at);
        if (step.constant() > n) break;
    }
    if (positions.empty()) refuse_below(10, "an empty slice with a step");
    budget::expect("a list", static_cast<std::int64_t>(positions.size()));
    return g.op<"Gather">(x, g.ints(positions), attr::axis_i(axis));
}

} // namespace detail

/// x[start:end:step] along an axis; as in Python, indices may be negative or out of range. step > 0.
inline value slice(graph<7> g, value x, std::int64_t axis, sym_int start, sym_int end, sym_int step = 1) {
    axis = normalize_axis(axis, x.rank());
    if (step.is_constant() && step.constant() < 1) throw unsupported_error("a slice with a step below 1");
    if (dim const& d = x.size(axis); start.is(0) && step.is(1) && end.is_constant())
        if (end.is(to_the_end) || (d.is_static() && end.constant() >= d.size())) return x;
    if (g.opset() < 10) return detail::slice_by_attributes(g, x, axis, start, end, step);
    auto const since_10 = g.within<10>();
    if (step.is(1)) return since_10.op<"Slice">(x, as_list(g, start), as_list(g, end), g.ints({axis}));
    return since_10.op<"Slice">(x, as_list(g, start), as_list(g, end), g.ints({axis}), as_list(g, step));
}
/// x[start:end] along several axes, with constant bounds.
inline value slice(graph<7> g, value x, safe_span<std::int64_t const> starts, safe_span<std::int64_t const> ends,
                   safe_span<std::int64_t const> axes) {
    if (g.opset() >= 10) return g.within<10>().op<"Slice">(x, g.ints(starts), g.ints(ends), g.ints(axes));
    return g.within<7, 9>().op<"Slice">(x, attr::starts_i(starts), attr::ends_i(ends), attr::axes_i(axes));
}

namespace detail {

/// Indices that count from the front: Gather takes others since opset 11.
inline value from_front(graph<7> g, value indices, sym_int const& size) {
    if (g.opset() >= 11) return indices;
    if (g.opset() < 9) refuse_below(9, "an index that may count from the end");
    value const at = g.cast(indices, dtype::int64);
    return g.within<9>().op<"Where">(g.op<"Less">(at, 0), g.op<"Add">(at, size), at);
}

} // namespace detail

/// x[..., index, ...]; the axis is removed if the index is 0-d.
inline value select(graph<7> g, value x, std::int64_t axis, sym_int index) {
    axis = normalize_axis(axis, x.rank());
    bool const counts_from_end = g.opset() < 11 && index.is_constant() && index.constant() < 0;
    value at = g.to_value(counts_from_end ? index + g.size(x, axis) : index);
    if (!index.is_constant()) at = detail::from_front(g, at, g.size(x, axis));
    return g.op<"Gather">(x, at, attr::axis_i(axis));
}
inline value gather_of(graph<7> g, value x, value indices, std::int64_t axis) {
    return g.op<"Gather">(x, indices, attr::axis_i(axis));
}

/// Whether two shapes are known to be equal.
inline bool same_shape(value a, value b) {
    if (a.rank() != b.rank()) return false;
    for (std::int64_t i = 0; i != a.rank(); ++i)
        if (!a.size(i).same_as(b.size(i))) return false;
    return true;
}

/// Expand, which broadcasts in both directions. It was added in opset 8; Tile does the same for static shapes.
inline value expand_by(graph<7> g, value x, value shape) {
    if (g.opset() >= 8) return g.within<8>().op<"Expand">(x, shape);
    if (!shape.is_constant() || !x.shape().is_static()) detail::refuse_below(8, "broadcasting to a computed shape");
    std::int64_t const lead = shape.constant().element_count() - x.rank();
    safe_vector<std::int64_t> repeats;
    for (std::int64_t i = 0; i < shape.constant().element_count(); ++i) {
        auto const to = shape.constant().at(static_cast<std::size_t>(i)).to<std::int64_t>();
        repeats.push_back(i < lead || x.size(i - lead).is(1) ? to : 1);
    }
    if (lead < 0) detail::refuse_below(8, "broadcasting to a lower rank");
    return g.op<"Tile">(lead == 0 ? x : unsqueeze(g, x, iota(lead)), g.ints(repeats));
}

/// x broadcast to the common shape of both.
inline value broadcast_with(graph<7> g, value x, value other) {
    return same_shape(x, other) ? x : expand_by(g, x, g.opset() < 8 ? g.shape_of(other) : value(g.op<"Shape">(other)));
}

/// aten::expand. A size of -1 keeps a dimension; ONNX's Expand has 1 for that, because it broadcasts in both directions.
inline value expand(graph<7> g, value x, safe_vector<sym_int> sizes) {
    std::int64_t const added = static_cast<std::int64_t>(sizes.size()) - x.rank();
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(sizes.size()); ++i) {
        sym_int const& s = sizes[static_cast<std::size_t>(i)];
        std::int64_t const from = i < added ? 1 : x.size(i - (added < 0 ? 0 : added)).size_or(-1);
        bool const keeps = s.is(-1) && i >= added;
        if (added < 0 ||
            (s.is_constant() && !keeps && (s.constant() < 0 || (from > 1 && !s.is(from)) || (from == 0 && !s.is(0)))))
            throw unsupported_error("dimension " + std::to_string(i) + " cannot be expanded to this size");
    }
    if (all_constant(sizes)) {
        auto const n = static_cast<std::int64_t>(sizes.size());
        bool same = n == x.rank();
        for (std::int64_t i = 0; same && i != n; ++i) {
            sym_int const& s = sizes[static_cast<std::size_t>(i)];
            same = s.is(-1) || (x.size(i).is_static() && s.is(x.size(i).size()));
        }
        if (same) return x;
    }
    for (sym_int& s : sizes)
        if (s.is(-1)) s = 1;
    return expand_by(g, x, g.ints(sizes));
}
inline value expand_to(graph<7> g, value x, value shape) {
    if (shape.is_constant() && x.shape().is_static()) {
        tensor const& to = shape.constant();
        safe_vector<std::int64_t> sizes;
        for (std::size_t i = 0; i != static_cast<std::size_t>(to.element_count()); ++i)
            sizes.push_back(to.at(i).to<std::int64_t>());
        if (has_shape(x, sizes)) return x;
    }
    return expand_by(g, x, shape);
}

/// The shape that values of static shapes broadcast to.
inline safe_vector<std::int64_t> common_sizes(safe_span<value const> values) {
    std::size_t rank = 0;
    for (value const& v : values) rank = std::max(rank, static_cast<std::size_t>(v.rank()));
    safe_vector<std::int64_t> sizes(rank, 1);
    for (value const& v : values) {
        auto const& dims = v.shape().dims();
        for (std::size_t i = 0; i != dims.size(); ++i)
            if (!dims[i].is(1)) sizes[rank - dims.size() + i] = dims[i].size();
    }
    return sizes;
}
/// The shape that all values broadcast to, as a 1-d value.
inline value broadcast_shape(graph<7> g, safe_span<value const> values) {
    if (std::all_of(values.begin(), values.end(), [](value const& v) { return v.shape().is_static(); }))
        return g.ints(common_sizes(values));
    value all = values[0];
    for (value const& v : values.subspan(1)) all = expand_by(g, all, g.shape_of(v));
    return g.shape_of(all);
}

namespace detail {

/// 0, 1, ..., n - 1, as int64, in opsets without Range.
inline value positions_by_nonzero(graph<7> g, sym_int const& n) {
    if (g.opset() < 9) refuse_below(9, "a range of computed length");
    auto const since_9 = g.within<9>();
    tensor const one = one_element(1, dtype::int64);
    return squeeze(g, since_9.op<"NonZero">(since_9.op<"ConstantOfShape">(as_list(g, n), attr::value_t(one))), 0);
}

} // namespace detail

/// start, start + step, ..., n elements, as int64; a constant if the arguments are constant and n is not too large.
inline value arithmetic_sequence(graph<7> g, sym_int start, sym_int n, sym_int step = 1) {
    bool const known = start.is_constant() && n.is_constant() && step.is_constant();
    if (known && n.constant() <= budget::max_constant_range) {
        safe_vector<std::int64_t> all;
        for (std::int64_t i = 0; i < n.constant(); ++i)
            all.push_back(checked_int(start.constant()) + checked_int(i) * step.constant());
        return g.ints(all);
    }
    if (g.opset() < 11) return g.op<"Add">(g.op<"Mul">(detail::positions_by_nonzero(g, n), step), start);
    sym_int const end = start + n * step;
    return g.within<11>().op<"Range">(g.to_value(start), g.to_value(end), g.to_value(step));
}

/// 0, 1, ..., n - 1 for an int64 n that `number_of` gives as a value: Range, also of a constant.
template <class NumberOf>
value range_to(graph<7> g, NumberOf number_of) {
    if (g.opset() < 11) return arithmetic_sequence(g, 0, number_of());
    return g.within<11>().op<"Range">(g.scalar(0, dtype::int64), number_of(), g.scalar(1, dtype::int64));
}

inline void expect_sizes(size_list sizes) {
    for (sym_int const& s : sizes)
        if (s.is_constant() && s.constant() < 0)
            throw unsupported_error("a dimension of size " + std::to_string(s.constant()));
}

/// A tensor full of one number; a constant if both are constant and it is small.
inline value filled(graph<7> g, size_list sizes, number const& n, dtype type) {
    expect_sizes(sizes);
    if (!n.is_constant()) return expand_by(g, element(g, n, type), g.ints(sizes));
    tensor const one = one_element(n.constant(), type);
    if (all_constant(sizes)) {
        tensor all{type, constants(sizes), {}};
        std::int64_t const count = all.element_count();
        if (count <= 64) {
            for (std::int64_t i = 0; i != count; ++i) all.bytes += one.bytes;
            return g.constant(std::move(all));
        }
    }
    if (g.opset() < (type == dtype::bfloat16 ? 20 : 9)) return expand_by(g, g.constant(one), g.ints(sizes));
    return g.within<9>().op<"ConstantOfShape">(g.ints(sizes), attr::value_t(one));
}

} // namespace ATON_NAMESPACE::mappings
