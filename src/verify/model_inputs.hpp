// SPDX-License-Identifier: MIT
// Random inputs for programs.
#pragma once

#include <cstdint>
#include <vector>

#include <aton/program/program.hpp>
#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::verify {

/// How many different inputs to try: a program may reject sizes that its guards allow, or integers beyond a vocabulary.
inline constexpr int max_tries = 20;

/// A value for each user input, in the program's order. Later tries use other sizes and smaller integers. Throws aton::error if an input
/// cannot be drawn.
[[nodiscard]] std::vector<runtime::value> draw_inputs(program::program const& p, std::uint64_t seed, int try_number);

} // namespace ATON_NAMESPACE::verify
