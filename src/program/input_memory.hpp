// SPDX-License-Identifier: MIT
// Inputs that are written to: which share memory, and the outputs that say what they end with.
#pragma once

#include <vector>

#include "alias_state.hpp"

namespace ATON_NAMESPACE::program {

/// Inputs whose data lie in the same bytes of the file without being the same tensor: pairs of such inputs.
struct input_memory {
    std::vector<std::pair<value_index, value_index>> overlaps;
};

/// Makes the inputs known; those with the same data are one tensor.
[[nodiscard]] input_memory add_inputs(program const& p, alias_state& state);

/// Throws where what `written` shares memory with is only partly known.
void check_memory(program const& p, input_memory const& memory, alias_state const& state, value_index written,
                  node const& cause);

/// An output for each input that was written to.
void add_mutations(program const& p, alias_state& state, std::vector<argument>& outputs, std::vector<output>& kinds);

} // namespace ATON_NAMESPACE::program
