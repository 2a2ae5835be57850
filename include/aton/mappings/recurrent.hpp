// SPDX-License-Identifier: MIT
// LSTM, GRU and RNN over sequences, and single cells: converts ATen's gate order and state layout to ONNX's.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include <aton/mappings/detail/draws.hpp>
#include <aton/mappings/detail/packed_sequences.hpp>
#include <aton/mappings/detail/projected_lstm.hpp>
#include <aton/mappings/matrix_product.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

struct recurrent_options {
    bool has_biases;
    std::int64_t num_layers;
    double dropout;
    bool train;
    bool bidirectional;
    bool batch_first;
};

/// Reorders the gates of a parameter, which are blocks along dimension 0: block i of the result is block order[i].
inline value reorder_gates(graph<7> g, value parameter, safe_span<std::int64_t const> order) {
    std::int64_t const gates = static_cast<std::int64_t>(order.size());
    if (gates == 1) return parameter;
    if (!parameter.size(0).is_static()) throw unsupported_error("the hidden size must be static");
    std::int64_t const rows = parameter.size(0).size();
    safe_vector<std::int64_t> const sizes(order.size(), rows / gates);
    safe_vector<value> const blocks = split(g, parameter, sizes, 0);
    safe_vector<value> sorted;
    for (std::int64_t i : order) sorted.push_back(blocks[static_cast<std::size_t>(i)]);
    return g.op<"Concat">(sorted, attr::axis_i(0));
}

/// ATen's gates i, f, g, o are ONNX's i, o, f, c; ATen's r, z, n are ONNX's z, r, h.
inline constexpr std::int64_t lstm_gates[] = {0, 3, 1, 2};
inline constexpr std::int64_t gru_gates[] = {1, 0, 2};
inline constexpr std::int64_t rnn_gates[] = {0};

/// W, R and B of one layer, as (directions, gates * hidden, ...); the bias of the input is the first half of B.
struct layer_parameters {
    value w;
    value r;
    optional_value b;
};

inline value stack_directions(graph<7> g, safe_vector<value> const& parts) {
    safe_vector<value> stacked;
    for (value const& p : parts) stacked.push_back(unsqueeze(g, p, std::int64_t{0}));
    return stacked.size() == 1 ? stacked[0] : g.op<"Concat">(stacked, attr::axis_i(0));
}

inline layer_parameters layer(graph<7> g, safe_span<value const> params, std::int64_t index, recurrent_options const& o,
                              safe_span<std::int64_t const> order) {
    std::size_t const directions = o.bidirectional ? 2 : 1;
    std::size_t const each = o.has_biases ? 4 : 2;
    safe_vector<value> w;
    safe_vector<value> r;
    safe_vector<value> b;
    for (std::size_t d = 0; d != directions; ++d) {
        std::size_t const at = (static_cast<std::size_t>(index) * directions + d) * each;
        w.push_back(reorder_gates(g, params[at], order));
        r.push_back(reorder_gates(g, params[at + 1], order));
        if (o.has_biases)
            b.push_back(g.op<"Concat">(
                safe_vector<value>{reorder_gates(g, params[at + 2], order), reorder_gates(g, params[at + 3], order)},
                attr::axis_i(0)));
    }
    return {stack_directions(g, w),
            stack_directions(g, r),
            b.empty() ? optional_value() : optional_value(stack_directions(g, b))};
}

/// The states of one layer, (directions, batch, hidden), from those of all layers.
inline value layer_state(graph<7> g, value states, std::int64_t index, recurrent_options const& o) {
    std::int64_t const directions = o.bidirectional ? 2 : 1;
    if (o.num_layers == 1) return states;
    return slice(g, states, 0, index * directions, (index + 1) * directions);
}

/// (seq, directions, batch, hidden) to (seq, batch, directions * hidden).
inline value merge_directions(graph<7> g, value y, recurrent_options const& o) {
    if (!o.bidirectional) return squeeze(g, y, 1);
    value const batch_first = g.op<"Transpose">(y, attr::perm_i({0, 2, 1, 3}));
    dim const& width = y.size(3);
    return g.op<"Reshape">(batch_first, g.ints({0, 0, width.is_static() ? 2 * width.size() : -1}));
}

