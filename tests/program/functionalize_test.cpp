// SPDX-License-Identifier: MIT
// functionalize() of single in-place operators: counterparts, dtypes, outputs.
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

namespace {

/// A program with one in-place operator on x, [3, 4], whose result is returned.
program_builder one_write(std::string op, std::vector<argument> more, dtype type = dtype::float32) {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3, 4}, type);
    more.insert(more.begin(), tensor("self", x));
    b.output(b.add(std::move(op), std::move(more), {3, 4}, type));
    return b;
}

} // namespace

TEST_CASE("a program without writes is unchanged") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3, 4});
    value_index const t = b.value_of("t", {4, 3}, {1, 4});
    b.add_node("aten::t", {tensor("self", x)}, std::vector{t});
    value_index const same = b.value_of("same", {4, 3}, {1, 4});
    b.add_node("aten::detach", {tensor("self", t)}, std::vector{same});
    b.output(same);
    functionalize(b.p);
    CHECK(b.ops() == strings{"aten::t", "aten::detach"});
    CHECK(b.p.outputs.size() == 1);
    CHECK(b.p.main.outputs[0].tensor == same);
}

TEST_CASE("in-place operators become their functional counterparts, with their arguments") {
    auto const becomes = [](std::string op, std::vector<argument> more) {
        program_builder b = one_write(std::move(op), std::move(more));
        functionalize(b.p);
        REQUIRE(b.p.main.nodes.size() == 1);
        node const& n = b.p.main.nodes.front();
        std::string text = n.op + "(";
        for (argument const& a : n.arguments) text += a.name + " ";
        CHECK(n.schema.starts_with(n.op + "("));
        CHECK(b.p.outputs.size() == 2);
        CHECK(b.p.outputs[0].kind == output_kind::input_mutation);
        CHECK(b.p.outputs[0].target == "x");
        CHECK(b.p.main.outputs[0].tensor == b.p.main.outputs[1].tensor);
        return text + ")";
    };
    CHECK(becomes("aten::relu_", {}) == "aten::relu(self )");
    CHECK(becomes("aten::add_.Scalar", {integer("other", 3), real("alpha", 0.5)}) ==
          "aten::add.Scalar(self other alpha )");
    CHECK(becomes("aten::pow_.Scalar", {real("exponent", 2.5)}) == "aten::pow.Tensor_Scalar(self exponent )");
    CHECK(becomes("aten::clamp_", {real("min", -1.5)}) == "aten::clamp(self min )");
    CHECK(becomes("aten::zero_", {}) == "aten::fill.Scalar(self value )");
    CHECK(becomes("aten::fill_.Scalar", {real("value", 7.5)}) == "aten::fill.Scalar(self value )");
    CHECK(becomes("aten::dropout_", {real("p", 0.25), boolean("train", true)}) == "aten::dropout(input p train )");
    CHECK(becomes("aten::polygamma_", {integer("n", 2)}) == "aten::polygamma(self n )");
    CHECK(becomes("aten::bernoulli_.float", {real("p", 0.25)}) == "aten::bernoulli.p(self p )");
    CHECK(becomes("aten::normal_", {real("mean", 1.5)}) == "aten::normal_functional(self mean )");
    CHECK(becomes("aten::div_.Scalar_mode", {integer("other", 3), text("rounding_mode", "floor")}) ==
          "aten::div.Scalar_mode(self other rounding_mode )");
}

TEST_CASE("an operator that writes to two tensors may return one of them") {
    program_builder b;
    value_index const scale = b.input(input_kind::user, "scale", {1});
    value_index const steps = b.input(input_kind::user, "steps", {1}, dtype::int32);
    value_index const found = b.input(input_kind::user, "found", {1});
    std::vector<argument> given{tensor("self", scale), tensor("growth_tracker", steps), tensor("found_inf", found)};
    for (char const* const name : {"scale_growth_factor", "scale_backoff_factor"}) given.push_back(real(name, 2));
    given.push_back(integer("growth_interval", 3));
    b.output(b.add("aten::_amp_update_scale_", std::move(given), {1}));
    functionalize(b.p);
    CHECK(b.ops() == strings{"aten::_amp_update_scale"});
    REQUIRE(b.p.outputs.size() == 3);
    CHECK(b.p.outputs[0].target == "scale");
    CHECK(b.p.outputs[1].target == "steps");
    CHECK(b.p.main.outputs[0].tensor == b.p.main.outputs[2].tensor);
    CHECK(b.p.values[b.p.main.outputs[1].tensor].type == dtype::int32);
}

