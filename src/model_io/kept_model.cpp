// SPDX-License-Identifier: MIT
// Reads a model for passes and writes it again. Tensors with many bytes stay in the files, sub-byte ones are hidden from the passes.
#include <aton/ir/producers.hpp>
#include <aton/model_io/kept_model.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <exception>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include <onnx/shape_inference/implementation.h>

#include "kept_frame.hpp"
#include "mapped_data.hpp"
#include "model_frame.hpp"
#include "model_soundness.hpp"
#include "output_file.hpp"
#include "read_hooks.hpp"
#include "read_tensor.hpp"
#include "system/paths.hpp"
#include "tensor_cuts.hpp"

#include <aton/core/error.hpp>
#include <aton/onnx/registry.hpp>

namespace ATON_NAMESPACE {

namespace {

constexpr std::size_t min_cut_bytes = 1024;         // as those that go into a data file
constexpr std::int64_t first_ir_with_constants = 4; // before, every initializer is an input

using detail::one_line;

bool is_outside(::onnx::TensorProto const& t) { return t.data_location() == ::onnx::TensorProto_DataLocation_EXTERNAL; }

/// Visits a graph and its nested graphs.
template <class Graph, class Function>
void for_each_graph(Graph& g, Function const& f, bool is_main = true) {
    f(g, is_main);
    if constexpr (std::is_const_v<Graph>) {
        for (auto const& n : g.node())
            for (auto const& a : n.attribute()) {
                if (a.has_g()) for_each_graph(a.g(), f, false);
                for (auto const& inner : a.graphs()) for_each_graph(inner, f, false);
            }
    } else {
        for (auto& n : *g.mutable_node())
            for (auto& a : *n.mutable_attribute()) {
                if (a.has_g()) for_each_graph(*a.mutable_g(), f, false);
                for (auto& inner : *a.mutable_graphs()) for_each_graph(inner, f, false);
            }
    }
}

void forget_shape(::onnx::TypeProto& type) {
    if (type.has_tensor_type()) type.mutable_tensor_type()->clear_shape();
    if (type.has_sequence_type()) forget_shape(*type.mutable_sequence_type()->mutable_elem_type());
    if (type.has_optional_type()) forget_shape(*type.mutable_optional_type()->mutable_elem_type());
}

/// Removes declared shapes of everything but the inputs of the model: exporters get them wrong, and runtimes only warn of it.
void forget_shapes(::onnx::GraphProto& g, bool is_main) {
    std::unordered_set<std::string> given;
    for (auto const& i : g.input()) given.insert(i.name());
    for (auto const& i : g.initializer()) given.insert(i.name());
    google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto> computed;
    for (auto& v : *g.mutable_value_info()) {
        if (given.contains(v.name()) || !v.has_type()) continue;
        forget_shape(*v.mutable_type());
        *computed.Add() = std::move(v);
    }
    g.mutable_value_info()->Swap(&computed);
    for (auto& v : *g.mutable_output())
        if (v.has_type()) forget_shape(*v.mutable_type());
    if (!is_main)
        for (auto& v : *g.mutable_input())
            if (v.has_type()) forget_shape(*v.mutable_type());
}

/// Removes the names ("unk__7") that inference generates for unknown sizes.
void forget_generated_symbols(::onnx::GraphProto& g, bool /*is_main*/) {
    for (auto* const list : {g.mutable_value_info(), g.mutable_output()})
        for (auto& v : *list) {
            if (!v.type().has_tensor_type() || !v.type().tensor_type().has_shape()) continue;
            for (auto& d : *v.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
                if (d.dim_param().starts_with("unk__")) d.clear_dim_param();
        }
}

/// The domain of operators that ONNX does not define in its own, while passes run: they know no operator of another domain.
constexpr std::string_view undefined_domain = "ai.onnx.undefined";

/// Moves the operators that ONNX does not define at the opset of the graph to a domain of their own, or back.
void mark_undefined(graph_data& g, bool mark) {
    for (graph_node& n : g.nodes) {
        if (mark && n.domain.empty() && !onnx::find("", n.op, g.opset)) n.domain = undefined_domain;
        else if (!mark && n.domain == undefined_domain) n.domain.clear();
        for (node_attribute& a : n.attributes)
            for (graph_data& nested : a.graphs) mark_undefined(nested, mark);
    }
}

/// The nodes in the order in which a reader finishes them.
void collect_nodes(::onnx::GraphProto const& g, std::vector<::onnx::NodeProto const*>& to) {
    for (auto const& n : g.node()) {
        for (auto const& a : n.attribute()) {
            if (a.has_g()) collect_nodes(a.g(), to);
            for (auto const& inner : a.graphs()) collect_nodes(inner, to);
        }
        to.push_back(&n);
    }
}

/// Makes initializers of the large tensors of Constant nodes.
void hoist_constants(::onnx::GraphProto& g) {
    std::unordered_set<std::string> outputs;
    for (auto const& o : g.output()) outputs.insert(o.name());
    google::protobuf::RepeatedPtrField<::onnx::NodeProto> kept;
    for (auto& n : *g.mutable_node()) {
        bool const is_constant = n.op_type() == "Constant" && n.domain().empty() && n.attribute_size() == 1 &&
                                 n.output_size() == 1 && n.attribute(0).name() == "value" && n.attribute(0).has_t();
        if (!is_constant || !is_outside(n.attribute(0).t()) || outputs.contains(n.output(0))) {
            *kept.Add() = std::move(n);
            continue;
        }
        auto& made = *g.add_initializer();
        made.Swap(n.mutable_attribute(0)->mutable_t());
        made.set_name(n.output(0));
    }
    g.mutable_node()->Swap(&kept);
}

/// Makes Constant nodes of the initializers that are not inputs.
void lower_initializers(graph_data& g) {
    std::vector<graph_initializer> kept;
    std::vector<graph_node> nodes;
    for (graph_initializer& i : g.initializers) {
        graph_value& v = g.values[i.value];
        if (std::find(g.inputs.begin(), g.inputs.end(), i.value) != g.inputs.end()) {
            v.initializer = static_cast<std::int64_t>(kept.size());
            kept.push_back(std::move(i));
            continue;
        }
        v.initializer = -1;
        node_attribute value;
        value.name = "value";
        value.type = onnx::attr_type::t;
        value.tensors.push_back(i.stored != nullptr ? load(*i.stored) : std::move(i.data));
        graph_node n;
        n.op = "Constant";
        n.outputs = {i.value};
        n.attributes.push_back(std::move(value));
        nodes.push_back(std::move(n));
    }
    g.initializers = std::move(kept);
    std::move(g.nodes.begin(), g.nodes.end(), std::back_inserter(nodes));
    g.nodes = std::move(nodes);
    number_producers(g);
    for (graph_node& n : g.nodes)
        for (node_attribute& a : n.attributes)
            for (graph_data& nested : a.graphs) lower_initializers(nested);
}

} // namespace

struct kept_model::parts {
    explicit parts(std::string const& path) : file(path, system::links::followed), external(path) {
        if (file.bytes().empty()) throw error(one_line(path) + ": is empty");
        cut = detail::cut_tensors(file.bytes(), min_cut_bytes);
        model = detail::parse_model_proto(cut.rest, path);
        cut.rest = {};
        if (model.ir_version() >= first_ir_with_constants) hoist_constants(*model.mutable_graph());
        taken.resize(cut.bytes.size());
    }

