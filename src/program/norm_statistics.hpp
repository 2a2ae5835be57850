// SPDX-License-Identifier: MIT
// Normalizations that update running statistics, which their schemas do not declare.
#pragma once

#include <optional>

#include "node_emitter.hpp"

namespace ATON_NAMESPACE::program {

/// The new running statistics of a normalization.
struct running_statistics {
    value_index mean = no_value;
    value_index variance = no_value;
};

/// Whether the node writes to its running_mean and running_var.
[[nodiscard]] bool updates_statistics(node const& n);

/// Emits operators that compute the results of `n` and return the new statistics. The arguments of `n` are current values.
/// Throws aton::error if torch has no such operators.
[[nodiscard]] running_statistics emit_with_statistics(node_emitter& out, node n);

} // namespace ATON_NAMESPACE::program
