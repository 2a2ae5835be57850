// SPDX-License-Identifier: MIT
// ATen operators: recurrent layers and cells. Cells are composed of the same operators as in ATen, since float16 is
// rounded after each. Sequences are packed: the elements of all of them at one time step are adjacent, longest
// sequences first.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/budget.hpp>
#include <aton/core/error.hpp>

#include "products.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

constexpr std::int64_t max_steps = std::int64_t{1} << 28; ///< of a sequence, which takes memory even if it is empty

/// The weights of one layer in one direction.
struct weights {
    tensor input;           ///< [gates * H, I]
    tensor recurrence;      ///< [gates * H, H]
    tensor input_bias;      ///< may be empty
    tensor recurrence_bias; ///< may be empty
    tensor projection;      ///< [P, H], or empty
};

struct state {
    tensor hidden; ///< [B, H]
    tensor cell;   ///< LSTM only
};

/// Computes the next state from the inputs of all gates [B, gates * H] and a state.
using cell = state (*)(term const& inputs, state const& was, weights const& w);

/// `fused`: the bias is added before the sum is rounded.
tensor linear(tensor const& x, tensor const& weight, tensor const& bias, bool fused = true) {
    dtype const in = compute_type(x.dtype());
    if (weight.dtype() != x.dtype() || (bias && bias.dtype() != x.dtype()))
        throw error("inputs, states and weights must have the same dtype");
    if (x.rank() < 2 || weight.rank() != 2 || x.sizes().back() != weight.size(1))
        throw error("the shape of a weight does not match its operand");
    tensor out = matmul(cast(x, in), transpose(cast(weight, in), 0, 1));
    if (!fused) out = cast(cast(out, x.dtype()), in);
    if (bias) out = out + cast(bias, in);
    return cast(out, x.dtype());
}

term recurrent_inputs(state const& was, weights const& w) {
    return linear(was.hidden, w.recurrence, w.recurrence_bias);
}

/// One of `gates` equal parts of the last axis.
term gate(term const& all, std::int64_t which, std::int64_t gates) {
    std::int64_t const size = all->size(1) / gates;
    return all->sliced(1, which * size, size);
}
term sigmoid_of(term const& x) { return apply(unary_op::sigmoid, x); }
term tanh_of(term const& x) { return apply(unary_op::tanh, x); }

state lstm_step(term const& inputs, state const& was, weights const& w) {
    term const all = recurrent_inputs(was, w) + inputs;
    term const in = sigmoid_of(gate(all, 0, 4));
    term const forget = sigmoid_of(gate(all, 1, 4));
    term const entering = tanh_of(gate(all, 2, 4));
    term const out = sigmoid_of(gate(all, 3, 4));
    term const next = forget * term(was.cell) + in * entering;
    term const hidden = out * tanh_of(next);
    return {w.projection ? linear(*hidden, w.projection, {}) : *hidden, *next};
}

state gru_step(term const& inputs, state const& was, weights const& w) {
    term const all = recurrent_inputs(was, w);
    term const reset = sigmoid_of(gate(all, 0, 3) + gate(inputs, 0, 3));
    term const update = sigmoid_of(gate(all, 1, 3) + gate(inputs, 1, 3));
    term const entering = tanh_of(gate(inputs, 2, 3) + gate(all, 2, 3) * reset);
    return {*((term(was.hidden) - entering) * update + entering), {}};
}

template <unary_op Op>
state rnn_step(term const& inputs, state const& was, weights const& w) {
    return {*apply(Op, recurrent_inputs(was, w) + inputs), {}};
}

/// A step in float32 with states of bfloat16.
template <cell Step>
state rounded_step(term const& inputs, state const& was, weights const& w) {
    auto const rounded = [](tensor const& t) { return t ? cast(cast(t, dtype::bfloat16), dtype::float32) : t; };
    state const next = Step(inputs, was, w);
    return {rounded(next.hidden), rounded(next.cell)};
}

