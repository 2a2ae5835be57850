// SPDX-License-Identifier: MIT
// The narrowest dtype that each value of a program was rounded to.
#pragma once

#include <vector>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::verify {

/// For each value, the narrowest floating dtype among the results that it was computed from, itself included; undefined if there is none.
/// Weights and inputs do not count, since nothing is rounded there.
[[nodiscard]] std::vector<dtype> narrowest_dtypes(program::program const& p);

} // namespace ATON_NAMESPACE::verify
