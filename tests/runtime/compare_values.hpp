// SPDX-License-Identifier: MIT
// Compares computed values with expected ones like ONNX's own test runner: dtypes and sizes exactly, floats within a
// tolerance. Stricter in one point: integers are compared exactly.
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

/// What is wrong, on one line; empty: nothing. NaN equals NaN, infinities equal themselves, and -0 equals 0.
[[nodiscard]] std::string difference(runtime::value const& got, runtime::value const& expected, tolerance t);

/// The same for all outputs: "output 0: ...".
[[nodiscard]] std::string difference(std::span<runtime::value const> got, std::span<runtime::value const> expected,
                                     tolerance t);

/// For expected outputs that are one random draw: what is wrong with another draw; empty: nothing. Dtypes and sizes
/// must be the same, and the numbers must be possible for the inputs. `check` is "bernoulli" (input 0 has the
/// probabilities) or "dropout" (input 0 is scaled or dropped, input 1 has the ratio, output 1, if any, is the mask).
[[nodiscard]] std::string draw_problem(std::string_view check, std::span<runtime::value const> inputs,
                                       std::span<runtime::value const> got, std::span<runtime::value const> expected);

} // namespace aton::tests
