// SPDX-License-Identifier: MIT
// functionalize() of operators that write their results to given tensors (out=), of the same and of other sizes and dtypes.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include <aton/program/program.hpp>

#include "program_builder.hpp"

using namespace aton::program;
using aton::dtype;

TEST_CASE("out arguments are written to") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3, 4});
    value_index const values = b.input(input_kind::buffer, "largest", {3});
    value_index const indices = b.input(input_kind::buffer, "places", {3}, dtype::int64);
    value_index const a = b.value_of("a", {3});
    value_index const c = b.value_of("c", {3}, dtype::int64);
    b.add_node("aten::max.dim_max",
               {tensor("self", x), integer("dim", 1), tensor("max", values), tensor("max_values", indices)},
               std::vector{a, c});
    b.output(a);
    functionalize(b.p);
    REQUIRE(b.ops() == strings{"aten::max.dim"});
    CHECK(b.p.main.nodes[0].arguments.size() == 2);
    REQUIRE(b.p.outputs.size() == 3);
    CHECK(b.p.outputs[0].target == "largest");
    CHECK(b.p.main.outputs[0].tensor == a);
    CHECK(b.p.outputs[1].target == "places");
    CHECK(b.p.main.outputs[1].tensor == c);
}

TEST_CASE("an out argument gets the sizes of the result") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3, 4});
    value_index const y = b.add("aten::empty.memory_format", {integers("size", {0})}, {0});
    value_index const none = b.add("aten::view", {tensor("self", y), integers("size", {0, 1})}, {0, 1});
    value_index const sum = b.add("aten::add.out", {tensor("self", x), tensor("other", x), tensor("out", y)}, {3, 4});
    value_index const row = b.add("aten::select.int", {tensor("self", y), integer("dim", 0), integer("index", 1)}, {4});
    b.add("aten::mul_.Scalar", {tensor("self", row), integer("other", 2)}, {4});
    b.output(y);
    b.output(none);
    functionalize(b.p);
    REQUIRE(b.ops() == strings{"aten::empty.memory_format",
                               "aten::view",
                               "aten::add.Tensor",
                               "aten::select.int",
                               "aten::mul.Scalar",
                               "aten::select_scatter"});
    CHECK(argument_of(b.p.main.nodes[3], "self").tensor == sum);
    CHECK(b.p.main.outputs[0].tensor == b.p.main.nodes[5].results[0].values[0]);
    CHECK(b.p.main.outputs[1].tensor == none);
}

TEST_CASE("inputs, buffers and their views are not resized") {
    for (input_kind const kind : {input_kind::user, input_kind::buffer}) {
        for (bool const of_view : {false, true}) {
            program_builder b;
            value_index const x = b.input(input_kind::user, "x", {3, 4});
            value_index const y = b.input(kind, "y", {5});
            value_index const part = b.add("aten::slice.Tensor", {tensor("self", y), integer("start", 1)}, {4});
            value_index const out = of_view ? part : y;
            b.add("aten::add.out", {tensor("self", x), tensor("other", x), tensor("out", out)}, {3, 4});
            CHECK(is_said(message_of(functionalized, b.p), "the memory of an input or a buffer"));
        }
    }
}

TEST_CASE("what shares memory with an out argument that was resized is not used afterwards") {
    auto const with = [](bool of_view, auto use) {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3});
        value_index const y = b.add("aten::zeros", {integers("size", {5})}, {5});
        value_index const part = b.add("aten::slice.Tensor", {tensor("self", y), integer("start", 1)}, {4});
        value_index const out = of_view ? part : y;
        b.add("aten::add.out", {tensor("self", x), tensor("other", x), tensor("out", out)}, {3});
        use(b, of_view ? y : part);
        return message_of(functionalized, b.p);
    };
    auto const read = [](program_builder& b, value_index other) { b.output(other); };
    auto const written = [](program_builder& b, value_index other) {
        b.add("aten::mul_.Scalar", {tensor("self", other), integer("other", 2)}, {5});
    };
    auto const resized = [](program_builder& b, value_index other) {
        value_index const z = b.input(input_kind::user, "z", {2});
        b.add("aten::add.out", {tensor("self", z), tensor("other", z), tensor("out", other)}, {2});
    };
    for (bool const of_view : {false, true}) {
        CHECK(is_said(with(of_view, read), "has resized"));
        CHECK(is_said(with(of_view, written), "has resized"));
        CHECK(is_said(with(of_view, resized), "was resized before"));
        CHECK(with(of_view, [](program_builder&, value_index) {}) == "no error");
    }
}

TEST_CASE("the functional form of a call has no out argument") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3, 4});
    value_index const y = b.input(input_kind::user, "y", {0});
    b.add("aten::mm.out", {tensor("self", x), tensor("mat2", x), tensor("out", y)}, {0});
    std::optional<node> const form = functional_form(b.p.main.nodes[0]);
    REQUIRE(form);
    CHECK(form->op == "aten::mm");
    CHECK(form->arguments.size() == 2);
    CHECK(!functional_form(node{}));
}

TEST_CASE("an out argument of another dtype gets the converted result") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3}, dtype::int64);
    value_index const out = b.add("aten::empty.memory_format", {integers("size", {3})}, {3}, dtype::float16);
    value_index const sine = b.add("aten::sin.out", {tensor("self", x), tensor("out", out)}, {3}, dtype::float16);
    value_index const range = b.add("aten::arange.out", {integer("end", 3), tensor("out", out)}, {3}, dtype::float16);
    value_index const sum =
        b.add("aten::sum.IntList_out",
              {tensor("self", x), integers("dim", {0}), boolean("keepdim", true), tensor("out", out)},
              {1},
              dtype::float16);
    for (value_index const each : {sine, range, sum}) b.output(each);
    functionalize(b.p);
    REQUIRE(
        b.ops() ==
        strings{"aten::empty.memory_format", "aten::sin", "aten::_to_copy", "aten::arange", "aten::sum.dim_IntList"});
    CHECK(b.p.values[b.p.main.nodes[1].results[0].values[0]].type == dtype::undefined);
    CHECK(argument_of(b.p.main.nodes[2], "dtype").type == dtype::float16);
    CHECK(argument_of(b.p.main.nodes[3], "dtype").type == dtype::float16);
    CHECK(argument_of(b.p.main.nodes[4], "dtype").type == dtype::float16);
}
