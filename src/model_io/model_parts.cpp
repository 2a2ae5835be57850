// SPDX-License-Identifier: MIT
// Takes nodes out of a ModelProto.
#include <aton/model_io/model_parts.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "external_bytes.hpp"
#include "graph_writer.hpp"
#include "proto.hpp"
#include "read_tensor.hpp"
#include "system/paths.hpp"

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE {

namespace {

using name_set = std::unordered_set<std::string_view>;

void collect_uses(::onnx::NodeProto const& n, name_set const& inner, std::vector<std::string>& to);

/// The names that a nested graph takes from those around it. `inner`: what is defined between the node and this graph.
void collect_uses(::onnx::GraphProto const& g, name_set inner, std::vector<std::string>& to) {
    for (auto const& i : g.input()) inner.insert(i.name());
    for (auto const& i : g.initializer()) inner.insert(i.name());
    for (auto const& i : g.sparse_initializer()) inner.insert(i.values().name());
    for (auto const& n : g.node()) inner.insert(n.output().begin(), n.output().end());
    for (auto const& n : g.node()) collect_uses(n, inner, to);
    for (auto const& o : g.output())
        if (!inner.contains(o.name())) to.push_back(o.name());
}

void collect_uses(::onnx::NodeProto const& n, name_set const& inner, std::vector<std::string>& to) {
    for (std::string const& i : n.input())
        if (!i.empty() && !inner.contains(i)) to.push_back(i);
    for (auto const& a : n.attribute()) {
        if (a.has_g()) collect_uses(a.g(), inner, to);
        for (auto const& g : a.graphs()) collect_uses(g, inner, to);
    }
}

model_node node_of(::onnx::NodeProto const& from) {
    model_node out{from.name(), from.domain() == "ai.onnx" ? "" : from.domain(), from.op_type(), {}, {}};
    std::vector<std::string> uses;
    collect_uses(from, {}, uses);
    for (std::string& each : uses)
        if (std::ranges::find(out.inputs, each) == out.inputs.end()) out.inputs.push_back(std::move(each));
    for (std::string const& o : from.output())
        if (!o.empty()) out.outputs.push_back(o);
    return out;
}

std::string ordinal(std::size_t n) {
    std::size_t const last = n % 10;
    bool const is_teen = n / 10 % 10 == 1;
    return std::to_string(n) + (is_teen || last == 0 || last > 3 ? "th" : last == 1 ? "st" : last == 2 ? "nd" : "rd");
}

std::string bytes_of(::onnx::ModelProto const& m) {
    std::string out;
    if (m.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()) || !m.SerializeToString(&out))
        throw error("the model is larger than 2 GiB, the maximum of one ONNX file");
    return out;
}

} // namespace

std::string describe(std::span<model_node const> nodes, std::size_t node) {
    if (node >= nodes.size()) return "a node that the graph does not have";
    model_node const& n = nodes[node];
    std::string const op = n.domain.empty() ? n.op : n.domain + "::" + n.op;
    return "the " + ordinal(node + 1) + " node, " + op + (n.name.empty() ? "" : " '" + detail::one_line(n.name) + "'");
}

struct model_parts::parts {
    std::string path;
    ::onnx::ModelProto model;
    std::vector<model_node> nodes;
    std::vector<part_value> inputs;
    std::vector<std::string> outputs;
    std::unordered_map<std::string, ::onnx::TensorProto const*> initializers;
    std::unordered_map<std::string, ::onnx::SparseTensorProto const*> sparse_initializers;
    std::unordered_map<std::string, ::onnx::ValueInfoProto const*> given; ///< inputs of the graph

    void load(::onnx::TensorProto& t) const {
        external_tensor const e = detail::external_of(t);
        try {
            tensor to;
            to.type = detail::read_dtype(t.data_type());
            to.sizes.assign(t.dims().begin(), t.dims().end());
            detail::read_external(e, system::path_of(path).parent_path(), to);
            t.clear_external_data();
            t.clear_data_location();
            t.set_raw_data(std::move(to.bytes));
        } catch (error const& fault) {
            throw error(detail::one_line(path + ": the external tensor '" + e.name + "' " + fault.what()));
        }
    }

