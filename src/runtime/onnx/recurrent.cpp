// SPDX-License-Identifier: MIT
// ONNX operators: recurrent networks.
#include "runtime/compute/recurrent.hpp"

#include <limits>
#include <string>
#include <vector>

#include "runtime/compute/normalization.hpp"
#include <aton/core/error.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// A named activation with its default parameters.
struct named_activation {
    std::string_view name;
    unary_op op;
    int parameters;
    double alpha;
    double beta;
};

constexpr named_activation known_activations[] = {
    {"Affine", unary_op::count_, 2, 1, 0},
    {"Elu", unary_op::elu, 1, 1, 0},
    {"HardSigmoid", unary_op::hard_sigmoid, 2, 0.2F, 0.5},
    {"LeakyRelu", unary_op::leaky_relu, 1, 0.01F, 0},
    {"Relu", unary_op::relu, 0, 0, 0},
    {"ScaledTanh", unary_op::count_, 2, 1, 1},
    {"Sigmoid", unary_op::sigmoid, 0, 0, 0},
    {"Softplus", unary_op::softplus, 0, 0, 0},
    {"Softsign", unary_op::softsign, 0, 0, 0},
    {"Tanh", unary_op::tanh, 0, 0, 0},
    {"ThresholdedRelu", unary_op::threshold, 1, 1, 0},
};

bool same_name(std::string_view a, std::string_view b) {
    auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i != a.size(); ++i)
        if (lower(a[i]) != lower(b[i])) return false;
    return true;
}

tensor activate(named_activation const& f, double a, double b, tensor const& x) {
    switch (f.op) {
    case unary_op::count_: return f.name == "Affine" ? x * scalar(a) + scalar(b) : tanh(x * scalar(b)) * scalar(a);
    case unary_op::elu: return unary(f.op, x, {a, 1, 1});
    case unary_op::softplus: return unary(f.op, x, {1, std::numeric_limits<double>::infinity(), 0});
    case unary_op::threshold: return unary(f.op, x, {a, 0, 0});
    default: return unary(f.op, x, {a, b, 0});
    }
}

/// The activations of all directions; each consumes the alphas and betas that it needs.
std::vector<activation> activations_of(call const& c, std::vector<std::string> names, std::size_t directions) {
    std::vector<std::string> const given = c.strings("activations");
    std::size_t const each = names.size();
    if (!given.empty() && given.size() != each * directions && !(each == 1 && given.size() == 2))
        throw error(std::to_string(given.size()) + " activations do not fit " + std::to_string(directions) +
                    " directions");
    std::vector<float> const alphas = c.floats("activation_alpha");
    std::vector<float> const betas = c.floats("activation_beta");
    double const clip = c.f("clip", 0);
    std::size_t alpha = 0;
    std::size_t beta = 0;
    std::vector<activation> out;
    for (std::size_t i = 0; i != each * directions; ++i) {
        std::string const& name = given.empty() ? names[i % each] : given[i];
        named_activation const* found = nullptr;
        for (named_activation const& f : known_activations)
            if (same_name(f.name, name)) found = &f;
        if (found == nullptr) throw error("unknown activation '" + name + "'");
        double a = found->alpha;
        double b = found->beta;
        if (found->parameters > 0 && alpha != alphas.size()) a = static_cast<double>(alphas[alpha++]);
        if (found->parameters > 1 && beta != betas.size()) b = static_cast<double>(betas[beta++]);
        out.emplace_back([found, a, b, clip](tensor const& x) {
            return activate(*found, a, b, clip > 0 ? clamp(x, -clip, clip) : x);
        });
    }
    return out;
}

/// The inputs and attributes that RNN, GRU and LSTM share.
class recurrent_call {
public:
    recurrent_call(call const& c, std::int64_t gates) : c_(c), batch_first_(c.i("layout", 0) != 0) {
        std::string const direction = c.s("direction", "forward");
        if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
            throw error("direction is '" + direction + "'");
        directions_ = direction == "bidirectional" ? 2 : 1;
        reverse_ = direction == "reverse";
        x_ = widened(c.in(0));
        if (x_.rank() != 3) throw error("sequences must have rank 3, not shape " + to_string(x_.sizes()));
        if (batch_first_) x_ = transpose(x_, 0, 1);
        input_ = widened(c.in(1));
        recurrence_ = widened(c.in(2));
        if (input_.rank() != 3 || recurrence_.rank() != 3 || input_.size(0) != directions_ ||
            recurrence_.size(0) != directions_)
            throw error("weights must be [directions, rows, columns]");
        rows_ = gates * recurrence_.size(2);
        if (c.has(3)) bias_ = widened(c.in(3));
        if (bias_ && bias_.sizes() != sizes{directions_, 2 * rows_})
            throw error("a bias has shape " + to_string(bias_.sizes()));
        if (c.has(4)) lengths_ = cast(c.in(4), dtype::int64);
        if (c.has_attribute("hidden_size") && c.i("hidden_size") != recurrence_.size(2))
            throw error("hidden_size does not match the weights");
    }

