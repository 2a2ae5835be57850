// SPDX-License-Identifier: MIT
// Archives of one call with arguments that no torch program has: empty lists, limits of int64, other kinds, dtypes and ranks.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace aton::tests {

/// The bytes of a `.pt2` file that calls the overload once. The arguments are those of a call that ATen accepts, with one to three of them
/// replaced; tensors are inputs, weights, or results of a preceding node.
[[nodiscard]] std::string hostile_program(std::string_view overload, std::string_view schema, std::mt19937_64& rng);

} // namespace aton::tests
