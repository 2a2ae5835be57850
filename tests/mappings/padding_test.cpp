// SPDX-License-Identifier: MIT
// Rows of the family padding: pads that crop beside pads that add.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("pads that crop and pads that add are one Pad, and pads that only crop are one Slice") {
    tensor const x = of(dtype::float32, {2, 3}, {1, 2, 3, 4, 5, 6});
    struct padding {
        std::vector<std::int64_t> pads;
        tensor expected;
        std::string op;
    };
    std::vector<padding> const all{
        {{-1, 2, 1, 0}, of(dtype::float32, {3, 4}, {7, 7, 7, 7, 2, 3, 7, 7, 5, 6, 7, 7}), "Pad"},
        {{1, -3}, of(dtype::float32, {2, 1}, {7, 7}), "Pad"},
        {{0, -1, -1, 0}, of(dtype::float32, {1, 2}, {4, 5}), "Slice"}};
    for (padding const& p : all) {
        std::vector<runtime::aten_argument> const arguments{
            arg("self", x), numbers("pad", {p.pads.begin(), p.pads.end()}), number("value", 7)};
        gives("aten::constant_pad_nd", arguments, p.expected);
        for (verify::translation const& t : translated({"aten::constant_pad_nd", arguments})) {
            std::vector<std::string> ops;
            for (graph_node const& n : t.graph.nodes)
                if (n.op != "Constant") ops.push_back(n.op);
            CHECK(ops == std::vector{p.op});
        }
    }
}

} // namespace aton::tests
