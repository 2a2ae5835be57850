// SPDX-License-Identifier: MIT
// functionalize() of normalizations, which update the running statistics that are their arguments.
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/program/program.hpp>

#include "program_builder.hpp"

using namespace aton::program;
using aton::dtype;

TEST_CASE("batch_norm in training returns its statistics") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {2, 3, 5});
    value_index const mean = b.input(input_kind::buffer, "bn.running_mean", {3});
    value_index const variance = b.input(input_kind::buffer, "bn.running_var", {3});
    value_index const tracked = b.input(input_kind::buffer, "bn.num_batches_tracked", {}, dtype::int64);
    b.add("aten::add_.Tensor", {tensor("self", tracked), integer("other", 1)}, {}, dtype::int64);
    value_index const y = b.add("aten::batch_norm",
                                {tensor("input", x),
                                 argument{},
                                 argument{},
                                 tensor("running_mean", mean),
                                 tensor("running_var", variance),
                                 boolean("training", true),
                                 real("momentum", 0.25),
                                 real("eps", 1e-3),
                                 boolean("cudnn_enabled", true)},
                                {2, 3, 5});
    b.p.main.nodes.back().arguments[1].name = "weight";
    b.p.main.nodes.back().arguments[2].name = "bias";
    value_index const after = b.add("aten::mul.Scalar", {tensor("self", mean), integer("other", 2)}, {3});
    b.output(y);
    b.output(after);
    functionalize(b.p);
    REQUIRE(b.ops() == strings{"aten::add.Tensor", "aten::_native_batch_norm_legit_functional", "aten::mul.Scalar"});
    node const& norm = b.p.main.nodes[1];
    REQUIRE(norm.results.size() == 5);
    CHECK(norm.results[0].values[0] == y);
    CHECK(norm.arguments.size() == 8);
    REQUIRE(b.p.outputs.size() == 5);
    CHECK(b.p.outputs[0].target == "bn.running_mean");
    CHECK(b.p.main.outputs[0].tensor == norm.results[3].values[0]);
    CHECK(b.p.outputs[1].target == "bn.running_var");
    CHECK(b.p.main.outputs[1].tensor == norm.results[4].values[0]);
    CHECK(b.p.outputs[2].target == "bn.num_batches_tracked");
    CHECK(b.p.outputs[3].kind == output_kind::user);
    CHECK(operand(b, after, "self") == norm.results[3].values[0]);
}

TEST_CASE("batch_norm outside training does not write") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {2, 3, 5});
    value_index const mean = b.input(input_kind::buffer, "mean", {3});
    b.output(b.add("aten::batch_norm",
                   {tensor("input", x),
                    tensor("running_mean", mean),
                    tensor("running_var", mean),
                    boolean("training", false),
                    real("momentum", 0.25),
                    real("eps", 1e-3)},
                   {2, 3, 5}));
    functionalize(b.p);
    CHECK(b.ops() == strings{"aten::batch_norm"});
    CHECK(b.p.outputs.size() == 1);
}

TEST_CASE("instance_norm averages the statistics of the instances") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {2, 3, 5, 4}, dtype::float16);
    value_index const mean = b.input(input_kind::buffer, "mean", {3});
    value_index const variance = b.input(input_kind::buffer, "variance", {3});
    b.output(b.add("aten::instance_norm",
                   {tensor("input", x),
                    tensor("running_mean", mean),
                    tensor("running_var", variance),
                    boolean("use_input_stats", true),
                    real("momentum", 0.25),
                    real("eps", 1e-3)},
                   {2, 3, 5, 4},
                   dtype::float16));
    functionalize(b.p);
    CHECK(b.ops() == strings{"aten::mean.dim",
                             "aten::var.correction",
                             "aten::mean.dim",
                             "aten::_to_copy",
                             "aten::lerp.Scalar",
                             "aten::_to_copy",
                             "aten::lerp.Scalar",
                             "aten::instance_norm"});
    CHECK(integers_of(argument_of(b.p.main.nodes[0], "dim")) == numbers{0, 2, 3});
    CHECK(integers_of(argument_of(b.p.main.nodes[1], "dim")) == numbers{2, 3});
    CHECK(integer_of(argument_of(b.p.main.nodes[1], "correction")) == 1);
    CHECK(argument_of(b.p.main.nodes.back(), "running_mean").kind == argument_kind::none);
    CHECK(b.p.outputs.size() == 3);
}
