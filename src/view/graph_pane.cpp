// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/ir/names.hpp>
#include <aton/ir/print.hpp>

#include "pane.hpp"

namespace ATON_NAMESPACE::view {

namespace {

constexpr std::size_t max_graph_text = 300; ///< bytes of a text of the graph

std::string shown(std::string const& text) { return clipped(text, max_graph_text); }

/// Text of any length from a file, before anything is done with it that copies it.
std::string_view start_of(std::string_view text) { return text.substr(0, 2 * max_graph_text); }
std::string cut(std::string_view text) { return std::string(start_of(text)); }

template <class List, class Print>
void print_list(std::string& out, List const& all, Print print) {
    out += '[';
    for (std::size_t i = 0; i != all.size() && out.size() < max_graph_text; ++i) {
        if (i != 0) out += ", ";
        print(out, all[i]);
    }
    out += ']';
}

std::string text_of(node_attribute const& a) {
    using onnx::attr_type;
    std::string out;
    if (!a.reference.empty()) return shown("@" + a.reference);
    switch (a.type) {
    case attr_type::f: detail::print_float(out, a.f); break;
    case attr_type::i: detail::print_number(out, a.i); break;
    case attr_type::s: detail::print_quoted(out, start_of(a.s)); break;
    case attr_type::floats: print_list(out, a.floats, detail::print_float<>); break;
    case attr_type::ints: print_list(out, a.ints, detail::print_number<std::int64_t>); break;
    case attr_type::strings:
        print_list(
            out, a.strings, [](std::string& to, std::string const& s) { detail::print_quoted(to, start_of(s)); });
        break;
    case attr_type::t:
        if (!a.tensors.empty()) {
            out = to_string(value_type{a.tensors[0].type, shape(a.tensors[0].sizes)}) + ' ';
            detail::print_tensor(out, a.tensors[0]);
        }
        break;
    case attr_type::tensors: print_list(out, a.tensors, detail::print_tensor<>); break;
    case attr_type::type_proto:
        if (!a.types.empty()) out = to_string(a.types[0]);
        break;
    case attr_type::type_protos: print_list(out, a.types, detail::print_type<>); break;
    case attr_type::sparse_tensor: out = "a sparse tensor"; break;
    default: break;
    }
    return shown(out);
}

/// "conv2d_1", also of torch.onnx's "%conv2d_1 : [num_users=1] = call_function[...]".
std::string name_of(node_origin const& origin) {
    std::string_view name = start_of(origin.name);
    if (name.starts_with('%')) name = name.substr(1, name.find(' ') - 1); // npos - 1 is beyond the end
    return shown(std::string(name));
}

/// The path of a module: as Aton writes it, from torch.onnx ("root: Net/layer1: Block/add: aten.add.Tensor"), or else the folder of the name
/// of the first result ("/layer1/conv1/Conv_output_0").
std::string module_of(node_origin const& origin, std::string const& result) {
    std::string_view path = origin.module;
    if (path.empty()) {
        path = result;
        std::size_t const slash = path.rfind('/');
        return slash == std::string_view::npos ? std::string() : cut(path.substr(0, slash));
    }
    if (path.starts_with("_empty_nn_module_stack")) return {}; // torch's placeholder for a node without a module
    if (path.find(": ") == std::string_view::npos) return cut(path);
    std::size_t const last = path.rfind('/'); // the last entry is the operator
    if (last == std::string_view::npos) return {};
    path = path.substr(0, last);
    path.remove_prefix(path.rfind('/') + 1); // npos + 1 is 0; names contain those of the modules around them
    return cut(path.substr(0, path.find(": ")));
}

class graph_reader {
public:
    pane read(graph_data const& g) {
        out_.kind = "graph";
        add_graph({}, -1, g, {});
        for (graph_function const& f : g.functions)
            for (graph_data const& body : f.body) {
                namer_ = {};
                std::string const label = f.domain + (f.domain.empty() ? "" : "::") + f.name;
                add_graph(shown("function " + label + (f.overload.empty() ? "" : "." + f.overload)), -1, body, {});
            }
        return std::move(out_);
    }

private:
    /// `around`: the numbers of the values of the graph around this one.
    void add_graph(std::string const& label, index owner, graph_data const& g, std::vector<index> const& around) {
        auto const names = namer_.add(g);
        std::vector<index> numbers(g.values.size(), -1);
        for (std::size_t v = 0; v != g.values.size(); ++v) {
            graph_value const& x = g.values[v];
            if (x.outer != no_value && x.outer < around.size()) {
                numbers[v] = around[x.outer];
                continue;
            }
            bool const has_type = x.type.dtype != dtype::undefined;
            numbers[v] = static_cast<index>(out_.values.size());
            out_.values.push_back({shown(names[v]),
                                   has_type ? shown(to_string(x.type)) : std::string(),
                                   x.initializer >= 0 ? value_role::weight : value_role::computed});
        }
        auto const number_of = [&](value_id id) { return id < numbers.size() ? numbers[id] : index{-1}; };
        auto const number = static_cast<index>(out_.graphs.size());
        out_.graphs.push_back({label, owner, {}, {}});
        for (value_id const id : g.inputs) {
            if (g.values[id].initializer >= 0) continue;
            out_.values[static_cast<std::size_t>(numbers[id])].role = value_role::input;
            out_.graphs.back().inputs.push_back(numbers[id]);
        }
        for (value_id const id : g.outputs)
            if (id < names.size()) out_.graphs.back().outputs.emplace_back(shown(names[id]), numbers[id]);
        for (graph_node const& n : g.nodes) {
            auto const added = static_cast<index>(out_.nodes.size());
            pane_node to = node_of(g, n);
            to.graph = number;
            for (value_id const id : n.inputs)
                if (index const v = number_of(id); v >= 0) to.inputs.push_back(v);
            for (value_id const id : n.outputs)
                if (index const v = number_of(id); v >= 0) to.results.push_back(v);
            out_.nodes.push_back(std::move(to));
            for (node_attribute const& a : n.attributes)
                for (graph_data const& inner : a.graphs) add_graph(shown(a.name), added, inner, numbers);
        }
        namer_.leave();
    }

    static pane_node node_of(graph_data const& g, graph_node const& n) {
        node_origin const unknown;
        node_origin const& from = n.origin < g.origins.size() ? g.origins[n.origin] : unknown;
        bool const has_result = !n.outputs.empty() && n.outputs[0] < g.values.size();
        pane_node to;
        to.op = shown(n.domain.empty() ? n.op : n.domain + "::" + n.op);
        if (!n.overload.empty()) to.op = shown(to.op + "." + n.overload);
        to.name = name_of(from);
        to.overload = shown(n.source);
        to.module = module_of(from, has_result ? g.values[n.outputs[0]].name : std::string());
        to.source = shown(from.source);
        for (node_attribute const& a : n.attributes)
            if (a.graphs.empty()) to.attributes.emplace_back(shown(a.name), text_of(a));
        std::sort(to.attributes.begin(), to.attributes.end());
        return to;
    }

    value_names<> namer_;
    pane out_;
};

} // namespace

pane pane_of(graph_data const& g) { return graph_reader().read(g); }

} // namespace ATON_NAMESPACE::view
