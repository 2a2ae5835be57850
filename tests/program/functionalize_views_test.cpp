// SPDX-License-Identifier: MIT
// Writes through views: how they reach the viewed tensors, with how few operators, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/core/error.hpp>
#include <aton/program/program.hpp>

#include "program_builder.hpp"

using namespace aton::program;
using aton::dtype;

TEST_CASE("x[:, 1:] += y, as torch traces it, scatters once") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {2, 5});
    value_index const y = b.input(input_kind::user, "y", {2, 4});
    value_index const h = b.add("aten::mul.Scalar", {tensor("self", x), integer("other", 2)}, {2, 5});
    auto const slices = [&](std::string const& name) {
        value_index const all = b.value_of(name, {2, 5});
        b.add_node("aten::slice.Tensor",
                   {tensor("self", h), integer("dim", 0), integer("start", 0), integer("end", INT64_MAX)},
                   std::vector{all});
        value_index const part = b.value_of(name + "_part", {2, 4}, {5, 1});
        b.add_node("aten::slice.Tensor",
                   {tensor("self", all), integer("dim", 1), integer("start", 1), integer("end", INT64_MAX)},
                   std::vector{part});
        return part;
    };
    value_index const sum =
        b.add("aten::add_.Tensor", {tensor("self", slices("a")), tensor("other", y)}, numbers{2, 4});
    b.add("aten::copy_", {tensor("self", slices("b")), tensor("src", sum)}, numbers{2, 4});
    b.output(h);
    functionalize(b.p);
    CHECK(b.ops() == strings{"aten::mul.Scalar", "aten::slice.Tensor", "aten::add.Tensor", "aten::slice_scatter"});
    node const& last = b.p.main.nodes.back();
    CHECK(argument_of(last, "self").tensor == h);
    CHECK(argument_of(last, "src").tensor == sum);
    CHECK(integer_of(argument_of(last, "start")) == 1);
    CHECK(b.p.outputs.size() == 1);
    CHECK(b.p.main.outputs[0].tensor == last.results[0].values[0]);
}

TEST_CASE("several writes to one view are put back once") {
    program_builder b;
    value_index const x = b.input(input_kind::buffer, "state", {3, 4});
    value_index const row = b.add("aten::select.int", {tensor("self", x), integer("dim", 0), integer("index", 2)}, {4});
    value_index const once = b.add("aten::mul_.Scalar", {tensor("self", row), integer("other", 3)}, {4});
    b.add("aten::add_.Scalar", {tensor("self", row), integer("other", 5)}, {4});
    b.add("aten::relu_", {tensor("self", once)}, {4});
    functionalize(b.p);
    CHECK(b.ops() ==
          strings{"aten::select.int", "aten::mul.Scalar", "aten::add.Scalar", "aten::relu", "aten::select_scatter"});
    CHECK(b.p.outputs[0].target == "state");
}

TEST_CASE("reading a part of what was written, or its sizes, does not put it back") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3, 4});
    value_index const h = b.add("aten::clone", {tensor("self", x)}, {3, 4});
    value_index const row = b.add("aten::select.int", {tensor("self", h), integer("dim", 0), integer("index", 2)}, {4});
    b.add("aten::mul_.Scalar", {tensor("self", row), integer("other", 3)}, {4});
    value_index const part = b.add("aten::slice.Tensor", {tensor("self", row), integer("start", 1)}, {3});
    value_index const sum = b.add("aten::sum", {tensor("self", part)}, {});
    value_index const zeros = b.add("aten::zeros_like", {tensor("self", h)}, {3, 4});
    b.add("aten::add_.Tensor", {tensor("self", row), tensor("other", sum)}, {4});
    b.output(h);
    b.output(zeros);
    functionalize(b.p);
    CHECK(b.ops() == strings{"aten::clone",
                             "aten::select.int",
                             "aten::mul.Scalar",
                             "aten::slice.Tensor",
                             "aten::sum",
                             "aten::zeros_like",
                             "aten::add.Tensor",
                             "aten::select_scatter"});
}

