// SPDX-License-Identifier: MIT
// SymInt, SymFloat and SymBool values and results of item() as arguments of mappings, also in lists, and as operands that promote weakly.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/passes/passes.hpp>

#include "../faults.hpp"
#include "../program/program_builder.hpp"
#include "graph_ops.hpp"

namespace computed_numbers_test {

namespace {

using namespace aton;
using dsl::number;
namespace pr = aton::program;
using pr::value_index;
using tests::contains;
using tests::fault_of;
using tests::used_ops_of;

/// Adds numbers to a tensor, so that its graph shows each of them.
constexpr auto add_all = [](dsl::graph<13> g, dsl::value x, safe_span<number const> all) -> dsl::value {
    for (number const& n : all) x = g.op<"Add">(x, n);
    return x;
};

constexpr auto rows = dsl::table(
    dsl::symbolic<"t::floats(Tensor x, float[] n) -> Tensor">(add_all),
    dsl::symbolic<"t::ints(Tensor x, SymInt[] n) -> Tensor">(add_all),
    dsl::symbolic<"t::scale(Tensor x, float by, bool twice) -> Tensor">(
        [](dsl::graph<13> g, dsl::value x, number by, number twice) -> dsl::value {
            return g.op<"Where">(g.scalar(twice, dtype::bool_), g.op<"Mul">(x, by), x);
        }),
    dsl::symbolic<"t::permuted(Tensor x, int[][] orders, float[][]? factors=None) -> Tensor">(
        [](dsl::graph<13> g, dsl::value x, std::vector<std::vector<std::int64_t>> orders,
           std::optional<std::vector<std::vector<double>>> factors) -> dsl::value {
            for (std::vector<std::int64_t> const& order : orders) x = g.op<"Transpose">(x, dsl::attr::perm_i(order));
            return factors ? g.op<"Mul">(x, factors->front().at(1)) : x;
        }),
    dsl::symbolic<"t::constant(Tensor x, float by) -> Tensor">(
        [](dsl::graph<13> g, dsl::value x, double by) -> dsl::value { return g.op<"Mul">(x, by); }),
    dsl::symbolic<"t::resized(Tensor x, Tensor sizes, Tensor[] more) -> Tensor">(
        [](dsl::graph<13> g, dsl::value x, dsl::value sizes, safe_span<dsl::value const> more) -> dsl::value {
            x = g.op<"Neg">(x); // left behind by a refused call
            auto const last = sizes.constant().element_count() - 1;
            x = g.op<"Mul">(x, sizes.constant().at(last).to<double>());
            for (dsl::value const& each : more) x = g.op<"Add">(x, each.constant().at(0).to<double>());
            return x;
        }));

struct fixture : pr::program_builder {
    value_index x = input(pr::input_kind::user, "x", {2, 3});
    value_index t = input(pr::input_kind::user, "t", {}, dtype::float64);
    export_options options;

    fixture() { options.tables = {rows}; }

