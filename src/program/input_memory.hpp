// SPDX-License-Identifier: MIT
// Memory shared by inputs, and outputs for the final values of inputs that are written to.
#pragma once

#include <vector>

#include "alias_state.hpp"

namespace ATON_NAMESPACE::program {

/// Pairs of different inputs whose data overlap in the file.
struct input_memory {
    std::vector<std::pair<value_index, value_index>> overlaps;
};

/// Adds the inputs to `state`; inputs with identical data become one tensor.
[[nodiscard]] input_memory add_inputs(program const& p, alias_state& state);

/// Throws aton::error if `written` belongs to an input whose data overlap those of another input.
void check_memory(program const& p, input_memory const& memory, alias_state const& state, value_index written,
                  node const& cause);

/// Adds an output for each input that was written to, unless it exists.
void add_mutations(program const& p, alias_state& state, std::vector<argument>& outputs, std::vector<output>& kinds);

} // namespace ATON_NAMESPACE::program
