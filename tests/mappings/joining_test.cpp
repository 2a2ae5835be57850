// SPDX-License-Identifier: MIT
// Rows of the family joining: regressions against torch's results.
#include <vector>

#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("sequences are filled up to the longest, with a number in their dtype") {
    auto const call = [](dtype type, double filler, bool batch_first, char const* side) {
        return std::vector{
            runtime::aten_argument::of_tensors({row_of(type, {1, 2}), row_of(type, {}), row_of(type, {3})})
                .named("sequences"),
            number("batch_first", batch_first),
            number("padding_value", filler),
            word("padding_side", side)};
    };
    gives("aten::pad_sequence",
          call(dtype::float32, nan, true, "right"),
          of(dtype::float32, {3, 2}, {1, 2, nan, nan, 3, nan}));
    gives(
        "aten::pad_sequence", call(dtype::int64, -1.75, true, "left"), of(dtype::int64, {3, 2}, {1, 2, -1, -1, -1, 3}));
    gives("aten::pad_sequence", call(dtype::bool_, 0.5, false, "left"), of(dtype::bool_, {2, 3}, {1, 1, 1, 1, 1, 1}));
    gives("aten::pad_sequence", call(dtype::int8, 7, false, "right"), of(dtype::int8, {2, 3}, {1, 7, 3, 2, 7, 7}));
}

} // namespace aton::tests