TEST_CASE("a tensor that is overwritten entirely is not read before") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3, 4});
    value_index const h = b.add("aten::clone", {tensor("self", x)}, {3, 4});
    std::vector<value_index> rows;
    for (std::int64_t i : {2, 0, 1})
        rows.push_back(b.add("aten::select.int", {tensor("self", h), integer("dim", 0), integer("index", i)}, {4}));
    b.add("aten::mul_.Scalar", {tensor("self", rows[0]), integer("other", 3)}, {4});
    b.add("aten::fill_.Scalar", {tensor("self", rows[1]), integer("value", 3)}, {4});
    b.add("aten::copy_", {tensor("self", rows[2]), tensor("src", rows[1])}, {4});
    b.output(h);
    functionalize(b.p);
    CHECK(b.ops() == strings{"aten::clone",
                             "aten::select.int",
                             "aten::select.int",
                             "aten::select.int",
                             "aten::mul.Scalar",
                             "aten::fill.Scalar",
                             "aten::select_scatter",
                             "aten::select_scatter",
                             "aten::select_scatter"});
}

TEST_CASE("a view with several computed sizes is put back with the sizes of the viewed tensor") {
    program_builder b;
    for (char const* name : {"s0", "s1"}) {
        expression e;
        e.kind = expression_kind::symbol;
        e.symbol = name;
        b.p.expressions.push_back(std::move(e));
    }
    for (std::size_t computed : {std::size_t{1}, std::size_t{2}}) {
        value_index const x = b.input(input_kind::buffer, "x" + std::to_string(computed), {2, 3, 4});
        for (std::size_t d = 0; d != computed; ++d)
            b.p.values[x].sizes[2 * d] = extent{0, static_cast<std::uint32_t>(d)};
        value_index const flat = b.add("aten::view", {tensor("self", x), integers("size", {-1})}, {24});
        b.add("aten::zero_", {tensor("self", flat)}, {24});
    }
    functionalize(b.p);
    REQUIRE(
        b.ops() ==
        strings{
            "aten::view", "aten::fill.Scalar", "aten::view", "aten::fill.Scalar", "aten::reshape", "aten::reshape_as"});
    CHECK(integers_of(argument_of(b.p.main.nodes[4], "shape")) == numbers{-1, 3, 4});
    CHECK(argument_of(b.p.main.nodes[5], "other").tensor == b.p.main.inputs[1]);
}

TEST_CASE("a write that is never read costs nothing after dead nodes are removed") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3, 4});
    value_index const h = b.add("aten::clone", {tensor("self", x)}, {3, 4});
    value_index const row = b.add("aten::select.int", {tensor("self", h), integer("dim", 0), integer("index", 1)}, {4});
    b.add("aten::zero_", {tensor("self", row)}, {4});
    b.output(x);
    functionalize(b.p);
    remove_dead_nodes(b.p);
    CHECK(b.ops().empty());
}

TEST_CASE("a symbolic start of narrow is added to its length") {
    program_builder b;
    value_index const x = b.input(input_kind::buffer, "cache", {8, 3});
    value number;
    number.name = "position";
    number.kind = value_kind::sym_int;
    b.p.values.push_back(number);
    auto const position = static_cast<value_index>(b.p.values.size() - 1);
    b.p.main.inputs.push_back(position);
    b.p.inputs.emplace_back().value = position;
    value_index const part =
        b.add("aten::narrow",
              {tensor("self", x), integer("dim", 0), tensor("start", position), integer("length", 2)},
              {2, 3});
    b.add("aten::zero_", {tensor("self", part)}, {2, 3});
    functionalize(b.p);
    CHECK(b.ops() == strings{"aten::narrow", "aten::fill.Scalar", "_operator.add", "aten::slice_scatter"});
    node const& sum = b.p.main.nodes[2];
    CHECK(sum.kind == node_kind::python);
    CHECK(b.p.values[sum.results[0].values[0]].kind == value_kind::sym_int);
    CHECK(value_of(argument_of(b.p.main.nodes[3], "end")) == sum.results[0].values.at(0));
}

namespace {

/// Writes to x.reshape(...) or a similar view of a transposed x, and returns x.
program_builder maybe_copied(std::string op, std::vector<argument> more, numbers const& sizes, numbers const& strides) {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {4, 3});
    value_index const h = b.add("aten::clone", {tensor("self", x)}, {4, 3});
    value_index const t = b.value_of("t", {3, 4}, {1, 3});
    b.add_node("aten::t", {tensor("self", h)}, std::vector{t});
    more.insert(more.begin(), tensor("self", t));
    value_index const other = b.value_of("other", sizes, strides);
    b.add_node(std::move(op), std::move(more), std::vector{other});
    b.add("aten::mul_.Scalar", {tensor("self", other), integer("other", 5)}, sizes);
    b.output(h);
    return b;
}

} // namespace

