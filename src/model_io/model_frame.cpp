// SPDX-License-Identifier: MIT
// Makes the frame of a model. Initializers are encoded by hand: field numbers of onnx/onnx.proto, ONNX 1.23.
#include "model_frame.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <limits>
#include <utility>

#include "graph_writer.hpp"
#include "model_needs.hpp"
#include "stored_reader.hpp"
#include "wire_format.hpp"

#include <onnx/shape_inference/implementation.h>

#include <aton/core/error.hpp>
#include <aton/core/stored_tensor.hpp>

namespace ATON_NAMESPACE::detail {

namespace {

bool has_dtype(::onnx::ValueInfoProto const& v) {
    if (!v.has_type() || v.type().value_case() == ::onnx::TypeProto::VALUE_NOT_SET) return false;
    return !v.type().has_tensor_type() || v.type().tensor_type().elem_type() != 0;
}

bool has_dtype_and_rank(::onnx::ValueInfoProto const& v) {
    return has_dtype(v) && (!v.type().has_tensor_type() || v.type().tensor_type().has_shape());
}

/// Removes the names ("unk__7") that inference generates for unknown sizes; they are not symbols.
void clear_generated_symbols(::onnx::ValueInfoProto& v) {
    if (!v.type().has_tensor_type() || !v.type().tensor_type().has_shape()) return;
    for (auto& d : *v.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
        if (d.dim_param().starts_with("unk__")) d.clear_dim_param();
}

/// Adds initializers for inference: constants with their values, stored tensors as inputs.
void add_initializers(graph_data const& graph, std::vector<std::string> const& names, ::onnx::GraphProto& to) {
    for (graph_initializer const& i : graph.initializers) {
        if (i.stored != nullptr) {
            auto& input = *to.add_input();
            input.set_name(names[i.value]);
            std::vector<dim> const dims(i.stored->sizes.begin(), i.stored->sizes.end());
            write_type({i.stored->type, shape(dims), value_kind::tensor}, *input.mutable_type());
        } else {
            auto& constant = *to.add_initializer();
            constant.set_name(names[i.value]);
            write_tensor(i.data, names[i.value], constant);
        }
    }
}

/// The checker requires dtype and rank of every output. ONNX's inference completes those that our rules did not infer.
void complete_outputs(graph_data const& graph, std::vector<std::string> const& names, ::onnx::ModelProto& model) {
    auto& outputs = *model.mutable_graph()->mutable_output();
    if (std::all_of(outputs.begin(), outputs.end(), has_dtype_and_rank)) return;
    ::onnx::ModelProto inferred = model;
    add_initializers(graph, names, *inferred.mutable_graph());
    try {
        ::onnx::shape_inference::InferShapes(inferred);
    } catch (std::exception const&) {
        inferred = model; // the checker will report the problem
    }
    for (int i = 0; i != outputs.size(); ++i) {
        if (!has_dtype_and_rank(outputs[i])) {
            outputs[i] = inferred.graph().output(i);
            clear_generated_symbols(outputs[i]);
        }
        if (!has_dtype(outputs[i]))
            refuse("the type of output %" + outputs[i].name() + " is unknown; set it with set_type");
    }
}

std::string serialize(google::protobuf::MessageLite const& message) {
    if (message.ByteSizeLong() > max_model_bytes)
        throw error("the model is larger than 2 GiB, the maximum of one ONNX file");
    return message.SerializeAsString();
}

/// `fields`: of TensorProto, but the name and the elements; empty: those of the tensor.
initializer_field make_initializer(graph_initializer const& from, std::string const& name, weight_place const& place,
                                   std::string fields) {
    initializer_field out;
    dtype const type = from.stored != nullptr ? from.stored->type : from.data.type;
    if (fields.empty()) {
        for (std::int64_t size : from.stored != nullptr ? from.stored->sizes : from.data.sizes)
            append_number(fields, 1, static_cast<std::uint64_t>(size));
        append_number(fields, 2, static_cast<std::uint64_t>(type));
    }
    if (from.stored == nullptr)
        for (std::string const& text : from.data.strings) append_bytes_field(fields, 6, text);
    append_bytes_field(fields, 8, name);
    if (place.is_external) {
        append_entry(fields, 13, "location", place.location);
        append_entry(fields, 13, "offset", std::to_string(place.offset));
        append_entry(fields, 13, "length", std::to_string(place.length));
        append_number(fields, 14, 1); // data_location: EXTERNAL
    } else if (from.stored != nullptr) {
        out.stored = from.stored;
        out.payload = stored_bytes(*from.stored);
    } else {
        out.data = from.data.bytes;
        out.payload = from.data.bytes.size();
    }
    if (!place.is_external && type != dtype::string) append_field(fields, 9, 2, out.payload); // raw_data
    append_field(out.head, 5, 2, fields.size() + out.payload);                                // GraphProto.initializer
    out.head += fields;
    return out;
}

} // namespace

model_frame make_frame(graph_data const& graph, frame_options const& options, std::vector<weight_place> const& places) {
    if (graph.opset < 1) throw error("the graph has no opset");
    require_callable_functions(graph);
    model_needs const needs = needs_of(graph);

    ::onnx::ModelProto model;
    model.set_ir_version(options.ir_version != 0 ? options.ir_version : needs.ir);
    add_opset_imports(graph, needs, model);
    graph_writer writer(static_cast<int>(model.ir_version()));
    writer.know_functions(graph);
    std::vector<std::string> const names = writer.write_main(graph, *model.mutable_graph());
    for (graph_function const& f : graph.functions) writer.write_function(f, *model.add_functions());

    model_frame out;
    std::uint64_t inside = 0;
    for (std::size_t i = 0; i != graph.initializers.size(); ++i) {
        graph_initializer const& from = graph.initializers[i];
        std::string const& name = names[from.value];
        if (from.stored != nullptr) require_readable(*from.stored, one_line(name));
        else require_whole(from.data, name);
        std::string fields = options.editor == nullptr ? std::string() : options.editor->fields_of(from, name);
        auto& field = out.initializers.emplace_back(
            make_initializer(from, name, i < places.size() ? places[i] : weight_place(), std::move(fields)));
        inside += field.head.size() + field.payload;
    }
    if (options.editor != nullptr) options.editor->complete(graph, names, model);
    else complete_outputs(graph, names, model);

    ::onnx::ModelProto front; // fields before the graph
    front.set_ir_version(model.ir_version());
    if (options.editor == nullptr) {
        front.set_producer_name(options.producer_name);
        front.set_producer_version(options.producer_version.empty() ? std::string(version) : options.producer_version);
    }
    if (!options.doc.empty()) front.set_doc_string(options.doc);
    auto& main = *model.mutable_graph();
    ::onnx::GraphProto graph_front; // fields before the initializers
    graph_front.mutable_node()->Swap(main.mutable_node());
    graph_front.set_name(main.name());
    main.clear_name();

    std::string const nodes = serialize(graph_front);
    out.after = serialize(main);
    out.before = serialize(front);
    append_field(out.before, 7, 2, nodes.size() + inside + out.after.size()); // ModelProto.graph
    out.before += nodes;

    model.clear_ir_version();
    model.clear_graph();
    for (auto const& [key, text] : options.metadata) {
        auto& entry = *model.add_metadata_props();
        entry.set_key(key);
        entry.set_value(text);
    }
    out.after += serialize(model);
    out.size = out.before.size() + inside + out.after.size();
    return out;
}

} // namespace ATON_NAMESPACE::detail