    [[nodiscard]] std::int64_t directions() const { return directions_; }
    [[nodiscard]] std::int64_t hidden_size() const { return recurrence_.size(2); }
    [[nodiscard]] tensor const& x() const { return x_; }
    [[nodiscard]] tensor const& lengths() const { return lengths_; }

    [[nodiscard]] recurrent_layer layer(std::int64_t d) const {
        recurrent_layer l{part(input_, d), part(recurrence_, d), {}, {}, reverse_ || d == 1};
        if (bias_) {
            l.input_bias = part(bias_, d).sliced(0, 0, rows_);
            l.recurrence_bias = part(bias_, d).sliced(0, rows_, rows_);
        }
        return l;
    }

    /// The initial state of a direction in an input.
    [[nodiscard]] tensor start(std::size_t input, std::int64_t d) const {
        if (!c_.has(input)) return {};
        tensor const all = widened(c_.in(input));
        if (all.rank() != 3) throw error("a state has shape " + to_string(all.sizes()));
        tensor const ordered = batch_first_ ? transpose(all, 0, 1) : all;
        if (ordered.size(0) != directions_) throw error("a state has shape " + to_string(all.sizes()));
        return part(ordered, d);
    }

    [[nodiscard]] results collected(std::vector<recurrent_result> const& all, bool cells) const {
        std::vector<tensor> sequences;
        std::vector<tensor> hidden;
        std::vector<tensor> cell;
        for (recurrent_result const& r : all) {
            sequences.push_back(r.sequence);
            hidden.push_back(r.last.hidden);
            if (cells) cell.push_back(r.last.cell);
        }
        tensor const y = stack(sequences, 1); // [T, directions, B, H]
        std::vector<value> out = {batch_first_ ? finished(transpose(transpose(y, 0, 2), 1, 2), false)
                                               : finished(y, false),
                                  finished(stack(hidden, 0), batch_first_)};
        if (cells) out.emplace_back(finished(stack(cell, 0), batch_first_));
        return out;
    }

    static tensor part(tensor const& all, std::int64_t d) { return all.sliced(0, d, 1).squeezed(0); }

private:
    [[nodiscard]] tensor finished(tensor const& t, bool swaps) const {
        return cast(contiguous(swaps ? transpose(t, 0, 1) : t), c_.in(0).dtype());
    }

    call const& c_;
    bool batch_first_;
    bool reverse_ = false;
    std::int64_t directions_ = 1;
    std::int64_t rows_ = 0;
    tensor x_, input_, recurrence_, bias_, lengths_;
};

results lstm(call const& c) {
    recurrent_call const r(c, 4);
    auto const directions = static_cast<std::size_t>(r.directions());
    std::vector<activation> const f = activations_of(c, {"Sigmoid", "Tanh", "Tanh"}, directions);
    std::vector<recurrent_result> all;
    for (std::size_t d = 0; d != directions; ++d) {
        auto const at = static_cast<std::int64_t>(d);
        lstm_cell cell{{0, 1, 2, 3}, f[3 * d], f[3 * d + 1], f[3 * d + 2], {}, c.i("input_forget", 0) != 0};
        if (c.has(7)) {
            tensor const p = widened(c.in(7));
            if (p.sizes() != sizes{r.directions(), 3 * r.hidden_size()})
                throw error("peepholes have shape " + to_string(p.sizes()));
            cell.peephole = reshape(recurrent_call::part(p, at), {3, r.hidden_size()});
        }
        all.push_back(run_lstm(r.x(), r.layer(at), cell, {r.start(5, at), r.start(6, at)}, r.lengths()));
    }
    return r.collected(all, true);
}

results gru(call const& c) {
    recurrent_call const r(c, 3);
    auto const directions = static_cast<std::size_t>(r.directions());
    std::vector<activation> const f = activations_of(c, {"Sigmoid", "Tanh"}, directions);
    std::vector<recurrent_result> all;
    for (std::size_t d = 0; d != directions; ++d) {
        auto const at = static_cast<std::int64_t>(d);
        gru_cell const cell{{0, 1, 2}, f[2 * d], f[2 * d + 1], c.i("linear_before_reset", 0) != 0};
        all.push_back(run_gru(r.x(), r.layer(at), cell, {r.start(5, at), {}}, r.lengths()));
    }
    return r.collected(all, false);
}

results rnn(call const& c) {
    recurrent_call const r(c, 1);
    auto const directions = static_cast<std::size_t>(r.directions());
    std::vector<activation> const f = activations_of(c, {"Tanh"}, directions);
    std::vector<recurrent_result> all;
    for (std::size_t d = 0; d != directions; ++d) {
        auto const at = static_cast<std::int64_t>(d);
        all.push_back(run_rnn(r.x(), r.layer(at), f[d], {r.start(5, at), {}}, r.lengths()));
    }
    return r.collected(all, false);
}

} // namespace

rows recurrent() {
    static constexpr row all[] = {
        {"GRU", gru},
        {"LSTM", lstm},
        {"RNN", rnn},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