TEST_CASE("every in-place operator of ATen on tensors has a counterpart, or is refused in one line") {
    std::size_t converted = 0;
    std::size_t refused = 0;
    for (std::size_t i = 0; i != aton::aten::schema_count(); ++i) {
        std::string_view const schema = aton::aten::schema_at(i);
        aton::aten::schema_head const head = aton::aten::parse_head(schema);
        aton::aten::schema_argument first;
        aton::aten::argument_cursor arguments{schema};
        bool const wanted = head.ns == "aten" && head.name.ends_with('_') && arguments.next(first) &&
                            first.type.mutates && first.name == "self" && !first.type.list &&
                            first.type.base == aton::aten::base_type::tensor;
        if (!wanted) continue;
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3, 3});
        std::vector<argument> given = {tensor("self", x)};
        for (aton::aten::schema_argument each; arguments.next(each);) {
            if (each.has_default) continue;
            if (each.type.base == aton::aten::base_type::tensor && !each.type.list)
                given.push_back(tensor(std::string{each.name}, x));
            else given.push_back(real(std::string{each.name}, 1.0));
        }
        value_index const made = b.add(std::string{head.qualified}, std::move(given), {3, 3});
        b.output(made);
        try {
            functionalize(b.p);
            for (node const& n : b.p.main.nodes) {
                CHECK_MESSAGE(!n.schema.empty(), head.qualified);
                aton::aten::argument_cursor taken{n.schema};
                for (aton::aten::schema_argument each; taken.next(each);)
                    CHECK_MESSAGE(!each.type.mutates, head.qualified);
            }
            ++converted;
        } catch (aton::error const& e) {
            CHECK_MESSAGE(std::string{e.what()}.find('\n') == std::string::npos, head.qualified);
            ++refused;
        }
    }
    CHECK(converted >= 245);
    CHECK(refused <= 14);
}

TEST_CASE("the result of an in-place operator has the dtype of the tensor that it is written to") {
    SUBCASE("float32 += float64") {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3, 4});
        value_index const y = b.input(input_kind::user, "y", {4}, dtype::float64);
        value_index const sum = b.add("aten::add_.Tensor", {tensor("self", x), tensor("other", y)}, {3, 4});
        b.output(sum);
        functionalize(b.p);
        CHECK(b.ops() == strings{"aten::add.Tensor", "aten::_to_copy"});
        value_index const computed = operand(b, sum, "self");
        CHECK(b.p.values[computed].type == dtype::float64);
        CHECK(b.p.values[computed].sizes.size() == 2);
        CHECK(argument_of(b.p.main.nodes[1], "dtype").type == dtype::float32);
    }
    SUBCASE("a 0-d float64 does not promote") {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3, 4});
        value_index const y = b.input(input_kind::user, "y", {}, dtype::float64);
        b.output(b.add("aten::mul_.Tensor", {tensor("self", x), tensor("other", y)}, {3, 4}));
        functionalize(b.p);
        CHECK(b.ops() == strings{"aten::mul.Tensor"});
    }
    SUBCASE("int8 += int64") {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3, 4}, dtype::int8);
        value_index const y = b.input(input_kind::user, "y", {3, 1}, dtype::int64);
        b.output(b.add("aten::sub_.Tensor", {tensor("self", x), tensor("other", y)}, {3, 4}, dtype::int8));
        functionalize(b.p);
        CHECK(b.ops() == strings{"aten::sub.Tensor", "aten::_to_copy"});
        CHECK(b.p.values[operand(b, b.p.main.outputs[1].tensor, "self")].type == dtype::int64);
    }
    SUBCASE("comparisons compute bool") {
        program_builder b = one_write("aten::le_.Scalar", {real("other", 0.5)});
        functionalize(b.p);
        CHECK(b.ops() == strings{"aten::le.Scalar", "aten::_to_copy"});
        CHECK(b.p.values[operand(b, b.p.main.outputs[1].tensor, "self")].type == dtype::bool_);
    }
    SUBCASE("cumsum of int32 computes int32") {
        program_builder b = one_write("aten::cumsum_", {integer("dim", 1)}, dtype::int32);
        functionalize(b.p);
        CHECK(b.ops() == strings{"aten::cumsum"});
        CHECK(argument_of(b.p.main.nodes[0], "dtype").type == dtype::int32);
    }
    SUBCASE("index tensors do not promote") {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", {3, 4}, dtype::int32);
        value_index const i = b.input(input_kind::user, "i", {2}, dtype::int64);
        value_index const y = b.input(input_kind::user, "y", {2, 4}, dtype::int32);
        b.output(b.add("aten::index_copy_",
                       {tensor("self", x), integer("dim", 0), tensor("index", i), tensor("source", y)},
                       {3, 4},
                       dtype::int32));
        functionalize(b.p);
        CHECK(b.ops() == strings{"aten::index_copy"});
    }
}