/// A batch of sequences, (seq, batch, features). Those from packed sequences may end before the longest.
struct sequence_batch {
    value x;
    std::optional<packed_layout> packed;
};

/// ONNX's sequence_lens.
inline optional_value sequence_lengths(graph<7> g, sequence_batch const& s) {
    return s.packed ? optional_value(g.cast(s.packed->lengths, dtype::int32)) : optional_value();
}

/// What layer `index` gives to the next one; dropout is applied to the elements that are present.
inline value layer_output(graph<7> g, value x, std::int64_t index, recurrent_options const& o,
                          sequence_batch const& s) {
    if (index + 1 == o.num_layers) return x;
    if (!s.packed || keeps_all(x, o.dropout, o.train)) return dropout<false>(g, x, o.dropout, o.train);
    value const elements = pack_sequences(g.within<11>(), x, s.packed->present);
    return pad_sequences(g.within<11>(), dropout<false>(g, elements, o.dropout, o.train), *s.packed);
}

inline value swap_batch(graph<7> g, value x, recurrent_options const& o) {
    return o.batch_first ? g.op<"Transpose">(x, attr::perm_i({1, 0, 2})) : x;
}

inline value join_layers(graph<7> g, safe_vector<value> const& states) {
    return states.size() == 1 ? states[0] : g.op<"Concat">(states, attr::axis_i(0));
}

inline std::size_t parameters_of_direction(recurrent_options const& o, bool projects) {
    return std::size_t{o.has_biases ? 4U : 2U} + (projects ? 1U : 0U);
}

inline void check_recurrent(value input, std::size_t params, recurrent_options const& o, bool projects = false) {
    std::size_t const each = parameters_of_direction(o, projects) * (o.bidirectional ? 2U : 1U);
    if (o.num_layers < 1 || params != each * static_cast<std::size_t>(o.num_layers))
        throw unsupported_error("the number of parameters does not match the layers");
    if (input.rank() != 3) throw unsupported_error("the input must be (seq, batch, features)");
}

inline std::string_view direction(recurrent_options const& o) { return o.bidirectional ? "bidirectional" : "forward"; }

/// Casts bfloat16 to float32: ONNX's recurrent operators support bfloat16 only since opset 22.
inline safe_vector<value> widen(graph<7> g, safe_span<value const> tensors) {
    safe_vector<value> out;
    for (value const& v : tensors) out.push_back(v.dtype() == dtype::bfloat16 ? g.cast(v, dtype::float32) : v);
    return out;
}
inline value widen(graph<7> g, value x) { return widen(g, safe_span<value const>(&x, 1))[0]; }

inline std::int64_t hidden_size(value state) {
    if (!state.size(-1).is_static()) throw unsupported_error("the hidden size must be static");
    return state.size(-1).size();
}

/// All layers of an LSTM with projections.
inline std::tuple<value, value, value> projected_lstm(graph<11> g, sequence_batch const& s, safe_span<value const> hx,
                                                      safe_span<value const> params, recurrent_options const& o) {
    check_recurrent(s.x, params.size(), o, true);
    std::size_t const directions = o.bidirectional ? 2 : 1;
    std::size_t const each = parameters_of_direction(o, true);
    optional_value const present = s.packed ? optional_value(s.packed->present) : optional_value();
    value x = s.x;
    safe_vector<value> hidden;
    safe_vector<value> cell;
    for (std::int64_t i = 0; i != o.num_layers; ++i) {
        safe_vector<value> results;
        for (std::size_t d = 0; d != directions; ++d) {
            std::size_t const which = static_cast<std::size_t>(i) * directions + d;
            auto const parameter = [&](std::size_t k) { return params[which * each + k]; };
            auto const bias = [&](std::size_t k) { return o.has_biases ? optional_value(parameter(k)) : absent; };
            projected_parameters const p{parameter(0), parameter(1), bias(2), bias(3), parameter(each - 1)};
            auto const start = [&](value states) { return select(g, states, 0, static_cast<std::int64_t>(which)); };
            auto const [y, h, c] = projected_direction(g, x, present, start(hx[0]), start(hx[1]), p, d == 1);
            results.push_back(y);
            hidden.push_back(unsqueeze(g, h, 0));
            cell.push_back(unsqueeze(g, c, 0));
        }
        value const y = results.size() == 1 ? results[0] : value(g.op<"Concat">(results, attr::axis_i(2)));
        x = layer_output(g, y, i, o, s);
    }
    return {x, join_layers(g, hidden), join_layers(g, cell)};
}

