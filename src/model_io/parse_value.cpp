// SPDX-License-Identifier: MIT
// Converts the messages of onnx-data.proto to tensors, and back.
#include <aton/model_io/values.hpp>

#include <limits>
#include <string>

#include "graph_writer.hpp"
#include "proto.hpp"
#include "read_tensor.hpp"

// protobuf 3.21's generated code is not ours
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <onnx/onnx-data.pb.h>
#pragma GCC diagnostic pop

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE {

namespace {

class value_reader {
public:
    explicit value_reader(std::string name) : name_(std::move(name)) {}

    [[nodiscard]] file_value one(::onnx::TensorProto const& from) const { return {{tensor_of(from, name_)}, false}; }

    [[nodiscard]] file_value many(::onnx::SequenceProto const& from) const {
        file_value out{{}, true};
        if (from.elem_type() != ::onnx::SequenceProto_DataType_TENSOR &&
            from.elem_type() != ::onnx::SequenceProto_DataType_UNDEFINED) // of an empty sequence
            refuse("a sequence of something other than tensors");
        for (auto const& t : from.tensor_values())
            out.tensors.push_back(tensor_of(t, name_ + ", element " + std::to_string(out.tensors.size())));
        return out;
    }

    [[nodiscard]] file_value optional(::onnx::OptionalProto const& from) const {
        switch (from.elem_type()) {
        case ::onnx::OptionalProto_DataType_UNDEFINED: return {};
        case ::onnx::OptionalProto_DataType_TENSOR:
            return from.has_tensor_value() ? one(from.tensor_value()) : file_value();
        case ::onnx::OptionalProto_DataType_SEQUENCE:
            return from.has_sequence_value() ? many(from.sequence_value()) : file_value();
        default: refuse("an optional of something other than a tensor or a sequence");
        }
    }

private:
    [[noreturn]] void refuse(std::string const& what) const { throw error(detail::one_line(name_ + ": " + what)); }

    [[nodiscard]] tensor tensor_of(::onnx::TensorProto const& from, std::string const& what) const {
        if (from.data_location() == ::onnx::TensorProto_DataLocation_EXTERNAL)
            refuse("its elements are in another file");
        tensor out = detail::read_tensor(from, what);
        if (out.type == dtype::undefined) refuse("a tensor has an unknown dtype");
        return out;
    }

    std::string name_;
};

std::string bytes_of(google::protobuf::MessageLite const& m, std::string_view name) {
    std::string out;
    if (m.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()) || !m.SerializeToString(&out))
        throw error(detail::one_line(std::string(name) + ": larger than 2 GiB"));
    return out;
}

} // namespace

std::string to_value_proto(file_value const& value, std::string_view name) {
    if (value.is_empty()) return bytes_of(::onnx::OptionalProto(), name);
    if (value.is_sequence) {
        ::onnx::SequenceProto out;
        out.set_name(std::string(name));
        out.set_elem_type(::onnx::SequenceProto_DataType_TENSOR);
        for (tensor const& t : value.tensors) detail::write_tensor(t, name, *out.add_tensor_values());
        return bytes_of(out, name);
    }
    ::onnx::TensorProto out;
    out.set_name(std::string(name));
    detail::write_tensor(value.tensors.at(0), name, out);
    return bytes_of(out, name);
}

file_value parse_value(std::string_view bytes, value_kind kind, std::string_view name) {
    value_reader const reader{std::string(name)};
    switch (kind) {
    case value_kind::tensor:
        return reader.one(detail::parse_message<::onnx::TensorProto>(bytes, name, "an ONNX tensor"));
    case value_kind::sequence:
        return reader.many(detail::parse_message<::onnx::SequenceProto>(bytes, name, "an ONNX sequence"));
    default: return reader.optional(detail::parse_message<::onnx::OptionalProto>(bytes, name, "an ONNX optional"));
    }
}

file_value read_value(std::string const& path, value_kind kind) {
    return parse_value(detail::read_file(path), kind, path);
}

} // namespace ATON_NAMESPACE