/// Converts to float32 and merges both biases.
void widen(weights& w) {
    if (w.input_bias) w.input_bias = cast(*(term(w.input_bias) + term(w.recurrence_bias)), dtype::float32);
    w.recurrence_bias = {};
    w.input = cast(w.input, dtype::float32);
    w.recurrence = cast(w.recurrence, dtype::float32);
}

/// Replaces the first rows.
tensor with_rows(tensor const& first, tensor const& all) {
    if (!all || first.size(0) == all.size(0)) return first;
    std::vector<tensor> const parts = {first, all.sliced(0, first.size(0), all.size(0) - first.size(0))};
    return concat(parts, 0);
}

/// Runs a layer in one direction over packed data [sum of batches, I].
std::pair<tensor, state> unroll(tensor const& data, std::vector<std::int64_t> const& batches, state now,
                                weights const& w, cell step, bool reverse, bool fused) {
    tensor const inputs = linear(data, w.input, w.input_bias, fused);
    std::vector<tensor> outputs(batches.size());
    std::int64_t at = reverse ? data.size(0) : 0;
    for (std::size_t i = 0; i != batches.size(); ++i) {
        std::size_t const t = reverse ? batches.size() - 1 - i : i;
        std::int64_t const count = batches[t];
        if (reverse) at -= count;
        auto const rows = [&](tensor const& all) { return all ? all.sliced(0, 0, count) : all; };
        state const next = step(inputs.sliced(0, at, count), {rows(now.hidden), rows(now.cell)}, w);
        if (!reverse) at += count;
        outputs[t] = next.hidden;
        now = {with_rows(next.hidden, now.hidden), with_rows(next.cell, now.cell)};
    }
    if (outputs.empty()) throw error("a sequence is empty");
    return {concat(outputs, 0), now};
}

/// The arguments that all recurrent layers share.
struct layers {
    call const& c;
    std::vector<tensor> starts; ///< [layers * directions, B, H] each: the hidden states and, for LSTM, the cells
    cell step;

    bool in_float = false; ///< bfloat16 is computed in float32 and rounded in states

    [[nodiscard]] bool projects() const { return starts.size() == 2 && starts[0].size(2) != starts[1].size(2); }

    [[nodiscard]] std::vector<weights> all_weights() const {
        std::vector<tensor> const& given = c.tensors("params");
        bool const biases = c.b("has_biases");
        bool const has_projections = projects();
        std::size_t const each = 2U + (biases ? 2U : 0U) + (has_projections ? 1U : 0U);
        std::vector<weights> out;
        for (std::size_t i = 0; i + each <= given.size(); i += each)
            out.push_back({given[i],
                           given[i + 1],
                           biases ? given[i + 2] : tensor(),
                           biases ? given[i + 3] : tensor(),
                           has_projections ? given[i + each - 1] : tensor()});
        for (weights& w : out)
            if (in_float) widen(w);
        return out;
    }

    [[nodiscard]] tensor dropped(tensor const& x, std::int64_t layer) const {
        double const p = c.f("dropout");
        if (!c.b("train") || p == 0) return x;
        std::uint64_t const seed = seed_of_draw(c.seed(), static_cast<std::uint64_t>(layer));
        return aten_kernels::dropped(x, greater_equal(uniform(x.sizes(), seed, x.where()), p), p);
    }

