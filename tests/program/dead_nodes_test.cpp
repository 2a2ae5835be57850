// SPDX-License-Identifier: MIT
// Which nodes remove_dead_nodes() removes: assertions and what only they need, but nothing that an output depends on.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include <aton/program/program.hpp>

#include "program_builder.hpp"

using namespace aton::program;

TEST_CASE("assertions and the arithmetic that only they need are removed") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3, 4});
    b.add_node("aten::_assert_tensor_metadata", {tensor("a", x), type("dtype", aton::dtype::float32)}, {});
    value_index const size = b.add("aten::sym_size.int", {tensor("self", x), integer("dim", 1)}, {});
    value_index const twice = b.add("_operator.mul", {tensor("a", size), integer("b", 2)}, {});
    value_index const small = b.add("_operator.le", {tensor("a", twice), integer("b", 9)}, {});
    b.add_node("aten::_assert_scalar", {tensor("self", small), text("assert_msg", "too large")}, {});
    value_index const item = b.add("aten::_local_scalar_dense", {tensor("self", x)}, {});
    b.add_node("aten::sym_constrain_range_for_size", {tensor("size", item), integer("min", 2)}, {});
    value_index const info = b.add("aten::sign", {tensor("self", x)}, {3, 4});
    b.add_node("aten::_linalg_check_errors", {tensor("info", info), text("api_name", "linalg.inv")}, {});
    value_index const y = b.add("aten::relu", {tensor("self", x)}, {3, 4});
    b.output(y);
    remove_dead_nodes(b.p);
    CHECK(b.ops() == strings{"aten::relu"});
}

TEST_CASE("nodes that an output needs stay, including through lists, sizes and lists of results") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3, 4});
    value_index const size = b.add("aten::sym_size.int", {tensor("self", x), integer("dim", 1)}, {});
    value_index const twice = b.add("_operator.mul", {tensor("a", size), integer("b", 2)}, {});
    argument shape = integers("size", {3, -1});
    shape.numbers[1] = number::of_value(twice);
    value_index const y = b.add("aten::expand", {tensor("self", x), std::move(shape)}, {3, 8});
    std::vector<value_index> const parts = b.add_list("aten::split.Tensor",
                                                      {tensor("self", y), integer("split_size", 4), integer("dim", 1)},
                                                      {{{3, 4}, {4, 1}}, {{3, 4}, {4, 1}}});
    b.add("aten::relu", {tensor("self", parts[0])}, {3, 4});
    value_index const joined = b.add("aten::cat", {tensors("tensors", {x, parts[1]}), integer("dim", 0)}, {6, 4});
    b.output(x);
    b.p.main.outputs.push_back(tensors("", {joined, no_value}));
    b.p.outputs.emplace_back();
    remove_dead_nodes(b.p);
    CHECK(b.ops() == strings{"aten::sym_size.int", "_operator.mul", "aten::expand", "aten::split.Tensor", "aten::cat"});
}

TEST_CASE("operands of higher-order operators stay; unused random numbers are removed") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3});
    value_index const used = b.add("aten::relu", {tensor("self", x)}, {3});
    b.add("aten::rand_like", {tensor("self", x)}, {3});
    value_index const y = b.add("higher_order::cond", {subgraph(0), tensors("", {x, used})}, {3});
    b.add("higher_order::while_loop", {subgraph(0), tensors("", {x})}, {3});
    b.output(y);
    remove_dead_nodes(b.p);
    CHECK(b.ops() == strings{"aten::relu", "higher_order::cond"});
}

TEST_CASE("branches keep what their outputs need; those of a removed node are unchanged") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3});
    graph inner;
    value_index const given = b.value_of("given", {3});
    value_index const used = b.value_of("used", {3});
    value_index const unused = b.value_of("unused", {3});
    inner.inputs = {given};
    inner.nodes = {b.make("aten::relu", {tensor("self", given)}, {used}),
                   b.make("aten::exp", {tensor("self", used)}, {unused}),
                   b.make("aten::_assert_tensor_metadata", {tensor("a", unused)}, {})};
    inner.outputs = {tensor("", used)};
    graph outer;
    value_index const deep = b.value_of("deep", {3});
    outer.inputs = {x};
    outer.nodes = {b.make("higher_order::map_impl", {subgraph(0), tensors("", {x})}, {deep}),
                   b.make("higher_order::map_impl", {subgraph(2), tensors("", {x})}, {b.value_of("dead", {3})})};
    outer.outputs = {tensor("", deep)};
    b.p.subgraphs = {inner, outer, inner};
    b.output(b.add("higher_order::map_impl", {subgraph(1), tensors("", {x})}, {3}));
    remove_dead_nodes(b.p);
    CHECK(b.p.subgraphs[1].nodes.size() == 1);
    CHECK(b.p.subgraphs[0].nodes.size() == 1);
    CHECK(b.p.subgraphs[2].nodes.size() == 3);
}

TEST_CASE("an unknown operator stays, without results, because it may have an effect") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3});
    value_index const used = b.add("aten::relu", {tensor("self", x)}, {3});
    b.add_node("my_ops::store", {tensor("self", used)}, {});
    b.add("my_ops::count", {tensor("self", used)}, {3});
    b.add("aten::newer_than_aton_", {tensor("self", used)}, {3});
    b.add("my_ops::known", {tensor("self", used)}, {3});
    b.p.main.nodes.back().is_functional = true;
    b.output(x);
    remove_dead_nodes(b.p);
    CHECK(b.ops() == strings{"aten::relu", "my_ops::store", "my_ops::count", "aten::newer_than_aton_"});
    CHECK(b.p.main.nodes.back().results.empty());
}

TEST_CASE("a program without outputs has no nodes") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3});
    b.add("aten::relu", {tensor("self", x)}, {3});
    remove_dead_nodes(b.p);
    CHECK(b.ops().empty());
}

TEST_CASE("removed nodes that may have an effect are listed") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3, 4});
    b.add_node("aten::_assert_scalar", {tensor("self", x), text("assert_msg", "")}, {});
    b.add_node("aten::_assert_async.msg", {tensor("self", x), text("assert_msg", "bad")}, {});
    b.add("aten::newer_than_aton", {tensor("x", x)}, {3});
    b.add("aten::relu", {tensor("self", x)}, {3, 4});
    b.output(x);
    remove_dead_nodes(b.p);
    REQUIRE(b.p.dropped.size() == 2);
    CHECK(b.p.dropped[0].op == "aten::_assert_async.msg");
    CHECK(b.p.dropped[0].has_effect);
    CHECK(b.p.dropped[1].op == "aten::newer_than_aton");
    CHECK_FALSE(b.p.dropped[1].has_effect);
}
