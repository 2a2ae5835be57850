// SPDX-License-Identifier: MIT
// The recipes of docs/cookbook.md: each converts a call, gives the graphs that the page shows, and computes the numbers that follow
// from its description. cookbook.hpp, which write_recipes.py writes, has the code and the graphs, and declares run() of each recipe.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/aton.hpp>
#include <aton/ir/complex.hpp>
#include <aton/mappings/activation.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/runtime/onnx_model.hpp>

#include "../faults.hpp"
#include "cookbook.hpp"

namespace recipes {

namespace {

using namespace aton::dsl;
using aton::dtype;
using aton::graph_data;
using aton::runtime::sizes;
using aton::runtime::tensor;
using aton::tests::refusal_of;

using numbers = std::vector<double>;

tensor tensor_of(numbers const& elements, sizes of, dtype type = dtype::float32) {
    tensor const wide = tensor::empty(dtype::float64, std::move(of));
    REQUIRE(wide.count() == static_cast<std::int64_t>(elements.size()));
    std::copy(elements.begin(), elements.end(), wide.data<double>());
    return aton::runtime::cast(wide, type);
}
numbers numbers_of(tensor const& x) {
    tensor const wide = aton::runtime::cast(x, dtype::float64).contiguous();
    return {wide.data<double>(), wide.data<double>() + wide.count()};
}

/// One call as a graph, and the tensors for its inputs.
struct call {
    graph_data data;
    std::vector<aton::runtime::value> inputs;

    value input(char const* name, tensor const& x) {
        inputs.emplace_back(x);
        return {data, data.add_input(name, {x.dtype(), aton::shape(x.sizes())})};
    }
    argument of(char const* name, tensor const& x) { return argument::of_tensor(input(name, x)); }

    void convert(table_view rows, std::string_view overload, std::vector<argument> const& arguments, int opset = 20) {
        table_view const tables[] = {rows, aton::mappings::activation};
        for (auto const& result : aton::dsl::convert(data, tables, overload, opset, arguments))
            data.outputs.push_back(result.single.id());
    }
    /// Compares the graph with that of the page; a last line of "..." stands for the rest.
    void check_graph(std::string_view shown) const {
        std::string text = to_string(data);
        if (std::string_view const rest = "...\n"; shown.ends_with(rest)) {
            shown.remove_suffix(rest.size());
            text.resize(std::min(text.size(), shown.size()));
        }
        CHECK(text == shown);
    }
    [[nodiscard]] std::vector<tensor> run() const {
        std::vector<tensor> results;
        for (auto const& result : aton::runtime::onnx_model(data).run(inputs)) results.push_back(result.one());
        return results;
    }
    /// The only result must have these numbers.
    void check_result(numbers const& expected) const { check_near(run().at(0), expected); }

    static void check_near(tensor const& x, numbers const& expected) {
        numbers const all = numbers_of(x);
        REQUIRE(all.size() == expected.size());
        for (std::size_t i = 0; i != all.size(); ++i) CHECK(all[i] == doctest::Approx(expected[i]).epsilon(1e-6));
    }
};

argument number_of(scalar s) { return argument::of_number(s); }

} // namespace

void optional_attribute::run() {
    call c;
    c.convert(rows, "my_ops::hard_gate", {c.of("x", tensor_of({-1, 0, 4}, {3})), number_of(0.25)});
    c.check_graph(graphs[0]);
    c.check_result({0.25, 0.5, 1});

    call both;
    both.convert(
        rows, "my_ops::hard_gate", {both.of("x", tensor_of({-1, 0, 4}, {3})), number_of(0.5), number_of(0.25)});
    both.check_result({0, 0.25, 1});
}

void string_attribute::run() {
    tensor const x = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3});
    call c;
    c.convert(rows, "my_ops::pad_last", {c.of("x", x), number_of(1), number_of(2), argument::of_text("replicate")});
    c.check_graph(graphs[0]);
    c.check_result({1, 1, 2, 3, 3, 3, 4, 4, 5, 6, 6, 6});

    call reflecting;
    reflecting.convert(rows, "my_ops::pad_last", {reflecting.of("x", x), number_of(1), number_of(2)});
    reflecting.check_result({2, 1, 2, 3, 2, 1, 5, 4, 5, 6, 5, 4});

    call circular;
    argument const of_x = circular.of("x", x);
    CHECK(refusal_of([&] {
              circular.convert(
                  rows, "my_ops::pad_last", {of_x, number_of(1), number_of(2), argument::of_text("circular")});
          }) == "my_ops::pad_last (opset 20): mode circular");
}

