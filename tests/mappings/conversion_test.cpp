// SPDX-License-Identifier: MIT
// Rows of the family conversion: regressions against torch's results.
#include <cmath>
#include <vector>

#include "row_results.hpp"

#include <aton/mappings/conversion.hpp>

namespace aton::tests {

namespace {

using namespace aton::dsl;

/// The node of a conversion of a matrix at opset 19.
graph_node conversion_to(dtype to) {
    graph_data data;
    value const x(data, data.add_input("x", {dtype::float32, aton::shape{3, "columns"}}));
    entry const* const row = find(mappings::conversion, "aten::_to_copy", 19);
    REQUIRE(row != nullptr);
    auto const results = convert(data, *row, 19, {argument::of_tensor(x), argument::of_type(to)});
    data.outputs = {results.at(0).single.id()};
    REQUIRE(data.nodes.size() == 1);
    return data.nodes[0];
}

} // namespace

TEST_CASE("of the conversions to float8, only that to float8_e4m3fn saturates") {
    CHECK(conversion_to(dtype::float8_e4m3fn).attributes.size() == 1);
    CHECK(conversion_to(dtype::float16).attributes.size() == 1);
    for (dtype each : {dtype::float8_e5m2, dtype::float8_e4m3fnuz, dtype::float8_e5m2fnuz}) {
        graph_node const node = conversion_to(each);
        REQUIRE(node.attributes.size() == 2);
        CHECK(node.attributes[1].name == "saturate");
    }
    tensor const large = of(dtype::float32, {1, 3}, {1e6, -2, -infinity});
    auto const is = [&](dtype to, std::vector<double> const& expected) {
        auto const made = runtime::call_aten("aten::_to_copy", {arg("self", large), type("dtype", to)});
        tensor const wide = runtime::cast(made.results.at(0).one(), dtype::float32);
        return verify::compare(wide, of(dtype::float32, {1, 3}, expected)).same();
    };
    CHECK(is(dtype::float8_e4m3fn, {448, -2, -448}));
    CHECK(is(dtype::float8_e5m2, {infinity, -2, -infinity}));
    CHECK(is(dtype::float8_e4m3fnuz, {std::nan(""), -2, std::nan("")}));
}

} // namespace aton::tests
