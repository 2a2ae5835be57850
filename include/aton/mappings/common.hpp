// SPDX-License-Identifier: MIT
// What mappings share: type promotion on values, axes, constants of the right dtype, reductions in both of ONNX's spellings.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <aton/aten/promotion.hpp>
#include <aton/aton.hpp>

namespace aton::mappings {

using namespace aton::dsl;
using aten::to_accumulating;
using aten::to_floating;

/// `int[]` and `SymInt[]` of a mapping's parameters.
using int_list = safe_span<std::int64_t const>;
using axis_list = int_list;
using size_list = safe_span<sym_int const>;

/// `axis` in [0, rank); 0-d counts as rank 1, as in ATen.
inline std::int64_t normalize_axis(std::int64_t axis, std::int64_t rank) {
    std::int64_t const n = rank == 0 ? 1 : rank;
    if (axis < -n || axis >= n)
        throw unsupported_error("dim " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
    return axis < 0 ? axis + n : axis;
}

inline safe_vector<std::int64_t> normalize_axes(safe_span<std::int64_t const> axes, std::int64_t rank) {
    safe_vector<std::int64_t> out;
    for (std::int64_t a : axes) out.push_back(normalize_axis(a, rank));
    return out;
}

/// 0, 1, ..., n - 1.
inline safe_vector<std::int64_t> iota(std::int64_t n) {
    budget::expect("a list", n);
    safe_vector<std::int64_t> out;
    for (std::int64_t i = 0; i < n; ++i) out.push_back(i);
    return out;
}

inline value squeeze(graph<13> g, value x, safe_span<std::int64_t const> axes) {
    return g.op<"Squeeze">(x, g.ints(axes));
}
inline value unsqueeze(graph<13> g, value x, safe_span<std::int64_t const> axes) {
    return g.op<"Unsqueeze">(x, g.ints(axes));
}
inline value unsqueeze(graph<13> g, value x, std::int64_t axis) { return g.op<"Unsqueeze">(x, g.ints({axis})); }
inline value squeeze(graph<13> g, value x, std::int64_t axis) { return g.op<"Squeeze">(x, g.ints({axis})); }

/// Axes counted from the front where the rank is known: ONNX Runtime does not reduce empty tensors along negative axes.
inline safe_vector<std::int64_t> positive_axes(value x, safe_span<std::int64_t const> axes) {
    return x.has_rank() ? normalize_axes(axes, x.rank()) : safe_vector<std::int64_t>(axes.begin(), axes.end());
}

/// ReduceMax and its kin took their axes as an attribute until opset 17. `axes` empty: x comes back as it is.
template <fixed_string Reduce>
value reduce(graph<13> g, value x, safe_span<std::int64_t const> axes, bool keepdims) {
    if (axes.empty()) return x;
    safe_vector<std::int64_t> const along = positive_axes(x, axes);
    if (g.opset() >= 18) return g.within<18>().op<Reduce>(x, g.ints(along), attr::keepdims_i(keepdims));
    return g.within<13, 17>().op<Reduce>(x, attr::axes_i(along), attr::keepdims_i(keepdims));
}

/// ReduceSum has taken its axes as an input since opset 13.
inline value reduce_sum(graph<13> g, value x, safe_span<std::int64_t const> axes, bool keepdims) {
    return axes.empty() ? x : g.op<"ReduceSum">(x, g.ints(positive_axes(x, axes)), attr::keepdims_i(keepdims));
}

/// The axes that an optional `int[]? dim` names: all of them where it is None or empty.
inline safe_vector<std::int64_t> axes_or_all(std::optional<safe_span<std::int64_t const>> dim, value x) {
    if (!dim || dim->empty()) return iota(x.rank());
    return x.rank() == 0 ? safe_vector<std::int64_t>{} : normalize_axes(*dim, x.rank());
}

} // namespace aton::mappings