    /// The bytes of a tensor that is not in the message, of which it needs so many.
    file_span bytes_of(::onnx::TensorProto const& t, std::uint64_t needed) {
        std::optional<std::size_t> const number = detail::cut_number(t);
        if (!number) {
            external_bytes += needed;
            return external.find(t, needed);
        }
        if (*number >= cut.bytes.size() || taken[*number]) throw error("refers to no file");
        taken[*number] = true;
        std::string_view const bytes = cut.bytes[*number];
        if (bytes.size() != needed)
            throw error("has " + std::to_string(bytes.size()) + " bytes, but its sizes need " + std::to_string(needed));
        return file.span(static_cast<std::uint64_t>(bytes.data() - file.bytes().data()), needed);
    }

    /// A tensor that is not in the message. Types below 8 bits are read as bytes.
    stored_tensor find(::onnx::TensorProto const& t) {
        dtype const type = detail::read_dtype(t.data_type());
        std::vector<std::int64_t> sizes(t.dims().begin(), t.dims().end());
        try {
            std::size_t const count = detail::require_sizes({type, sizes, {}}, "");
            if (bits(type) == 0 || type == dtype::string) throw error("has a dtype that cannot be stored in a file");
            if (count > (std::uint64_t{1} << 57U)) throw error("has more elements than a file can have");
            std::uint64_t const needed = (std::uint64_t{count} * bits(type) + 7) / 8;
            if (bits(type) < 8) sizes = {static_cast<std::int64_t>(needed)};
            std::vector<std::int64_t> strides(sizes.size(), 1);
            for (std::size_t i = sizes.size(); i-- > 1;)
                strides[i - 1] = strides[i] * std::max<std::int64_t>(sizes[i], 1);
            stored_part part;
            part.bytes = bytes_of(t, needed);
            part.sizes = sizes;
            part.strides = std::move(strides);
            return {bits(type) < 8 ? dtype::uint8 : type, std::move(sizes), {std::move(part)}};
        } catch (error const& e) {
            throw error("tensor '" + t.name() + "' " + e.what());
        }
    }

