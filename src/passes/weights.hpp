// SPDX-License-Identifier: MIT
// Helpers of passes for weights in a file.
#pragma once

#include <cstdint>
#include <optional>

#include <aton/core/stored_tensor.hpp>
#include <aton/core/tensor.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// Weights up to this size may be loaded or duplicated.
inline constexpr std::uint64_t small_weight = 4096; // bytes

/// Loads a weight without factors; nothing if it exceeds `at_most` bytes or is out of bounds.
[[nodiscard]] std::optional<tensor> load_weight(stored_tensor const& from, std::uint64_t at_most);

/// Whether an operator only moves the elements of its first input (Concat: of all inputs).
[[nodiscard]] bool is_layout_operator(graph_node const& n);

} // namespace ATON_NAMESPACE::passes
