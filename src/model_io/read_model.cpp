// SPDX-License-Identifier: MIT
// Converts an untrusted ModelProto to a graph.
#include <aton/model_io/model_io.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model_needs.hpp"
#include "proto.hpp"
#include "read_hooks.hpp"
#include "read_tensor.hpp"

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE {

namespace {

shape read_shape(::onnx::TensorShapeProto const& from) {
    std::vector<dim> dims;
    for (auto const& d : from.dim()) {
        if (d.has_dim_value() && d.dim_value() >= 0) dims.emplace_back(d.dim_value());
        else dims.push_back(d.has_dim_param() ? dim(d.dim_param()) : dim());
    }
    return shape(dims);
}

value_type read_type(::onnx::TypeProto const& from) {
    value_type out;
    ::onnx::TypeProto const* type = &from;
    bool const optional = type->has_optional_type();
    if (optional) type = &type->optional_type().elem_type();
    bool const sequence = type->has_sequence_type();
    if (sequence) type = &type->sequence_type().elem_type();
    if (sequence) out.kind = optional ? value_kind::optional_sequence : value_kind::sequence;
    else if (optional) out.kind = value_kind::optional_tensor;
    if (!type->has_tensor_type()) return out; // maps, sparse tensors and the like
    out.dtype = detail::read_dtype(type->tensor_type().elem_type());
    if (type->tensor_type().has_shape()) out.shape = read_shape(type->tensor_type().shape());
    return out;
}

template <class Tensor>
shape sizes_as_shape(Tensor const& from) {
    std::vector<dim> dims;
    for (std::int64_t size : from.dims()) dims.push_back(size >= 0 ? dim(size) : dim());
    return shape(dims);
}

class model_reader {
public:
    model_reader(std::string_view name, model& out, detail::read_hooks* hooks = nullptr)
        : name_(name),
          out_(out),
          hooks_(hooks) {}

    graph_data read(::onnx::GraphProto const& from) {
        graph_data g = empty_graph();
        g.name = from.name();
        enter(g);
        interface(from, g);
        definitions(from.node(), g);
        for (auto const& v : from.value_info()) set_type(g, v);
        for (auto const& v : from.output()) set_type(g, v);
        for (auto const& n : from.node()) node(n, g);
        for (auto const& o : from.output()) g.outputs.push_back(find(o.name()));
        leave();
        return g;
    }

    graph_function read(::onnx::FunctionProto const& from) {
        graph_function f{std::string(detail::plain_domain(from.domain())), from.name(), from.overload(), {}, {}};
        f.attributes.assign(from.attribute().begin(), from.attribute().end());
        for (auto const& a : from.attribute_proto()) f.attributes.push_back(a.name());
        imports(from);
        for (auto const& a : from.attribute_proto()) f.defaults.push_back(attribute(a, "function " + from.name()));
        graph_data& body = f.body.emplace_back(empty_graph());
        body.name = from.name();
        enter(body);
        for (std::string const& i : from.input()) scopes_.back().ids.emplace(i, body.add_input(i, value_type{}));
        definitions(from.node(), body);
        for (auto const& v : from.value_info()) set_type(body, v);
        for (auto const& n : from.node()) node(n, body);
        for (std::string const& o : from.output()) body.outputs.push_back(find(o));
        leave();
        return f;
    }

    template <class Proto>
    void imports(Proto const& from) {
        opset_ = 0;
        imports_.clear();
        for (auto const& i : from.opset_import()) {
            auto const version = i.version() > 0 && i.version() < 1 << 20 ? static_cast<int>(i.version()) : 0;
            if (i.domain().empty() || i.domain() == "ai.onnx") opset_ = version;
            else imports_.emplace_back(i.domain(), version);
        }
    }

private:
    struct scope {
        std::unordered_map<std::string, value_id> ids;
        graph_data* graph = nullptr;
        std::map<std::array<std::string, 3>, std::uint32_t> origins; ///< indices by name, module and source
    };

    [[noreturn]] void refuse(std::string const& what) const { throw error(name_ + ": " + detail::one_line(what)); }

    [[nodiscard]] graph_data empty_graph() const {
        graph_data g;
        g.opset = opset_;
        g.opset_imports = imports_;
        return g;
    }

    void enter(graph_data& g) { scopes_.emplace_back().graph = &g; }
    void leave() {
        scopes_.pop_back();
        pending_.pop_back();
    }

    void interface(::onnx::GraphProto const& from, graph_data& g) {
        scope& s = scopes_.back();
        for (auto const& i : from.input()) s.ids.emplace(i.name(), g.add_input(i.name(), read_type(i.type())));
        for (auto const& i : from.initializer()) initializer(i, g);
        for (auto const& i : from.sparse_initializer()) sparse_initializer(i, g);
    }

    /// Adds an equivalent Constant node.
    void sparse_initializer(::onnx::SparseTensorProto const& from, graph_data& g) {
        std::string const& name = from.values().name();
        auto const [found, is_new] = scopes_.back().ids.emplace(name, 0);
        if (!is_new) refuse("sparse initializer '" + name + "' is also an input or another initializer");
        node_attribute a;
        a.name = "sparse_value";
        a.type = onnx::attr_type::sparse_tensor;
        read_sparse(from, "sparse initializer '" + name + "'", a);
        value_id const id = g.add_value({a.tensors[0].type, sizes_as_shape(from)}, name);
        g.values[id].producer = static_cast<std::int64_t>(g.nodes.size());
        found->second = id;
        graph_node n;
        n.op = "Constant";
        n.outputs = {id};
        n.attributes.push_back(std::move(a));
        g.nodes.push_back(std::move(n));
    }

    /// Adds all results before any node is read, so that the order of nodes does not matter.
    template <class Nodes>
    void definitions(Nodes const& nodes, graph_data& g) {
        scope& s = scopes_.back();
        std::vector<value_id> definitions;
        auto producer = static_cast<std::int64_t>(g.nodes.size());
        for (auto const& n : nodes) {
            for (std::string const& o : n.output()) {
                if (o.empty()) continue;
                value_id const id = g.add_value({}, o);
                g.values[id].producer = producer;
                s.ids.emplace(o, id); // a second definition gets its own value, which is never used
                definitions.push_back(id);
            }
            ++producer;
        }
        std::reverse(definitions.begin(), definitions.end());
        pending_.push_back(std::move(definitions));
    }

    void initializer(::onnx::TensorProto const& from, graph_data& g) {
        auto const [found, is_new] = scopes_.back().ids.emplace(from.name(), 0);
        if (is_new)
            found->second = g.add_value({detail::read_dtype(from.data_type()), sizes_as_shape(from)}, from.name());
        if (hooks_ != nullptr && hooks_->take(from, g, found->second, scopes_.size() == 1)) return;
        g.set_initializer(found->second, read_tensor(from, "initializer '" + from.name() + "'"));
    }

    /// The value of this name in the innermost graph. A value of an outer graph is captured by every graph in between. An unknown name
    /// becomes an undefined value, which the checker reports.
    value_id find(std::string const& name) {
        if (name.empty()) return no_value;
        if (auto const known = scopes_.back().ids.find(name); known != scopes_.back().ids.end()) return known->second;
        std::size_t depth = scopes_.size() - 1;
        while (depth != 0 && scopes_[depth - 1].ids.count(name) == 0) --depth;
        if (depth == 0) return scopes_.back().ids[name] = scopes_.back().graph->add_value(value_type{}, name);
        for (; depth != scopes_.size(); ++depth) {
            graph_data const& around = *scopes_[depth - 1].graph;
            value_id const outer = scopes_[depth - 1].ids[name];
            graph_data& here = *scopes_[depth].graph;
            value_id const id = here.add_value(around.values[outer].type);
            here.values[id].outer = outer;
            scopes_[depth].ids[name] = id;
        }
        return scopes_.back().ids[name];
    }

    void set_type(graph_data& g, ::onnx::ValueInfoProto const& v) {
        auto const known = scopes_.back().ids.find(v.name());
        if (known != scopes_.back().ids.end() && v.has_type()) g.values[known->second].type = read_type(v.type());
    }

    void node(::onnx::NodeProto const& from, graph_data& g) {
        graph_node n;
        n.domain = detail::plain_domain(from.domain());
        n.op = from.op_type();
        n.overload = from.overload();
        for (std::string const& i : from.input()) n.inputs.push_back(find(i));
        for (std::string const& o : from.output()) {
            n.outputs.push_back(o.empty() ? no_value : pending_.back().back());
            if (!o.empty()) pending_.back().pop_back();
        }
        for (auto const& a : from.attribute())
            n.attributes.push_back(attribute(a, from.op_type() + " '" + from.name() + "'"));
        node_origin const origin = hooks_ == nullptr ? where_from(from, n.source) : numbered(from);
        if (!origin.name.empty() || !origin.module.empty() || !origin.source.empty()) n.origin = index_of(origin, g);
        g.nodes.push_back(std::move(n));
    }

    /// An origin of its own, which finds the message again.
    node_origin numbered(::onnx::NodeProto const& from) { return {from.name(), std::to_string(hooks_->nodes++), {}}; }

    /// From metadata_props, or before IR 10 from the doc string: "aten::linear, fc (model.py:12 in forward)".
    static node_origin where_from(::onnx::NodeProto const& from, std::string& source) {
        node_origin origin;
        source = from.doc_string();
        for (auto const& entry : from.metadata_props()) {
            if (entry.key() == "source") source = entry.value();
            if (entry.key() == "namespace") origin.module = entry.value();
            if (entry.key() == "pkg.torch.onnx.stack_trace") origin.source = entry.value();
            if (entry.key() == "pkg.torch.onnx.fx_node") origin.name = entry.value();
        }
        std::size_t const end = source.find_first_of(", (");
        if (from.metadata_props_size() != 0 || end == std::string::npos || source.find("::") >= end) return origin;
        std::string_view rest = std::string_view(source).substr(end);
        if (std::size_t const open = rest.find(" ("); open != std::string_view::npos && rest.back() == ')') {
            origin.source = rest.substr(open + 2, rest.size() - open - 3);
            rest = rest.substr(0, open);
        }
        if (rest.starts_with(", ")) origin.module = rest.substr(2);
        else if (!rest.empty()) return {}; // not written by Aton
        origin.name = from.name().substr(0, from.name().find('/'));
        source.resize(end);
        return origin;
    }

    std::uint32_t index_of(node_origin const& origin, graph_data& g) {
        auto const [found, is_new] = scopes_.back().origins.try_emplace(
            std::array{origin.name, origin.module, origin.source}, static_cast<std::uint32_t>(g.origins.size()));
        if (is_new) g.origins.push_back(origin);
        return found->second;
    }

    node_attribute attribute(::onnx::AttributeProto const& from, std::string const& owner) {
        using onnx::attr_type;
        node_attribute a;
        a.name = from.name();
        a.type = static_cast<attr_type>(from.type());
        std::string const what = owner + ", attribute '" + a.name + "'";
        a.reference = from.ref_attr_name();
        a.i = from.i();
        a.f = from.f();
        a.s = from.s();
        a.ints.assign(from.ints().begin(), from.ints().end());
        a.floats.assign(from.floats().begin(), from.floats().end());
        a.strings.assign(from.strings().begin(), from.strings().end());
        if (from.has_t()) a.tensors.push_back(read_tensor(from.t(), what));
        for (auto const& t : from.tensors()) a.tensors.push_back(read_tensor(t, what));
        if (from.has_g()) a.graphs.push_back(read(from.g()));
        for (auto const& g : from.graphs()) a.graphs.push_back(read(g));
        if (from.has_tp()) a.types.push_back(read_type(from.tp()));
        for (auto const& t : from.type_protos()) a.types.push_back(read_type(t));
        if (from.has_sparse_tensor()) read_sparse(from.sparse_tensor(), what, a);
        return a;
    }

    tensor read_tensor(::onnx::TensorProto const& from, std::string const& what) {
        bool const is_outside = from.data_location() == ::onnx::TensorProto_DataLocation_EXTERNAL;
        if (hooks_ != nullptr && is_outside) return hooks_->load(from);
        tensor t = detail::read_tensor(from, name_ + ": " + what);
        if (is_outside) external(from);
        return t;
    }

    /// Reads values, indices and sizes. Their consistency is left to the checker.
    void read_sparse(::onnx::SparseTensorProto const& from, std::string const& what, node_attribute& to) {
        to.tensors.push_back(read_tensor(from.values(), what + ", values"));
        to.tensors.push_back(read_tensor(from.indices(), what + ", indices"));
        to.ints.assign(from.dims().begin(), from.dims().end());
    }

    void external(::onnx::TensorProto const& from) { out_.external.push_back(detail::external_of(from)); }

    std::string name_;
    model& out_;
    detail::read_hooks* hooks_; ///< null: none
    int opset_ = 0;
    std::vector<std::pair<std::string, int>> imports_;
    std::vector<scope> scopes_;
    std::vector<std::vector<value_id>> pending_; ///< results of the remaining nodes, last first
};

} // namespace

external_tensor detail::external_of(::onnx::TensorProto const& from) {
    external_tensor e;
    e.name = from.name();
    for (auto const& entry : from.external_data()) {
        bool const number = !entry.value().empty() && entry.value().size() < 19 &&
                            entry.value().find_first_not_of("0123456789") == std::string::npos;
        if (entry.key() == "location") e.location = entry.value();
        if (entry.key() == "offset" && number) e.offset = std::stoll(entry.value());
        if (entry.key() == "length" && number) e.length = std::stoll(entry.value());
    }
    return e;
}

value_type detail::type_of(::onnx::TypeProto const& from) { return read_type(from); }

model detail::read_model_proto(::onnx::ModelProto const& proto, std::string_view name) {
    model out;
    out.ir_version = proto.ir_version();
    out.producer_name = proto.producer_name();
    out.producer_version = proto.producer_version();
    out.doc = proto.doc_string();
    for (auto const& entry : proto.metadata_props()) out.metadata.emplace_back(entry.key(), entry.value());
    model_reader reader(name, out);
    reader.imports(proto);
    out.graph = reader.read(proto.graph());
    for (auto const& f : proto.functions()) out.graph.functions.push_back(reader.read(f));
    return out;
}

graph_data detail::read_graph(::onnx::ModelProto const& proto, std::string_view name, read_hooks& hooks) {
    model unused;
    model_reader reader(name, unused, &hooks);
    reader.imports(proto);
    return reader.read(proto.graph());
}

model parse_model(std::string_view bytes, std::string_view name) {
    return detail::read_model_proto(detail::parse_model_proto(bytes, name), name);
}

model read_model(std::string const& path) { return parse_model(detail::read_file(path), path); }

} // namespace ATON_NAMESPACE
