// SPDX-License-Identifier: MIT
// Nested graphs and functions as protobuf: names, outputs of bodies, versions, and reading them back.
#include <aton/model_io/model_io.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include <aton/aton.hpp>

#include "../exporter/function_graph.hpp"

namespace nested_graphs_test {

using namespace aton::dsl;

namespace {

aton::shape const scalar_shape{std::vector<aton::dim>{}};

struct fixture {
    graph_data data;
    graph<16> g{data, 20};
    value yes = input("yes", dtype::bool_, scalar_shape);
    value n = input("n", dtype::int64, scalar_shape);
    value x = input("x", dtype::float32, {2, 3});

    value input(std::string name, dtype type, aton::shape shape) {
        return {data, data.add_input(std::move(name), value_type{type, std::move(shape)})};
    }
    /// The model with this output, after the checker accepted it and it was read back unchanged.
    ::onnx::ModelProto proto(std::vector<value> const& outputs) {
        for (value const& v : outputs) {
            v.set_type({dtype::float32, {2, 3}});
            data.outputs.push_back(v.id());
        }
        std::string const bytes = to_model_proto(data);
        CHECK_NOTHROW(aton::check_model_bytes(bytes));
        aton::graph_data const again = aton::parse_model(bytes).graph;
        CHECK(to_model_proto(again) == bytes);
        ::onnx::ModelProto model;
        REQUIRE(model.ParseFromString(bytes));
        return model;
    }
};

::onnx::GraphProto const& body_of(::onnx::NodeProto const& n, std::string const& name) {
    for (auto const& a : n.attribute())
        if (a.name() == name) return a.g();
    FAIL("no attribute " << name);
    return n.attribute(0).g();
}

std::string ops_of(::onnx::GraphProto const& g) {
    std::string out;
    for (auto const& n : g.node()) out += (out.empty() ? "" : " ") + n.op_type();
    return out;
}

/// Every name that a graph and its nested graphs define.
void definitions(::onnx::GraphProto const& g, std::vector<std::string>& to) {
    for (auto const& i : g.input()) to.push_back(i.name());
    for (auto const& i : g.initializer()) to.push_back(i.name());
    for (auto const& n : g.node()) {
        to.insert(to.end(), n.output().begin(), n.output().end());
        for (auto const& a : n.attribute())
            if (a.has_g()) definitions(a.g(), to);
    }
}

} // namespace

TEST_CASE("an If in a Loop captures from both outer graphs, all names are unique, and captured values are not inputs") {
    fixture f;
    value const again =
        f.g.op<"Loop">(f.n, absent, f.x, attr::body_g([&](graph<16> body, value, value go, value state) {
                           state.owner().values[state.id()].name = "x"; // as the input of the model
                           value const inner = body.op<"If">(f.yes,
                                                             attr::then_branch_g([&](graph<16> b) -> value {
                                                                 value const sum = b.op<"Add">(state, f.x);
                                                                 sum.owner().values[sum.id()].name = "x";
                                                                 return sum;
                                                             }),
                                                             attr::else_branch_g([&](graph<16> b) -> value {
                                                                 return b.op<"Mul">(f.x, b.op<"Neg">(state));
                                                             }));
                           return std::vector<value>{go, inner};
                       }));
    ::onnx::ModelProto const model = f.proto({again});
    auto const& body = body_of(model.graph().node(0), "body");
    CHECK(body.input_size() == 3);
    auto const& sum = body_of(body.node(0), "then_branch");
    CHECK(sum.input_size() == 0);
    CHECK(sum.node(0).input(0) == body.input(2).name());
    CHECK(sum.node(0).input(1) == "x");
    std::vector<std::string> all;
    definitions(model.graph(), all);
    CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());

