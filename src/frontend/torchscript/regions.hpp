// SPDX-License-Identifier: MIT
// What branches and loops that depend on data share: the values and variables that cross their borders.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include <aton/program/program.hpp>

#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

/// Adds the values that nodes and outputs use and that no node computes.
void collect_free(std::vector<program::node> const& nodes, std::vector<program::argument> const& outputs,
                  std::vector<program::value_index>& free);

/// Values that others replace.
using replacements = std::unordered_map<program::value_index, program::value_index>;
/// Lets arguments, and those of nodes, use other values.
void replace_values(std::vector<program::argument>& arguments, replacements const& by);
void replace_values(std::vector<program::node>& nodes, replacements const& by);

} // namespace ATON_NAMESPACE::torchscript
