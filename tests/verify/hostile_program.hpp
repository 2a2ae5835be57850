// SPDX-License-Identifier: MIT
// Archives of one call whose arguments no program of torch has: empty lists, ends of int64, other kinds, dtypes and ranks.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace aton::tests {

/// The bytes of a `.pt2` file that calls the overload once. Arguments are those of a call that ATen takes, with one to three of them
/// replaced; tensors are inputs, weights, or made by a node before.
[[nodiscard]] std::string hostile_program(std::string_view overload, std::string_view schema, std::mt19937_64& rng);

} // namespace aton::tests
