// SPDX-License-Identifier: MIT
// LSTM, GRU and simple recurrent cells over sequences.
#pragma once

#include <cstddef>
#include <functional>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

using activation = std::function<tensor(tensor const&)>;

/// One direction of one layer. Matrices and biases hold the rows of all gates, in the order that each cell defines.
struct recurrent_layer {
    tensor input;           ///< [gates * H, I]
    tensor recurrence;      ///< [gates * H, H]
    tensor input_bias;      ///< [gates * H], or empty
    tensor recurrence_bias; ///< the same
    bool reverse = false;   ///< from the last element to the first
};

struct recurrent_state {
    tensor hidden; ///< [B, H]; empty: 0
    tensor cell;   ///< LSTM only
};

struct recurrent_result {
    tensor sequence; ///< [T, B, H]; 0 after the end of a sequence
    recurrent_state last;
};

/// The order of the gates in the rows of weights.
struct lstm_gates {
    std::size_t input;
    std::size_t output;
    std::size_t forget;
    std::size_t cell;
};
struct gru_gates {
    std::size_t update;
    std::size_t reset;
    std::size_t hidden;
};

struct lstm_cell {
    lstm_gates gates{};
    activation gate;      ///< for the three gates
    activation cell;      ///< for the cell candidate
    activation hidden;    ///< for the cell, before the output gate
    tensor peephole;      ///< [3, H]: weights of the cell for the input, output and forget gate; may be empty
    bool coupled = false; ///< the forget gate is 1 - the input gate
};
struct gru_cell {
    gru_gates gates{};
    activation gate;
    activation hidden;
    bool resets_after = false; ///< the reset gate multiplies R h + b instead of h
};

// `x` is [T, B, I], float32 or float64; `lengths`, int64 [B], has the length of each sequence; empty: T.
[[nodiscard]] recurrent_result run_lstm(tensor const& x, recurrent_layer const& layer, lstm_cell const& cell,
                                        recurrent_state const& start, tensor const& lengths);
[[nodiscard]] recurrent_result run_gru(tensor const& x, recurrent_layer const& layer, gru_cell const& cell,
                                       recurrent_state const& start, tensor const& lengths);
/// hidden = f(W x + R h + biases)
[[nodiscard]] recurrent_result run_rnn(tensor const& x, recurrent_layer const& layer, activation const& f,
                                       recurrent_state const& start, tensor const& lengths);

} // namespace ATON_NAMESPACE::runtime
