// SPDX-License-Identifier: MIT
// ONNX operators: optimizer steps (ai.onnx.preview.training).
#include "call.hpp"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// The inputs after the rate and the count: the first input of all optimized tensors, then the second of all, ...
class optimized {
public:
    optimized(call const& c, std::size_t each) : tensors_(c.tensors(2)), count_(tensors_.size() / each) {
        if (tensors_.size() % each != 0)
            throw error("a number of tensors that is a multiple of " + std::to_string(each) + " is expected");
    }

    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] tensor const& at(std::size_t kind, std::size_t i) const { return tensors_[kind * count_ + i]; }

private:
    std::vector<tensor> tensors_;
    std::size_t count_;
};

double number(call const& c, std::size_t i) { return c.number(i).to<double>(); }

/// The gradient plus that of the L2 regularization term.
tensor regularized(call const& c, tensor const& x, tensor const& gradient) {
    return x * scalar(c.f("norm_coefficient", 0)) + gradient;
}

results adagrad(call const& c) {
    optimized const all(c, 3);
    double const rate = number(c, 0) / (1 + number(c, 1) * c.f("decay_factor", 0));
    std::vector<value> out(2 * all.count());
    for (std::size_t i = 0; i != all.count(); ++i) {
        tensor const& x = all.at(0, i);
        tensor const gradient = regularized(c, x, all.at(1, i));
        tensor const squares = all.at(2, i) + square(gradient);
        out[i] = x - gradient * scalar(rate) / (sqrt(squares) + scalar(c.f("epsilon", 1e-6F)));
        out[all.count() + i] = squares;
    }
    return out;
}

results adam(call const& c) {
    optimized const all(c, 4);
    double const alpha = c.f("alpha", 0.9F);
    double const beta = c.f("beta", 0.999F);
    double const count = number(c, 1);
    double rate = number(c, 0);
    if (count > 0) rate *= std::sqrt(1 - std::pow(beta, count)) / (1 - std::pow(alpha, count));
    std::vector<value> out(3 * all.count());
    for (std::size_t i = 0; i != all.count(); ++i) {
        tensor const& x = all.at(0, i);
        tensor const gradient = regularized(c, x, all.at(1, i));
        tensor const mean = all.at(2, i) * scalar(alpha) + gradient * scalar(1 - alpha);
        tensor const squares = all.at(3, i) * scalar(beta) + square(gradient) * scalar(1 - beta);
        tensor const moved = x - mean * scalar(rate) / (sqrt(squares) + scalar(c.f("epsilon", 1e-6F)));
        out[i] = moved * scalar(1 - c.f("norm_coefficient_post", 0));
        out[all.count() + i] = mean;
        out[2 * all.count() + i] = squares;
    }
    return out;
}

results momentum(call const& c) {
    optimized const all(c, 3);
    std::string const mode = c.s("mode");
    if (mode != "standard" && mode != "nesterov") throw error("unknown mode '" + mode + "'");
    scalar const rate = number(c, 0);
    scalar const alpha = c.f("alpha");
    scalar const beta = number(c, 1) > 0 ? c.f("beta") : 1.0;
    std::vector<value> out(2 * all.count());
    for (std::size_t i = 0; i != all.count(); ++i) {
        tensor const& x = all.at(0, i);
        tensor const gradient = regularized(c, x, all.at(1, i));
        tensor const speed = all.at(2, i) * alpha + gradient * beta;
        out[i] = x - (mode == "nesterov" ? gradient + speed * alpha : speed) * rate;
        out[all.count() + i] = speed;
    }
    return out;
}

results gradient(call const& /*c*/) { throw error("gradients are not computed: the runtime does not differentiate"); }

} // namespace

rows training() {
    static constexpr char const* domain = "ai.onnx.preview.training";
    static constexpr row all[] = {
        {"Adagrad", adagrad, domain},
        {"Adam", adam, domain},
        {"Gradient", gradient, domain},
        {"Momentum", momentum, domain},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
