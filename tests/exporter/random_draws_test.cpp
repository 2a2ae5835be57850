// SPDX-License-Identifier: MIT
// Nodes that draw random numbers: found in nested graphs and functions, seeded, or replaced by inputs.
#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <vector>

#include <aton/aton.hpp>
#include <aton/model_io/legality.hpp>
#include <aton/passes/passes.hpp>

#include "../faults.hpp"

namespace random_draws_test {

using namespace aton::dsl;
using aton::tests::fault_of;

namespace {

/// x + u, where u is drawn outside, in both branches of an If or in the body of a Loop.
struct fixture {
    graph_data data;
    graph<16> g{data, 18};
    value x{data, data.add_input("x", {dtype::float32, aton::shape{3, "n"}})};
    value flag{data, data.add_input("flag", {dtype::bool_, aton::shape(std::vector<aton::dim>())})};

    value draw() { return g.op<"RandomUniformLike">(x); }
    value in_branch() {
        return g.op<"If">(flag,
                          attr::then_branch_g([this](graph<16> b) -> value { return b.op<"RandomNormalLike">(x); }),
                          attr::else_branch_g([this](graph<16> b) -> value { return b.op<"Neg">(x); }));
    }
    void finish(value y) { data.outputs = {y.id()}; }
};

std::string name_of(graph_data const& g, std::size_t input) { return g.values[g.inputs.at(input)].name; }

} // namespace

TEST_CASE("every draw has a seed of its own, also in nested graphs") {
    fixture f;
    f.data.context.overload = "aten::rand_like";
    value const first = f.draw();
    f.finish(f.g.op<"Add">(f.g.op<"Add">(first, f.draw()), f.in_branch()));
    REQUIRE(find_draws(f.data).size() == 3);
    CHECK(find_draws(f.data)[0].source == "aten::rand_like");
    seed_draws(f.data, 40);
    std::vector<float> seeds;
    for (aton::graph_node const& n : find_draws(f.data)) seeds.push_back(n.attribute("seed")->f);
    CHECK(seeds == std::vector<float>{40, 41, 42});
    seed_draws(f.data, 7); // replaces the seeds
    CHECK(find_draws(f.data)[2].attribute("seed")->f == 9);
    CHECK_THROWS_WITH(seed_draws(f.data, (1U << 24U) - 1),
                      "the seed 16777217 exceeds 2^24, up to which ONNX represents seeds");
    aton::require_legal(f.data);
}

TEST_CASE("draws become inputs with distinct names, those of branches too") {
    fixture f;
    f.data.context.overload = "aten::dropout";
    value const first = f.draw();
    value const second = f.draw();
    f.data.context.overload = "aten::randn_like.default";
    f.finish(f.g.op<"Add">(f.g.op<"Add">(first, second), f.in_branch()));
    std::vector<aton::random_input> const made = aton::replace_draws_by_inputs(f.data);
    REQUIRE(made.size() == 3);
    REQUIRE(f.data.inputs.size() == 5);
    CHECK(name_of(f.data, 2) == "dropout_uniform");
    CHECK(name_of(f.data, 3) == "dropout_uniform_1");
    CHECK(name_of(f.data, 4) == "randn_like_normal");
    CHECK(made[2].replaced.op == "RandomNormalLike");
    CHECK(f.data.values[f.data.inputs[4]].type.shape == aton::shape{3, "n"});
    CHECK(aton::find_draws(f.data).empty());
    CHECK(f.data.nodes.size() == 3);
    for (aton::value_id const id : f.data.outputs)
        CHECK(f.data.nodes.at(static_cast<std::size_t>(f.data.values[id].producer)).op == "Add");
    aton::require_legal(f.data);
}

TEST_CASE("a draw in the body of a loop cannot be an input") {
    fixture f;
    f.data.context.overload = "aten::rand_like";
    f.finish(f.g.op<"Loop">(2, absent, f.x, attr::body_g([&f](graph<16> b, value, value go, value sum) {
                                return std::tuple<value, value>(go, b.op<"Add">(sum, b.op<"RandomUniformLike">(f.x)));
                            })));
    CHECK(fault_of([&] { return aton::replace_draws_by_inputs(f.data); }) ==
          "aten::rand_like draws random numbers in the body of a loop, which cannot be an input of the model");
}

} // namespace random_draws_test