    void index() {
        ::onnx::GraphProto const& g = model.graph();
        for (auto const& n : g.node()) nodes.push_back(node_of(n));
        for (auto const& i : g.initializer()) initializers.emplace(i.name(), &i);
        for (auto const& i : g.sparse_initializer()) sparse_initializers.emplace(i.values().name(), &i);
        for (auto const& i : g.input()) {
            given.emplace(i.name(), &i);
            if (!is_stored(i.name())) inputs.push_back({i.name(), detail::type_of(i.type())});
        }
        for (auto const& o : g.output()) outputs.push_back(o.name());
    }

    [[nodiscard]] bool is_stored(std::string const& name) const {
        return initializers.contains(name) || sparse_initializers.contains(name);
    }

    /// The model without its graph.
    [[nodiscard]] ::onnx::ModelProto frame() const {
        ::onnx::ModelProto out;
        out.set_ir_version(model.ir_version());
        out.set_producer_name(model.producer_name());
        out.set_producer_version(model.producer_version());
        out.set_domain(model.domain());
        out.set_model_version(model.model_version());
        *out.mutable_opset_import() = model.opset_import();
        *out.mutable_functions() = model.functions();
        *out.mutable_metadata_props() = model.metadata_props();
        out.mutable_graph()->set_name(model.graph().name());
        return out;
    }

    void add_stored(std::string const& name, ::onnx::GraphProto& to) const {
        if (auto const found = initializers.find(name); found != initializers.end())
            *to.add_initializer() = *found->second;
        else *to.add_sparse_initializer() = *sparse_initializers.at(name);
        if (auto const found = given.find(name); found != given.end()) *to.add_input() = *found->second;
    }
};

model_parts::model_parts(std::string const& path) : parts_(std::make_unique<parts>()) {
    parts_->path = path;
    parts_->model = detail::parse_model_proto(detail::read_file(path), path);
    for (auto& i : *parts_->model.mutable_graph()->mutable_initializer())
        if (i.data_location() == ::onnx::TensorProto_DataLocation_EXTERNAL) parts_->load(i);
    parts_->index();
}

model_parts::model_parts(model_parts&&) noexcept = default;
model_parts& model_parts::operator=(model_parts&&) noexcept = default;
model_parts::~model_parts() = default;

std::string const& model_parts::path() const { return parts_->path; }
std::vector<model_node> const& model_parts::nodes() const { return parts_->nodes; }
std::vector<part_value> const& model_parts::inputs() const { return parts_->inputs; }
std::vector<std::string> const& model_parts::outputs() const { return parts_->outputs; }
bool model_parts::is_constant(std::string const& name) const { return parts_->is_stored(name); }

std::string model_parts::whole() const { return bytes_of(parts_->model); }

std::string model_parts::with_outputs(std::span<part_value const> outputs) const {
    ::onnx::ModelProto out = parts_->model;
    for (part_value const& each : outputs) {
        auto& to = *out.mutable_graph()->add_output();
        to.set_name(each.name);
        detail::write_type(each.type, *to.mutable_type());
    }
    return bytes_of(out);
}

std::string model_parts::part(std::span<std::size_t const> nodes, std::span<part_value const> inputs,
                              std::span<part_value const> outputs) const {
    ::onnx::ModelProto out = parts_->frame();
    ::onnx::GraphProto& g = *out.mutable_graph();
    for (part_value const& each : inputs) {
        auto& to = *g.add_input();
        if (auto const found = parts_->given.find(each.name); found != parts_->given.end()) {
            to = *found->second;
            continue;
        }
        to.set_name(each.name);
        detail::write_type(each.type, *to.mutable_type());
    }
    std::unordered_set<std::string> added;
    for (std::size_t const i : nodes) {
        *g.add_node() = parts_->model.graph().node(static_cast<int>(i));
        for (std::string const& name : parts_->nodes.at(i).inputs)
            if (parts_->is_stored(name) && added.insert(name).second) parts_->add_stored(name, g);
    }
    for (part_value const& each : outputs) {
        auto& to = *g.add_output();
        to.set_name(each.name);
        detail::write_type(each.type, *to.mutable_type());
    }
    return bytes_of(out);
}

} // namespace ATON_NAMESPACE
