// SPDX-License-Identifier: MIT
// Checks what a row gives for a call made by hand: the numbers that torch gives, or a refusal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <aton/mappings/built_in.hpp>
#include <aton/verify/comparison.hpp>
#include <aton/verify/translation.hpp>

#include "../faults.hpp"
#include "../verify/calls.hpp"

namespace aton::tests {

/// The graphs of a call, for each row of its overload at every opset up to 13 at which they change. Fails the test if there is none.
[[nodiscard]] std::vector<verify::translation> translated(verify::sample const& s);

/// Checks that the runtime's ATen kernel and the row both give these numbers.
void gives(std::string overload, std::vector<runtime::aten_argument> arguments, runtime::tensor const& expected,
           std::size_t result = 0);

/// A 2 x 2 matrix, and a 0-d `info` of LAPACK.
[[nodiscard]] inline runtime::tensor square(std::vector<double> const& values, dtype type = dtype::float32) {
    return of(type, {2, 2}, values);
}
[[nodiscard]] inline runtime::tensor info(double n) { return of(dtype::int32, {}, {n}); }

/// Why the row refuses the call.
[[nodiscard]] std::string refusal(std::string overload, std::vector<runtime::aten_argument> arguments);

} // namespace aton::tests