void list_of_tensors::run() {
    call c;
    std::vector<optional_value> const xs{c.input("x", tensor_of({1, 2}, {2})), c.input("y", tensor_of({10, 20}, {2}))};
    c.convert(rows, "my_ops::blend", {argument::of_tensors(xs), argument::of_numbers({0.5, 2.0})});
    c.check_graph(graphs[0]);
    c.check_result({20.5, 41});
}

void computed_number::run() {
    tensor const x = tensor_of({1, -2}, {2});
    call constant;
    constant.convert(rows, "my_ops::widen", {constant.of("x", x), number_of(3)});
    constant.check_graph(graphs[0]);
    constant.check_result({7, -14});

    call computed;
    argument const of_x = computed.of("x", x);
    computed.convert(
        rows, "my_ops::widen", {of_x, argument::of_number(computed.input("n", tensor_of({4}, {}, dtype::int64)))});
    computed.check_graph(graphs[1]);
    computed.check_result({9, -18});
}

void several_results::run() {
    call c;
    c.convert(rows, "my_ops::best", {c.of("scores", tensor_of({3, 9, 7, 8, 1, 2}, {2, 3})), number_of(2)});
    c.check_graph(graphs[0]);
    auto const results = c.run();
    CHECK(numbers_of(results.at(0)) == numbers{9, 7, 8, 2});
    CHECK(numbers_of(results.at(1)) == numbers{1, 2, 0, 2});
    CHECK(results[1].dtype() == dtype::int32);
}

void data_dependent_size::run() {
    call c;
    c.convert(rows, "my_ops::positive_mean", {c.of("x", tensor_of({1, -5, 0, 2, 6, -1}, {2, 3}))});
    c.check_graph(graphs[0]);
    c.check_result({3});

    call none;
    none.convert(rows, "my_ops::positive_mean", {none.of("x", tensor_of({-1, 0}, {2}))});
    none.check_result({0});
}

void mutable_operator::run() {
    call c;
    c.convert(rows, "my_ops::cap_", {c.of("x", tensor_of({-3, 1, 2.5}, {3})), number_of(2.0)});
    c.check_graph(graphs[0]);
    CHECK(c.data.outputs.size() == 1);
    c.check_result({-2, 1, 2});
}

void state::run() {
    call c;
    argument const x = c.of("x", tensor_of({1, 10, 3, 30}, {2, 2}));
    c.convert(rows, "my_ops::center", {x, c.of("mean", tensor_of({4, 8}, {2})), number_of(0.25)});
    c.check_graph(graphs[0]);
    auto const results = c.run(); // mean = 0.75 * {4, 8} + 0.25 * {2, 20}
    CHECK(numbers_of(results.at(0)) == numbers{-2.5, -1, -0.5, 19});
    CHECK(numbers_of(results.at(1)) == numbers{3.5, 11});
}

void version_split::run() {
    for (int opset : {13, 17, 18, newest}) {
        CAPTURE(opset);
        call c;
        c.convert(rows, "my_ops::row_max", {c.of("x", tensor_of({1, 5, 2, -3, -1, -2}, {2, 3}))}, opset);
        c.check_graph(graphs[opset < 18 ? 0 : 1]);
        c.check_result({5, -1});
    }
}

void declining_override::run() {
    tensor const x = tensor_of({-2, 3}, {2});
    call own;
    own.convert(rows, "aten::leaky_relu", {own.of("x", x), number_of(0)});
    own.check_graph(graphs[0]);
    own.check_result({0, 3});

    call built_in;
    built_in.convert(rows, "aten::leaky_relu", {built_in.of("x", x), number_of(0.5)});
    built_in.check_graph(graphs[1]);
    built_in.check_result({-1, 3});
}