    // Read back, the inner graph sees x through a value of the body.
    aton::graph_data const read = aton::parse_model(to_model_proto(f.data)).graph;
    graph_data const& loop = read.nodes[0].attributes[0].graphs[0];
    graph_data const& branch = loop.nodes[0].attributes[1].graphs[0];
    aton::value_id const through = branch.values[branch.nodes[0].inputs[1]].outer;
    REQUIRE(through < loop.values.size());
    CHECK(loop.values[through].outer == read.inputs[2]);
    CHECK(branch.values[branch.nodes[0].inputs[1]].type == read.values[read.inputs[2]].type);
}

TEST_CASE("a body returns captured values, inputs, initializers and duplicates through an Identity") {
    fixture f;
    aton::graph_node branch;
    branch.op = "If";
    branch.inputs = {f.yes.id()};
    for (char const* const side : {"then_branch", "else_branch"}) {
        aton::node_attribute& a = branch.attributes.emplace_back();
        a.name = side;
        a.type = aton::onnx::attr_type::g;
        graph_data& g = a.graphs.emplace_back();
        g.opset = 20;
        g.around = &f.data;
        aton::value_id const held = g.add_value(value_type{dtype::float32, {2, 3}}, "held");
        g.set_initializer(held, tensor{dtype::float32, {2, 3}, std::string(24, '\0')});
        aton::value_id const made = graph<16>(g, 20).op<"Neg">(f.x).id();
        g.outputs = {g.capture(f.data, f.x.id()), held, made, made, held};
        g.around = nullptr;
    }
    std::vector<value> outputs;
    for (int i = 0; i != 5; ++i) {
        branch.outputs.push_back(f.data.add_value(value_type{dtype::float32, {2, 3}}));
        f.data.values[branch.outputs.back()].producer = 0;
        outputs.emplace_back(f.data, branch.outputs.back());
    }
    f.data.nodes.push_back(std::move(branch));
    std::string const bytes = [&] {
        for (value const& v : outputs) f.data.outputs.push_back(v.id());
        return to_model_proto(f.data);
    }();
    CHECK_NOTHROW(aton::check_model_bytes(bytes));
    ::onnx::ModelProto model;
    REQUIRE(model.ParseFromString(bytes));
    auto const& then = body_of(model.graph().node(0), "then_branch");
    CHECK(ops_of(then) == "Neg Identity Identity Identity Identity");
    std::set<std::string> given;
    for (auto const& o : then.output()) given.insert(o.name());
    CHECK(given.size() == 5);
    CHECK(given.count("x") == 0);
    CHECK(then.node(1).input(0) == "x");
    CHECK(then.node(3).input(0) == then.node(0).output(0));
}

TEST_CASE("a constant of a nested graph needs IR 4 at opset 8, and is not an input") {
    fixture f;
    f.data.opset = 8;
    aton::graph_node branch;
    branch.op = "If";
    branch.inputs = {f.yes.id()};
    for (char const* const side : {"then_branch", "else_branch"}) {
        aton::node_attribute& a = branch.attributes.emplace_back();
        a.name = side;
        a.type = aton::onnx::attr_type::g;
        graph_data& g = a.graphs.emplace_back();
        g.opset = 8;
        aton::value_id const held = g.add_value(value_type{dtype::int64, {2}}, "held");
        g.set_initializer(held, tensor{dtype::int64, {2}, std::string(16, '\0')});
        g.outputs = {held};
    }
    branch.outputs = {f.data.add_value(value_type{dtype::int64, {2}})};
    f.data.values[branch.outputs[0]].producer = 0;
    f.data.outputs = branch.outputs;
    f.data.nodes.push_back(std::move(branch));
    std::string const bytes = to_model_proto(f.data);
    CHECK_NOTHROW(aton::check_model_bytes(bytes));
    ::onnx::ModelProto model;
    REQUIRE(model.ParseFromString(bytes));
    CHECK(model.ir_version() == 4);
    CHECK(body_of(model.graph().node(0), "else_branch").input_size() == 0);
}

