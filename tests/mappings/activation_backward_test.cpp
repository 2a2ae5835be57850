// SPDX-License-Identifier: MIT
// Rows of the family activation_backward: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("the gradient of elu multiplies alpha and scale in float32") {
    gives("aten::elu_backward",
          {arg("grad_output", of(dtype::float32, {1}, {-4})),
           number("alpha", -infinity),
           number("scale", 1e-310), // 0 in float32
           number("input_scale", 1),
           number("is_result", false),
           arg("self_or_result", of(dtype::float32, {1}, {0}))},
          of(dtype::float32, {1}, {nan}));
}

TEST_CASE("NaN and overflow in gradients of activations, as in ATen's vectorized code") {
    auto const ones = arg("grad_output", row_of(dtype::float32, {1, 1}));
    auto const x = [](std::string name) { return arg(std::move(name), row_of(dtype::float32, {nan, 100})); };
    gives("aten::softplus_backward",
          {ones, x("self"), number("beta", 1), number("threshold", 300)},
          row_of(dtype::float32, {nan, nan}));
    gives("aten::elu_backward",
          {ones,
           number("alpha", 1),
           number("scale", 1),
           number("input_scale", 1),
           number("is_result", false),
           x("self_or_result")},
          row_of(dtype::float32, {nan, 1}));
    gives("aten::hardswish_backward", {ones, x("self")}, row_of(dtype::float32, {nan, 1}));
}

TEST_CASE("a threshold is truncated beside integers") {
    gives("aten::threshold_backward",
          {arg("grad_output", row_of(dtype::int64, {5, 6})),
           arg("self", row_of(dtype::int64, {0, 1})),
           number("threshold", -0.5)},
          row_of(dtype::int64, {0, 6}));
}

TEST_CASE("a negative eps of logit means none") {
    gives("aten::logit_backward",
          {arg("grad_output", row_of(dtype::float32, {1, 1})),
           arg("self", row_of(dtype::float32, {-1, 0.5})),
           number("eps", -0.5)},
          row_of(dtype::float32, {nan, 4}));
}

TEST_CASE("the gradient of logit is infinite at 0 and 1") {
    gives("aten::logit_backward",
          {arg("grad_output", row_of(dtype::float32, {1, 1, 1})),
           arg("self", row_of(dtype::float32, {0, 1, 2})),
           none("eps")},
          row_of(dtype::float32, {infinity, infinity, nan}));
}

TEST_CASE("the gradient of a result needs a slope that is not negative") {
    auto const one = row_of(dtype::float32, {1});
    CHECK(contains(refusal("aten::leaky_relu_backward",
                           {arg("grad_output", one),
                            arg("self", one),
                            number("negative_slope", -0.5),
                            number("self_is_result", true)}),
                   "a negative slope"));
}

TEST_CASE("the gradient of elu refuses factors beyond float32 for narrower dtypes, as ATen does") {
    auto const zero = row_of(dtype::float32, {0});
    for (std::string const factor : {"alpha", "scale", "input_scale"}) {
        std::vector<runtime::aten_argument> arguments = {arg("grad_output", zero)};
        for (std::string const each : {"alpha", "scale", "input_scale"})
            arguments.push_back(number(each, each == factor ? -1e308 : 0.5));
        arguments.push_back(number("is_result", false));
        arguments.push_back(arg("self_or_result", zero));
        CHECK(contains(fault_of([&] { return runtime::call_aten("aten::elu_backward", arguments); }),
                       "a number is out of range for float32"));
    }
}

} // namespace aton::tests
