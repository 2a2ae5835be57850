// SPDX-License-Identifier: MIT
// What the interpreter knows about tensors of quantized dtypes, and about packed weights.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

/// The parameters of a quantized tensor.
struct quantization {
    double scale = 1;
    std::int64_t zero = 0;
    std::int64_t low = 0;
    std::int64_t high = 0;
    dtype type = dtype::undefined;
};

/// A weight with its bias, and the numbers of a convolution: stride, padding, dilation and groups.
struct packed_weight {
    value weight;
    value bias;
    std::vector<value> numbers;
};

/// A constant of a quantized dtype: an object with its integers and its parameters, (scale, zero point), or (scales, zero points, axis). None for a
/// scheme of another name.
[[nodiscard]] value quantized_tensor(heap& to, std::string_view scheme, value const& data,
                                     std::vector<value> const& parameters);

} // namespace ATON_NAMESPACE::torchscript