TEST_CASE("a view that required a copy does not share memory") {
    auto const changes_x = [](program_builder b) {
        value_index const before = b.p.main.outputs[0].tensor;
        functionalize(b.p);
        return b.p.main.outputs[0].tensor != before;
    };
    CHECK(!changes_x(maybe_copied("aten::reshape", {integers("shape", {12})}, {12}, {1})));
    CHECK(changes_x(maybe_copied("aten::reshape", {integers("shape", {3, 2, 2})}, {3, 2, 2}, {1, 6, 3})));
    CHECK(!changes_x(maybe_copied("aten::contiguous", {}, {3, 4}, {4, 1})));
    CHECK(!changes_x(maybe_copied("aten::flatten.using_ints", {}, {12}, {1})));
    CHECK(!changes_x(maybe_copied("aten::ravel", {}, {12}, {1})));
    CHECK(changes_x(maybe_copied("aten::to.dtype", {type("dtype", dtype::float32)}, {3, 4}, {1, 3})));
    CHECK(!changes_x(
        maybe_copied("aten::to.dtype", {type("dtype", dtype::float32), boolean("copy", true)}, {3, 4}, {1, 3})));
    CHECK(changes_x(maybe_copied("aten::dropout", {real("p", 0.5), boolean("train", false)}, {3, 4}, {1, 3})));
    CHECK(!changes_x(maybe_copied("aten::dropout", {real("p", 0.5), boolean("train", true)}, {3, 4}, {1, 3})));
    CHECK(changes_x(maybe_copied("aten::dropout", {real("p", 0.0), boolean("train", true)}, {3, 4}, {1, 3})));
    CHECK(changes_x(maybe_copied("aten::numpy_T", {}, {4, 3}, {3, 1})));
}

TEST_CASE("a reshape that joins dimensions is a view if they are contiguous") {
    auto const is_view =
        [](numbers const& sizes, numbers const& strides, std::string op, numbers const& to, numbers const& to_strides) {
            program_builder b;
            value_index const x = b.input(input_kind::user, "x", {24});
            value_index const h = b.add("aten::clone", {tensor("self", x)}, {24});
            value_index const v = b.value_of("v", sizes, strides);
            b.add_node(
                "aten::as_strided", {tensor("self", h), integers("size", sizes), integers("stride", strides)}, {v});
            value_index const w = b.value_of("w", to, to_strides);
            b.add_node(std::move(op), {tensor("self", v), integers("shape", to)}, {w});
            b.add("aten::zero_", {tensor("self", w)}, to);
            b.output(v);
            functionalize(b.p);
            return b.p.main.outputs[0].tensor != v;
        };
    CHECK(is_view({2, 3, 4}, {3, 1, 6}, "aten::reshape", {6, 4}, {1, 6}));
    CHECK(!is_view({2, 3, 4}, {3, 1, 6}, "aten::reshape", {2, 12}, {12, 1}));
    CHECK(is_view({4, 2, 3}, {1, 12, 4}, "aten::reshape", {4, 3, 2}, {1, 8, 4}));
    CHECK(!is_view({4, 2, 3}, {1, 12, 4}, "aten::reshape", {8, 3}, {3, 1}));
    CHECK(is_view({3, 1}, {1, 7}, "aten::reshape", {1, 3, 1}, {3, 1, 1}));
    CHECK(is_view({3, 1}, {1, 7}, "aten::ravel", {3}, {1}));
    CHECK(!is_view({3, 2}, {1, 3}, "aten::ravel", {6}, {1}));
}

TEST_CASE("a view with unknown strides after the last write is read unchanged") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {4, 3});
    value_index const h = b.add("aten::clone", {tensor("self", x)}, {4, 3});
    b.add("aten::relu_", {tensor("self", h)}, {4, 3});
    value_index const flat = b.add("aten::reshape", {tensor("self", h), integers("shape", {12})}, {12});
    b.p.values[h].has_type = false;
    b.output(flat);
    b.output(b.add("aten::neg", {tensor("self", flat)}, {12}));
    functionalize(b.p);
    CHECK(b.ops() == strings{"aten::clone", "aten::relu", "aten::reshape", "aten::neg"});
}