    /// The packed outputs, then the last states. `fused`: as in `linear`, for the first layer.
    [[nodiscard]] std::vector<tensor> run(tensor data, std::vector<std::int64_t> const& batches,
                                          bool fused = true) const {
        std::vector<weights> const all = all_weights();
        std::size_t const directions = c.b("bidirectional") ? 2 : 1;
        auto const count = static_cast<std::size_t>(std::max<std::int64_t>(0, c.i("num_layers")));
        if (all.size() != count * directions || count == 0)
            throw error("the number of weights does not match the layers");
        for (tensor const& start : starts)
            if (start.rank() != 3 || start.size(0) != static_cast<std::int64_t>(all.size()))
                throw error("the states must have one entry per layer and direction");
        for (std::int64_t const b : batches)
            if (b < 0 || b > starts[0].size(1)) throw error("a batch is larger than the batch of the states");
        std::vector<std::vector<tensor>> last(starts.size());
        for (std::size_t layer = 0; layer != count; ++layer) {
            std::vector<tensor> outputs;
            for (std::size_t d = 0; d != directions; ++d) {
                std::size_t const which = layer * directions + d;
                auto const start = [&](std::size_t k) {
                    return starts.size() > k ? starts[k].sliced(0, static_cast<std::int64_t>(which), 1).squeezed(0)
                                             : tensor();
                };
                auto const [out, end] =
                    unroll(data, batches, {start(0), start(1)}, all[which], step, d == 1, fused || layer != 0);
                outputs.push_back(out);
                last[0].push_back(end.hidden);
                if (starts.size() > 1) last[1].push_back(end.cell);
            }
            data = directions == 1 ? outputs[0] : concat(outputs, 1);
            if (layer + 1 != count) data = dropped(data, static_cast<std::int64_t>(layer));
        }
        std::vector<tensor> out = {data};
        for (std::vector<tensor> const& states : last) out.push_back(stack(states, 0));
        return out;
    }
};

std::vector<tensor> states_of(call const& c, std::size_t count) {
    std::vector<tensor> const starts = count == 1 ? std::vector<tensor>{c.t("hx")} : c.tensors("hx");
    if (starts.size() != count) throw error("hx must be two tensors");
    for (tensor const& start : starts)
        if (start.rank() < 2) throw error("a state must have at least 2 dimensions");
    return starts;
}
std::vector<tensor> states_of_layers(call const& c, std::size_t count) {
    std::vector<tensor> starts = states_of(c, count);
    for (tensor const& start : starts)
        if (start.rank() != 3) throw error("states must have the dimensions [layers, batch, hidden_size]");
    return starts;
}

results as_results(std::vector<tensor> const& all) { return std::vector<value>(all.begin(), all.end()); }

template <cell Step, std::size_t States>
results over_sequences(call const& c) {
    tensor x = c.t("input");
    require_rank(x, 3, "input");
    if (c.b("batch_first")) x = transpose(x, 0, 1);
    std::int64_t const times = x.size(0);
    std::int64_t const batch = x.size(1);
    if (times > max_steps) throw error("a sequence of " + std::to_string(times) + " steps is too long");
    layers all{c, states_of_layers(c, States), Step};
    for (tensor const& start : all.starts)
        if (start.size(1) != batch) throw error("the states must have one entry per sequence");
    // oneDNN, which ATen uses for bfloat16 LSTMs on the CPU, adds in float32.
    all.in_float = States == 2 && x.dtype() == dtype::bfloat16 && !all.projects();
    if (all.in_float) {
        all.step = rounded_step<Step>;
        for (tensor& start : all.starts) start = cast(start, dtype::float32);
    }
    tensor const data = reshape(all.in_float ? cast(x, dtype::float32) : x, {times * batch, x.size(2)});
    std::vector<tensor> out =
        all.run(data, std::vector<std::int64_t>(static_cast<std::size_t>(times), batch), x.is_contiguous());
    for (tensor& each : out) each = cast(each, x.dtype());
    out[0] = reshape(out[0], {times, batch, out[0].size(1)});
    if (c.b("batch_first")) out[0] = contiguous(transpose(out[0], 0, 1));
    return as_results(out);
}

template <cell Step, std::size_t States>
results over_packed(call const& c) {
    tensor const data = c.t("data");
    require_rank(data, 2, "data");
    std::vector<std::int64_t> const batches = to_host(c.t("batch_sizes")).integers();
    checked_int total = 0;
    for (std::int64_t const b : batches) total = total + b;
    if (total != data.size(0) || !std::is_sorted(batches.rbegin(), batches.rend()))
        throw error("batch_sizes do not match the data");
    return as_results(layers{c, states_of_layers(c, States), Step}.run(data, batches));
}

template <cell Step, std::size_t States>
results single(call const& c) {
    std::vector<tensor> starts = states_of(c, States);
    weights const w{c.t("w_ih"), c.t("w_hh"), c.maybe("b_ih"), c.maybe("b_hh"), {}};
    state const next =
        Step(linear(c.t("input"), w.input, w.input_bias), {starts[0], States == 2 ? starts.back() : tensor()}, w);
    if (States == 1) return next.hidden;
    return {next.hidden, next.cell};
}

