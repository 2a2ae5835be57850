// SPDX-License-Identifier: MIT
// What the values of a program were rounded to on the way to them.
#pragma once

#include <vector>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::verify {

/// For each value the narrowest dtype of floats that a node gave on the way to it, itself included; undefined: none did. Weights and
/// inputs do not count: nothing is rounded there.
[[nodiscard]] std::vector<dtype> narrowest_dtypes(program::program const& p);

} // namespace ATON_NAMESPACE::verify