void function_body::run() {
    call c;
    double const log_3 = 1.0986122886681098; // tanh(log(3) / 2) is 1 / 2
    c.convert(rows, "my_ops::soft_cap", {c.of("x", tensor_of({0, log_3, -log_3, 100}, {4})), number_of(2.0)});
    c.check_graph(graphs[0]);
    c.check_result({0, 1, -1, 2});
}

void shape_rule::run() {
    call c;
    c.convert(rows, "my_ops::windows", {c.of("x", tensor_of({1, 2, 3, 4, 5}, {5})), number_of(3)});
    c.check_graph(graphs[0]);
    c.check_result({1, 2, 3, 2, 3, 4, 3, 4, 5});

    // A length that is not known.
    call dynamic;
    dynamic.inputs.emplace_back(tensor_of({1, 2, 3}, {3}));
    value const x(dynamic.data, dynamic.data.add_input("x", {dtype::float32, aton::shape{"n"}}));
    dynamic.convert(rows, "my_ops::windows", {argument::of_tensor(x), number_of(2)});
    CHECK(dynamic.data.values[dynamic.data.outputs[0]].type == aton::value_type{dtype::float32, {aton::dim(), 2}});
    dynamic.check_result({1, 2, 2, 3});
}

void contrib_domain::run() {
    call c;
    double const log_3 = 1.0986122886681098; // sigmoid(log(3)) is 3 / 4
    c.convert(rows, "my_ops::quick_gelu", {c.of("x", tensor_of({0, log_3 / 1.702}, {2}))});
    c.check_graph(graphs[0]);
    c.check_result({0, 0.75 * log_3 / 1.702});
}

void complex_tensor::run() {
    call c;
    aton::runtime::tensor const pairs = tensor_of({2, 0, 0, 3, -1, 4}, {3, 2}); // 2, 3i, -1 + 4i
    c.inputs.emplace_back(pairs);
    value const z(c.data, c.data.add_input("z", {dtype::complex64, aton::shape{3}}));
    c.convert(rows, "my_ops::turn", {argument::of_tensor(z), number_of(0.5)});
    aton::complex_ir::lower(c.data);
    c.check_graph(graphs[0]);
    double const cosine = 0.8775825618903728;
    double const sine = 0.479425538604203;
    c.check_result({2 * cosine, 2 * sine, -3 * sine, 3 * cosine, -cosine - 4 * sine, 4 * cosine - sine});
}

void quantized_operator::run() {
    call c;
    argument const x = c.of("x", tensor_of({1.1, -0.4, 100}, {1, 3})); // 2, -1 and 127, the largest int8, times 0.5
    argument const weight = c.of("weight", tensor_of({1, 2, 0, -3, 0, 4}, {2, 3}, dtype::int8));
    argument const scale = c.of("weight_scale", tensor_of({0.5, 2}, {2}));
    c.convert(rows, "my_ops::linear_int8", {x, weight, scale, number_of(0.5)});
    c.check_graph(graphs[0]);
    c.check_result({0, 502}); // 1 * 0.5 - 0.5 * 1, 1 * -6 + 63.5 * 8
}

void loop::run() {
    call c;
    argument const m = c.of("m", tensor_of({1, 1, 0, 2}, {2, 2}));
    c.convert(rows, "my_ops::power", {m, c.of("x", tensor_of({1, 1}, {2})), number_of(3)});
    c.check_graph(graphs[0]);
    c.check_result({8, 8}); // (1, 1), (2, 2), (4, 4), (8, 8)

    call computed;
    argument const again = computed.of("m", tensor_of({1, 1, 0, 2}, {2, 2}));
    argument const x = computed.of("x", tensor_of({0, 1}, {2}));
    argument const steps = argument::of_number(size(computed.input("steps", tensor_of({2}, {}, dtype::int64))));
    computed.convert(rows, "my_ops::power", {again, x, steps});
    computed.check_result({3, 4}); // (0, 1), (1, 2), (3, 4)
}

} // namespace recipes

TEST_CASE("every recipe of the cookbook gives the graphs shown and the right numbers") {
    for (recipes::recipe const& each : recipes::all) {
        CAPTURE(each.name);
        each.run();
    }
}