    [[nodiscard]] tensor load(::onnx::TensorProto const& t) { return load_found(t, find(t)); }

    bool take(::onnx::TensorProto const& t, graph_data& g, value_id id, bool is_main) {
        if (detail::read_dtype(t.data_type()) == dtype::undefined && why.empty())
            why = "tensor '" + t.name() + "' has the dtype " + std::to_string(t.data_type()) + ", which is not known";
        if (!is_outside(t)) return false;
        bool const is_narrow = bits(detail::read_dtype(t.data_type())) < 8;
        stored_tensor const& found = stored.emplace_back(find(t));
        if (found.element_count() == 0 || (is_narrow && !is_main)) {
            g.set_initializer(id, load_found(t, found));
            return true;
        }
        from.tensors.emplace(&found, &t);
        if (!is_narrow) {
            g.set_initializer(id, tensor{}, &found);
            return true;
        }
        hidden.push_back({t.name(), &found, false});
        if (std::find(g.inputs.begin(), g.inputs.end(), id) == g.inputs.end()) {
            g.inputs.push_back(id);
            hidden.back().is_extra_input = true;
        }
        return true;
    }

    static tensor load_found(::onnx::TensorProto const& t, stored_tensor const& found) {
        tensor out{detail::read_dtype(t.data_type()), {t.dims().begin(), t.dims().end()}, {}};
        if (found.element_count() != 0) out.bytes = aton::load(found).bytes;
        return out;
    }

    struct hidden_tensor {
        std::string name;
        stored_tensor const* stored;
        bool is_extra_input; ///< only for the passes
    };