inline std::tuple<value, value, value> lstm_of(graph<7> g, sequence_batch const& s, safe_span<value const> hx,
                                               safe_span<value const> params, recurrent_options const& o) {
    if (hidden_size(hx[0]) != hidden_size(hx[1])) {
        if (g.opset() < 11) refuse_below(11, "an LSTM with projections");
        return projected_lstm(g.within<11>(), s, hx, params, o);
    }
    check_recurrent(s.x, params.size(), o);
    value x = s.x;
    optional_value const lengths = sequence_lengths(g, s);
    safe_vector<value> hidden;
    safe_vector<value> cell;
    for (std::int64_t i = 0; i != o.num_layers; ++i) {
        layer_parameters const p = layer(g, params, i, o, lstm_gates);
        auto [y, h, c] = g.op<"LSTM">(x,
                                      p.w,
                                      p.r,
                                      p.b,
                                      lengths,
                                      layer_state(g, hx[0], i, o),
                                      layer_state(g, hx[1], i, o),
                                      attr::hidden_size_i(hidden_size(hx[0])),
                                      attr::direction_s(direction(o)),
                                      outputs<3>);
        x = layer_output(g, merge_directions(g, y, o), i, o, s);
        hidden.push_back(h);
        cell.push_back(c);
    }
    return {x, join_layers(g, hidden), join_layers(g, cell)};
}

inline std::tuple<value, value> gru(graph<7> g, sequence_batch const& s, value hx, safe_span<value const> params,
                                    recurrent_options const& o) {
    check_recurrent(s.x, params.size(), o);
    value x = s.x;
    optional_value const lengths = sequence_lengths(g, s);
    safe_vector<value> hidden;
    for (std::int64_t i = 0; i != o.num_layers; ++i) {
        layer_parameters const p = layer(g, params, i, o, gru_gates);
        // linear_before_reset: ATen applies the reset gate after the product of the state, ONNX by default before it.
        auto [y, h] = g.op<"GRU">(x,
                                  p.w,
                                  p.r,
                                  p.b,
                                  lengths,
                                  layer_state(g, hx, i, o),
                                  attr::hidden_size_i(hidden_size(hx)),
                                  attr::direction_s(direction(o)),
                                  attr::linear_before_reset_i(1),
                                  outputs<2>);
        x = layer_output(g, merge_directions(g, y, o), i, o, s);
        hidden.push_back(h);
    }
    return {x, join_layers(g, hidden)};
}

template <fixed_string Activation>
inline std::tuple<value, value> rnn(graph<7> g, sequence_batch const& s, value hx, safe_span<value const> params,
                                    recurrent_options const& o) {
    check_recurrent(s.x, params.size(), o);
    safe_vector<std::string> const activations(o.bidirectional ? 2 : 1, std::string(Activation.view()));
    value x = s.x;
    optional_value const lengths = sequence_lengths(g, s);
    safe_vector<value> hidden;
    for (std::int64_t i = 0; i != o.num_layers; ++i) {
        layer_parameters const p = layer(g, params, i, o, rnn_gates);
        auto [y, h] = g.op<"RNN">(x,
                                  p.w,
                                  p.r,
                                  p.b,
                                  lengths,
                                  layer_state(g, hx, i, o),
                                  attr::hidden_size_i(hidden_size(hx)),
                                  attr::direction_s(direction(o)),
                                  attr::activations_s(activations),
                                  outputs<2>);
        x = layer_output(g, merge_directions(g, y, o), i, o, s);
        hidden.push_back(h);
    }
    return {x, join_layers(g, hidden)};
}

