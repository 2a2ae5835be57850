// SPDX-License-Identifier: MIT
// Rows of the family statistics: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("correlations of half precision are those of rounded covariances, which may be 0") {
    gives("aten::corrcoef",
          {arg("self", of(dtype::float16, {2, 2}, {1, 2, 0x1p-20, -0x1p-20}))},
          of(dtype::float16, {2, 2}, {1, -1, -1, nan}));
}

TEST_CASE("a quantile next to an infinity equals ATen's") {
    gives("aten::quantile",
          {arg("self", row_of(dtype::float32, {-4, infinity, 1})), arg("q", row_of(dtype::float32, {0.5, 0.7, 1}))},
          row_of(dtype::float32, {1, infinity, nan}));
}

TEST_CASE("a variance over no degrees of freedom is infinite even if the squares underflow") {
    tensor const tiny = row_of(dtype::float32, {1e-30, -1e-30, 3e-30});
    gives("aten::var.correction", {arg("self", tiny), number("correction", 5)}, of(dtype::float32, {}, {infinity}));
    gives("aten::std.correction", {arg("self", tiny), number("correction", nan)}, of(dtype::float32, {}, {infinity}));
    gives("aten::var.correction",
          {arg("self", row_of(dtype::float32, {2, 2})), number("correction", 5)},
          of(dtype::float32, {}, {nan}));
}

TEST_CASE("Squeeze has axes from the front, in ascending order, below opset 11") {
    verify::sample const s{"aten::var_mean.dim",
                           {arg("self", of(dtype::float32, {1, 2, 2}, {1, 2, 3, 5})),
                            numbers("dim", {-1, 0}),
                            number("unbiased", false),
                            number("keepdim", false)}};
    for (verify::translation const& t : translated(s)) {
        if (t.graph.opset >= 11) continue;
        for (graph_node const& n : t.graph.nodes)
            if (n.op == "Squeeze") CHECK(n.attributes.at(0).ints == std::vector<std::int64_t>{0, 2});
    }
}

} // namespace aton::tests