    detail::mapped_data file;
    detail::external_files external;
    detail::cut_model cut;
    std::vector<bool> taken; ///< by number of a cut tensor
    std::uint64_t external_bytes = 0;
    std::string why;
    std::deque<stored_tensor> stored;
    std::vector<hidden_tensor> hidden;
    ::onnx::ModelProto model; ///< as in the file, but large constants are initializers
    ::onnx::ModelProto typed; ///< with the types that inference knows
    detail::kept_messages from;
};

kept_model::kept_model(std::string const& path) {
    parts_ = std::make_unique<parts>(path);
    parts& p = *parts_;
    try {
        detail::require_sound(p.model);
        p.from.model = &p.model;
        collect_nodes(p.model.graph(), p.from.nodes);
        why_fixed = detail::why_fixed(p.model);
        if (!why_fixed.empty()) return;
        p.typed = p.model;
        for_each_graph(*p.typed.mutable_graph(), forget_shapes);
        try {
            ::onnx::ModelProto inferred = p.typed;
            ::onnx::shape_inference::InferShapes(
                inferred, ::onnx::OpSchemaRegistry::Instance(), ::onnx::ShapeInferenceOptions(false, 0, true));
            p.typed.Swap(&inferred);
        } catch (std::exception const&) { // the passes infer what they can
        }
        for_each_graph(*p.typed.mutable_graph(), forget_generated_symbols);
        detail::read_hooks hooks;
        hooks.take = [&](auto const& t, graph_data& g, value_id id, bool is_main) { return p.take(t, g, id, is_main); };
        hooks.load = [&](auto const& t) { return p.load(t); };
        graph = detail::read_graph(p.typed, path, hooks);
        mark_undefined(graph, true);
        why_fixed = p.why;
    } catch (error const& e) {
        std::string const text = e.what();
        throw error(text.starts_with(path) ? text : one_line(path + ": " + text));
    }
}

kept_model::~kept_model() = default;

std::size_t kept_model::node_count() const { return parts_->from.nodes.size(); }
std::uint64_t kept_model::byte_count() const { return parts_->file.bytes().size() + parts_->external_bytes; }

std::vector<std::string> kept_model::data_files() const {
    std::vector<std::string> out;
    for (detail::mapped_data const& f : parts_->external.all()) out.push_back(f.path());
    return out;
}

weight_report kept_model::write(graph_data changed, std::string const& path, weight_options const& weights) const {
    parts const& p = *parts_;
    changed.outputs.resize(static_cast<std::size_t>(p.model.graph().output_size()));
    mark_undefined(changed, false);
    for (parts::hidden_tensor const& h : p.hidden) {
        auto const is_named = [&](value_id id) { return changed.values[id].name == h.name; };
        auto const at = std::find_if(changed.inputs.begin(), changed.inputs.end(), is_named);
        if (at == changed.inputs.end()) continue;
        value_id const id = *at;
        if (h.is_extra_input) changed.inputs.erase(at);
        changed.set_initializer(id, tensor{}, h.stored);
    }
    if (p.model.ir_version() < first_ir_with_constants) lower_initializers(changed);
    detail::kept_frame const editor(p.from);
    detail::frame_options options;
    options.ir_version = static_cast<int>(p.model.ir_version());
    options.editor = &editor;
    return detail::write_model(changed, path, weights, options);
}

void kept_model::copy(std::string const& path) const {
    bool refers = !data_files().empty();
    if (graph.opset == 0) // was not read
        for_each_graph(std::as_const(parts_->model).graph(), [&](auto const& g, bool /*is_main*/) {
            for (auto const& t : g.initializer()) refers = refers || (is_outside(t) && !detail::cut_number(t));
        });
    namespace fs = std::filesystem;
    std::error_code ignored;
    auto const folder = [&](std::string const& of) {
        fs::path const parent = system::path_of(of).parent_path();
        return fs::weakly_canonical(parent.empty() ? "." : parent, ignored);
    };
    if (refers && folder(path) != folder(parts_->file.path()))
        throw error(one_line(path) + ": the model refers to files in another folder, and is not changed; copy both");
    detail::output_file out(path);
    out.copy(parts_->file.span(0, parts_->file.bytes().size()));
    out.close();
    out.publish();
}

std::size_t count_nodes(graph_data const& graph) {
    std::size_t n = graph.nodes.size();
    for (graph_node const& node : graph.nodes)
        for (node_attribute const& a : node.attributes)
            for (graph_data const& nested : a.graphs) n += count_nodes(nested);
    return n;
}

} // namespace ATON_NAMESPACE
