// SPDX-License-Identifier: MIT
// Hand-made programs with nested graphs, and helpers to inspect the converted graphs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/exporter/exporter.hpp>

#include "../faults.hpp"
#include "../program/program_builder.hpp"
#include "graph_ops.hpp"

namespace ATON_NAMESPACE::program {

using index = value_index;
using tests::ops_of;

/// A program with the inputs p (0-d bool), x of [2, 3] and y of [3].
struct builder : program_builder {
    index which = input(input_kind::user, "which", {}, dtype::bool_);
    index x = input(input_kind::user, "x", {2, 3});
    index y = input(input_kind::user, "y", {3});

    /// A graph of one operator, or without operators; it then returns its first input.
    argument inner(std::vector<index> const& inputs, std::string op, std::vector<argument> arguments,
                   numbers const& sizes, dtype t = dtype::float32) {
        graph g;
        g.inputs = inputs;
        if (op.empty()) {
            g.outputs = {tensor("", inputs.at(0))};
        } else {
            index const out = value_of("inner", sizes, t);
            g.nodes = {make(std::move(op), std::move(arguments), {out})};
            g.outputs = {tensor("", out)};
        }
        return add(std::move(g));
    }
    using program_builder::add;
    argument add(graph g) {
        p.subgraphs.push_back(std::move(g));
        argument a = subgraph(static_cast<std::int64_t>(p.subgraphs.size()) - 1);
        a.text = "graph_" + std::to_string(a.index);
        return a;
    }
    graph& graph_of(argument const& a) { return p.subgraphs.at(static_cast<std::size_t>(a.index)); }
    index number_of(std::string name, value_kind kind) {
        index const v = value_of(std::move(name), {});
        p.values[v].kind = kind;
        p.values[v].has_type = false;
        return v;
    }

    [[nodiscard]] graph_data convert(export_options const& options = {}) const { return convert_program(p, options); }
};

inline std::string message_of(builder const& b, export_options const& options = {}) {
    return tests::fault_of([&] { return b.convert(options); });
}

inline graph_node const& only_node(graph_data const& g, std::string_view op) {
    auto const found = std::find_if(g.nodes.begin(), g.nodes.end(), [&](graph_node const& n) { return n.op == op; });
    REQUIRE(found != g.nodes.end());
    return *found;
}

inline graph_data const& graph_attribute(graph_node const& n, std::string_view name) {
    node_attribute const* const a = n.attribute(name);
    REQUIRE(a != nullptr);
    return a->graphs.at(0);
}

/// The names of the outer values that a nested graph captures.
inline std::vector<std::string> captures_of(graph_data const& inner, graph_data const& around) {
    std::vector<std::string> out;
    for (graph_value const& v : inner.values)
        if (v.outer != aton::no_value) out.push_back(around.values[v.outer].name);
    std::sort(out.begin(), out.end());
    return out;
}

/// while (sum(x) < y): x = x * y[...]; the limit is passed to both graphs.
struct while_program : builder {
    index limit = input(input_kind::user, "limit", {});
    argument test;
    argument body;

    while_program() {
        index const c = value_of("c", {2, 3});
        index const m = value_of("m", {});
        index const sum = value_of("sum", {});
        index const less = value_of("less", {}, dtype::bool_);
        graph condition;
        condition.inputs = {c, m};
        condition.nodes = {make("aten::sum", {tensor("self", c)}, {sum}),
                           make("aten::lt.Tensor", {tensor("self", sum), tensor("other", m)}, {less})};
        condition.outputs = {tensor("", less)};
        test = add(condition);
        index const v = value_of("v", {2, 3});
        index const k = value_of("k", {});
        body = inner({v, k}, "aten::mul.Tensor", {tensor("self", v), tensor("other", k)}, {2, 3});
    }
    void loop(std::string op, numbers const& sizes) {
        index const out = value_of("out", sizes);
        add_node(std::move(op), {test, body, tensors("", {x}), tensors("", {limit})}, {out});
        output(out);
    }
};

} // namespace ATON_NAMESPACE::program