/// x @ w^T + b.
inline value gates_of(graph<7> g, value x, value w, optional_value b) { return linear_layer(g, x, w, b); }

inline safe_vector<value> split_gates(graph<7> g, value gates, std::size_t count) {
    if (!gates.size(-1).is_static()) throw unsupported_error("the hidden size must be static");
    std::int64_t const width = gates.size(-1).size();
    safe_vector<std::int64_t> const sizes(count, width / static_cast<std::int64_t>(count));
    return split(g, gates, sizes, -1);
}

inline constexpr auto lstm_cell = symbolic<"aten::lstm_cell(input, hx, w_ih, w_hh, b_ih, b_hh)">(
    [](graph<7> g, value input, safe_span<value const> hx, value w_ih, value w_hh, optional_value b_ih,
       optional_value b_hh) -> std::tuple<value, value> {
        value const sum = g.op<"Add">(gates_of(g, input, w_ih, b_ih), gates_of(g, hx[0], w_hh, b_hh));
        safe_vector<value> const gate = split_gates(g, sum, 4);
        value const kept = g.op<"Mul">(g.op<"Sigmoid">(gate[1]), hx[1]);
        value const added = g.op<"Mul">(g.op<"Sigmoid">(gate[0]), g.op<"Tanh">(gate[2]));
        value const cell = g.op<"Add">(kept, added);
        return {g.op<"Mul">(g.op<"Sigmoid">(gate[3]), g.op<"Tanh">(cell)), cell};
    });

inline constexpr auto gru_cell = symbolic<"aten::gru_cell(input, hx, w_ih, w_hh, b_ih, b_hh)">(
    [](graph<7> g, value input, value hx, value w_ih, value w_hh, optional_value b_ih, optional_value b_hh) -> value {
        safe_vector<value> const x = split_gates(g, gates_of(g, input, w_ih, b_ih), 3);
        safe_vector<value> const h = split_gates(g, gates_of(g, hx, w_hh, b_hh), 3);
        value const reset = g.op<"Sigmoid">(g.op<"Add">(x[0], h[0]));
        value const update = g.op<"Sigmoid">(g.op<"Add">(x[1], h[1]));
        value const fresh = g.op<"Tanh">(g.op<"Add">(x[2], g.op<"Mul">(reset, h[2])));
        return g.op<"Add">(g.op<"Mul">(g.op<"Sub">(hx, fresh), update), fresh);
    });

template <fixed_string Activation>
inline constexpr auto rnn_cell =
    [](graph<7> g, value input, value hx, value w_ih, value w_hh, optional_value b_ih, optional_value b_hh) -> value {
    return g.op<Activation>(g.op<"Add">(gates_of(g, input, w_ih, b_ih), gates_of(g, hx, w_hh, b_hh)));
};

/// The results in the dtype of the input.
template <class... Values>
std::tuple<value, Values...> cast_results(graph<7> g, dtype type, value y, Values... states) {
    return {g.cast(y, type), g.cast(states, type)...};
}

/// The sequences of packed data, which have one state each.
inline sequence_batch unpacked(graph<11> g, value data, value batch_sizes, value state) {
    if (data.rank() != 2 || state.rank() != 3) throw unsupported_error("packed data must be (elements, features)");
    packed_layout const layout = layout_of_packed(g, as_batch_sizes(g, batch_sizes), g.size(state, 1));
    return {pad_sequences(g, widen(g, data), layout), layout};
}
inline value repacked(graph<11> g, sequence_batch const& s, value y) { return pack_sequences(g, y, s.packed->present); }

inline void expect_states(value input, safe_span<value const> hx) {
    for (value const& state : hx)
        if (state.dtype() != input.dtype()) throw unsupported_error("states and input of different dtypes");
}

