// SPDX-License-Identifier: MIT
// Loops of hand-made programs: while_loop, scan, map and associative_scan, the resulting nodes and the inputs of their bodies.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "control_flow_fixture.hpp"

namespace ATON_NAMESPACE::program {

TEST_CASE("while_loop is a Loop that computes its condition before the loop and at the end of each iteration") {
    while_program b;
    b.loop("higher_order::while_loop", {2, 3});
    graph_data const g = b.convert();
    CHECK(ops_of(g) == strings{"ReduceSum", "Less", "Loop"});
    graph_node const& n = only_node(g, "Loop");
    REQUIRE(n.inputs.size() == 3);
    CHECK(n.inputs[0] == aton::no_value);
    CHECK(n.inputs[1] == only_node(g, "Less").outputs[0]);
    CHECK(g.values[n.inputs[2]].name == "x");
    CHECK(g.values[n.outputs.at(0)].type.shape == shape{2, 3});
    graph_data const& body = graph_attribute(n, "body");
    REQUIRE(body.inputs.size() == 3);
    CHECK(body.values[body.inputs[0]].type.dtype == dtype::int64);
    CHECK(body.values[body.inputs[1]].type.dtype == dtype::bool_);
    CHECK(body.values[body.inputs[2]].type.shape == shape{2, 3});
    CHECK(ops_of(body) == strings{"Mul", "ReduceSum", "Less"});
    CHECK(body.outputs == std::vector{only_node(body, "Less").outputs[0], only_node(body, "Mul").outputs[0]});
    CHECK(captures_of(body, g) == strings{"limit"});
    CHECK_NOTHROW(check_model_bytes(to_model_proto(g)));
}

TEST_CASE("while_loop_stack_output keeps the results of all iterations") {
    while_program b;
    b.loop("higher_order::while_loop_stack_output", {7, 2, 3});
    graph_data const g = b.convert();
    graph_node const& n = only_node(g, "Loop");
    REQUIRE(n.outputs.size() == 2);
    CHECK(n.outputs[1] == g.outputs.at(0));
    graph_data const& body = graph_attribute(n, "body");
    REQUIRE(body.outputs.size() == 3);
    CHECK(body.outputs[1] == body.outputs[2]);
}

TEST_CASE("numbers that a loop carries are 0-d integers, and a 1-d condition becomes 0-d") {
    builder b;
    index const i = b.number_of("i", value_kind::sym_int);
    index const v = b.value_of("v", {3});
    index const positive = b.value_of("positive", {3}, dtype::bool_);
    index const any = b.value_of("any", {1}, dtype::bool_);
    graph test;
    test.inputs = {i, v};
    test.nodes = {
        b.make("aten::gt.Scalar", {tensor("self", v), integer("other", 0)}, {positive}),
        b.make("aten::any.dim", {tensor("self", positive), integer("dim", 0), boolean("keepdim", true)}, {any})};
    test.outputs = {tensor("", any)};
    index const j = b.number_of("j", value_kind::sym_int);
    index const w = b.value_of("w", {3});
    index const next = b.number_of("next", value_kind::sym_int);
    index const less = b.value_of("less", {3});
    graph body;
    body.inputs = {j, w};
    body.nodes = {b.make("_operator.add", {tensor("a", j), integer("b", 2)}, {next}),
                  b.make("aten::sub.Tensor", {tensor("self", w), integer("other", 1)}, {less})};
    body.outputs = {tensor("", next), tensor("", less)};
    index const trips = b.number_of("trips", value_kind::sym_int);
    index const out = b.value_of("out", {3});
    argument carried = integers("", {5, 0});
    carried.numbers[1] = number::of_value(b.y);
    b.add_node("higher_order::while_loop", {b.add(test), b.add(body), carried, tensors("", {})}, {trips, out});
    b.output(trips);
    b.output(out);
    graph_data const g = b.convert();
    graph_node const& n = only_node(g, "Loop");
    aton::tensor const* const start = g.constant(n.inputs.at(2));
    REQUIRE(start != nullptr);
    CHECK(start->at(0).to<std::int64_t>() == 5);
    CHECK(g.values[n.inputs[1]].type.shape == shape(std::vector<dim>()));
    CHECK(g.values[n.outputs.at(0)].type.dtype == dtype::int64);
    CHECK_NOTHROW(check_model_bytes(to_model_proto(g)));
}

TEST_CASE("scan and map are Scans") {
    builder b;
    index const c = b.value_of("c", {3});
    index const row = b.value_of("row", {3});
    index const k = b.value_of("k", {});
    index const limit = b.input(input_kind::user, "limit", {});
    index const sum = b.value_of("sum", {3});
    index const product = b.value_of("product", {3});
    graph step;
    step.inputs = {c, row, k};
    step.nodes = {b.make("aten::add.Tensor", {tensor("self", c), tensor("other", row)}, {sum}),
                  b.make("aten::mul.Tensor", {tensor("self", row), tensor("other", k)}, {product})};
    step.outputs = {tensor("", sum), tensor("", product)};
    argument const body = b.add(step);
    index const last = b.value_of("last", {3});
    index const all = b.value_of("all", {2, 3});
    SUBCASE("scan") {
        b.add_node(
            "higher_order::scan", {body, tensors("", {b.y}), tensors("", {b.x}), tensors("", {limit})}, {last, all});
        b.output(last);
        b.output(all);
        graph_data const g = b.convert();
        CHECK(ops_of(g) == strings{"Scan"});
        graph_node const& n = g.nodes[0];
        CHECK(n.inputs == std::vector{g.inputs[2], g.inputs[1]});
        CHECK(n.attributes.at(1).name == "num_scan_inputs");
        CHECK(n.attributes[1].i == 1);
        graph_data const& inner = graph_attribute(n, "body");
        CHECK(inner.inputs.size() == 2);
        CHECK(inner.outputs.size() == 2);
        CHECK(captures_of(inner, g) == strings{"limit"});
        CHECK(g.values[n.outputs.at(1)].type.shape == shape{2, 3});
        CHECK_NOTHROW(check_model_bytes(to_model_proto(g)));
    }
    SUBCASE("map: no state") {
        index const doubled = b.value_of("doubled", {2, 3});
        index const rows = b.value_of("rows", {2, 3});
        b.add_node("higher_order::map_impl", {body, tensors("", {b.x, b.x}), tensors("", {limit})}, {doubled, rows});
        b.output(doubled);
        b.output(rows);
        graph_data const g = b.convert();
        graph_node const& n = only_node(g, "Scan");
        CHECK(n.attributes.at(1).i == 2);
        CHECK(n.inputs.size() == 2);
        CHECK_NOTHROW(check_model_bytes(to_model_proto(g)));
    }
    SUBCASE("without operands") {
        b.add_node(
            "higher_order::scan", {body, tensors("", {b.y}), tensors("", {}), tensors("", {limit})}, {last, all});
        b.output(all);
        CHECK(
            is_said(message_of(b), "higher_order::scan (it has no tensor to iterate over; at model.py:12 in forward)"));
    }
}

TEST_CASE("associative_scan computes with its own results") {
    builder b;
    index const left = b.value_of("left", {3});
    index const right = b.value_of("right", {3});
    argument const combine =
        b.inner({left, right}, "aten::maximum", {tensor("self", left), tensor("other", right)}, {3});
    index const out = b.value_of("out", {2, 3});
    b.add_node("higher_order::associative_scan", {combine, tensors("", {b.x}), tensors("", {})}, {out});
    b.output(out);
    graph_data const g = b.convert();
    graph_node const& n = only_node(g, "Scan");
    CHECK(n.inputs.size() == 3); // whether it is the first iteration, the previous result, the sequence
    CHECK(n.outputs.size() == 3);
    CHECK(n.outputs[2] == g.outputs.at(0));
    graph_data const& body = graph_attribute(n, "body");
    CHECK(ops_of(body) == strings{"Max", "Where"});
    CHECK_NOTHROW(check_model_bytes(to_model_proto(g)));
}

} // namespace ATON_NAMESPACE::program
