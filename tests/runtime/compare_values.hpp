// SPDX-License-Identifier: MIT
// Whether computed values are the expected ones, as ONNX's own test runner compares them: dtypes and sizes exactly, floats within a
// tolerance. Stricter in one thing: integers exactly.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <aton/runtime/value.hpp>

namespace aton::tests {

/// |got - expected| <= absolute + relative * |expected|
struct tolerance {
    double relative = 1e-3;
    double absolute = 1e-7;
};

/// What is wrong, on one line; empty: nothing. NaN is NaN, an infinity is itself, -0 is 0.
[[nodiscard]] std::string difference(runtime::value const& got, runtime::value const& expected, tolerance t);

/// Of all outputs, "output 0: ...".
[[nodiscard]] std::string difference(std::span<runtime::value const> got, std::span<runtime::value const> expected,
                                     tolerance t);

/// Where the expected outputs are one draw of many, whether these may be another: dtypes and sizes are theirs, and the numbers follow
/// from the inputs. `check` is "bernoulli" (input 0 has the probabilities) or "dropout" (input 0 is scaled or dropped, input 1 has the
/// ratio, output 1 if any is the mask).
[[nodiscard]] std::string draw_problem(std::string_view check, std::span<runtime::value const> inputs,
                                       std::span<runtime::value const> got, std::span<runtime::value const> expected);

} // namespace aton::tests
