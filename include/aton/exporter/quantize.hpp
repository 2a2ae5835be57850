// SPDX-License-Identifier: MIT
// Weights of products that become integers while the model is written: `aton export --quantize`.
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <aton/model_io/quantized_matrix.hpp>

namespace ATON_NAMESPACE {

/// How weights are rounded, and which.
struct quantize_options {
    /// Blocks of 16, 32, 64, 128 or 256 elements; where rows are shorter, a smaller one of these is used.
    quantization how;
    bool embeddings = false; ///< also those that Gather reads, by row
    /// Of MatMulNBits: how precisely ONNX Runtime may round the other operand, 1 (float32) to 4 (int8); 0: not at all.
    int accuracy_level = 0;
    std::vector<std::string> include; ///< names of weights, in which `*` is any text; empty: all
    std::vector<std::string> exclude; ///< likewise; takes precedence
};

/// A weight that became integers.
struct quantized_weight {
    std::string name;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0; ///< of the integers, scales and zero points
    rounding_error error;
};

/// A weight of a product or an embedding that did not.
struct unquantized_weight {
    std::string name;
    std::string reason; ///< "is also used by Add"
};

/// A weight of a graph whose integers are computed when they are read.
struct quantized_initializer {
    std::string name;
    quantized_matrix matrix;
};

} // namespace ATON_NAMESPACE
