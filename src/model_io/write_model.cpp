// SPDX-License-Identifier: MIT
// Writes a graph as a ModelProto, to memory or to a file.
#include <aton/model_io/model_io.hpp>

#include <cstddef>
#include <string>

#include "model_frame.hpp"
#include "stored_reader.hpp"

#include <aton/core/error.hpp>
#include <aton/model_io/weights.hpp>

namespace ATON_NAMESPACE {

std::string to_model_proto(graph_data const& graph, model_options const& options) {
    detail::model_frame const frame = detail::make_frame(graph, {options, nullptr}, {});
    if (frame.size > detail::max_model_bytes)
        throw error("the model is larger than 2 GiB, the maximum of one ONNX file");
    std::string out;
    out.reserve(static_cast<std::size_t>(frame.size));
    out += frame.before;
    detail::stored_reader reader;
    for (detail::initializer_field const& field : frame.initializers) {
        out += field.head;
        out += field.data;
        if (field.stored == nullptr) continue;
        reader.read(*field.stored, [&](std::byte const* bytes, std::size_t n) {
            out.append(reinterpret_cast<char const*>(bytes), n); // NOLINT(*-reinterpret-cast)
        });
    }
    return out += frame.after;
}

void write_model(graph_data const& graph, std::string const& path, model_options const& options) {
    write_model(graph, path, weight_options{}, options);
}

} // namespace ATON_NAMESPACE
