// SPDX-License-Identifier: MIT
// Calls that ATen refuses, in programs whose recorded shapes hide this.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/exporter/exporter.hpp>

#include "exporter/summary.hpp"

#include "../faults.hpp"
#include "../program/program_builder.hpp"

namespace ATON_NAMESPACE::program {

namespace {

struct invalid_program : program_builder {
    value_index x = input(input_kind::user, "x", {2, 3});
    value_index y = input(input_kind::user, "y", {4});
    value_index square = input(input_kind::user, "square", {2, 2});
};

/// The error of exporting x.op(...) if the file records a result of these sizes.
std::string fault(std::string op, std::vector<argument> arguments, numbers const& sizes, char const* self = "self") {
    invalid_program b;
    arguments.insert(arguments.begin(), tensor(self, b.x));
    b.output(b.add(std::move(op), std::move(arguments), sizes));
    return tests::fault_of([&] { return convert_program(b.p); });
}

constexpr std::int64_t huge = std::int64_t{1} << 62;

} // namespace

TEST_CASE("permute must name each dimension once") {
    for (numbers const& dims :
         {numbers{0, 0}, numbers{1, 1}, numbers{-1, 1}, numbers{0}, numbers{}, numbers{0, 1, 1}}) {
        std::string const said = fault("aten::permute", {integers("dims", dims)}, {2, 3});
        CHECK_MESSAGE(
            is_said(said, "aten::permute (dims that are not a permutation of the 2 dimensions; at model.py:12"), said);
    }
    CHECK(fault("aten::permute", {integers("dims", {-1, 0})}, {3, 2}) == "nothing was thrown");
}

TEST_CASE("a view must have the elements of its base") {
    for (char const* op : {"aten::view", "aten::reshape", "aten::_unsafe_view"}) {
        char const* const sizes = std::string_view(op) == "aten::reshape" ? "shape" : "size";
        for (numbers const& wrong : {numbers{5},
                                     numbers{2, 4},
                                     numbers{0, 3},
                                     numbers{4, -1},
                                     numbers{-1, -1},
                                     numbers{-2, -3},
                                     numbers{},
                                     numbers{huge, huge},
                                     numbers{-1, std::numeric_limits<std::int64_t>::min()}}) {
            std::string const said = fault(op, {integers(sizes, wrong)}, {2, 3});
            CHECK_MESSAGE(is_said(said, "a tensor of 6 elements cannot be reshaped to ["), said);
        }
        CHECK(fault(op, {integers(sizes, {-1, 2})}, {3, 2}) == "nothing was thrown");
    }
}

TEST_CASE("expand must keep every dimension that is not 1") {
    for (numbers const& wrong :
         {numbers{2, 6}, numbers{4, 3}, numbers{3}, numbers{-1, 2, 3}, numbers{2, -2}, numbers{0, 3}}) {
        std::string const said = fault("aten::expand", {integers("size", wrong)}, {2, 3});
        CHECK_MESSAGE(is_said(said, "cannot be expanded to this size"), said);
    }
    CHECK(fault("aten::expand", {integers("size", {7, -1, 3})}, {7, 2, 3}) == "nothing was thrown");
}

TEST_CASE("incompatible operands are refused, whatever type the file records for the result") {
    invalid_program const b;
    struct {
        char const* op;
        std::vector<argument> arguments;
        numbers sizes;
        char const* said;
    } const calls[] = {
        {"aten::add.Tensor",
         {tensor("other", b.y)},
         {2, 3},
         "aten::add.Tensor (dimensions 3 and 4 do not broadcast; at model.py:12"},
        {"aten::mul.Tensor", {tensor("other", b.square)}, {2, 3}, "dimensions 3 and 2 do not broadcast"},
        {"aten::eq.Tensor", {tensor("other", b.y)}, {2, 3}, "dimensions 3 and 4 do not broadcast"},
        {"aten::mm",
         {tensor("mat2", b.square)},
         {2, 2},
         "requires size(self, 1) = size(mat2, 0), but they are 3 and 2"},
        {"aten::matmul", {tensor("other", b.y)}, {2}, "onnx::MatMul: inner dimensions 3 and 4 do not match"},
    };
    for (auto const& [op, arguments, sizes, expected] : calls) {
        std::string const said = fault(op, arguments, sizes);
        CHECK_MESSAGE(is_said(said, expected), said);
    }
    for (value_index other : {b.y, b.square}) {
        invalid_program c;
        c.output(c.add("aten::cat", {tensors("tensors", {c.x, other}), integer("dim", 0)}, {4, 3}));
        std::string const said = tests::fault_of([&] { return convert_program(c.p); });
        CHECK_MESSAGE(is_said(said, "aten::cat (onnx::Concat: "), said);
    }
}

TEST_CASE("a mask of constant sizes may index a tensor with symbolic sizes") {
    invalid_program b;
    b.p.expressions.push_back({expression_kind::symbol, 0, 0, "s0", {}});
    value_index const wide = b.input(input_kind::user, "wide", {0, 2});
    b.p.values[wide].sizes[0] = {0, static_cast<std::uint32_t>(b.p.expressions.size() - 1)};
    value_index const mask = b.input(input_kind::user, "mask", {3, 2}, dtype::bool_);
    value_index const number = b.input(input_kind::user, "number", {});
    value_index const made =
        b.add("aten::index_put", {tensor("self", wide), tensors("indices", {mask}), tensor("values", number)}, {0, 2});
    b.p.values[made].sizes = b.p.values[wide].sizes;
    b.output(made);
    CHECK(tests::fault_of([&] { return convert_program(b.p); }) == "nothing was thrown");
}

TEST_CASE("strides of memory address only contiguous tensors") {
    auto const viewed = [](numbers const& sizes, numbers const& strides) {
        invalid_program b;
        value_index const y = b.value_of("turned", sizes, strides);
        b.add_node("aten::permute",
                   {tensor("self", b.x), integers("dims", sizes == numbers{3, 2} ? numbers{1, 0} : numbers{0, 1})},
                   {y});
        b.output(b.add("aten::as_strided", {tensor("self", y), integers("size", {2}), integers("stride", {2})}, {2}));
        return tests::fault_of([&] { return convert_program(b.p); });
    };
    CHECK(
        is_said(viewed({3, 2}, {1, 3}), "aten::as_strided (strides of the memory of a tensor that is not contiguous"));
    CHECK(viewed({2, 3}, {3, 1}) == "nothing was thrown");
}

TEST_CASE("strides of memory do not address a part of a tensor with symbolic sizes") {
    auto const viewed = [](std::int64_t rows_apart) {
        invalid_program b;
        b.p.expressions.push_back({expression_kind::symbol, 0, 0, "s0", {}});
        expression const apart{expression_kind::integer, rows_apart, 0, {}, {}};
        b.p.expressions.push_back({expression_kind::mul, 0, 0, {}, {b.p.expressions.back(), apart}});
        auto const symbol = static_cast<std::uint32_t>(b.p.expressions.size() - 2);
        value_index const y = b.value_of("part", {2, 2, 0}, {0, 0, 1});
        b.p.values[y].sizes[2] = b.p.values[y].strides[1] = {0, symbol};
        b.p.values[y].strides[0] = {0, symbol + 1};
        b.add_node("aten::slice.Tensor", {tensor("self", b.x)}, {y});
        b.output(b.add("aten::as_strided", {tensor("self", y), integers("size", {2}), integers("stride", {2})}, {2}));
        return tests::fault_of([&] { return convert_program(b.p); });
    };
    CHECK(is_said(viewed(4), "aten::as_strided (strides of the memory of a tensor that is not contiguous"));
    CHECK(!is_said(viewed(2), "not contiguous"));
}

TEST_CASE("an offset in memory counts from its start, so it is refused for a view that starts inside") {
    auto const viewed = [](std::int64_t starts_at, std::vector<argument> offset) {
        invalid_program b;
        value_index const y = b.value_of("rest", {2, 3}, {3, 1});
        b.p.values[y].storage_offset.number = starts_at;
        b.add_node("aten::alias", {tensor("self", b.x)}, {y});
        std::vector<argument> arguments{tensor("self", y), integers("size", {2}), integers("stride", {2})};
        arguments.insert(arguments.end(), offset.begin(), offset.end());
        b.output(b.add("aten::as_strided", arguments, {2}));
        return tests::fault_of([&] { return convert_program(b.p); });
    };
    CHECK(is_said(viewed(6, {integer("storage_offset", 0)}),
                  "aten::as_strided (an offset in memory that begins before the tensor, which is a view"));
    CHECK(viewed(6, {}) == "nothing was thrown");
    CHECK(viewed(0, {integer("storage_offset", 1)}) == "nothing was thrown");
}

TEST_CASE("the new value of an input or a buffer must have its type") {
    invalid_program b;
    b.input(input_kind::user, "total", {5});
    value_index const count = b.add("aten::sum", {tensor("self", b.x)}, {}, dtype::float32);
    b.output(count);
    b.p.main.outputs.push_back(tensor("", count));
    b.p.outputs.push_back({output_kind::input_mutation, "total"});
    CHECK(is_said(tests::fault_of([&] { return convert_program(b.p); }),
                  "model.pt2: the program is inconsistent: 'total' is float32[5], but its new value "));
}

TEST_CASE("a recorded dtype does not hide that a cast gives another one") {
    CHECK(fault("aten::to.dtype", {type("dtype", dtype::float32)}, {2, 3}) == "nothing was thrown");
    std::string const said = fault("aten::to.dtype", {type("dtype", dtype::int16)}, {2, 3}); // recorded as float32
    CHECK_MESSAGE(is_said(said, "the mapping returns int16[2, 3], but the program records float32[2, 3]"), said);
}

TEST_CASE("an assertion that contradicts the program is refused, and no other") {
    auto const said = [](std::vector<argument> facts) {
        invalid_program b;
        facts.insert(facts.begin(), tensor("a", b.x));
        b.add_node("aten::_assert_tensor_metadata", std::move(facts), {});
        b.output(b.add("aten::relu", {tensor("self", b.x)}, {2, 3}));
        return tests::fault_of([&] { return convert_program(b.p); });
    };
    CHECK(said({type("dtype", dtype::float32), integers("size", {2, 3})}) == "nothing was thrown");
    CHECK(said({}) == "nothing was thrown");
    CHECK(is_said(said({type("dtype", dtype::bool_)}), "requires type(a) = dtype, but they are float32 and bool"));
    CHECK(is_said(said({integers("size", {2, 4})}), "requires shape(a) = size, but they are [2, 3] and [2, 4]"));
    CHECK(is_said(said({integers("size", {2})}), "requires shape(a) = size, but they are [2, 3] and [2]"));
}

TEST_CASE("what ATen requires of a call is refused with both sides of the condition") {
    invalid_program b;
    value_index const weight = b.input(input_kind::user, "weight", {4});
    b.output(b.add("aten::layer_norm",
                   {tensor("input", b.x), integers("normalized_shape", {3}), tensor("weight", weight)},
                   {2, 3}));
    std::string const said = tests::fault_of([&] { return convert_program(b.p); });
    CHECK_MESSAGE(is_said(said,
                          "aten::layer_norm (requires shape(weight) = normalized_shape, but they are [4] and [3]; at "
                          "model.py:12"),
                  said);
    CHECK(is_said(fault("aten::dropout", {real("p", 1.5), boolean("train", false)}, {2, 3}, "input"),
                  "requires p in 0..1"));
}

TEST_CASE(
    "a summary of long refusals leaves room for the path of the file, and says how many operators it does not name") {
    unconvertible each;
    each.op = "aten::convolution";
    each.reason = std::string(400, 'x');
    each.count = 1;
    each.places = {"a_module_with_a_long_name.py:123 in forward"};
    std::string const said = exporter::summary({each, each, each}, "cannot be converted at opset 20");
    CHECK(said.size() <= max_message - 50);
    CHECK(said.starts_with("3 operators cannot be converted at opset 20: aten::convolution (xxx"));
    CHECK(said.ends_with("; and 2 more (aton unconvertible lists every place)"));
    each.reason = "no mapping";
    std::string const brief = exporter::summary({each, each, each}, "cannot be converted at opset 20");
    CHECK(brief.find("more") == std::string::npos);
}

} // namespace ATON_NAMESPACE::program
