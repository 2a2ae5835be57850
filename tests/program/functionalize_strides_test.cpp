// SPDX-License-Identifier: MIT
// as_strided of views, which addresses the memory of the viewed tensor.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <aton/program/program.hpp>

#include "program_builder.hpp"

namespace ATON_NAMESPACE::program {

TEST_CASE("strides of a view or of a permuted tensor are those of the memory") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {4, 5});
    value_index const part = b.value_of("part", {2, 3}, {5, 1});
    b.p.values[part].storage_offset = {6};
    b.add_node("aten::slice.Tensor", {tensor("self", x), integer("dim", 0)}, {part});
    b.add("aten::as_strided",
          {tensor("self", part),
           integers("size", {2}),
           integers("stride", {9}),
           argument::none().named("storage_offset")},
          {2});
    value_index const turned = b.value_of("turned", {5, 1, 4}, {1, 3, 5});
    b.add_node("aten::relu", {tensor("self", x)}, {turned});
    b.add("aten::as_strided", {tensor("self", turned), integers("size", {2}), integers("stride", {9})}, {2});
    value_index const wide = b.value_of("wide", {2, 3}, {0, 1});
    b.add_node("aten::relu", {tensor("self", x)}, {wide});
    b.add("aten::as_strided", {tensor("self", wide), integers("size", {2}), integers("stride", {1})}, {2});
    functionalize(b.p);

    CHECK(b.ops() == strings{"aten::slice.Tensor",
                             "aten::as_strided",
                             "aten::relu",
                             "aten::permute",
                             "aten::as_strided",
                             "aten::relu",
                             "aten::as_strided"});
    node const& of_part = b.p.main.nodes[1];
    CHECK(of_part.arguments.front().tensor == x);
    CHECK(of_part.arguments.back().name == "storage_offset");
    CHECK(of_part.arguments.back().number.constant == aton::scalar(std::int64_t{6}));
    node const& permute = b.p.main.nodes[3];
    CHECK(integers_of(permute.arguments[1]) == numbers{2, 1, 0});
    CHECK(b.p.main.nodes[4].arguments.front().tensor == permute.results[0].values[0]);
    CHECK(b.p.main.nodes[6].arguments.front().tensor == wide); // its memory is smaller than itself
}

TEST_CASE("strides of a view that repeats elements, or starts at a symbolic offset, are those of the memory") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {1, 4});
    argument const at_start = integer("storage_offset", 1);
    auto const read_memory = [&](value_index view) {
        b.add(
            "aten::as_strided", {tensor("self", view), integers("size", {2}), integers("stride", {2}), at_start}, {2});
        return b.p.main.nodes.size() - 1;
    };
    value_index const wide = b.value_of("wide", {3, 4}, {0, 1});
    b.add_node("aten::expand", {tensor("self", x), integers("size", {3, 4})}, {wide});
    std::size_t const of_wide = read_memory(wide);
    value_index const windows = b.value_of("windows", {1, 3, 2}, {4, 1, 1});
    b.add_node("aten::unfold",
               {tensor("self", x), integer("dimension", 1), integer("size", 2), integer("step", 1)},
               {windows});
    std::size_t const of_windows = read_memory(windows);
    value_index const last = b.value_of("last", {1, 1}, {4, 1});
    b.p.expressions.push_back({expression_kind::symbol, 0, 0, "s0", {}});
    b.p.values[last].storage_offset = {0, static_cast<std::uint32_t>(b.p.expressions.size() - 1)};
    b.add_node("aten::slice.Tensor", {tensor("self", x), integer("dim", 1)}, {last});
    std::size_t const of_last = read_memory(last);
    functionalize(b.p);

    for (std::size_t each : {of_wide, of_windows, of_last}) {
        CHECK(b.p.main.nodes[each].arguments.front().tensor == x);
        CHECK(b.p.main.nodes[each].arguments.back().number.constant == aton::scalar(std::int64_t{1}));
    }
}

} // namespace ATON_NAMESPACE::program
