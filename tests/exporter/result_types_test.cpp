// SPDX-License-Identifier: MIT
// Results of rows against recorded types: kinds, ranks, static sizes, casts within a kind, data-dependent sizes, and fake kernels of torch
// that are known to be wrong.
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/exporter/exporter.hpp>

#include "../faults.hpp"
#include "../program/program_builder.hpp"
#include "graph_ops.hpp"

namespace {

using namespace aton::dsl;
using aton::dtype;
using two_values = std::tuple<value, value>;

inline constexpr auto own_rows =
    table(symbolic<"my::swapped(Tensor x) -> (Tensor, Tensor)">([](graph<13> g, value x) -> two_values {
              return {g.op<"ArgMax">(x, attr::axis_i(-1)), g.within<13, 17>().op<"ReduceMax">(x, attr::axes_i({-1}))};
          }),
          symbolic<"my::counts(Tensor x) -> (Tensor, Tensor)">([](graph<13> g, value x) -> two_values {
              return {g.op<"Shape">(x), g.cast(g.op<"Shape">(x), dtype::int32)};
          }),
          symbolic<"my::is_nan(Tensor x) -> Tensor">([](graph<13> g, value x) -> value { return g.op<"IsNaN">(x); }),
          symbolic<"my::largest(Tensor x) -> Tensor">(
              [](graph<13> g, value x) -> value { return g.within<13, 17>().op<"ReduceMax">(x, attr::axes_i({-1})); }),
          symbolic<"my::largest_place(Tensor x) -> Tensor">(
              [](graph<13> g, value x) -> value { return g.op<"ArgMax">(x, attr::axis_i(-1)); }),
          symbolic<"my::in_float32(Tensor x) -> Tensor">(
              [](graph<13> g, value x) -> value { return g.op<"Softplus">(g.cast(x, dtype::float32)); }),
          symbolic<"my::floats_in_a_list(Tensor x) -> Tensor">(
              [](graph<13> g, value x) -> value { return g.op<"SequenceConstruct">(x); }));

} // namespace

namespace ATON_NAMESPACE::program {

namespace {

using tests::ops_of;

struct made : program_builder {
    value_index x = input(input_kind::user, "x", {3, 4});
    export_options options;

