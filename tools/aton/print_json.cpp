// SPDX-License-Identifier: MIT
// aton print --json: a program or a graph as JSON. docs/json.md describes it.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/json_writer.hpp>
#include <aton/ir/names.hpp>
#include <aton/ir/print.hpp>
#include <aton/program/subgraphs.hpp>
#include <aton/program/text_writer.hpp>

#include "commands.hpp"

namespace aton::tool {

namespace {

/// Tensors with more elements have no "elements".
constexpr std::int64_t max_elements = 64;

void write_shape(json_writer& out, shape const& s) {
    if (!s.has_rank()) {
        out.null();
        return;
    }
    out.begin_array();
    for (std::size_t i = 0; i != s.rank(); ++i) {
        if (s[i].is_static()) out.value(s[i].size());
        else if (s[i].is_symbolic()) out.value(std::string_view(s[i].symbol()));
        else out.null();
    }
    out.end_array();
}

void write_dtype(json_writer& out, dtype type) {
    if (type == dtype::undefined) out.null();
    else out.value(name(type));
}

class graph_json {
public:
    explicit graph_json(json_writer& out) : out_(out) {}

    void write(graph_data const& g) {
        value_names<>::list const names = namer_.add(g);
        out_.begin_object().name("inputs").begin_array();
        for (value_id const id : g.inputs) value(g, names, id);
        out_.end_array().name("weights").begin_array();
        for (graph_initializer const& i : g.initializers) value(g, names, i.value);
        out_.end_array().name("outputs").begin_array();
        for (value_id const id : g.outputs) value(g, names, id);
        out_.end_array().name("nodes").array(g.nodes, [&](graph_node const& n) { node(g, names, n); });
        out_.end_object();
        namer_.leave();
    }

private:
    void value(graph_data const& g, value_names<>::list const& names, value_id id) {
        if (id >= names.size()) {
            out_.null(); // an output that nobody uses
            return;
        }
        value_type const& type = g.values[id].type;
        out_.begin_object().field("name", names[id]).field("type", to_string(type)).name("dtype");
        write_dtype(out_, type.dtype);
        write_shape(out_.name("shape"), type.shape);
        out_.end_object();
    }

    void node(graph_data const& g, value_names<>::list const& names, graph_node const& n) {
        node_origin const unknown;
        node_origin const& from = n.origin < g.origins.size() ? g.origins[n.origin] : unknown;
        out_.new_line("  ").begin_object().field("op", n.op).field("domain", n.domain).field("overload", n.overload);
        out_.name("inputs").array(n.inputs, [&](value_id id) {
            if (id < names.size()) out_.value(names[id]);
            else out_.null();
        });
        out_.name("outputs").array(n.outputs, [&](value_id id) { value(g, names, id); });
        out_.name("attributes").begin_object();
        for (node_attribute const& a : n.attributes) attribute(a);
        out_.end_object().field("source_op", n.source).field("source_node", from.name);
        out_.field("module", from.module).field("place", from.source).end_object();
    }

    void attribute(node_attribute const& a) {
        using onnx::attr_type;
        out_.name(a.name);
        if (!a.reference.empty()) {
            out_.begin_object().field("reference", a.reference).end_object();
            return;
        }
        auto const one_tensor = [&](aton::tensor const& t) { tensor(t); };
        auto const one_graph = [&](graph_data const& inner) { write(inner); };
        auto const one_type = [&](value_type const& t) { out_.value(to_string(t)); };
        switch (a.type) {
        case attr_type::f: number(a.f); break;
        case attr_type::i: out_.value(a.i); break;
        case attr_type::s: out_.value(a.s); break;
        case attr_type::floats: out_.array(a.floats, [&](float f) { number(f); }); break;
        case attr_type::ints: out_.array(a.ints); break;
        case attr_type::strings: out_.array(a.strings); break;
        case attr_type::t: a.tensors.empty() ? void(out_.null()) : tensor(a.tensors[0]); break;
        case attr_type::g: a.graphs.empty() ? void(out_.null()) : write(a.graphs[0]); break;
        case attr_type::type_proto: a.types.empty() ? void(out_.null()) : one_type(a.types[0]); break;
        case attr_type::tensors: out_.array(a.tensors, one_tensor); break;
        case attr_type::graphs: out_.array(a.graphs, one_graph); break;
        case attr_type::type_protos: out_.array(a.types, one_type); break;
        default: out_.null(); break;
        }
    }

    void number(float f) { out_.value(static_cast<double>(f), 9); }

    void tensor(aton::tensor const& t) {
        out_.begin_object().name("dtype");
        write_dtype(out_, t.type);
        out_.name("shape").array(t.sizes).name("elements");
        std::int64_t const n = t.element_count();
        bool const is_text = t.type == dtype::string;
        bool const is_readable =
            aton::tensor::can_hold(t.type) && !is_complex(t.type) &&
            static_cast<std::size_t>(n) <= t.bytes.size() / std::max<std::size_t>(bits(t.type) / 8, 1);
        if (n > max_elements || (is_text ? t.strings.size() != static_cast<std::size_t>(n) : !is_readable)) {
            out_.null();
        } else if (is_text) {
            out_.array(t.strings);
        } else {
            out_.begin_array();
            for (std::size_t i = 0; i != static_cast<std::size_t>(n); ++i) element(t.at(i), t.type);
            out_.end_array();
        }
        out_.end_object();
    }

