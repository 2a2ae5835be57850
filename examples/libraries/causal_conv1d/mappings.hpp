// SPDX-License-Identifier: MIT
// causal_conv1d: results and states that the caller owns, some of them optional; a part of a state that is written.
#pragma once

#include <cstdint>
#include <limits>
#include <tuple>

#include <aton/aton.hpp>

namespace causal_conv1d {

using namespace aton::dsl;

// The last dimension from `begin` to the end.
inline value tail(graph<13> g, value x, size begin) {
    return g.op<"Slice">(x, g.ints({begin}), g.ints({std::numeric_limits<std::int64_t>::max()}), g.ints({-1}));
}

// Each channel with its own weights, (d, width).
inline value convolved(graph<13> g, value x, value weight, optional_value bias, bool silu) {
    value const y =
        g.op<"Conv">(x, g.op<"Unsqueeze">(weight, g.ints({1})), bias, attr::group_i(g.size(weight, 0).constant()));
    return silu ? value(g.op<"Mul">(y, g.op<"Sigmoid">(y))) : y;
}

inline constexpr auto forward =
    symbolic<"DaoAILab::_causal_conv1d_fwd_cpp(Tensor x, Tensor weight, Tensor? bias, Tensor? seq_idx, "
             "Tensor? initial_states, Tensor(a!) out, Tensor(b!)? final_states_out, bool silu_activation) -> ()">(
        [](graph<13> g, value x, value weight, optional_value bias, optional_value seq_idx,
           optional_value initial_states, value /*out*/, optional_value final_states,
           bool silu) -> std::tuple<value, optional_value> {
            if (seq_idx) return g.unsupported("several sequences in one row");
            size const states = g.size(weight, 1) - 1;
            value const zeros = g.op<"Expand">(g.scalar_like(0, x), g.ints({g.size(x, 0), g.size(x, 1), states}));
            value const whole = g.op<"Concat">(initial_states ? *initial_states : zeros, x, attr::axis_i(-1));
            value const y = convolved(g, whole, weight, bias, silu);
            if (!final_states) return {y, absent}; // nothing is written, so there is no new value
            return {y, tail(g, whole, g.size(x, 2))};
        });

inline constexpr auto update =
    symbolic<"DaoAILab::_causal_conv1d_update_cpp(Tensor x, Tensor(a!) conv_state, Tensor weight, Tensor? bias, "
             "Tensor(b!) out, bool silu_activation, Tensor? cache_seqlens, Tensor? conv_state_indices) -> ()">(
        [](graph<13> g, value x, value conv_state, value weight, optional_value bias, value /*out*/, bool silu,
           optional_value cache_seqlens, optional_value indices) -> std::tuple<value, value> {
            if (cache_seqlens) return g.unsupported("a state that is a ring buffer");
            value const steps = x.rank() == 2 ? value(g.op<"Unsqueeze">(x, g.ints({-1}))) : x;
            size const count = g.size(steps, 2), width = g.size(weight, 1);
            value const state = indices ? value(g.op<"Gather">(conv_state, *indices, attr::axis_i(0))) : conv_state;
            value const whole = g.op<"Concat">(state, steps, attr::axis_i(-1));
            value const read = tail(g, whole, g.size(conv_state, 2) - width + 1);
            value const y = g.op<"Reshape">(convolved(g, read, weight, bias, silu), g.shape_of(x));
            value const after = tail(g, whole, count);
            if (!indices) return {after, y}; // the new values are in the order of the schema: conv_state, out
            value const rows = g.op<"Unsqueeze">(g.cast<dtype::int64>(*indices), g.ints({1}));
            return {g.op<"ScatterND">(conv_state, rows, after), y};
        });

inline constexpr auto mappings = table(forward, update);

} // namespace causal_conv1d
