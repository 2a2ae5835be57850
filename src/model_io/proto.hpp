// SPDX-License-Identifier: MIT
// Shared by the sources of model_io: parsing of ModelProto from files and memory, and errors on one line.
#pragma once

#include <string>
#include <string_view>

// protobuf 3.21's generated code and headers are not ours
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <onnx/onnx_pb.h>
#pragma GCC diagnostic pop

#include <aton/model_io/model_io.hpp>

namespace ATON_NAMESPACE::detail {

/// The bytes of a regular file; throws aton::error.
std::string read_file(std::string const& path);
/// Parses a message of any type. Throws aton::error, which says that the bytes are not `what`.
void parse_bytes(std::string_view bytes, std::string_view name, std::string_view what,
                 google::protobuf::MessageLite& to);

template <class Message>
Message parse_message(std::string_view bytes, std::string_view name, std::string_view what) {
    Message out;
    parse_bytes(bytes, name, what, out);
    return out;
}

/// Parses a ModelProto that has at least a graph and an ir_version; throws aton::error.
::onnx::ModelProto parse_model_proto(std::string_view bytes, std::string_view name);
/// A ModelProto as a graph.
model read_model_proto(::onnx::ModelProto const& proto, std::string_view name);
/// Where the elements of an external tensor are.
external_tensor external_of(::onnx::TensorProto const& from);
/// A type as values of graphs have it.
value_type type_of(::onnx::TypeProto const& from);
/// A text that may have several lines as one: each run of blanks and control characters is one space. aton::error truncates it.
std::string one_line(std::string_view text);

} // namespace ATON_NAMESPACE::detail
