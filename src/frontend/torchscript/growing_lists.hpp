// SPDX-License-Identifier: MIT
// Lists to which the body of a loop appends: `out.append(h)`. What an iteration appends is one more result of the body, the loop stacks these,
// and the list becomes the rows of that tensor.
#pragma once

#include <cstddef>
#include <vector>

#include <aton/program/program.hpp>

#include "calls.hpp"
#include "code_position.hpp"
#include "containers.hpp"
#include "program_builder.hpp"
#include "program_values.hpp"
#include "regions.hpp"
#include "separate_parts.hpp"
#include "tensor_aliases.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class growing_lists {
public:
    growing_lists(program_builder& build, program_values& values, containers& lists, tensor_aliases& aliases, heap& in,
                  code_position& at, caller& calls)
        : build_(build),
          values_(values),
          containers_(lists),
          aliases_(aliases),
          heap_(in),
          at_(at),
          caller_(calls) {}

    /// Lists of tensors, made by this call of a function, to which every iteration appends the same number of items, and which the loop does
    /// not use otherwise.
    [[nodiscard]] std::vector<list_of_values*> find(stmt const& loop);
    /// Adds what the body has appended to what it returns.
    void collect(part& body, std::vector<list_of_values*> const& lists, loop_state& state);
    /// Lets variables that are the list be the rows of a tensor, of which a loop has stacked `appended` at a time.
    void replace(list_of_values* list, program::value_index rows, std::size_t appended);

private:
    program_builder& build_;
    program_values& values_;
    containers& containers_;
    tensor_aliases& aliases_;
    heap& heap_;
    code_position& at_;
    caller& caller_;
};

} // namespace ATON_NAMESPACE::torchscript
