// SPDX-License-Identifier: MIT
// Operators that change the memory of a tensor, set_ and resize_, and writes to constants.
#include <doctest/doctest.h>

#include <aton/program/program.hpp>

#include "program_builder.hpp"

using namespace aton::program;
using aton::dtype;

TEST_CASE("a constant that is written to is returned like a buffer") {
    program_builder b;
    value_index const c = b.input(input_kind::constant, "table", {3});
    value_index const x = b.input(input_kind::user, "x", {3});
    value_index const sum = b.add("aten::add_.Tensor", {tensor("self", c), tensor("other", x)}, numbers{3});
    b.output(sum);
    functionalize(b.p);
    CHECK(b.ops() == strings{"aten::add.Tensor"});
    REQUIRE(b.p.outputs.size() == 2);
    CHECK(b.p.outputs[0].kind == output_kind::buffer_mutation);
    CHECK(b.p.outputs[0].target == "table");
    CHECK(b.p.main.outputs[0].tensor == sum);
}

TEST_CASE("set_ makes two tensors one, and leaves views of the former tensor alone") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {2, 3});
    value_index const made = b.add("aten::clone", {tensor("self", x)}, {2, 3});
    value_index const row =
        b.add("aten::select.int", {tensor("self", made), integer("dim", 0), integer("index", 0)}, numbers{3});
    value_index const other = b.add("aten::neg", {tensor("self", x)}, {2, 3});
    value_index const set =
        b.add("aten::set_.source_Tensor", {tensor("self", made), tensor("source", other)}, numbers{2, 3});
    value_index const written = b.add("aten::relu_", {tensor("self", set)}, {2, 3});
    b.output(made);
    b.output(other);
    b.output(row);
    functionalize(b.p);
    CHECK(b.ops() == strings{"aten::clone", "aten::select.int", "aten::neg", "aten::relu"});
    CHECK(b.p.main.outputs[0].tensor == written);
    CHECK(b.p.main.outputs[1].tensor == written);
    CHECK(b.p.main.outputs[2].tensor == row);
}

TEST_CASE("set_ of an input writes to the input") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3});
    value_index const made = b.add("aten::empty.memory_format", {integers("size", {0})}, numbers{0});
    value_index const set = b.add("aten::set_.source_Tensor", {tensor("self", made), tensor("source", x)}, numbers{3});
    b.add("aten::zero_", {tensor("self", set)}, {3});
    functionalize(b.p);
    REQUIRE(b.p.outputs.size() == 1);
    CHECK(b.p.outputs[0].kind == output_kind::input_mutation);
}

TEST_CASE("a resize that keeps the number of elements is a view") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {2, 3});
    value_index const made = b.add("aten::clone", {tensor("self", x)}, {2, 3});
    value_index const resized = b.add("aten::resize_", {tensor("self", made), integers("size", {3, 2})}, numbers{3, 2});
    b.add("aten::relu_", {tensor("self", resized)}, {3, 2});
    b.output(made);
    functionalize(b.p);
    CHECK(b.ops() == strings{"aten::clone", "aten::view", "aten::relu"});
    CHECK(b.p.main.outputs[0].tensor == b.p.main.nodes.back().results[0].values[0]);
}

TEST_CASE("a resize of a tensor without elements makes a new tensor") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {2, 3});
    value_index const made = b.add("aten::empty.memory_format", {integers("size", {0})}, numbers{0});
    SUBCASE("to sizes") {
        value_index const resized =
            b.add("aten::resize_", {tensor("self", made), integers("size", {2, 3})}, numbers{2, 3});
        b.add("aten::copy_", {tensor("self", resized), tensor("src", x)}, {2, 3});
        b.output(made);
        functionalize(b.p);
        CHECK(b.ops() == strings{"aten::empty.memory_format", "aten::new_empty"});
        CHECK(b.p.main.outputs[0].tensor == x);
    }
    SUBCASE("like a template of another dtype") {
        value_index const like = b.input(input_kind::user, "like", {4}, dtype::int64);
        value_index const resized =
            b.add("aten::resize_as_", {tensor("self", made), tensor("the_template", like)}, numbers{4});
        b.output(resized);
        functionalize(b.p);
        CHECK(b.ops() == strings{"aten::empty.memory_format", "aten::empty_like"});
        CHECK(argument_of(b.p.main.nodes.back(), "dtype").type == dtype::float32);
        CHECK(argument_of(b.p.main.nodes.back(), "self").tensor == like);
    }
}
