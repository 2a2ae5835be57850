// SPDX-License-Identifier: MIT
// The kernels of custom_ops.
#include "kernels.hpp"

#include <cmath>

namespace custom_ops {

void foo_forward(std::span<float const> input1, std::span<float const> input2, double attr1, std::int64_t attr2,
                 std::span<float> out) {
    for (std::size_t i = 0; i != out.size(); ++i)
        out[i] = static_cast<float>(attr1 * static_cast<double>(input1[i]) +
                                    std::pow(static_cast<double>(input2[i]), static_cast<double>(attr2)));
}

void swiglu(std::span<float const> x, std::size_t width, double alpha, double limit, std::span<float> out) {
    for (std::size_t i = 0; i != out.size(); ++i) {
        std::size_t const row = i / width * 2 * width;
        auto gate = static_cast<double>(x[row + i % width]);
        auto value = static_cast<double>(x[row + width + i % width]);
        if (gate > limit) gate = limit; // NaN stays NaN
        if (value > limit) value = limit;
        if (value < -limit) value = -limit;
        out[i] = static_cast<float>(gate / (1 + std::exp(-alpha * gate)) * (value + 1));
    }
}

void rms_norm(std::span<float const> x, dimension over, std::span<float const> weight, double eps, std::span<float> y,
              std::span<float> inverse_rms) {
    for (std::size_t i = 0; i != over.outer * over.inner; ++i) {
        std::size_t const first = i / over.inner * over.size * over.inner + i % over.inner;
        double squares = 0;
        for (std::size_t k = 0; k != over.size; ++k) {
            auto const element = static_cast<double>(x[first + k * over.inner]);
            squares += element * element;
        }
        double const inverse = 1 / std::sqrt(squares / static_cast<double>(over.size) + eps);
        inverse_rms[i] = static_cast<float>(inverse);
        for (std::size_t k = 0; k != over.size; ++k) {
            std::size_t const at = first + k * over.inner;
            double const gain = weight.empty() ? 1 : static_cast<double>(weight[k]);
            y[at] = static_cast<float>(static_cast<double>(x[at]) * inverse * gain);
        }
    }
}

} // namespace custom_ops
