// SPDX-License-Identifier: MIT
// What branches and loops that depend on data share: the values and variables that cross their borders.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include <aton/program/program.hpp>

#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

/// Adds the values that nodes and outputs use and that no node computes.
void collect_free(std::vector<program::node> const& nodes, std::vector<program::argument> const& outputs,
                  std::vector<program::value_index>& free);

/// The state of a loop that depends on data, and what its test and its body return.
struct loop_state {
    std::vector<program::value_index> start;
    std::vector<program::value_index> in_body;
    std::vector<program::value_index> in_test;
    std::vector<program::argument> tested;
    std::vector<program::argument> outputs;
    std::vector<program::argument> collected; ///< by the body, for lists that grow
    std::vector<std::size_t> appended;        ///< the number of items that each of them is the stack of
};

/// Values that others replace.
using replacements = std::unordered_map<program::value_index, program::value_index>;
/// Lets arguments, and those of nodes, use other values.
void replace_values(std::vector<program::argument>& arguments, replacements const& by);
void replace_values(std::vector<program::node>& nodes, replacements const& by);

} // namespace ATON_NAMESPACE::torchscript
