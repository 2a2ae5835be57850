// SPDX-License-Identifier: MIT
// Branches and bodies that write to a tensor from outside: `if ready: y.add_(1)`, `out[i] = x` in a loop. The part gets a copy of the
// tensor, returns it, and the code around writes it back.
#pragma once

#include <cstddef>
#include <vector>

#include <aton/program/program.hpp>

#include "calls.hpp"
#include "code_position.hpp"
#include "module_attributes.hpp"
#include "program_builder.hpp"
#include "separate_parts.hpp"

namespace ATON_NAMESPACE::torchscript {

struct outside_write {
    program::value_index tensor = program::no_value;
    std::size_t result = 0; ///< of the node: the index of the new value
};

class outside_writes {
public:
    outside_writes(program_builder& build, module_attributes& attributes, code_position& at, caller& calls)
        : build_(build),
          attributes_(attributes),
          at_(at),
          caller_(calls) {}

    /// Starts a part with a copy of a tensor, and lets its nodes and outputs use the copy.
    [[nodiscard]] program::value_index clone_in(part& of, program::value_index tensor,
                                                std::vector<program::argument>& outputs);
    /// Writes what a part has made of a tensor to the tensor, which variables have instead of the result from now on.
    void write_back(program::value_index tensor, program::value_index now);

private:
    program_builder& build_;
    module_attributes& attributes_;
    code_position& at_;
    caller& caller_;
};

} // namespace ATON_NAMESPACE::torchscript
