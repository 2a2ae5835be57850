// SPDX-License-Identifier: MIT
// Weights that stay in a file, as passes see them.
#pragma once

#include <cstdint>
#include <optional>

#include <aton/core/stored_tensor.hpp>
#include <aton/core/tensor.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// Weights up to this size may be read or written twice.
inline constexpr std::uint64_t small_weight = 4096; // bytes

/// The elements of a weight that no factor changes; nothing where they are more bytes, or not where they should be.
[[nodiscard]] std::optional<tensor> load_weight(stored_tensor const& from, std::uint64_t at_most);

/// Operators that move the elements of their first input (Concat: of all).
[[nodiscard]] bool is_layout_operator(graph_node const& n);

} // namespace ATON_NAMESPACE::passes
