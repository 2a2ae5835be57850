// SPDX-License-Identifier: MIT
// Rows of the family loss: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("binary_cross_entropy_with_logits takes the logarithm in the dtype of its input") {
    gives(
        "aten::binary_cross_entropy_with_logits",
        {arg("self", row_of(dtype::float32, {0})), arg("target", row_of(dtype::float64, {0})), number("reduction", 0)},
        row_of(dtype::float64, {static_cast<double>(0.693147181F)}));
    gives("aten::binary_cross_entropy_with_logits",
          {arg("self", row_of(dtype::float32, {0, 0})),
           arg("target", row_of(dtype::float32, {0, 1})),
           arg("pos_weight", row_of(dtype::uint8, {2, 0})), // 0 - 1 is 255
           number("reduction", 0)},
          row_of(dtype::float32, {0.693147181, 256 * 0.693147181}));
}

TEST_CASE("a hinge loss of integers truncates the margin, and bool labels do not wrap around") {
    gives("aten::hinge_embedding_loss",
          {arg("self", row_of(dtype::int64, {-1, 1})),
           arg("target", row_of(dtype::int64, {-1, 1})),
           number("margin", 1.5),
           number("reduction", 0)},
          row_of(dtype::int64, {2, 1}));
    gives("aten::cosine_embedding_loss",
          {arg("input1", of(dtype::float32, {1, 2}, {1, 2})),
           arg("input2", of(dtype::float32, {1, 2}, {1, 2})),
           arg("target", bools(true)),
           number("reduction", 0)},
          row_of(dtype::float32, {0}));
}

TEST_CASE("small soft margin losses are accurate in half types") {
    gives("aten::soft_margin_loss",
          {arg("self", row_of(dtype::bfloat16, {-1.7109375})), arg("target", row_of(dtype::bfloat16, {-3.78125}))},
          of(dtype::bfloat16, {}, {0.00154876709}));
    gives("aten::soft_margin_loss",
          {arg("self", row_of(dtype::float16, {-3, 2.9765625})),
           arg("target", row_of(dtype::float16, {4, 1.212890625})),
           number("reduction", 0)},
          row_of(dtype::float16, {infinity, 0.0267028809}));
}

TEST_CASE("binary_cross_entropy of half types is rounded once") {
    gives("aten::binary_cross_entropy",
          {arg("self", of(dtype::float16, {1, 2}, {0, 0.00020623207092285156})),
           arg("target", of(dtype::float16, {1, 2}, {0.8447265625, 0})),
           arg("weight", of(dtype::float16, {1, 2}, {1, -65504})),
           number("reduction", 0)},
          of(dtype::float16, {1, 2}, {84.5, -13.5078125}));
}

TEST_CASE("margin_ranking_loss rounds its margin to the dtype before it adds it") {
    gives("aten::margin_ranking_loss",
          {arg("input1", row_of(dtype::float16, {infinity, 2, 1})),
           arg("input2", row_of(dtype::float16, {1, 3, 4})),
           arg("target", row_of(dtype::float16, {1, 2, -1})),
           number("margin", 1e5),
           number("reduction", 0)},
          row_of(dtype::float16, {nan, infinity, infinity}));
}

} // namespace aton::tests