TEST_CASE("copy_ becomes as few operators as dtype and sizes allow") {
    auto const copy = [](numbers const& sizes, dtype type) {
        program_builder b;
        value_index const x = b.input(input_kind::buffer, "x", {3, 4});
        value_index const y = b.input(input_kind::user, "y", sizes, type);
        b.output(b.add("aten::copy_", {tensor("self", x), tensor("src", y)}, {3, 4}));
        functionalize(b.p);
        CHECK(b.p.outputs[0].kind == output_kind::buffer_mutation);
        return b.ops();
    };
    CHECK(copy({3, 4}, dtype::float32) == strings{});
    CHECK(copy({3, 4}, dtype::int64) == strings{"aten::_to_copy"});
    CHECK(copy({4}, dtype::float32) == strings{"aten::copy"});
    CHECK(copy({1, 1}, dtype::bool_) == strings{"aten::copy"});
}

TEST_CASE("operators that write to an argument in addition to their result") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3, 4});
    value_index const noise = b.input(input_kind::buffer, "noise", {3, 4});
    value_index const y = b.add(
        "aten::rrelu_with_noise",
        {tensor("self", x), tensor("noise", noise), real("lower", 0.1), real("upper", 0.5), boolean("training", true)},
        {3, 4});
    b.output(y);
    functionalize(b.p);
    REQUIRE(b.ops() == strings{"aten::rrelu_with_noise_functional"});
    REQUIRE(b.p.main.nodes[0].results.size() == 2);
    CHECK(b.p.main.nodes[0].results[0].values[0] == y);
    CHECK(b.p.main.outputs[0].tensor == b.p.main.nodes[0].results[1].values.at(0));
    CHECK(b.p.outputs[0].target == "noise");
}

TEST_CASE("lists are written to, element by element") {
    program_builder b;
    value_index const x = b.input(input_kind::buffer, "x", {3, 4});
    value_index const y = b.input(input_kind::buffer, "y", {2});
    value_index const row = b.add("aten::select.int", {tensor("self", x), integer("dim", 0), integer("index", 1)}, {4});
    b.add_node("aten::_foreach_add_.Scalar", {tensors("self", {y, row}), integer("scalar", 3)}, {});
    functionalize(b.p);
    REQUIRE(b.ops() == strings{"aten::select.int", "aten::_foreach_add.Scalar", "aten::select_scatter"});
    REQUIRE(b.p.main.nodes[1].results.size() == 1);
    CHECK(b.p.main.nodes[1].results[0].is_list);
    CHECK(b.p.main.outputs[1].tensor == b.p.main.nodes[1].results[0].values[0]);
    CHECK(argument_of(b.p.main.nodes[2], "src").tensor == b.p.main.nodes[1].results[0].values[1]);
}

TEST_CASE("a diagonal of a tensor that is no cube, or too large, is refused") {
    for (numbers const& sizes : {numbers{3},
                                 numbers{2, 2, 3},
                                 numbers{0, std::int64_t{1} << 40, std::int64_t{1} << 40},
                                 numbers(3, std::int64_t{1} << 40)}) {
        program_builder b;
        value_index const x = b.input(input_kind::user, "x", sizes);
        b.output(b.add("aten::fill_diagonal_", {tensor("self", x), integer("fill_value", 1)}, sizes));
        CHECK_THROWS_WITH_AS(functionalize(b.p), doctest::Contains("aten::fill_diagonal_"), aton::error);
    }
}