    made() {
        static constexpr dsl::table_view tables[] = {own_rows};
        options.tables = {std::begin(tables), std::end(tables)};
        options.opset = 17;
    }
    /// A symbol with a range, and expressions of it.
    std::uint32_t symbol(std::string name, std::int64_t least, std::int64_t most) {
        expression e;
        e.kind = expression_kind::symbol;
        e.symbol = name;
        p.expressions.push_back(e);
        p.ranges[std::move(name)] = {least, most};
        return static_cast<std::uint32_t>(p.expressions.size() - 1);
    }
    std::uint32_t twice(std::uint32_t of) {
        expression two;
        two.number = 2;
        expression e;
        e.kind = expression_kind::mul;
        e.operands = {two, p.expressions[of]};
        p.expressions.push_back(e);
        return static_cast<std::uint32_t>(p.expressions.size() - 1);
    }
    void make_symbolic(value_index v, std::size_t i, std::uint32_t e) { p.values[v].sizes[i] = {0, e}; }
    [[nodiscard]] graph_data convert() const { return convert_program(p, options); }
    [[nodiscard]] std::string fault() const {
        return tests::fault_of([&] { return convert(); });
    }
};

} // namespace

TEST_CASE("a size of the user that an addition in place does not allow is named") {
    made b;
    value_index const y = b.input(input_kind::user, "y", {5, 4});
    value_index const sum = b.add("aten::add.Tensor", {tensor("self", y), tensor("other", b.x)}, {5, 4});
    b.output(sum);
    std::uint32_t const n = b.symbol("n", 0, 9);
    b.make_symbolic(y, 0, n);
    b.make_symbolic(sum, 0, n);
    SUBCASE("a symbol of --input, which has no range") {
        b.p.ranges.clear();
        CHECK(is_said(b.fault(),
                      ": the mapping returns float32[3, 4], but the program records float32[n, 4]; 'n' can "
                      "only be 3 here: give that size as a number"));
    }
    SUBCASE("a symbol of torch.export, which would have found the size itself") {
        CHECK(is_said(b.fault(), "the program contradicts itself, or the built-in mapping is wrong"));
    }
}

TEST_CASE("results in the wrong order are refused, not cast") {
    made b;
    value_index const values = b.value_of("values", {3, 1});
    value_index const places = b.value_of("places", {3, 1}, dtype::int64);
    SUBCASE("of two kinds") {
        b.add_node("my::swapped", {tensor("x", b.x)}, {values, places});
        b.output(values);
        std::string const said = b.fault();
        CHECK(is_said(said,
                      "my::swapped (the mapping returns results of int64, float32, but the program records "
                      "float32, int64: they are in the wrong order"));
        CHECK(is_said(said, "at model.py:12 in forward"));
    }
    SUBCASE("the second one is unused and unknown") {
        b.add_node("my::swapped", {tensor("x", b.x)}, {values});
        b.p.main.nodes[0].results.push_back({{no_value}, false});
        b.output(values);
        CHECK(is_said(
            b.fault(),
            "result 'values': the mapping returns int64[3, 1], but the program records float32[3, 1]; the row is "
            "wrong, or returns its results in the wrong order"));
    }
    SUBCASE("of one kind and two widths") {
        value_index const narrow = b.value_of("narrow", {2}, dtype::int32);
        value_index const wide = b.value_of("wide", {2}, dtype::int64);
        b.add_node("my::counts", {tensor("x", b.x)}, {narrow, wide});
        b.output(narrow);
        CHECK(is_said(b.fault(), "returns results of int64, int32, but the program records int32, int64"));
    }
}

TEST_CASE("there is no cast from one kind of numbers to another") {
    made b;
    for (dtype const t : {dtype::float16, dtype::float32, dtype::int64, dtype::complex64}) {
        made each;
        each.output(each.add("my::is_nan", {tensor("x", each.x)}, {3, 4}, t));
        std::string const expected = "the mapping returns bool[3, 4], but the program records " + std::string(name(t));
        CHECK(is_said(each.fault(), expected));
    }
    b.output(b.add("my::largest_place", {tensor("x", b.x)}, {3, 1}, dtype::bool_));
    CHECK(is_said(b.fault(), "the mapping returns int64[3, 1], but the program records bool[3, 1]"));
    made list;
    list.output(list.add("my::floats_in_a_list", {tensor("x", list.x)}, {3, 4}));
    CHECK(is_said(list.fault(),
                  "the mapping returns a sequence of float32[3, 4], but the program records float32[3, 4]"));
}

TEST_CASE("sizes and ranks that are known on both sides must be equal") {
    for (numbers const& sizes : {numbers{3, 4}, numbers{3}, numbers{1, 3}, numbers{}}) {
        made b;
        b.output(b.add("my::largest", {tensor("x", b.x)}, sizes));
        CHECK(is_said(b.fault(), "the mapping returns float32[3, 1], but the program records float32["));
        CHECK(is_said(b.fault(), "the row is wrong"));
    }
    made right;
    right.output(right.add("my::largest", {tensor("x", right.x)}, {3, 1}));
    CHECK(ops_of(right.convert()) == strings{"ReduceMax"});
}

TEST_CASE("a static size cannot be recorded as a symbol") {
    made b;
    std::uint32_t const s0 = b.symbol("s0", 2, 64);
    std::uint32_t const pinned = b.symbol("s1", 1, 1);
    value_index const y = b.add("my::largest", {tensor("x", b.x)}, {3, 0});
    b.output(y);
    SUBCASE("keepdims in the place of a dynamic dimension") {
        b.make_symbolic(y, 1, s0);
        CHECK(is_said(b.fault(), "the mapping returns float32[3, 1], but the program records float32[3, s0]"));
    }
    SUBCASE("not even a size in its range") {
        b.make_symbolic(y, 0, s0);
        b.p.values[y].sizes[1] = {1, extent::none};
        CHECK(is_said(b.fault(), "the mapping returns float32[3, 1], but the program records float32[s0, 1]"));
    }
    SUBCASE("a larger expression") {
        b.make_symbolic(y, 1, b.twice(s0));
        CHECK(is_said(b.fault(), "the program records float32[3, 2*s0]"));
    }
    SUBCASE("a data-dependent size may be known to the mapping, within its range") {
        b.make_symbolic(y, 1, b.symbol("u0", 0, 9));
        graph_data const g = b.convert();
        CHECK(g.values[g.outputs.at(0)].type.shape == shape{3, 1});
        b.p.ranges["u0"].min = 2;
        CHECK(is_said(b.fault(), "the mapping returns float32[3, 1], but the program records float32[3, u0]"));
    }
    SUBCASE("a range of one number") {
        b.make_symbolic(y, 1, pinned);
        graph_data const g = b.convert();
        CHECK(g.values[g.outputs.at(0)].type.shape == shape{3, 1});
    }
}

TEST_CASE("within a kind, casts go to a wider dtype, or to the one of ATen's promotion") {
    SUBCASE("computed in float32 and cast back to float16") {
        made b;
        b.p.values[b.x].type = dtype::float16;
        b.output(b.add("my::in_float32", {tensor("x", b.x)}, {3, 4}, dtype::float16));
        CHECK(ops_of(b.convert()) == strings{"Cast", "Softplus", "Cast"});
    }
    SUBCASE("wider") {
        made b;
        b.output(b.add("my::in_float32", {tensor("x", b.x)}, {3, 4}, dtype::float64));
        CHECK(ops_of(b.convert()) == strings{"Softplus", "Cast"});
    }
    SUBCASE("narrower than all operands") {
        made b;
        b.output(b.add("my::largest_place", {tensor("x", b.x)}, {3, 1}, dtype::int32));
        CHECK(is_said(b.fault(),
                      "the mapping returns int64[3, 1], but the program records int32[3, 1]; write g.cast(..., "
                      "dtype::int32) in the row"));
    }
    SUBCASE("neither half precision represents the other") {
        made b;
        b.p.values[b.x].type = dtype::float16;
        b.output(b.add("my::largest", {tensor("x", b.x)}, {3, 1}, dtype::bfloat16));
        CHECK(is_said(b.fault(), "the mapping returns float16[3, 1], but the program records bfloat16[3, 1]"));
    }
}

TEST_CASE("squeeze of a data-dependent size is right or refused") {
    made b;
    std::uint32_t const data = b.symbol("u0", 0, 9);
    std::uint32_t const from_two = b.symbol("u1", 2, 9);
    std::uint32_t const input = b.symbol("s0", 0, 9);
    value_index const s = b.input(input_kind::user, "s", {0, 3, 1});
    auto const squeezed = [&](std::uint32_t e, std::vector<argument> arguments, numbers const& sizes) {
        made copy = b;
        copy.make_symbolic(s, 0, e);
        arguments.insert(arguments.begin(), tensor("self", s));
        value_index const y = copy.add(arguments.size() == 1      ? "aten::squeeze"
                                       : integer_of(arguments[1]) ? "aten::squeeze.dim"
                                                                  : "aten::squeeze.dims",
                                       arguments,
                                       sizes);
        copy.make_symbolic(y, 0, e);
        copy.output(y);
        return copy.fault();
    };
    std::string const refused = "whether dimension 0 of float32[u0, 3, 1] is 1 and is removed depends on data";
    CHECK(is_said(squeezed(data, {integer("dim", 0)}, {0, 3, 1}), refused));
    CHECK(is_said(squeezed(data, {integer("dim", -3)}, {0, 3, 1}), refused));
    CHECK(is_said(squeezed(data, {integers("dim", {2, 0})}, {0, 3}), refused));
    CHECK(is_said(squeezed(data, {}, {0, 3}), refused));
    for (std::uint32_t const e : {from_two, input, b.twice(data)}) {
        CHECK(squeezed(e, {integer("dim", 0)}, {0, 3, 1}) == "nothing was thrown");
        CHECK(squeezed(e, {}, {0, 3}) == "nothing was thrown");
    }
    CHECK(squeezed(data, {integer("dim", 2)}, {0, 3}) == "nothing was thrown");
    CHECK(squeezed(data, {integers("dim", {1, 2})}, {0, 3}) == "nothing was thrown");
}

TEST_CASE("arithmetic on sizes must match the recorded type") {
    made b;
    value_index const n = b.value_of("n", {});
    value_index const m = b.value_of("m", {});
    b.make_symbolic(b.x, 0, b.symbol("s0", 2, 64));
    b.p.values[n].kind = value_kind::sym_int;
    b.p.values[m].kind = value_kind::sym_int;
    b.add_node("aten::sym_size.int", {tensor("self", b.x), integer("dim", 0)}, {n});
    b.add_node("_operator.truediv", {tensor("", n), integer("", 2)}, {m});
    b.output(m);
    CHECK(is_said(b.fault(), "the operator returns float64[], but the program records int64[]"));
}

TEST_CASE("known wrong types of fake kernels are replaced by the mapping's") {
    made b;
    value_index const h = b.value_of("h", {1, 3, 4});
    value_index const c = b.value_of("c", {1, 3, 4});
    value_index const w = b.value_of("w", {16, 4});
    value_index const r = b.value_of("r", {16, 4});
    value_index const x = b.value_of("sequence", {5, 3, 4});
    for (value_index v : {h, c, w, r, x}) {
        b.p.main.inputs.push_back(v);
        b.p.inputs.emplace_back();
        b.p.inputs.back().value = v;
        b.p.inputs.back().target = b.p.values[v].name;
    }
    // Recorded by torch up to 2.10; the actual shape is [1, 3, 4].
    value_index const y = b.value_of("y", {5, 3, 4});
    value_index const last_h = b.value_of("last_h", {1, 1, 3, 4});
    value_index const last_c = b.value_of("last_c", {1, 1, 3, 4});
    b.add_node("aten::lstm.input",
               {tensor("input", x),
                tensors("hx", {h, c}),
                tensors("params", {w, r}),
                boolean("has_biases", false),
                integer("num_layers", 1),
                real("dropout", 0),
                boolean("train", false),
                boolean("bidirectional", false),
                boolean("batch_first", false)},
               {y, last_h, last_c});
    value_index const top =
        b.add("aten::select.int", {tensor("self", last_h), integer("dim", 0), integer("index", -1)}, {1, 3, 4});
    value_index const doubled = b.add("aten::mul.Tensor", {tensor("self", top), real("other", 2)}, {1, 3, 4});
    b.output(doubled);
    b.p.torch_version = "2.10.0+cu128";
    SUBCASE("and values computed from them") {
        graph_data const g = b.convert();
        CHECK(g.values[g.outputs.at(0)].type.shape == shape{3, 4});
    }
    SUBCASE("torch 2.4 does not record its version") {
        b.p.torch_version.clear();
        CHECK(b.fault() == "nothing was thrown");
    }
    SUBCASE("newer versions are right") {
        b.p.torch_version = "2.11.0";
        CHECK(is_said(b.fault(),
                      "result 'last_h': the mapping returns float32[1, 3, 4], but the program records float32[1, 1, 3, "
                      "4]; the program contradicts itself, or the built-in mapping is wrong"));
    }
    SUBCASE("another rank than the known wrong one") {
        b.p.values[last_h].sizes.push_back({2, extent::none});
        CHECK(is_said(b.fault(), "the program records float32[1, 1, 3, 4, 2]"));
    }
    SUBCASE("losses of inputs without a batch, reduction none") {
        made m;
        value_index const scores = m.input(input_kind::user, "scores", {5});
        value_index const target = m.input(input_kind::user, "target", {5}, dtype::int64);
        value_index const loss = m.add("aten::multilabel_margin_loss",
                                       {tensor("self", scores), tensor("target", target), integer("reduction", 0)},
                                       {1});
        m.output(loss);
        graph_data const g = m.convert();
        CHECK(g.values[g.outputs.at(0)].type.shape == shape(std::vector<dim>()));
    }
    SUBCASE("distinct rows along the last dimension, after which all sizes are recorded again") {
        made m;
        value_index const points = m.input(input_kind::user, "points", {3, 4});
        value_index const rows =
            m.add("aten::unique_consecutive", {tensor("self", points), integer("dim", -1)}, {3, 4, 3, 4});
        m.output(rows);
        graph_data const g = m.convert();
        CHECK(g.values[g.outputs.at(0)].type.shape.rank() == 2);
    }
}

} // namespace ATON_NAMESPACE::program
