// SPDX-License-Identifier: MIT
// Helpers of ai.onnx.ml operators: features, scores and labels.
#include "classifiers.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// A softmax over nonzero elements; elements near 0 stay.
tensor softmax_zero(tensor const& x) {
    if (x.count() == 0) return x;
    tensor const largest = max(x, {1}, true);
    tensor const powers = where(greater(abs(x), scalar(1e-7)), exp(x - largest), x * exp(-largest));
    tensor const total = sum(powers, {1}, true);
    return where(equal(total, scalar(0)), scalar(0.5), powers / total);
}

/// sqrt(2) * erfinv(2x - 1), by Winitzki's approximation of erfinv.
tensor probit(tensor const& x) {
    constexpr double a = 0.147;
    constexpr double pi = 3.14159265358979323846;
    tensor const y = x * scalar(2) - scalar(1);
    tensor const logarithm = log((1.0 - y) * (y + scalar(1)));
    tensor const half = logarithm * scalar(0.5) + scalar(2 / (pi * a));
    tensor const size = sqrt(sqrt(square(half) - logarithm * scalar(1 / a)) - half);
    return unary(unary_op::sign, y) * size * scalar(1.4142135623730951);
}

} // namespace

tensor features(call const& c) {
    tensor const& x = c.in(0);
    if (x.rank() == 0 || x.rank() > 2)
        throw error("features of shape [N, F] are expected, not " + to_string(x.sizes()));
    tensor const real = x.dtype() == dtype::float64 ? x : cast(x, dtype::float32);
    return x.rank() == 1 ? real.unsqueezed(0) : real;
}

tensor numbers(call const& c, std::vector<float> const& list) {
    tensor const out = tensor::empty(dtype::float32, {static_cast<std::int64_t>(list.size())});
    std::ranges::copy(list, out.data<float>());
    return to_device(out, c.where());
}
tensor numbers(call const& c, std::vector<std::int64_t> const& list) {
    return to_device(tensor::of_integers(list), c.where());
}

tensor transformed_scores(tensor const& scores, std::string const& transform) {
    if (transform == "NONE") return scores;
    if (transform == "SOFTMAX") return softmax(scores, -1);
    if (transform == "LOGISTIC") return sigmoid(scores);
    if (transform == "SOFTMAX_ZERO") return softmax_zero(scores);
    if (transform == "PROBIT") return probit(scores);
    throw error("unknown post_transform '" + transform + "'");
}

tensor labels_at(call const& c, tensor const& indices, std::vector<std::int64_t> const& integers,
                 std::vector<std::string> const& texts) {
    if (texts.empty()) return take(numbers(c, integers), indices);
    return take(tensor::of_strings(texts, {static_cast<std::int64_t>(texts.size())}), indices);
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
