// SPDX-License-Identifier: MIT
// Normalisations that update running statistics without a word of it in their schema.
#pragma once

#include <optional>

#include "node_emitter.hpp"

namespace ATON_NAMESPACE::program {

/// The new statistics of a normalisation.
struct running_statistics {
    value_index mean = no_value;
    value_index variance = no_value;
};

/// Whether the node writes to its running_mean and running_var.
[[nodiscard]] bool updates_statistics(node const& n);

/// Emits `n`, whose arguments are read already, as operators that return the new statistics.
/// Throws where torch has none.
[[nodiscard]] running_statistics emit_with_statistics(node_emitter& out, node n);

} // namespace ATON_NAMESPACE::program
