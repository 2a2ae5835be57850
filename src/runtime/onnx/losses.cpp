// SPDX-License-Identifier: MIT
// ONNX operators: classification losses.
#include "call.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/compute/losses.hpp"
#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

loss_reduction loss_reduction_of(call const& c) {
    std::string const text = c.s("reduction", "mean");
    if (text == "mean") return loss_reduction::mean;
    if (text == "sum") return loss_reduction::sum;
    if (text != "none") throw error("unknown reduction '" + text + "'");
    return loss_reduction::none;
}

tensor loss_of(call const& c, tensor const& log_probability) {
    std::optional<std::int64_t> ignored;
    if (c.has_attribute("ignore_index")) ignored = c.i("ignore_index");
    return nll_loss(log_probability, c.in(1), c.maybe(2), ignored, loss_reduction_of(c)).loss;
}

results negative_log_likelihood_loss(call const& c) { return loss_of(c, c.in(0)); }

results softmax_cross_entropy_loss(call const& c) {
    if (c.in(0).rank() < 2) throw error("scores must have shape [batch, classes, ...]");
    tensor const log_probability = log_softmax(c.in(0), 1);
    return {loss_of(c, log_probability), log_probability};
}

} // namespace

rows losses() {
    static constexpr row all[] = {
        {"NegativeLogLikelihoodLoss", negative_log_likelihood_loss},
        {"SoftmaxCrossEntropyLoss", softmax_cross_entropy_loss},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
