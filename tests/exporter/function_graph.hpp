// SPDX-License-Identifier: MIT
// A graph of custom operators with bodies: overloads, functions that call functions inside an If, attributes of the call, omitted
// inputs, outputs that are inputs, initializers, and names that clash with those of the graph.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <aton/aton.hpp>

namespace random_graphs {

using namespace aton::dsl;
using aton::dim;
using aton::dtype;

/// A call of an operator without a schema.
inline std::vector<value> call(aton::graph_data& g, std::string op, std::string overload,
                               std::vector<value> const& operands, std::size_t results,
                               std::vector<aton::node_attribute> attributes = {}) {
    aton::graph_node n;
    n.domain = "custom_domain";
    n.op = std::move(op);
    n.overload = std::move(overload);
    n.attributes = std::move(attributes);
    for (value const& v : operands)
        n.inputs.push_back(v.id() == aton::no_value ? aton::no_value : g.capture(v.owner(), v.id()));
    std::vector<value> out;
    for (std::size_t i = 0; i != results; ++i) {
        aton::value_id const id = g.add_value(aton::value_type{dtype::float32, {2, 3}});
        g.values[id].producer = static_cast<std::int64_t>(g.nodes.size());
        n.outputs.push_back(id);
        out.emplace_back(g, id);
    }
    g.nodes.push_back(std::move(n));
    g.import_domain(std::string("custom_domain"), 1);
    return out;
}

inline aton::node_attribute number(std::string name, float f, std::string reference = {}) {
    aton::node_attribute a;
    a.name = std::move(name);
    a.type = aton::onnx::attr_type::f;
    a.f = f;
    a.reference = std::move(reference);
    return a;
}

/// A function with inputs named `inputs`; `body` returns its outputs.
template <class Body>
aton::graph_function function(int opset, std::string name, std::string overload, std::vector<std::string> const& inputs,
                              std::vector<std::string> attributes, Body const& body) {
    aton::graph_function f{"custom_domain", std::move(name), std::move(overload), std::move(attributes), {}};
    aton::graph_data& g = f.body.emplace_back();
    g.opset = opset;
    std::vector<value> in;
    for (std::string const& i : inputs) in.emplace_back(g, g.add_input(i, {dtype::float32, {2, 3}}));
    for (value const& v : body(graph<14>(g, opset), in)) g.outputs.push_back(v.id());
    return f;
}

inline aton::graph_data function_graph(int opset, bool with_overloads) {
    using ops = graph<14>;
    using values = std::vector<value>;
    aton::graph_data data;
    data.opset = opset;
    std::string const half = with_overloads ? "half" : "";
    std::string const foo_half = with_overloads ? "Foo" : "FooHalf";
    data.functions.push_back(function(opset, "Bar", "", {"x", "y"}, {}, [&](ops g, values const& in) -> values {
        value const sum = g.op<"ReduceSum">(in[0], g.ints({0, 1}), attr::keepdims_i(0));
        value const positive = g.op<"Greater">(sum, g.scalar(0, dtype::float32));
        return {g.op<"If">(
            positive,
            attr::then_branch_g([&](ops b) -> value { return call(b.data(), "Foo", "", {in[0], in[1]}, 1)[0]; }),
            attr::else_branch_g([&](ops b) -> value { return call(b.data(), foo_half, half, {in[0], in[1]}, 3)[0]; }))};
    }));
    data.functions.push_back(function(opset, "Foo", "", {"x", "y"}, {}, [](ops g, values const& in) -> values {
        aton::graph_data& body = g.data();
        aton::value_id const w = body.add_value(aton::value_type{dtype::float32, {3}}, "w");
        aton::tensor t{dtype::float32, {3}, {}};
        for (double n : {0.5, -1.0, 2.0}) t.append(n);
        body.set_initializer(w, std::move(t));
        (void)g.op<"Neg">(in[0]); // unused
        return {g.op<"Add">(g.op<"Mul">(g.op<"Tanh">(in[0]), in[1]), value(body, w))};
    }));
    data.functions.push_back(function(opset, foo_half, half, {"x", "y"}, {}, [](ops g, values const& in) -> values {
        value const z = g.op<"Mul">(g.op<"Sub">(in[0], in[1]), g.scalar(0.5, dtype::float32));
        return {z, in[1], z};
    }));
    data.functions.push_back(
        function(opset, "Scale", "", {"x", "least"}, {"alpha"}, [](ops g, values const& in) -> values {
            aton::value_id const alpha = g.data().add_value(aton::value_type{});
            g.data().values[alpha].producer = static_cast<std::int64_t>(g.data().nodes.size());
            aton::graph_node& n = g.data().nodes.emplace_back();
            n.op = "Constant";
            n.outputs = {alpha};
            n.attributes.push_back(number("value_float", 0, "alpha"));
            value const scaled = g.op<"Mul">(in[0], value(g.data(), alpha));
            return {g.op<"Clip">(scaled, in[1])};
        }));
    data.functions.push_back(function(
        opset, "Unused", "", {"x"}, {}, [](ops g, values const& in) -> values { return {g.op<"Neg">(in[0])}; }));

    ops const g(data, opset);
    value const x(data, data.add_input("x", {dtype::float32, {2, 3}}));
    value const y(data, data.add_input("y", {dtype::float32, {2, 3}}));
    value const yes(data, data.add_input("yes", {dtype::bool_, aton::shape(std::vector<dim>{})}));
    value const a = call(data, "Foo", "", {x, y}, 1)[0];
    values const b = call(data, foo_half, half, {a, y}, 3);
    value const c = call(data, "Scale", "", {b[0], {}}, 1, {number("alpha", -3)})[0];
    value const least = g.scalar(-0.25, dtype::float32);
    value const d = g.op<"If">(
        yes,
        attr::then_branch_g([&](ops inner) -> value { return call(inner.data(), "Bar", "", {c, b[1]}, 1)[0]; }),
        attr::else_branch_g([&](ops inner) -> value {
            return call(inner.data(), "Scale", "", {x, least}, 1, {number("alpha", 2)})[0];
        }));
    d.set_type({dtype::float32, {2, 3}});
    for (value const& v : {a, b[0], b[1], b[2], c, d, call(data, "Bar", "", {d, x}, 1)[0]})
        data.outputs.push_back(v.id());
    return data;
}

} // namespace random_graphs