TEST_CASE("nested nodes have their origins") {
    fixture f;
    f.data.origins.push_back({"cond", "layer1", "model.py:12 in forward"});
    f.data.context.origin = 1;
    f.data.context.overload = "aten::neg";
    value const y = f.g.op<"If">(f.yes,
                                 attr::then_branch_g([&](graph<16> b) -> value { return b.op<"Neg">(f.x); }),
                                 attr::else_branch_g([&](graph<16> b) -> value { return b.op<"Abs">(f.x); }));
    f.data.context = {};
    ::onnx::ModelProto const model = f.proto({y});
    auto const& node = body_of(model.graph().node(0), "then_branch").node(0);
    CHECK(node.doc_string() == "aten::neg, layer1 (model.py:12 in forward)");
    CHECK(node.name() != model.graph().node(0).name());
}

TEST_CASE("functions: opset imports, attributes, overloads, constants; the lowest IR version") {
    for (bool const overloads : {false, true}) {
        CAPTURE(overloads);
        graph_data const data = random_graphs::function_graph(17, overloads);
        std::string const bytes = to_model_proto(data);
        CHECK_NOTHROW(aton::check_model_bytes(bytes));
        ::onnx::ModelProto model;
        REQUIRE(model.ParseFromString(bytes));
        CHECK(model.ir_version() == (overloads ? 10 : 8));
        REQUIRE(model.functions_size() == 5);
        auto const& bar = model.functions(0);
        CHECK(bar.domain() == "custom_domain");
        CHECK(bar.opset_import_size() == 2); // it calls Foo
        CHECK(bar.opset_import(0).version() == 17);
        auto const& foo = model.functions(1);
        CHECK(foo.opset_import_size() == 1);
        CHECK(foo.node(0).op_type() == "Constant");
        CHECK(foo.node(0).output(0) == "w");
        CHECK(foo.input(0) == "x");
        CHECK(model.functions(2).overload() == (overloads ? "half" : ""));
        CHECK(model.functions(2).output_size() == 3);
        CHECK(std::set<std::string>(model.functions(2).output().begin(), model.functions(2).output().end()).size() ==
              3);
        CHECK(model.functions(3).attribute(0) == "alpha");
        CHECK(model.functions(3).node(0).attribute(0).ref_attr_name() == "alpha");
        CHECK(model.graph().node(1).overload() == (overloads ? "half" : ""));
        aton::graph_data const again = aton::parse_model(bytes).graph;
        CHECK(to_model_proto(again) == bytes);
        CHECK(again.functions[3].attributes == std::vector<std::string>{"alpha"});
    }
}

TEST_CASE("invalid functions are refused with their name") {
    auto const refusal = [](auto const& change) {
        graph_data data = random_graphs::function_graph(20, true);
        change(data);
        try {
            (void)to_model_proto(data);
        } catch (aton::error const& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(refusal([](graph_data& d) { d.functions[2].body.clear(); }) ==
          "function custom_domain::Foo.half must have one body, but has 0");
    CHECK(refusal([](graph_data& d) { d.functions[2].overload = ""; }) ==
          "function custom_domain::Foo is defined twice");
    CHECK(refusal([](graph_data& d) { d.functions[1].body[0].values[1].outer = 0; }) ==
          "function custom_domain::Foo uses %y of an outer graph, but a function has none");
    CHECK(refusal([](graph_data& d) {
              graph_data& body = d.functions[4].body[0];
              body.set_initializer(body.inputs[0], tensor{dtype::float32, {}, std::string(4, '\0')});
          }) ==
          "function custom_domain::Unused: input %x has an initializer, but inputs of functions cannot have defaults");
    CHECK(refusal([](graph_data& d) { // Foo.half calls Bar, which calls Foo.half in an If
              d.functions[2].body[0].nodes[0].domain = "custom_domain";
              d.functions[2].body[0].nodes[0].op = "Bar";
          }) == "function custom_domain::Bar calls itself, which ONNX does not allow");
}

} // namespace nested_graphs_test