inline constexpr auto lstm =
    symbolic<"aten::lstm.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)">(
        [](graph<7> g, value input, safe_span<value const> hx, safe_span<value const> params, bool has_biases,
           std::int64_t num_layers, double dropout_p, bool train, bool bidirectional, bool batch_first) {
            recurrent_options const o{has_biases, num_layers, dropout_p, train, bidirectional, batch_first};
            expect_states(input, hx);
            auto const [y, h, c] =
                lstm_of(g, {swap_batch(g, widen(g, input), o), {}}, widen(g, hx), widen(g, params), o);
            return cast_results(g, input.dtype(), swap_batch(g, y, o), h, c);
        });

inline constexpr auto lstm_packed =
    symbolic<"aten::lstm.data(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)">(
        [](graph<11> g, value data, value batch_sizes, safe_span<value const> hx, safe_span<value const> params,
           bool has_biases, std::int64_t num_layers, double dropout_p, bool train, bool bidirectional) {
            recurrent_options const o{has_biases, num_layers, dropout_p, train, bidirectional, false};
            expect_states(data, hx);
            sequence_batch const s = unpacked(g, data, batch_sizes, hx[0]);
            auto const [y, h, c] = lstm_of(g, s, widen(g, hx), widen(g, params), o);
            return cast_results(g, data.dtype(), repacked(g, s, y), h, c);
        });

/// The body of GRU and RNN over sequences and over packed sequences.
using one_state_layers = std::tuple<value, value> (*)(graph<7>, sequence_batch const&, value, safe_span<value const>,
                                                      recurrent_options const&);
template <one_state_layers Layers>
inline constexpr auto over_sequences = [](graph<7> g, value input, value hx, safe_span<value const> params,
                                          bool has_biases, std::int64_t num_layers, double dropout_p, bool train,
                                          bool bidirectional, bool batch_first) {
    recurrent_options const o{has_biases, num_layers, dropout_p, train, bidirectional, batch_first};
    auto const [y, h] = Layers(g, {swap_batch(g, widen(g, input), o), {}}, widen(g, hx), widen(g, params), o);
    return cast_results(g, input.dtype(), swap_batch(g, y, o), h);
};
template <one_state_layers Layers>
inline constexpr auto over_packed = [](graph<11> g, value data, value batch_sizes, value hx,
                                       safe_span<value const> params, bool has_biases, std::int64_t num_layers,
                                       double dropout_p, bool train, bool bidirectional) {
    recurrent_options const o{has_biases, num_layers, dropout_p, train, bidirectional, false};
    sequence_batch const s = unpacked(g, data, batch_sizes, hx);
    auto const [y, h] = Layers(g, s, widen(g, hx), widen(g, params), o);
    return cast_results(g, data.dtype(), repacked(g, s, y), h);
};

} // namespace detail

inline constexpr auto recurrent = table(
    detail::lstm,
    symbolic<"aten::gru.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)">(
        detail::over_sequences<detail::gru>),
    symbolic<
        "aten::rnn_tanh.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)">(
        detail::over_sequences<detail::rnn<"Tanh">>),
    symbolic<
        "aten::rnn_relu.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)">(
        detail::over_sequences<detail::rnn<"Relu">>),
    detail::lstm_packed,
    symbolic<"aten::gru.data(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)">(
        detail::over_packed<detail::gru>),
    symbolic<
        "aten::rnn_tanh.data(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)">(
        detail::over_packed<detail::rnn<"Tanh">>),
    symbolic<
        "aten::rnn_relu.data(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)">(
        detail::over_packed<detail::rnn<"Relu">>),
    symbolic<"aten::_pack_padded_sequence(input, lengths, batch_first)">(detail::pack_padded_sequence),
    symbolic<"aten::_pad_packed_sequence(data, batch_sizes, batch_first, padding_value, total_length)">(
        detail::pad_packed_sequence),
    detail::lstm_cell, detail::gru_cell,
    symbolic<"aten::rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih, b_hh)">(detail::rnn_cell<"Tanh">),
    symbolic<"aten::rnn_relu_cell(input, hx, w_ih, w_hh, b_ih, b_hh)">(detail::rnn_cell<"Relu">));

} // namespace ATON_NAMESPACE::mappings
