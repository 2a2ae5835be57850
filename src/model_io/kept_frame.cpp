// SPDX-License-Identifier: MIT
#include "kept_frame.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <utility>

#include "model_needs.hpp"
#include "read_tensor.hpp"

namespace ATON_NAMESPACE::detail {

namespace {

/// The fields of a tensor that do not have its elements, nor its name.
::onnx::TensorProto frame_of(::onnx::TensorProto const& from) {
    ::onnx::TensorProto out;
    *out.mutable_dims() = from.dims();
    out.set_data_type(from.data_type());
    if (from.has_doc_string()) out.set_doc_string(from.doc_string());
    *out.mutable_metadata_props() = from.metadata_props();
    return out;
}

::onnx::NodeProto const* message_of(kept_messages const& all, graph_data const& g, graph_node const& n) {
    if (n.origin >= g.origins.size()) return nullptr;
    std::string const& index = g.origins[n.origin].module;
    return index.empty() ? nullptr : all.nodes[std::stoul(index)];
}

::onnx::AttributeProto const* attribute_of(::onnx::NodeProto const* n, std::string const& name) {
    if (n == nullptr) return nullptr;
    auto const found =
        std::find_if(n->attribute().begin(), n->attribute().end(), [&](auto const& a) { return a.name() == name; });
    return found == n->attribute().end() ? nullptr : &*found;
}

/// Whether what the graph knows of a value contradicts a declared type: it is another value.
bool contradicts(value_type const& known, ::onnx::TypeProto const& declared) {
    if (known.kind != value_kind::tensor || !declared.has_tensor_type()) return false;
    auto const& type = declared.tensor_type();
    if (known.dtype != dtype::undefined && read_dtype(type.elem_type()) != known.dtype) return true;
    if (!type.has_shape() || !known.shape.has_rank()) return false;
    if (type.shape().dim_size() != static_cast<int>(known.shape.rank())) return true;
    for (std::size_t i = 0; i != known.shape.rank(); ++i) {
        auto const& d = type.shape().dim(static_cast<int>(i));
        if (d.has_dim_value() && known.shape[i].is_static() && d.dim_value() != known.shape[i].size()) return true;
    }
    return false;
}

/// Gives declarations by position the message that they had, with their new names.
void restore(google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto>& to,
             google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto> const& from) {
    for (int i = 0; i != std::min(to.size(), from.size()); ++i) {
        std::string name = to[i].name();
        to[i] = from[i];
        to[i].set_name(std::move(name));
    }
}

} // namespace

kept_frame::kept_frame(kept_messages const& from) : from_(from) {
    for (auto const& t : from.model->graph().initializer()) by_name_.emplace(t.name(), &t);
}

void kept_frame::complete(graph_data const& graph, std::vector<std::string> const& /*names*/,
                          ::onnx::ModelProto& model) const {
    complete(graph, *model.mutable_graph(), from_.model->graph());
    ::onnx::ModelProto made;
    made.Swap(&model);
    ::onnx::ModelProto const& given = *from_.model;
    model.set_ir_version(made.ir_version());
    model.mutable_graph()->Swap(made.mutable_graph());
    *model.mutable_opset_import() = given.opset_import();
    for (auto const& i : made.opset_import()) { // of nodes that rewrites have added
        auto const same = [&](auto const& known) { return plain_domain(known.domain()) == plain_domain(i.domain()); };
        if (std::none_of(given.opset_import().begin(), given.opset_import().end(), same)) *model.add_opset_import() = i;
    }
    if (given.has_producer_name()) model.set_producer_name(given.producer_name());
    if (given.has_producer_version()) model.set_producer_version(given.producer_version());
    if (given.has_domain()) model.set_domain(given.domain());
    if (given.has_model_version()) model.set_model_version(given.model_version());
    if (given.has_doc_string()) model.set_doc_string(given.doc_string());
    *model.mutable_metadata_props() = given.metadata_props();
    *model.mutable_functions() = given.functions();
    *model.mutable_configuration() = given.configuration();
    *model.mutable_unknown_fields() = given.unknown_fields();
}

void kept_frame::complete(graph_data const& g, ::onnx::GraphProto& to, ::onnx::GraphProto const& from) const {
    if (from.has_name()) to.set_name(from.name());
    if (from.has_doc_string()) to.set_doc_string(from.doc_string());
    *to.mutable_metadata_props() = from.metadata_props();
    *to.mutable_unknown_fields() = from.unknown_fields();
    std::unordered_map<std::string, value_type const*> types;
    for (graph_value const& v : g.values)
        if (!v.name.empty() && v.producer >= 0) types.emplace(v.name, &v.type);
    for (std::size_t i = 0; i != g.nodes.size(); ++i) complete(g, g.nodes[i], *to.mutable_node(static_cast<int>(i)));
    restore(*to.mutable_input(), from.input());
    restore(*to.mutable_output(), from.output());
    std::unordered_set<std::string> made;
    for (auto const& n : to.node()) made.insert(n.output().begin(), n.output().end());
    for (auto const& o : to.output()) made.erase(o.name());
    to.clear_value_info();
    for (auto const& v : from.value_info()) {
        auto const known = types.find(v.name());
        if (made.contains(v.name()) && known != types.end() && !contradicts(*known->second, v.type()))
            *to.add_value_info() = v;
    }
}

void kept_frame::complete(graph_data const& g, graph_node const& n, ::onnx::NodeProto& to) const {
    ::onnx::NodeProto const* const given = message_of(from_, g, n);
    bool const is_same =
        given != nullptr && given->op_type() == n.op && plain_domain(given->domain()) == plain_domain(n.domain);
    to.clear_doc_string();
    to.clear_metadata_props();
    if (given == nullptr || given->name().empty()) to.clear_name();
    if (given != nullptr) *to.mutable_metadata_props() = given->metadata_props();
    if (is_same) {
        if (given->has_doc_string()) to.set_doc_string(given->doc_string());
        if (given->has_domain()) to.set_domain(given->domain());
        *to.mutable_device_configurations() = given->device_configurations();
        *to.mutable_unknown_fields() = given->unknown_fields();
    }
    for (auto& a : *to.mutable_attribute()) {
        ::onnx::AttributeProto const* const old = is_same ? attribute_of(given, a.name()) : nullptr;
        if (old != nullptr && old->has_doc_string()) a.set_doc_string(old->doc_string());
        if (old != nullptr && old->has_tp()) *a.mutable_tp() = old->tp(); // maps, denotations
        if (old != nullptr && old->type_protos_size() == a.type_protos_size())
            *a.mutable_type_protos() = old->type_protos();
        node_attribute const* const made = n.attribute(a.name());
        static ::onnx::GraphProto const nothing;
        if (made == nullptr || made->graphs.empty()) continue;
        if (a.has_g()) complete(made->graphs[0], *a.mutable_g(), old != nullptr ? old->g() : nothing);
        for (int i = 0; i != a.graphs_size(); ++i)
            complete(made->graphs[static_cast<std::size_t>(i)],
                     *a.mutable_graphs(i),
                     old != nullptr && i < old->graphs_size() ? old->graphs(i) : nothing);
    }
}

std::string kept_frame::fields_of(graph_initializer const& i, std::string const& name) const {
    if (auto const known = from_.tensors.find(i.stored); i.stored != nullptr && known != from_.tensors.end())
        return frame_of(*known->second).SerializeAsString();
    auto const named = by_name_.find(name);
    if (named == by_name_.end() || i.stored != nullptr) return {};
    ::onnx::TensorProto const& t = *named->second;
    bool const is_same = read_dtype(t.data_type()) == i.data.type &&
                         std::equal(t.dims().begin(), t.dims().end(), i.data.sizes.begin(), i.data.sizes.end());
    return is_same ? frame_of(t).SerializeAsString() : std::string();
}

} // namespace ATON_NAMESPACE::detail