TEST_CASE("outputs of mutations come before the others, in the order of the inputs, without duplicates") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3});
    value_index const weight = b.input(input_kind::parameter, "fc.weight", {3});
    value_index const state = b.input(input_kind::buffer, "state", {3});
    value_index const said = b.input(input_kind::buffer, "said", {3});
    b.output(x);
    for (value_index v : {said, state, weight, x})
        b.add("aten::mul_.Scalar", {tensor("self", v), integer("other", 2)}, {3});
    b.output(said);
    b.p.outputs[1] = {output_kind::buffer_mutation, "said"};
    std::swap(b.p.outputs[0], b.p.outputs[1]);
    std::swap(b.p.main.outputs[0], b.p.main.outputs[1]);
    functionalize(b.p);
    std::vector<std::pair<output_kind, std::string>> kinds;
    for (output const& each : b.p.outputs) kinds.emplace_back(each.kind, each.target);
    CHECK(kinds == std::vector<std::pair<output_kind, std::string>>{{output_kind::input_mutation, "x"},
                                                                    {output_kind::parameter_mutation, "fc.weight"},
                                                                    {output_kind::buffer_mutation, "state"},
                                                                    {output_kind::buffer_mutation, "said"},
                                                                    {output_kind::user, ""}});
    for (std::size_t i = 0; i != 4; ++i) CHECK(b.producer(b.p.main.outputs[i].tensor) != nullptr);
    CHECK(b.p.main.outputs[0].tensor == b.p.main.outputs[4].tensor);
}

TEST_CASE("custom and higher-order operators read the written values") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {3});
    value_index const doubled = b.add("aten::mul_.Scalar", {tensor("self", x), integer("other", 2)}, {3});
    value_index const custom = b.add("my_ops::twist_", {tensor("", x)}, {3});
    value_index const branch = b.add("higher_order::cond", {tensors("", {x, custom})}, {3});
    b.output(branch);
    functionalize(b.p);
    CHECK(b.p.main.nodes[1].arguments[0].tensor == doubled);
    CHECK(values_of(b.p.main.nodes[2].arguments[0]) == std::vector{doubled, custom});
}

TEST_CASE("inputs with identical data are one tensor; inputs with overlapping data are refused") {
    std::vector<std::byte> bytes(64);
    auto const with_data = [&](std::int64_t offset, std::int64_t count) {
        program_builder b;
        value_index const one = b.input(input_kind::buffer, "one", {4});
        value_index const two = b.input(input_kind::buffer, "two", {count});
        for (std::size_t i : {std::size_t{0}, std::size_t{1}}) {
            aton::stored_part part;
            part.bytes = {bytes.data(), bytes.size(), 0, -1};
            part.sizes = {i == 0 ? 4 : count};
            part.strides = {1};
            part.offset = i == 0 ? 0 : offset;
            b.p.inputs[i].data.type = dtype::float32;
            b.p.inputs[i].data.sizes = part.sizes;
            b.p.inputs[i].data.parts = {part};
        }
        b.add("aten::relu_", {tensor("self", one)}, {4});
        b.output(two);
        return b;
    };
    program_builder same = with_data(0, 4);
    functionalize(same.p);
    REQUIRE(same.p.outputs.size() == 3);
    CHECK(same.p.outputs[1].target == "two");
    CHECK(same.p.main.outputs[2].tensor == same.p.main.nodes[0].results[0].values[0]);
    std::string const refusal = message_of(functionalized, with_data(2, 4).p);
    CHECK(is_said(refusal, "writes to one, which shares memory with two"));
    program_builder apart = with_data(4, 4);
    functionalize(apart.p);
    CHECK(apart.p.outputs.size() == 2);

    // The second and the third overlap, the first and the third do not.
    program_builder chain = with_data(3, 4);
    value_index const three = chain.input(input_kind::buffer, "three", {2});
    chain.p.inputs[2].data = chain.p.inputs[1].data;
    chain.p.inputs[2].data.sizes = chain.p.inputs[2].data.parts[0].sizes = {2};
    chain.p.inputs[2].data.parts[0].offset = 6;
    chain.p.main.nodes.clear();
    chain.add("aten::relu_", {tensor("self", three)}, {2});
    CHECK(is_said(message_of(functionalized, chain.p), "writes to three, which shares memory with"));
}
