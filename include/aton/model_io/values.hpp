// SPDX-License-Identifier: MIT
// Values in files, such as input_0.pb, in which ONNX's tests and tools store inputs and outputs. Follows onnx/onnx-data.proto.
// Public header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <aton/core/tensor.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE {

/// A tensor, a sequence of tensors, or an empty optional. A non-empty optional is represented by its value.
struct file_value {
    std::vector<tensor> tensors; ///< one, or any number for a sequence
    bool is_sequence = false;

    /// Whether it is an optional without a value.
    [[nodiscard]] bool is_empty() const { return !is_sequence && tensors.empty(); }
};

/// Parses a TensorProto, SequenceProto or OptionalProto, as `kind` says. Messages use `name` for it. Throws aton::error, one line, for
/// anything else: sequences of sequences, maps, sparse tensors, elements in another file.
[[nodiscard]] file_value parse_value(std::string_view bytes, value_kind kind, std::string_view name = "value");

/// The bytes of a TensorProto with this name, of a SequenceProto, or of an OptionalProto without a value: what parse_value() parses.
/// Throws aton::error for a tensor whose bytes do not match its sizes, and for more than 2 GiB.
[[nodiscard]] std::string to_value_proto(file_value const& value, std::string_view name);

/// The value in a file.
/// Throws aton::error, one line with the path, where the file cannot be read, and as parse_value() does.
[[nodiscard]] file_value read_value(std::string const& path, value_kind kind);

} // namespace ATON_NAMESPACE
