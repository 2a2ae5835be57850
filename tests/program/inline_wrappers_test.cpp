// SPDX-License-Identifier: MIT
// inline_wrappers(): replaces torch.no_grad(), autocast(enabled=False) and similar wrappers by their graphs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <aton/program/program.hpp>

#include "program_builder.hpp"

using namespace aton::program;

namespace {

bool names_are_unique(program const& p) {
    std::set<std::string> names;
    for (node const& n : p.main.nodes)
        for (result const& r : n.results)
            for (value_index v : r.values)
                if (!names.insert(p.values[v].name).second) return false;
    return true;
}

/// Wraps x * 2 and x * 2 + y for x of sizes [2, 3]; returns the two in reverse order, and x.
struct wrapped_program : program_builder {
    value_index x = input(input_kind::user, "x", {2, 3});
    value_index y = input(input_kind::user, "y", {2, 3});
    graph inner;

    wrapped_program() {
        value_index const a = value_of("arg0", {2, 3});
        value_index const c = value_of("arg1", {2, 3});
        value_index const mul = value_of("mul", {2, 3});
        value_index const add = value_of("add", {2, 3});
        inner.inputs = {a, c};
        inner.nodes = {make("aten::mul.Scalar", {tensor("self", a), integer("other", 2)}, {mul}),
                       make("aten::add.Tensor", {tensor("self", mul), tensor("other", c)}, {add})};
        inner.outputs = {tensor("", add), tensor("", mul), tensor("", a)};
    }

    std::vector<value_index> wrap(std::string op, std::vector<argument> flags, std::vector<argument> operands) {
        std::vector<value_index> results;
        for (char const* name : {"add", "mul", "itself"}) results.push_back(value_of(name, {2, 3}));
        p.subgraphs.push_back(inner);
        flags.push_back(subgraph(static_cast<std::int64_t>(p.subgraphs.size()) - 1));
        flags.insert(flags.end(), operands.begin(), operands.end());
        add_node(std::move(op), std::move(flags), results);
        return results;
    }
};

} // namespace

TEST_CASE("a wrapped graph replaces the wrapper, with the names of its results") {
    wrapped_program b;
    auto const results =
        b.wrap("higher_order::wrap_with_set_grad_enabled", {boolean("", false)}, {tensor("", b.y), tensor("", b.x)});
    value_index const last =
        b.add("aten::sub.Tensor", {tensor("self", results[2]), tensor("other", results[0])}, {2, 3});
    b.output(last);
    b.output(results[1]);
    b.output(results[2]);
    inline_wrappers(b.p);
    REQUIRE(b.ops() == strings{"aten::mul.Scalar", "aten::add.Tensor", "aten::sub.Tensor"});
    CHECK(argument_of(b.p.main.nodes[0], "self").tensor == b.y);
    CHECK(b.p.main.nodes[0].results[0].values[0] == results[1]);
    CHECK(argument_of(b.p.main.nodes[1], "self").tensor == results[1]);
    CHECK(argument_of(b.p.main.nodes[1], "other").tensor == b.x);
    CHECK(b.p.main.nodes[1].results[0].values[0] == results[0]);
    CHECK(argument_of(b.p.main.nodes[2], "self").tensor == b.y);
    CHECK(b.p.main.outputs[1].tensor == results[1]);
    CHECK(b.p.main.outputs[2].tensor == b.y);
    CHECK(names_are_unique(b.p));
}

TEST_CASE("two wrappers with the same names do not conflict") {
    wrapped_program b;
    auto const first = b.wrap("higher_order::wrap_with_autocast",
                              {text("", "cpu"), type("", aton::dtype::bfloat16), boolean("", false), boolean("", true)},
                              {tensor("", b.x), tensor("", b.y)});
    b.inner.outputs.pop_back();
    b.inner.outputs.pop_back();
    b.p.subgraphs.push_back(b.inner);
    for (char const* taken : {"mul_1", "mul_2"}) b.value_of(taken, {2, 3});
    value_index const second = b.value_of("add", {2, 3});
    b.add_node("higher_order::invoke_subgraph",
               {subgraph(1), text("", "subgraph_0"), tensor("", first[0]), tensor("", first[1])},
               {second});
    b.output(second);
    inline_wrappers(b.p);
    REQUIRE(b.ops() == strings{"aten::mul.Scalar", "aten::add.Tensor", "aten::mul.Scalar", "aten::add.Tensor"});
    CHECK(argument_of(b.p.main.nodes[2], "self").tensor == first[0]);
    CHECK(argument_of(b.p.main.nodes[3], "self").tensor == b.p.main.nodes[2].results[0].values[0]);
    CHECK(argument_of(b.p.main.nodes[3], "other").tensor == first[1]);
    CHECK(b.p.main.nodes[2].results[0].values[0] != b.p.main.nodes[0].results[0].values[0]);
    CHECK(b.p.main.nodes[3].results[0].values[0] == second);
    CHECK(b.p.values[b.p.main.nodes[2].results[0].values[0]].name == "mul_3");
}