TEST_CASE("a cast makes a new tensor") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {4, 3});
    value_index const half =
        b.add("aten::to.dtype", {tensor("self", x), type("dtype", dtype::float16)}, {4, 3}, dtype::float16);
    b.add("aten::relu_", {tensor("self", half)}, {4, 3}, dtype::float16);
    b.output(x);
    functionalize(b.p);
    CHECK(b.p.outputs.size() == 1);
}

TEST_CASE("writes that cannot be expressed are refused with the operator, the node and the user's line") {
    SUBCASE("an expanded tensor") {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {1, 3});
        value_index const wide = b.value_of("wide", {2, 3}, {0, 1});
        b.add_node("aten::expand", {tensor("self", x), integers("size", {2, 3})}, std::vector{wide});
        b.output(b.add("aten::relu_", {tensor("self", wide)}, {2, 3}));
        std::string const said = message_of(functionalized, b.p);
        CHECK(is_said(said, "model.pt2: aten::relu_ (node"));
        CHECK(is_said(said, "model.py:12 in forward"));
        CHECK(is_said(said, "writes through aten::expand"));
        CHECK(is_said(said, "clone()"));
    }
    SUBCASE("but not through an expand that keeps the sizes") {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {2, 3});
        value_index const same = b.value_of("same", {2, 3});
        b.add_node("aten::expand", {tensor("self", x), integers("size", {-1, 3})}, std::vector{same});
        b.output(b.add("aten::relu_", {tensor("self", same)}, {2, 3}));
        CHECK(message_of(functionalized, b.p) == "no error");
    }
    SUBCASE("a view as another dtype") {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {2, 3});
        value_index const bits =
            b.add("aten::view.dtype", {tensor("self", x), type("dtype", dtype::int32)}, {2, 3}, dtype::int32);
        b.add("aten::zero_", {tensor("self", bits)}, {2, 3}, dtype::int32);
        CHECK(is_said(message_of(functionalized, b.p), "writes through aten::view.dtype"));
    }
    SUBCASE("replaced memory of an input") {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3});
        value_index const y = b.input(input_kind::user, "y", {3});
        b.add("aten::set_.source_Tensor", {tensor("self", x), tensor("source", y)}, {3});
        CHECK(is_said(message_of(functionalized, b.p),
                      "aten::set_.source_Tensor (node 2, at model.py:12 in forward): replaces the memory"));
    }
    SUBCASE("resized memory") {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3});
        b.add("aten::resize_", {tensor("self", x), integers("size", {5})}, {5});
        CHECK(is_said(message_of(functionalized, b.p), "aten::resize_"));
    }
    SUBCASE("an operator without a counterpart") {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3});
        b.add("aten::_sobol_engine_initialize_state_", {tensor("self", x), integer("dimension", 3)}, {3});
        CHECK(is_said(message_of(functionalized, b.p), "no functional operator for it"));
    }
    SUBCASE("an argument that is not a tensor") {
        program_builder b;
        b.add("aten::copy_", {integer("self", 3), integer("src", 4)}, {3});
        CHECK(is_said(message_of(functionalized, b.p), "is not a tensor"));
    }
    SUBCASE("strides that are not recorded") {
        program_builder b = maybe_copied("aten::reshape", {integers("shape", {12})}, {12}, {1});
        for (value& each : b.p.values) each.has_type = false;
        CHECK(is_said(message_of(functionalized, b.p), "does not tell whether it is a copy"));
    }
}

TEST_CASE("thousands of nested views are read in reasonable time, or refused") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {2, 2});
    value_index v = x;
    for (int i = 0; i != 20000; ++i) {
        v = b.add("aten::t", {tensor("self", v)}, {2, 2});
    }
    b.add("aten::zero_", {tensor("self", x)}, {2, 2});
    b.output(v);
    CHECK(is_said(message_of(functionalized, b.p), "nested views"));
}

TEST_CASE("views that are recomputed again and again do not fill the memory") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {2, 2});
    std::vector<value_index> views;
    for (std::int64_t i = 0; i != 2000; ++i)
        views.push_back(b.add("aten::select.int", {tensor("self", x), integer("dim", 0), integer("index", i)}, {2}));
    for (int i = 0; i != 2000; ++i) {
        b.add("aten::zero_", {tensor("self", x)}, {2, 2});
        b.add("aten::cat", {tensors("tensors", views)}, {4000});
    }
    CHECK(is_said(message_of(functionalized, b.p), "too many operators"));
}
