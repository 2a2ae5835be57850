// SPDX-License-Identifier: MIT
// The kernels of custom_ops, on plain memory, without torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace custom_ops {

/// A dimension of a contiguous tensor: `outer` blocks of `size` elements with stride `inner`.
struct dimension {
    std::size_t outer;
    std::size_t size;
    std::size_t inner;
};

/// out = attr1 * input1 + input2 ** attr2
void foo_forward(std::span<float const> input1, std::span<float const> input2, double attr1, std::int64_t attr2,
                 std::span<float> out);

/// A gated activation. Each row of x has `width` gates, then `width` values; with both limited,
/// out = gate * sigmoid(alpha * gate) * (value + 1).
void swiglu(std::span<float const> x, std::size_t width, double alpha, double limit, std::span<float> out);

/// inverse_rms = 1 / sqrt(mean(x * x) + eps) over one dimension, y = x * inverse_rms * weight; an empty weight is 1.
void rms_norm(std::span<float const> x, dimension over, std::span<float const> weight, double eps, std::span<float> y,
              std::span<float> inverse_rms);

} // namespace custom_ops
