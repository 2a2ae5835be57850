// SPDX-License-Identifier: MIT
// Rotary position embeddings as models of language write them: x * cos + rotate_half(x) * sin.
// Public header.
#pragma once

#include <cstdint>
#include <vector>

#include <aton/fusions/detail/common.hpp>

namespace ATON_NAMESPACE::fusions {

namespace detail {

/// Angles (batch or 1, sequence, size / 2) as halves of the last axis, for all heads; cosines and sines are computed
/// once for all uses.
template <fixed_string Function>
inline constexpr auto function_of_angles = [](auto p, auto angles, capture<std::int64_t> axis) {
    auto const both = p.shared(p.template op<"Concat">(angles, angles, attr::axis_i(axis)));
    return p.shared(p.template op<"Unsqueeze">(p.shared(p.template op<Function>(both)), p.ints({1})));
};

/// Concat(-x[..., half:], x[..., :half]).
inline constexpr auto rotate_half = [](auto p, auto x, capture<integers> half, capture<integers> end,
                                       capture<integers> axes, capture<std::int64_t> axis) {
    auto const first = p.template op<"Slice">(x, p.ints({0}), half, axes);
    auto const second = p.template op<"Slice">(x, half, end, axes);
    return p.template op<"Concat">(p.template op<"Neg">(second), first, attr::axis_i(axis));
};

/// Cosines or sines for RotaryEmbedding: (batch, sequence, size / 2), with the batch of `x`.
inline value expanded_to_batch(graph<23> g, value x, value angles) {
    dim const& batch = x.size(0);
    if (is_same(batch, angles.size(0))) return angles;
    size const sizes[] = {g.size(x, 0), 1, 1};
    return g.op<"Expand">(angles, g.ints(sizes));
}

} // namespace detail

inline constexpr auto rotary = rewrites(
    rewrite<"rotary_embedding">(
        [](pattern<23> p, capture<value> x, capture<value> angles, capture<detail::integers> half,
           capture<detail::integers> end, capture<detail::integers> axes, capture<std::int64_t> axis,
           capture<std::int64_t> angle_axis) {
            auto const cosines = detail::function_of_angles<"Cos">(p, angles, angle_axis);
            auto const sines = detail::function_of_angles<"Sin">(p, angles, angle_axis);
            return p.op<"Add">(p.op<"Mul">(x, cosines),
                               p.op<"Mul">(detail::rotate_half(p, x, half, end, axes, axis), sines));
        },
        [](value x, value angles, detail::integers const& half, detail::integers const& end,
           detail::integers const& axes, std::int64_t axis, std::int64_t angle_axis) {
            if (x.dtype() != dtype::float32 || x.rank() != 4 || angles.rank() != 3 || !x.size(3).is_static())
                return false;
            std::int64_t const last = x.size(3).size();
            bool const halves = half.size() == 1 && last == 2 * half[0] && end.size() == 1 && end[0] >= last;
            bool const same_rows = detail::is_same(angles.size(0), x.size(0)) || angles.size(0) == dim(1);
            return halves && detail::is_last_axis(x, axes) && (axis == -1 || axis == 3) &&
                   (angle_axis == -1 || angle_axis == 2) && same_rows && angles.size(2) == dim(half[0]) &&
                   detail::is_same(angles.size(1), x.size(2));
        },
        [](graph<23> g, value x, value angles, detail::integers const&, detail::integers const&,
           detail::integers const&, std::int64_t, std::int64_t) {
            return g.op<"RotaryEmbedding">(x,
                                           detail::expanded_to_batch(g, x, g.op<"Cos">(angles)),
                                           detail::expanded_to_batch(g, x, g.op<"Sin">(angles)));
        }),
    // The first elements of each head are rotated, and the others stay.
    rewrite<"partial_rotary_embedding">(
        [](pattern<23> p, capture<value> x, capture<value> cosines, capture<value> sines,
           capture<detail::integers> first, capture<detail::integers> end, capture<detail::integers> axes,
           capture<std::int64_t> axis, capture<std::int64_t> interleaved) {
            auto const part = p.op<"Slice">(x, p.ints({0}), first, axes);
            auto const turned = p.op<"RotaryEmbedding">(part, cosines, sines, attr::interleaved_i(interleaved));
            return p.op<"Concat">(turned, p.op<"Slice">(x, first, end, axes), attr::axis_i(axis));
        },
        [](value x, value, value, detail::integers const& first, detail::integers const& end,
           detail::integers const& axes, std::int64_t axis, std::int64_t) {
            if (x.rank() != 4 || !x.size(3).is_static() || first.size() != 1 || end.size() != 1) return false;
            std::int64_t const last = x.size(3).size();
            return first[0] > 0 && first[0] <= last && end[0] >= last && detail::is_last_axis(x, axes) &&
                   (axis == -1 || axis == 3);
        },
        [](graph<23> g, value x, value cosines, value sines, detail::integers const& first, detail::integers const&,
           detail::integers const&, std::int64_t, std::int64_t interleaved) {
            return g.op<"RotaryEmbedding">(
                x, cosines, sines, attr::interleaved_i(interleaved), attr::rotary_embedding_dim_i(first[0]));
        }));

} // namespace ATON_NAMESPACE::fusions