    /// t.item()
    value_index item() {
        value_index const n = number_value("item", pr::value_kind::sym_float);
        add_node("aten::item", {pr::tensor("self", t)}, {n});
        return n;
    }
    value_index is_positive(value_index n) {
        value_index const b = number_value("positive", pr::value_kind::sym_bool);
        add_node("_operator.gt", {pr::tensor("", n), pr::integer("", 0)}, {b});
        return b;
    }
    /// A node of the table above, with a result like `x`.
    value_index call(std::string op, std::vector<pr::argument> arguments) {
        return add(std::move(op), std::move(arguments), {2, 3});
    }
    [[nodiscard]] graph_data convert() const { return convert_program(p, options); }
    [[nodiscard]] std::string fault() const {
        return fault_of([&] { return convert(); });
    }
};

} // namespace

TEST_CASE("item() and comparisons are numbers of any type") {
    fixture f;
    value_index const n = f.item();
    value_index const b = f.is_positive(n);
    f.output(f.call("t::scale", {pr::tensor("x", f.x), pr::tensor("by", n), pr::tensor("twice", b)}));
    CHECK(used_ops_of(f.convert()) == std::vector<std::string>{"Greater", "Cast", "Mul", "Where"});
}

TEST_CASE("lists of floats have computed elements") {
    fixture f;
    value_index const n = f.item();
    f.output(
        f.call("t::floats",
               {pr::tensor("x", f.x), pr::argument::of_numbers({0.25, pr::number::of_value(n), -8.0}).named("n")}));
    graph_data const g = f.convert();
    CHECK(used_ops_of(g) == std::vector<std::string>{"Add", "Cast", "Add", "Add"});
    std::vector<double> constants;
    for (graph_node const& each : g.nodes)
        if (each.op == "Add" && g.constant(each.inputs[1]) != nullptr)
            constants.push_back(g.constant(each.inputs[1])->at(0).to<double>());
    CHECK(constants == std::vector<double>{0.25, -8});
}

TEST_CASE("lists of lists of numbers reach a row as the program writes them") {
    fixture f;
    f.output(
        f.call("t::permuted",
               {pr::tensor("x", f.x),
                pr::argument::of_number_lists({{std::int64_t{1}, std::int64_t{0}}, {std::int64_t{1}, std::int64_t{0}}})
                    .named("orders"),
                pr::argument::of_number_lists({{0.5, 0.25}}).named("factors")}));
    graph_data const g = f.convert();
    REQUIRE(used_ops_of(g) == std::vector<std::string>{"Transpose", "Transpose", "Mul"});
    CHECK(g.nodes[0].attributes[0].ints == std::vector<std::int64_t>{1, 0});
    f.options.tables = {};
    CHECK(contains(f.fault(), "t::permuted"));
    f.options.operators = operator_mode::keep;
    CHECK(contains(f.fault(), "argument 'orders' is a list of lists, which an attribute cannot hold"));
}

TEST_CASE("a computed floating-point number is not a size") {
    fixture f;
    pr::argument const sizes = pr::argument::of_numbers({1, pr::number::of_value(f.item())}).named("n");
    f.output(f.call("t::ints", {pr::tensor("x", f.x), sizes}));
    CHECK(contains(f.fault(), "argument 'n' is [1, a computed float64], but its type is SymInt[]"));
}

TEST_CASE("a row that needs a constant says which argument is computed, and where") {
    fixture f;
    value_index const n = f.item();
    f.add_node(
        "_operator.mul", {pr::tensor("", n), pr::integer("", 3)}, {f.number_value("m", pr::value_kind::sym_float)});
    value_index const product = static_cast<value_index>(f.p.values.size() - 1);
    f.output(f.call("t::constant", {pr::tensor("x", f.x), pr::tensor("by", product)}));
    CHECK(contains(
        f.fault(),
        "argument 'by' is computed by the program (model.py:12 in forward); the mapping needs a constant: use a "
        "number that does not depend on the inputs"));
}

TEST_CASE("a row that needs a constant tensor gets one that the program computes from constants") {
    fixture f;
    auto const full = [&](std::int64_t size, double number, dtype type) {
        pr::argument const sizes = pr::argument::of_numbers({size}).named("size");
        pr::argument const fill = pr::argument::of_number(number).named("fill_value");
        return f.add("aten::full", {sizes, fill, pr::argument::of_type(type).named("dtype")}, {size}, type);
    };
    value_index const pair = f.add("aten::cat",
                                   {pr::tensors("tensors", {full(2, 7, dtype::int64), full(1, -5, dtype::int64)})},
                                   {3},
                                   dtype::int64);
    value_index const halved = f.add(
        "aten::div.Tensor_mode",
        {pr::tensor("self", pair), pr::integer("other", 2), pr::argument::of_text("floor").named("rounding_mode")},
        {3},
        dtype::int64);
    value_index const more = f.add("aten::neg", {pr::tensor("self", full(1, 0.25, dtype::float32))}, {1});
    auto const call = [&](value_index sizes) {
        return f.call("t::resized", {pr::tensor("x", f.x), pr::tensor("sizes", sizes), pr::tensors("more", {more})});
    };
    SUBCASE("also in lists") {
        f.output(call(halved));
        for (bool const optimized : {true, false}) {
            graph_data g = f.convert();
            if (optimized) remove_unused(g);
            graph_node const& add = g.nodes.back();
            REQUIRE(add.op == "Add");
            CHECK(g.constant(add.inputs[1])->at(0).to<double>() == -0.25);
            graph_node const& mul = g.nodes.at(static_cast<std::size_t>(g.values[add.inputs[0]].producer));
            REQUIRE(mul.op == "Mul");
            CHECK(g.constant(mul.inputs[1])->at(0).to<double>() == -3); // -5 / 2, rounded down
            CHECK(std::count_if(g.nodes.begin(), g.nodes.end(), [](graph_node const& n) { return n.op == "Neg"; }) ==
                  (optimized ? 1 : 2)); // that of `more`, which nothing uses
        }
    }
    SUBCASE("but not one that depends on an input") {
        value_index const shape = f.add("aten::ones_like", {pr::tensor("self", f.x)}, {2, 3});
        value_index const sum =
            f.add("aten::add.Tensor", {pr::tensor("self", shape), pr::tensor("other", f.x)}, {2, 3});
        f.output(call(sum));
        CHECK(contains(f.fault(), "is computed by the program (model.py:12 in forward); the mapping needs a constant"));
    }
}

TEST_CASE("t.item() promotes weakly, and t itself does not, although both are one value") {
    fixture f;
    value_index const small = f.input(pr::input_kind::user, "small", {});
    value_index const n = f.item();
    value_index const weak =
        f.add("aten::mul.Tensor", {pr::tensor("self", small), pr::tensor("other", n)}, {}, dtype::float32);
    value_index const strong =
        f.add("aten::mul.Tensor", {pr::tensor("self", small), pr::tensor("other", f.t)}, {}, dtype::float64);
    value_index const scalar =
        f.add("aten::mul.Scalar", {pr::tensor("self", small), pr::tensor("other", n)}, {}, dtype::float32);
    for (value_index const v : {weak, strong, scalar}) f.output(v);
    graph_data const g = f.convert(); // refused where a dtype is not as recorded
    for (std::size_t i = 0; i != 3; ++i)
        CHECK(g.values[g.outputs[i]].type.dtype == (i == 1 ? dtype::float64 : dtype::float32));
}

} // namespace computed_numbers_test
