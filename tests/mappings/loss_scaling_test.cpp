// SPDX-License-Identifier: MIT
// Rows of the family loss_scaling: regressions against torch's results.
#include <utility>
#include <vector>

#include "row_results.hpp"

namespace aton::tests {

namespace {

std::vector<runtime::aten_argument> update(tensor scale, double steps, double found, double growth = 2) {
    return {arg("self", std::move(scale)),
            arg("growth_tracker", row_of(dtype::int32, {steps})),
            arg("found_inf", row_of(dtype::float32, {found})),
            number("scale_growth_factor", growth),
            number("scale_backoff_factor", 0.5),
            number("growth_interval", 2)};
}

std::vector<runtime::aten_argument> unscaled(std::vector<tensor> gradients, tensor found, tensor inv_scale) {
    return {runtime::aten_argument::of_tensors(std::move(gradients)).named("self"),
            arg("found_inf", std::move(found)),
            arg("inv_scale", std::move(inv_scale))};
}

} // namespace

TEST_CASE("the scale of a loss grows when it is due and stays finite, and shrinks where found_inf is not 0") {
    auto const gives_scale = [](double scale, double steps, double found, double to, double now, double growth = 2) {
        tensor const before = row_of(dtype::float32, {scale});
        gives("aten::_amp_update_scale", update(before, steps, found, growth), row_of(dtype::float32, {to}));
        gives("aten::_amp_update_scale", update(before, steps, found, growth), row_of(dtype::int32, {now}), 1);
    };
    gives_scale(2, 1, 0, 4, 0);
    gives_scale(3, 5, 0, 3, 6);
    gives_scale(3e38, 1, 0, 3e38, 0);
    gives_scale(-3e38, 1, 0, -3e38, 0);
    gives_scale(3, 5, nan, 1.5, 0);
    gives_scale(3, 1, 1, 1.5, 0);
    gives("aten::_amp_update_scale", update(of(dtype::float32, {}, {2}), 1, 0), of(dtype::float32, {}, {4}));
}

TEST_CASE("one infinite gradient or NaN in any tensor sets found_inf, which otherwise keeps its value") {
    tensor const half = of(dtype::float32, {}, {0.5});
    for (double const bad : {infinity, -infinity, nan}) {
        auto const call = unscaled(
            {row_of(dtype::float32, {1.5, bad, -3}), row_of(dtype::float16, {2})}, row_of(dtype::float32, {5}), half);
        gives("aten::_amp_foreach_non_finite_check_and_unscale", call, row_of(dtype::float32, {1}), 1);
    }
    gives("aten::_amp_foreach_non_finite_check_and_unscale",
          unscaled({row_of(dtype::float32, {1.5}), row_of(dtype::float16, {2})}, of(dtype::float32, {}, {5}), half),
          of(dtype::float32, {}, {5}),
          1);
    // What overflows here was finite.
    auto const large =
        unscaled({of(dtype::float32, {}, {3e38})}, row_of(dtype::float32, {0}), row_of(dtype::float32, {4}));
    gives("aten::_amp_foreach_non_finite_check_and_unscale", large, of(dtype::float32, {}, {infinity}));
    gives("aten::_amp_foreach_non_finite_check_and_unscale", large, row_of(dtype::float32, {0}), 1);
    gives("aten::_amp_foreach_non_finite_check_and_unscale",
          unscaled({of(dtype::float32, {0}, {})}, row_of(dtype::float32, {0}), row_of(dtype::float32, {infinity})),
          row_of(dtype::float32, {0}),
          1);
}

} // namespace aton::tests
