// SPDX-License-Identifier: MIT
// Rows of the family prims_shape: dimensions that are known only when the model runs, and arguments that prims reject.
#include "row_results.hpp"

#include <aton/mappings/prims_shape.hpp>

namespace aton::tests {

namespace {

using namespace aton::dsl;

/// The nodes of a call with a tensor of two symbolic sizes.
std::string graph_of(char const* overload, std::vector<argument> more) {
    graph_data data;
    value const x(data, data.add_input("x", {dtype::float32, aton::shape{"rows", "columns"}}));
    entry const* const row = find(mappings::prims_shape, overload, 13);
    REQUIRE(row != nullptr);
    more.insert(more.begin(), argument::of_tensor(x));
    auto const results = convert(data, *row, 13, more);
    data.outputs = {results.at(0).single.id()};
    return to_string(data);
}

} // namespace

TEST_CASE("prims::squeeze drops dimensions whose size is not known: the program says that they are 1") {
    CHECK(contains(graph_of("prims::squeeze", {argument::of_numbers({0})}), "onnx::Squeeze"));
}

TEST_CASE("prims::broadcast_in_dim wants one place for each dimension, in ascending order") {
    auto const places = [](std::vector<scalar> all) {
        return refusal("prims::broadcast_in_dim",
                       {arg("a", of(dtype::float32, {1, 2}, {1, 2})),
                        numbers("shape", {scalar(3), scalar(2)}),
                        numbers("broadcast_dimensions", std::move(all))});
    };
    CHECK(contains(places({scalar(1)}), "not the rank"));
    CHECK(contains(places({scalar(1), scalar(0)}), "do not ascend"));
    CHECK(contains(places({scalar(0), scalar(2)}), "do not ascend"));
}

} // namespace aton::tests