TEST_CASE("a graph that is wrapped twice is inlined twice") {
    wrapped_program b;
    auto const results = b.wrap("higher_order::wrap", {}, {tensor("", b.x), tensor("", b.y)});
    b.add_node(
        "higher_order::wrap", {subgraph(0), tensor("", results[0]), tensor("", b.x)}, {b.value_of("again", {2, 3})});
    b.output(b.p.main.nodes.back().results[0].values[0]);
    inline_wrappers(b.p);
    CHECK(b.ops().size() == 4);
    CHECK(names_are_unique(b.p));
    CHECK(argument_of(b.p.main.nodes[2], "self").tensor == results[0]);
}

TEST_CASE("nested wrappers are inlined") {
    wrapped_program b;
    b.p.subgraphs.push_back(b.inner);
    graph outer;
    value_index const given = b.value_of("given", {2, 3});
    value_index const other = b.value_of("other", {2, 3});
    value_index const sum = b.value_of("add", {2, 3});
    value_index const negative = b.value_of("negative", {2, 3});
    outer.inputs = {given, other};
    outer.nodes = {b.make("higher_order::wrap_with_set_grad_enabled",
                          {boolean("", true), subgraph(0), tensor("", other), tensor("", given)},
                          {sum}),
                   b.make("aten::neg", {tensor("self", sum)}, {negative})};
    outer.outputs = {tensors("", {negative, sum})};
    b.p.subgraphs.push_back(outer);
    value_index const one = b.value_of("one", {2, 3});
    value_index const two = b.value_of("two", {2, 3});
    b.p.values[two].has_type = false;
    b.add_node("higher_order::wrap_with_set_grad_enabled",
               {boolean("", false), subgraph(1), tensors("", {b.x, b.y})},
               {one, two});
    b.output(two);
    b.output(one);
    inline_wrappers(b.p);
    REQUIRE(b.ops() == strings{"aten::mul.Scalar", "aten::add.Tensor", "aten::neg"});
    CHECK(argument_of(b.p.main.nodes[0], "self").tensor == b.y);
    CHECK(argument_of(b.p.main.nodes[1], "other").tensor == b.x);
    CHECK(b.p.main.nodes[1].results[0].values[0] == two);
    CHECK(b.p.main.nodes[2].results[0].values[0] == one);
    CHECK(argument_of(b.p.main.nodes[2], "self").tensor == two);
    CHECK(b.p.values[two].has_type);
    CHECK(b.p.values[two].sizes.size() == 2);
}

TEST_CASE("operands may be numbers") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {6});
    graph inner;
    value_index const t = b.value_of("t", {6});
    value_index const rows = b.value_of("rows", {});
    value_index const view = b.value_of("view", {2, 3});
    value_index const moved = b.value_of("moved", {2, 3});
    b.p.values[rows].kind = value_kind::sym_int;
    inner.inputs = {t, rows};
    argument shape = integers("size", {0, -1});
    shape.numbers[0] = number::of_value(rows);
    inner.nodes = {b.make("aten::view", {tensor("self", t), shape}, {view}),
                   b.make("aten::add.Scalar", {tensor("self", view), tensor("other", rows)}, {moved})};
    inner.outputs = {tensor("", moved), computed("", rows)};
    b.p.subgraphs.push_back(inner);
    value_index const out = b.value_of("out", {2, 3});
    value_index const number = b.value_of("number", {});
    b.add_node("higher_order::wrap_with_set_grad_enabled",
               {boolean("", false), subgraph(0), tensor("", x), integer("", 2)},
               {out, number});
    b.output(out);
    b.output(number);
    inline_wrappers(b.p);
    REQUIRE(b.ops() == strings{"aten::view", "aten::add.Scalar"});
    argument const& size = argument_of(b.p.main.nodes[0], "size");
    CHECK(integers_of(size) == numbers{2, -1});
    CHECK(integer_of(argument_of(b.p.main.nodes[1], "other")) == 2);
    CHECK(integer_of(b.p.main.outputs[1]) == 2);
}

TEST_CASE("writes inside a wrapper reach the buffers outside") {
    program_builder b;
    value_index const state = b.input(input_kind::buffer, "state", {3});
    graph inner;
    value_index const given = b.value_of("given", {3});
    value_index const doubled = b.value_of("mul_", {3});
    inner.inputs = {given};
    inner.nodes = {b.make("aten::mul_.Scalar", {tensor("self", given), integer("other", 2)}, {doubled})};
    inner.outputs = {tensor("", doubled)};
    b.p.subgraphs.push_back(inner);
    value_index const out = b.value_of("out", {3});
    b.add_node("higher_order::wrap_with_set_grad_enabled", {boolean("", false), subgraph(0), tensor("", state)}, {out});
    value_index const after = b.add("aten::relu", {tensor("self", state)}, {3});
    b.output(after);
    inline_wrappers(b.p);
    functionalize(b.p);
    CHECK(b.ops() == strings{"aten::mul.Scalar", "aten::relu"});
    CHECK(argument_of(b.p.main.nodes[1], "self").tensor == out);
    REQUIRE(b.p.outputs.size() == 2);
    CHECK(b.p.outputs[0].target == "state");
    CHECK(b.p.main.outputs[0].tensor == out);
}

