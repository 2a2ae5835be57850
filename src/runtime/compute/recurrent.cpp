// SPDX-License-Identifier: MIT
// Recurrent cells over sequences: one matrix product for all inputs, then one with the hidden state per step.
#include "runtime/compute/recurrent.hpp"

#include <string>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

namespace {

/// A layer that is ready to run: sizes checked, inputs of all gates computed.
class unrolled {
public:
    /// `joins`: the recurrence bias may be added in advance.
    unrolled(tensor const& x, recurrent_layer const& layer, std::int64_t gates, recurrent_state const& start,
             tensor const& lengths, bool joins)
        : layer_(layer),
          lengths_(lengths) {
        if (x.rank() != 3 || layer.input.rank() != 2 || layer.recurrence.rank() != 2)
            throw error("sequences must be [T, B, I] and weights matrices");
        length_ = x.size(0);
        batch_ = x.size(1);
        hidden_size_ = layer.recurrence.size(1);
        std::int64_t const rows = gates * hidden_size_;
        bool fits = layer.input.sizes() == sizes{rows, x.size(2)} && layer.recurrence.size(0) == rows;
        for (tensor const* bias : {&layer.input_bias, &layer.recurrence_bias})
            fits = fits && (!*bias || bias->sizes() == sizes{rows});
        if (!fits)
            throw error("weights of shapes " + to_string(layer.input.sizes()) + " and " +
                        to_string(layer.recurrence.sizes()) + " do not fit " + to_string(x.sizes()));
        if (lengths && lengths.sizes() != sizes{batch_})
            throw error("lengths of shape " + to_string(lengths.sizes()) + " do not fit " + std::to_string(batch_) +
                        " sequences");
        inputs_ = matmul(reshape(x, {length_ * batch_, x.size(2)}), transpose(layer.input, 0, 1));
        if (layer.input_bias) inputs_ = inputs_ + layer.input_bias;
        if (layer.recurrence_bias && joins) inputs_ = inputs_ + layer.recurrence_bias;
        inputs_ = reshape(inputs_, {length_, batch_, rows});
        recurrence_ = contiguous(transpose(layer.recurrence, 0, 1));
        state_.hidden = checked(start.hidden, x);
        state_.cell = checked(start.cell, x);
    }

    /// Calls `step(inputs [B, gates * H], state)`, which returns the next state.
    template <class Step>
    recurrent_result run(Step const& step) {
        device_kernels const& kernels = kernels_of(inputs_.where());
        tensor const out = tensor::empty(inputs_.dtype(), {length_, batch_, hidden_size_}, kernels.memory());
        for (std::int64_t i = 0; i != length_; ++i) {
            std::int64_t const t = layer_.reverse ? length_ - 1 - i : i;
            recurrent_state const next = step(inputs_.sliced(0, t, 1).squeezed(0), state_);
            tensor hidden = next.hidden;
            if (lengths_) {
                tensor const runs = greater(lengths_, scalar(static_cast<long long>(t))).unsqueezed(1);
                state_.hidden = where(runs, next.hidden, state_.hidden);
                if (next.cell) state_.cell = where(runs, next.cell, state_.cell);
                hidden = where(runs, hidden, scalar(0));
            } else {
                state_ = next;
            }
            if (hidden.count() != 0) kernels.copy(hidden, out.sliced(0, t, 1).squeezed(0));
        }
        return {out, state_};
    }

    /// The rows of a gate.
    [[nodiscard]] tensor gate(tensor const& all, std::size_t which) const {
        return all.sliced(all.rank() - 1, static_cast<std::int64_t>(which) * hidden_size_, hidden_size_);
    }
    [[nodiscard]] tensor recurrence(tensor const& hidden) const { return matmul(hidden, recurrence_); }
    /// The recurrence of one gate, without its bias.
    [[nodiscard]] tensor recurrence(tensor const& hidden, std::size_t which) const {
        return matmul(hidden, gate(recurrence_, which));
    }

private:
    [[nodiscard]] tensor checked(tensor const& start, tensor const& x) const {
        if (!start) return full(0, x.dtype(), {batch_, hidden_size_}, x.where());
        if (start.sizes() != sizes{batch_, hidden_size_}) throw error("a state has shape " + to_string(start.sizes()));
        return start;
    }

    recurrent_layer layer_;
    tensor lengths_;
    std::int64_t length_ = 0;
    std::int64_t batch_ = 0;
    std::int64_t hidden_size_ = 0;
    tensor inputs_;
    tensor recurrence_;
    recurrent_state state_;
};

} // namespace

recurrent_result run_lstm(tensor const& x, recurrent_layer const& layer, lstm_cell const& cell,
                          recurrent_state const& start, tensor const& lengths) {
    unrolled u(x, layer, 4, start, lengths, true);
    auto const peephole = [&](std::int64_t gate, tensor const& inputs, tensor const& of) {
        return cell.peephole ? inputs + of * cell.peephole.sliced(0, gate, 1) : inputs;
    };
    return u.run([&](tensor const& inputs, recurrent_state const& s) -> recurrent_state {
        tensor const all = inputs + u.recurrence(s.hidden);
        tensor const in = cell.gate(peephole(0, u.gate(all, cell.gates.input), s.cell));
        tensor const kept = cell.coupled ? 1.0 - in : cell.gate(peephole(2, u.gate(all, cell.gates.forget), s.cell));
        tensor const next = kept * s.cell + in * cell.cell(u.gate(all, cell.gates.cell));
        tensor const out = cell.gate(peephole(1, u.gate(all, cell.gates.output), next));
        return {out * cell.hidden(next), next};
    });
}

recurrent_result run_gru(tensor const& x, recurrent_layer const& layer, gru_cell const& cell,
                         recurrent_state const& start, tensor const& lengths) {
    unrolled u(x, layer, 3, start, lengths, false);
    tensor const& bias = layer.recurrence_bias;
    auto const biased = [&](tensor const& t, std::size_t gate) { return bias ? t + u.gate(bias, gate) : t; };
    return u.run([&](tensor const& inputs, recurrent_state const& s) -> recurrent_state {
        auto const from = [&](std::size_t gate, tensor const& recurrent) {
            return u.gate(inputs, gate) + biased(recurrent, gate);
        };
        std::size_t const h = cell.gates.hidden;
        tensor entering;
        tensor update;
        if (cell.resets_after) {
            tensor const all = u.recurrence(s.hidden);
            tensor const reset = cell.gate(from(cell.gates.reset, u.gate(all, cell.gates.reset)));
            update = cell.gate(from(cell.gates.update, u.gate(all, cell.gates.update)));
            entering = cell.hidden(u.gate(inputs, h) + reset * biased(u.gate(all, h), h));
        } else {
            tensor const reset = cell.gate(from(cell.gates.reset, u.recurrence(s.hidden, cell.gates.reset)));
            update = cell.gate(from(cell.gates.update, u.recurrence(s.hidden, cell.gates.update)));
            entering = cell.hidden(from(h, u.recurrence(reset * s.hidden, h)));
        }
        return {entering + update * (s.hidden - entering), {}};
    });
}

recurrent_result run_rnn(tensor const& x, recurrent_layer const& layer, activation const& f,
                         recurrent_state const& start, tensor const& lengths) {
    unrolled u(x, layer, 1, start, lengths, true);
    return u.run([&](tensor const& inputs, recurrent_state const& s) -> recurrent_state {
        return {f(inputs + u.recurrence(s.hidden)), {}};
    });
}

} // namespace ATON_NAMESPACE::runtime