/// Packs padded sequences [T, B, ...] with their lengths, longest first.
results pack_padded_sequence(call const& c) {
    tensor x = c.t("input");
    if (x.rank() < 2) throw error("input must have at least 2 dimensions");
    if (c.b("batch_first")) x = transpose(x, 0, 1);
    std::vector<std::int64_t> const lengths = to_host(c.t("lengths")).integers();
    if (static_cast<std::int64_t>(lengths.size()) != x.size(1) || lengths.empty() || lengths.back() < 1 ||
        lengths.front() > std::min(x.size(0), max_steps) || !std::is_sorted(lengths.rbegin(), lengths.rend()))
        throw error("lengths must have one element per sequence, in decreasing order");
    std::vector<tensor> parts;
    std::vector<std::int64_t> batches;
    for (std::int64_t t = 0; t != lengths.front(); ++t) {
        batches.push_back(std::count_if(lengths.begin(), lengths.end(), [&](std::int64_t n) { return n > t; }));
        parts.push_back(x.sliced(0, t, 1).squeezed(0).sliced(0, 0, batches.back()));
    }
    return {concat(parts, 0), tensor::of_integers(batches)}; // batch sizes stay on the host
}

results pad_packed_sequence(call const& c) {
    tensor const data = c.t("data");
    if (data.rank() < 1) throw error("data has no dimensions");
    std::vector<std::int64_t> const batches = to_host(c.t("batch_sizes")).integers();
    auto const times = static_cast<std::int64_t>(batches.size());
    std::int64_t const longest = std::max(times, c.i("total_length"));
    if (batches.empty() || longest > max_steps || data.size(0) > max_steps ||
        (c.i("total_length") > 0 && c.i("total_length") < times))
        throw error("total_length is less than the longest sequence");
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(std::clamp<std::int64_t>(batches[0], 0, data.size(0))),
                                      0);
    std::vector<tensor> parts;
    std::int64_t at = 0;
    for (std::int64_t const b : batches) {
        if (b < 0 || b > static_cast<std::int64_t>(lengths.size()) || at + b > data.size(0))
            throw error("batch_sizes do not match the data");
        sizes after(data.rank(), 0);
        after[0] = static_cast<std::int64_t>(lengths.size()) - b;
        parts.push_back(pad(data.sliced(0, at, b), sizes(data.rank(), 0), after, c.number("padding_value")));
        for (std::int64_t i = 0; i != b; ++i) ++lengths[static_cast<std::size_t>(i)];
        at += b;
    }
    tensor out = stack(parts, 0);
    sizes after(out.rank(), 0);
    after[0] = longest - times;
    out = pad(out, sizes(out.rank(), 0), after, c.number("padding_value"));
    return {c.b("batch_first") ? contiguous(transpose(out, 0, 1)) : out, tensor::of_integers(lengths)};
}

} // namespace

rows recurrent() {
    static constexpr row all[] = {
        {"lstm.input", over_sequences<lstm_step, 2>},
        {"lstm.data", over_packed<lstm_step, 2>},
        {"lstm_cell", single<lstm_step, 2>},
        {"gru.input", over_sequences<gru_step, 1>},
        {"gru.data", over_packed<gru_step, 1>},
        {"gru_cell", single<gru_step, 1>},
        {"rnn_tanh.input", over_sequences<rnn_step<unary_op::tanh>, 1>},
        {"rnn_tanh.data", over_packed<rnn_step<unary_op::tanh>, 1>},
        {"rnn_tanh_cell", single<rnn_step<unary_op::tanh>, 1>},
        {"rnn_relu.input", over_sequences<rnn_step<unary_op::relu>, 1>},
        {"rnn_relu.data", over_packed<rnn_step<unary_op::relu>, 1>},
        {"rnn_relu_cell", single<rnn_step<unary_op::relu>, 1>},
        {"_pack_padded_sequence", pack_padded_sequence},
        {"_pad_packed_sequence", pad_packed_sequence},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