TEST_CASE("an autograd function becomes its forward graph, without saved tensors; hints are not operands") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {6});
    graph forward;
    value_index const given = b.value_of("given", {6});
    value_index const clamped = b.value_of("clamped", {6});
    forward.inputs = {given};
    forward.nodes = {b.make("aten::clamp", {tensor("self", given), integer("min", 0)}, {clamped})};
    forward.outputs = {tensor("", clamped), tensor("", given)};
    graph backward = forward;
    backward.nodes.front().op = "aten::neg";
    b.p.subgraphs = {forward, backward};
    value_index const out = b.value_of("out", {6});
    b.add_node("higher_order::autograd_function_apply",
               {subgraph(0), subgraph(1), tensor("", x), integers("non_differentiable_idx", {})},
               {out});
    graph body = forward;
    body.outputs.pop_back();
    b.p.subgraphs.push_back(body);
    argument const no_keywords = argument::of_other({});
    argument const hints = argument::of_other({}).named("hints");
    value_index const hinted = b.value_of("hinted", {6});
    b.add_node("higher_order::hints_wrapper", {subgraph(2), tensors("", {out}), no_keywords, hints}, {hinted});
    b.output(hinted);
    inline_wrappers(b.p);
    REQUIRE(b.ops() == strings{"aten::clamp", "aten::clamp"});
    CHECK(b.p.main.nodes[0].results[0].values[0] == out);
    CHECK(argument_of(b.p.main.nodes[0], "self").tensor == x);
    CHECK(argument_of(b.p.main.nodes[1], "self").tensor == out);
}

TEST_CASE("wrappers in branches are inlined there, each of them once") {
    wrapped_program b;
    b.p.subgraphs.push_back(b.inner);
    graph branch;
    value_index const given = b.value_of("given", {2, 3});
    value_index const sum = b.value_of("sum", {2, 3});
    branch.inputs = {given};
    branch.nodes = {b.make("higher_order::wrap", {subgraph(0), tensors("", {given, given})}, {sum})};
    branch.outputs = {tensor("", sum)};
    b.p.subgraphs.push_back(branch);
    graph around = branch; // a wrapper of a node with a branch
    value_index const outside = b.value_of("outside", {2, 3});
    around.inputs = {outside};
    around.nodes = {b.make("higher_order::map_impl", {subgraph(1), tensors("", {outside})}, {sum})};
    b.p.subgraphs.push_back(around);
    value_index const out = b.value_of("out", {2, 3});
    b.add_node("higher_order::wrap", {subgraph(2), tensor("", b.x)}, {out});
    b.output(out);
    inline_wrappers(b.p);
    REQUIRE(b.ops() == strings{"higher_order::map_impl"});
    graph const& inner = b.p.subgraphs[1];
    REQUIRE(inner.nodes.size() == 2);
    CHECK(inner.nodes[0].op == "aten::mul.Scalar");
    CHECK(argument_of(inner.nodes[0], "self").tensor == given);
    CHECK(inner.outputs[0].tensor == sum);
    CHECK(inner.nodes[1].results[0].values[0] == sum);
}

TEST_CASE("control flow is not inlined") {
    wrapped_program b;
    b.wrap("higher_order::cond", {}, {tensors("", {b.x, b.y})});
    b.output(b.x);
    inline_wrappers(b.p);
    CHECK(b.ops() == strings{"higher_order::cond"});
}

TEST_CASE("wrappers that cannot be inlined are refused with their source position") {
    SUBCASE("too few operands") {
        wrapped_program b;
        b.wrap("higher_order::wrap", {}, {tensor("", b.x)});
        CHECK(message_of(inline_wrappers, b.p).find("fewer operands") != std::string::npos);
    }
    SUBCASE("too few outputs") {
        wrapped_program b;
        b.inner.outputs.pop_back();
        b.wrap("higher_order::wrap", {}, {tensor("", b.x), tensor("", b.y)});
        CHECK(message_of(inline_wrappers, b.p).find("more results") != std::string::npos);
    }
    SUBCASE("no graph") {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3});
        b.add("higher_order::wrap", {tensor("", x)}, {3});
        CHECK(message_of(inline_wrappers, b.p).find("does not have a graph") != std::string::npos);
    }
    SUBCASE("a graph that wraps itself") {
        wrapped_program b;
        b.inner.nodes = {b.make("higher_order::wrap",
                                {subgraph(0), tensor("", b.inner.inputs[0]), tensor("", b.inner.inputs[1])},
                                {b.inner.nodes[1].results[0].values[0]})};
        b.wrap("higher_order::wrap", {}, {tensor("", b.x), tensor("", b.y)});
        CHECK(message_of(inline_wrappers, b.p).find("nested too deeply") != std::string::npos);
    }
}
