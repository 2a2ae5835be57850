// SPDX-License-Identifier: MIT
// Converts a graph to protobuf messages. Nodes are named after the program's nodes.
#include "graph_writer.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "model_needs.hpp"

#include <aton/core/error.hpp>
#include <aton/ir/nested_types.hpp>
#include <aton/model_io/weights.hpp>

namespace ATON_NAMESPACE::detail {

void refuse(std::string const& what) { throw error(one_line(what)); }

void require_whole(tensor const& t, std::string_view what) {
    bool const is_strings = t.type == dtype::string;
    std::size_t bytes = is_strings ? 8 : bits(t.type); // for strings: their number
    for (std::int64_t size : t.sizes) {
        if (size < 0 ||
            (size != 0 && bytes > std::numeric_limits<std::size_t>::max() / 8 / static_cast<std::size_t>(size)))
            refuse(std::string(what) + ": a constant has invalid sizes");
        bytes *= static_cast<std::size_t>(size);
    }
    bytes = (bytes + 7) / 8;
    if (bits(t.type) == 0 && !is_strings)
        refuse(std::string(what) + ": a constant of dtype " + std::string(name(t.type)) + " cannot be written");
    if (std::size_t const has = is_strings ? t.strings.size() : t.bytes.size(); bytes != has)
        refuse(std::string(what) + ": a constant has " + std::to_string(has) + (is_strings ? " strings" : " bytes") +
               ", but its sizes need " + std::to_string(bytes));
}

void write_tensor(tensor const& from, std::string_view what, ::onnx::TensorProto& to) {
    require_whole(from, what);
    for (std::int64_t size : from.sizes) to.add_dims(size);
    to.set_data_type(static_cast<int>(from.type));
    if (from.type == dtype::string) to.mutable_string_data()->Add(from.strings.begin(), from.strings.end());
    else to.set_raw_data(from.bytes);
}

namespace {

void write_dims(shape const& from, ::onnx::TensorShapeProto& to) {
    for (dim const& d : from.dims()) {
        auto& out = *to.add_dim();
        if (d.is_static()) out.set_dim_value(d.size());
        else if (d.is_symbolic()) out.set_dim_param(std::string(d.symbol()));
    }
}

std::string const& at(std::vector<std::string> const& names, value_id id) {
    if (id >= names.size()) refuse("the graph refers to a value that it does not have");
    return names[id];
}

void write_value(graph_data const& g, value_id id, std::vector<std::string> const& names, ::onnx::ValueInfoProto& to) {
    to.set_name(at(names, id));
    if (g.values[id].type.dtype != dtype::undefined) write_type(g.values[id].type, *to.mutable_type());
}

node_origin const& origin_of(graph_data const& g, graph_node const& n) {
    static node_origin const unknown;
    return n.origin < g.origins.size() ? g.origins[n.origin] : unknown;
}

void add_metadata(::onnx::NodeProto& to, char const* key, std::string const& text) {
    if (text.empty()) return;
    auto& entry = *to.add_metadata_props();
    entry.set_key(key);
    entry.set_value(text);
}

} // namespace

void write_type(value_type const& from, ::onnx::TypeProto& to) {
    ::onnx::TypeProto* type = &to;
    if (from.kind == value_kind::optional_tensor || from.kind == value_kind::optional_sequence)
        type = type->mutable_optional_type()->mutable_elem_type();
    if (from.kind == value_kind::sequence || from.kind == value_kind::optional_sequence)
        type = type->mutable_sequence_type()->mutable_elem_type();
    type->mutable_tensor_type()->set_elem_type(static_cast<int>(from.dtype));
    if (from.shape.has_rank()) write_dims(from.shape, *type->mutable_tensor_type()->mutable_shape());
}

std::vector<std::string> graph_writer::write_main(graph_data const& g, ::onnx::GraphProto& out) {
    return write(g, out, true);
}

std::vector<std::string> graph_writer::write(graph_data const& g, ::onnx::GraphProto& out, bool is_main) {
    std::vector<std::string> names = value_namer_.add(g);
    out.set_name(g.name.empty() ? "graph" : g.name);
    std::vector<bool> listed(g.values.size()); // inputs, outputs and initializers have no value_info
    for (graph_initializer const& i : g.initializers) {
        std::string const& name = at(names, i.value);
        listed[i.value] = true;
        if (is_main) continue;
        auto& to = *out.add_initializer();
        to.set_name(name);
        write_tensor(i.stored != nullptr ? load(*i.stored) : i.data, name, to);
    }
    for (value_id id : g.inputs) {
        write_value(g, id, names, *out.add_input());
        if (is_main && g.values[id].type.dtype == dtype::undefined)
            refuse("the dtype of input %" + names[id] + " is unknown");
        listed[id] = true;
    }
    if (is_main && ir_ < 4) // every initializer is an input
        for (graph_initializer const& i : g.initializers)
            if (std::find(g.inputs.begin(), g.inputs.end(), i.value) == g.inputs.end())
                write_value(g, i.value, names, *out.add_input());
    write_nodes(g, names, *out.mutable_node());
    for (value_id id : g.outputs) {
        auto& to = *out.add_output();
        write_value(g, id, names, to);
        if (!is_main && (g.values[id].producer < 0 || listed[id]))
            to.set_name(write_copy(names[id], *out.mutable_node()));
        else listed[id] = true;
    }
    for (graph_node const& n : g.nodes)
        for (value_id id : n.outputs)
            if (id != no_value && !listed[id] && g.values[id].type.dtype != dtype::undefined)
                write_value(g, id, names, *out.add_value_info());
    value_namer_.leave();
    return names;
}

namespace {

template <class Proto>
void add_imports(graph_data const& g, model_needs const& needs, Proto& to) {
    auto const add = [&](std::string const& domain, int version) {
        auto& imported = *to.add_opset_import();
        imported.set_domain(domain);
        imported.set_version(version);
    };
    add({}, g.opset);
    for (auto const& [domain, version] : needs.domains) add(domain, version);
}

} // namespace

void add_opset_imports(graph_data const& g, model_needs const& needs, ::onnx::ModelProto& to) {
    add_imports(g, needs, to);
}

namespace {

/// A body without the types of the call that it was built for; only nested graphs have any that are written.
graph_data without_types(graph_data body) {
    clear_types(body, false);
    return body;
}

} // namespace

void graph_writer::know_functions(graph_data const& g) {
    for (graph_function const& f : g.functions)
        if (f.body.size() == 1)
            results_.emplace(full_name(plain_domain(f.domain), f.name, f.overload), f.body[0].outputs.size());
}

/// Initializers become Constant nodes: a function has none.
void graph_writer::write_function(graph_function const& f, ::onnx::FunctionProto& out) {
    std::string const what = "function " + full_name(f.domain, f.name, f.overload);
    if (f.body.size() != 1) refuse(what + " must have one body, but has " + std::to_string(f.body.size()));
    graph_data const body = without_types(f.body[0]);
    out.set_domain(std::string(plain_domain(f.domain)));
    out.set_name(f.name);
    if (!f.overload.empty()) out.set_overload(f.overload);
    for (std::string const& a : f.attributes) {
        auto const is_default = [&](node_attribute const& d) { return d.name == a; };
        if (std::none_of(f.defaults.begin(), f.defaults.end(), is_default)) out.add_attribute(a);
    }
    for (node_attribute const& d : f.defaults) write_attribute(d, what, *out.add_attribute_proto());
    add_imports(body, needs_of(body), out);

    value_namer_ = {};
    node_namer_ = {};
    nodes_ = 0;
    std::vector<std::string> const names = value_namer_.add(body);
    for (std::size_t id = 0; id != names.size(); ++id)
        if (body.values[id].outer != no_value)
            refuse(what + " uses %" + names[id] + " of an outer graph, but a function has none");
    for (value_id id : body.inputs) out.add_input(at(names, id));
    for (graph_initializer const& i : body.initializers) {
        if (std::find(body.inputs.begin(), body.inputs.end(), i.value) != body.inputs.end())
            refuse(what + ": input %" + names[i.value] +
                   " has an initializer, but inputs of functions cannot have defaults");
        auto& constant = *out.add_node();
        constant.set_name(node_namer_.unique("Constant_" + std::to_string(nodes_++)));
        constant.set_op_type("Constant");
        constant.add_output(at(names, i.value));
        auto& value = *constant.add_attribute();
        value.set_name("value");
        value.set_type(::onnx::AttributeProto_AttributeType_TENSOR);
        write_tensor(i.stored != nullptr ? load(*i.stored) : i.data, what, *value.mutable_t());
    }
    write_nodes(body, names, *out.mutable_node());
    std::vector<bool> given(names.size());
    for (value_id id : body.outputs) {
        std::string const& name = at(names, id);
        bool const is_made = body.values[id].producer >= 0 && !given[id];
        out.add_output(is_made ? name : write_copy(name, *out.mutable_node()));
        given[id] = true;
    }
    value_namer_.leave();
}

/// Each output of a nested graph must be the result of its own node in that graph: not captured, an input, an initializer or a duplicate.
std::string graph_writer::write_copy(std::string const& name, node_list& out) {
    auto& copy = *out.Add();
    copy.set_name(node_namer_.unique("Identity_" + std::to_string(nodes_++)));
    copy.set_op_type("Identity");
    copy.add_input(name);
    copy.add_output(value_namer_.unique(name));
    return copy.output(0);
}

void graph_writer::write_nodes(graph_data const& g, std::vector<std::string> const& names, node_list& out) {
    std::vector<std::uint32_t> made(g.origins.size());    // nodes per node of the program
    std::vector<std::uint32_t> written(g.origins.size()); // those already written
    for (graph_node const& n : g.nodes)
        if (n.origin < made.size()) ++made[n.origin];
    for (graph_node const& n : g.nodes) {
        node_origin const& origin = origin_of(g, n);
        std::string wanted = n.op + '_' + std::to_string(nodes_++);
        if (!origin.name.empty()) {
            wanted = origin.name;
            if (made[n.origin] > 1) wanted += '/' + n.op + '_' + std::to_string(written[n.origin]++);
        }
        auto& to = *out.Add();
        to.set_name(node_namer_.unique(wanted));
        write_node(n, origin, names, to);
    }
}

void graph_writer::write_node(graph_node const& n, node_origin const& origin, std::vector<std::string> const& names,
                              ::onnx::NodeProto& to) {
    to.set_op_type(n.op);
    if (!n.overload.empty()) to.set_overload(n.overload);
    if (!plain_domain(n.domain).empty()) to.set_domain(n.domain);
    for (value_id id : n.inputs) to.add_input(id == no_value ? std::string() : at(names, id));
    for (value_id id : n.outputs) to.add_output(id == no_value ? std::string() : at(names, id));
    if (!results_.empty()) // a call of a function has all of its outputs; those that nobody uses have no name
        if (auto const f = results_.find(full_name(plain_domain(n.domain), n.op, n.overload)); f != results_.end())
            while (static_cast<std::size_t>(to.output_size()) < f->second) to.add_output();
    std::vector<node_attribute const*> sorted; // in printing order, so that nested graphs get the same names
    for (node_attribute const& a : n.attributes) sorted.push_back(&a);
    std::sort(sorted.begin(), sorted.end(), [](auto const* a, auto const* b) {
        return a->name != b->name ? a->name < b->name : std::less<>()(a, b);
    });
    for (node_attribute const* a : sorted) write_attribute(*a, to.name(), *to.add_attribute());
    write_origin(n, origin, to);
}

void graph_writer::write_call(graph_node const& n, ::onnx::NodeProto& out) {
    graph_node numbered = n;
    std::vector<std::string> names;
    auto const number = [&](std::vector<value_id>& ids, char letter) {
        for (std::size_t i = 0; i != ids.size(); ++i) {
            if (ids[i] == no_value) continue;
            ids[i] = static_cast<value_id>(names.size());
            names.push_back(letter + std::to_string(i));
        }
    };
    number(numbered.inputs, 'i');
    number(numbered.outputs, 'o');
    write_node(numbered, {}, names, out);
}

/// The keys are those of torch.onnx, so that its tools understand them.
void graph_writer::write_origin(graph_node const& n, node_origin const& origin, ::onnx::NodeProto& to) const {
    if (ir_ >= 10) { // nodes have metadata_props since IR 10
        add_metadata(to, "source", n.source);
        add_metadata(to, "namespace", origin.module);
        add_metadata(to, "pkg.torch.onnx.stack_trace", origin.source);
        add_metadata(to, "pkg.torch.onnx.fx_node", origin.name);
        return;
    }
    std::string text = n.source;
    if (!origin.module.empty()) text += (text.empty() ? "" : ", ") + origin.module;
    if (!origin.source.empty()) text += (text.empty() ? "(" : " (") + origin.source + ')';
    if (!text.empty()) to.set_doc_string(text);
}

void graph_writer::write_attribute(node_attribute const& a, std::string const& node, ::onnx::AttributeProto& to) {
    using onnx::attr_type;
    std::string const what = node + ", attribute '" + a.name + "'";
    to.set_name(a.name);
    to.set_type(static_cast<::onnx::AttributeProto_AttributeType>(a.type));
    if (!a.reference.empty()) return to.set_ref_attr_name(a.reference);
    switch (a.type) {
    case attr_type::f: return to.set_f(a.f);
    case attr_type::i: return to.set_i(a.i);
    case attr_type::s: return to.set_s(a.s);
    case attr_type::floats: return to.mutable_floats()->Add(a.floats.begin(), a.floats.end());
    case attr_type::ints: return to.mutable_ints()->Add(a.ints.begin(), a.ints.end());
    case attr_type::strings: return to.mutable_strings()->Add(a.strings.begin(), a.strings.end());
    case attr_type::t:
        if (a.tensors.size() != 1) break;
        return write_tensor(a.tensors[0], what, *to.mutable_t());
    case attr_type::tensors:
        for (tensor const& t : a.tensors) write_tensor(t, what, *to.add_tensors());
        return;
    case attr_type::g:
        if (a.graphs.size() != 1) break;
        return void(write(a.graphs[0], *to.mutable_g(), false));
    case attr_type::graphs:
        for (graph_data const& g : a.graphs) write(g, *to.add_graphs(), false);
        return;
    case attr_type::type_proto:
        if (a.types.size() != 1) break;
        return write_type(a.types[0], *to.mutable_tp());
    case attr_type::type_protos:
        for (value_type const& t : a.types) write_type(t, *to.add_type_protos());
        return;
    case attr_type::sparse_tensor:
        if (a.tensors.size() != 2) break;
        write_tensor(a.tensors[0], what, *to.mutable_sparse_tensor()->mutable_values());
        write_tensor(a.tensors[1], what, *to.mutable_sparse_tensor()->mutable_indices());
        return to.mutable_sparse_tensor()->mutable_dims()->Add(a.ints.begin(), a.ints.end());
    default: break;
    }
    refuse(what + " has no value that can be written");
}

} // namespace ATON_NAMESPACE::detail
