// SPDX-License-Identifier: MIT
// Values in files: the inputs and outputs that ONNX's tests and tools keep beside a model, input_0.pb. Follows onnx/onnx-data.proto.
// Public header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <aton/core/tensor.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE {

/// A tensor, a sequence of tensors, or an optional that is empty. An optional that holds something is what it holds.
struct file_value {
    std::vector<tensor> tensors; ///< one; of a sequence any number
    bool is_sequence = false;

    /// Whether it is an optional without a value.
    [[nodiscard]] bool is_empty() const { return !is_sequence && tensors.empty(); }
};

/// The value in the bytes of a TensorProto, SequenceProto or OptionalProto: which, the kind says; `name` is what messages call it. Throws
/// aton::error, one line, for anything else: sequences of sequences, maps, sparse tensors, elements in another file.
[[nodiscard]] file_value parse_value(std::string_view bytes, value_kind kind, std::string_view name = "value");

/// The value in a file.
/// Throws aton::error, one line with the path, where the file cannot be read, and as parse_value() does.
[[nodiscard]] file_value read_value(std::string const& path, value_kind kind);

} // namespace ATON_NAMESPACE
