// SPDX-License-Identifier: MIT
// Rows of the family splitting: the number of results where the program computes the number of sections.
#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include <aton/mappings/built_in.hpp>

#include "../faults.hpp"

namespace aton::tests {

namespace {

using namespace aton::dsl;

/// The pieces of a tensor_split into a 0-d input, of a program that recorded `count` results.
std::size_t pieces(std::size_t count) {
    graph_data data;
    value const x(data, data.add_input("x", {dtype::float32, aton::shape{"rows", 2}}));
    value const sections(data, data.add_input("sections", {dtype::int64, aton::shape(std::vector<aton::dim>{})}));
    data.context.expected.resize(count, x.type());
    entry const* const row = find(mappings::built_in_tables(), "aten::tensor_split.tensor_indices_or_sections", 13);
    REQUIRE(row != nullptr);
    auto const results = convert(data, *row, 13, {argument::of_tensor(x), argument::of_tensor(sections)});
    return results.at(0).list.size();
}

} // namespace

TEST_CASE("a number of sections that the program computes is the number of recorded results") {
    CHECK(pieces(1) == 1);
    CHECK(pieces(3) == 3);
    CHECK(contains(refusal_of([] { return pieces(0); }), "the number of results depends on"));
}

} // namespace aton::tests