    void element(scalar const& s, dtype type) {
        if (type == dtype::bool_) out_.value(s.to<std::int64_t>() != 0);
        else if (type == dtype::uint64) out_.value(s.to<std::uint64_t>());
        else if (s.is_integral()) out_.value(s.to<std::int64_t>());
        else out_.value(s.to<double>());
    }

    json_writer& out_;
    value_names<> namer_;
};

class program_json {
public:
    program_json(json_writer& out, program::program const& p) : out_(out), p_(p), text_(p) {}

    void write() {
        out_.name("ranges").begin_object();
        for (auto const& [symbol, range] : p_.ranges) {
            program::symbol_range const all;
            out_.name(symbol).begin_array();
            range.min == all.min ? out_.null() : out_.value(range.min);
            range.max == all.max ? out_.null() : out_.value(range.max);
            out_.end_array();
        }
        out_.end_object().name("guards").array(p_.guards, [&](program::guard const& g) { out_.value(g.text); });
        out_.name("inputs").begin_array();
        for (program::input const& in : p_.inputs)
            if (in.kind == program::input_kind::user && in.value != program::no_value) value(in.value);
        out_.end_array().name("weights").begin_array();
        for (program::input const& in : p_.inputs) weight(in);
        out_.end_array();
        graph(p_.main);
        out_.name("subgraphs").array(p_.subgraphs, [&](program::graph const& g) {
            out_.begin_object().name("inputs").array(g.inputs, [&](program::value_index v) { value(v); });
            graph(g);
            out_.end_object();
        });
    }

private:
    void value(program::value_index v) {
        if (v == program::no_value) {
            out_.null();
            return;
        }
        open_value(v);
        out_.end_object();
    }

    void open_value(program::value_index v) {
        program::value const& x = p_.values[v];
        text_.type(v);
        out_.begin_object().field("name", x.name).field("type", text_.take()).name("dtype");
        write_dtype(out_, x.has_type && x.kind == program::value_kind::tensor ? x.type : dtype::undefined);
        out_.name("shape");
        if (!x.has_type || x.kind != program::value_kind::tensor) {
            out_.null();
            return;
        }
        out_.array(x.sizes, [&](program::extent const& e) {
            if (e.is_number()) out_.value(e.number);
            else out_.value(to_string(p_.expressions[e.expression]));
        });
    }

    void weight(program::input const& in) {
        using program::input_kind;
        bool const is_weight =
            in.kind == input_kind::parameter || in.kind == input_kind::buffer || in.kind == input_kind::constant;
        if (!is_weight || in.value == program::no_value) return;
        open_value(in.value);
        out_.field("target", in.target);
        out_.field("kind",
                   std::string_view(in.kind == input_kind::parameter ? "parameter"
                                    : in.kind == input_kind::buffer  ? "buffer"
                                                                     : "constant"));
        out_.end_object();
    }

    /// "outputs" and "nodes".
    void graph(program::graph const& g) {
        out_.name("outputs").array(g.outputs, [&](program::argument const& a) {
            text_.value_of(a);
            out_.value(text_.take());
        });
        out_.name("nodes").array(g.nodes, [&](program::node const& n) { node(n); });
    }

    void node(program::node const& n) {
        program::origin const& from = p_.origins[n.origin];
        out_.new_line("  ").begin_object().field("op", n.op).field("name", n.name);
        out_.name("arguments").array(n.arguments, [&](program::argument const& a) {
            text_.value_of(a);
            out_.begin_object().field("name", a.name).field("text", text_.take()).name("values").begin_array();
            program::for_each_value(a, [&](program::value_index v) { out_.value(p_.values[v].name); });
            out_.end_array();
            if (auto const inner = program::subgraph_of(p_, a)) out_.field("subgraph", *inner);
            out_.end_object();
        });
        out_.name("results").array(result_values(n), [&](program::value_index v) { value(v); });
        out_.field("module", from.module).field("module_type", from.module_type);
        out_.field("place", from.source).field("code", from.code).end_object();
    }

    json_writer& out_;
    program::program const& p_;
    program::text_writer text_;
};

} // namespace

std::string json_of(std::string const& path, program::program const& p, std::vector<std::string> const& models) {
    json_writer out;
    out.begin_object().field("file", path).field("kind", std::string_view("program")).field("model", p.name);
    out.name("models").array(models).field("torch", p.torch_version);
    program_json(out, p).write();
    return out.end_object().text() + '\n';
}

std::string json_of(std::string const& path, model const& m) {
    json_writer out;
    out.begin_object().field("file", path).field("kind", std::string_view("graph")).field("ir_version", m.ir_version);
    out.field("opset", m.graph.opset).name("domains").begin_object();
    for (auto const& [domain, version] : m.graph.opset_imports) out.field(domain, version);
    out.end_object().field("producer", m.producer_name).field("producer_version", m.producer_version);
    out.name("external").array(m.external, [&](external_tensor const& t) {
        out.begin_object().field("name", t.name).field("location", t.location).end_object();
    });
    graph_json(out.name("graph")).write(m.graph);
    out.name("functions").array(m.graph.functions, [&](graph_function const& f) {
        out.begin_object().field("domain", f.domain).field("name", f.name).field("overload", f.overload);
        out.name("attributes").array(f.attributes).name("body");
        graph_json(out).write(f.body.at(0));
        out.end_object();
    });
    return out.end_object().text() + '\n';
}

} // namespace aton::tool
