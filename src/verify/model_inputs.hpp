// SPDX-License-Identifier: MIT
// Inputs of programs, drawn at random.
#pragma once

#include <cstdint>
#include <vector>

#include <aton/program/program.hpp>
#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::verify {

/// How often draw_inputs() has another try: sizes that a program says nothing about but cannot take, numbers beyond a vocabulary.
inline constexpr int most_tries = 20;

/// A value for each input of the user, in the program's order. Later tries take other sizes and smaller integers. Throws aton::error for an
/// input that cannot be drawn.
[[nodiscard]] std::vector<runtime::value> draw_inputs(program::program const& p, std::uint64_t seed, int try_number);

} // namespace ATON_NAMESPACE::verify
