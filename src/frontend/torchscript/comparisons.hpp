// SPDX-License-Identifier: MIT
// Whether values of the code are equal, and which of them is less: None, strings, containers and objects beside numbers.
#pragma once

#include <vector>

#include "calls.hpp"
#include "code_position.hpp"
#include "program_values.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class comparisons {
public:
    comparisons(program_values& values, code_position& at, caller& calls) : values_(values), at_(at), caller_(calls) {}

    /// Whether two values are equal: a bool, or the number that tells it if it depends on sizes or data.
    [[nodiscard]] value are_equal(value const& a, value const& b, int depth = 0);
    /// Whether one of the items equals a value.
    [[nodiscard]] value contains(std::vector<value> const& items, value const& wanted);
    /// The greater or the smaller of two lists: of the first items that differ, as torch compares them.
    [[nodiscard]] value choose_list(value const& a, value const& b, bool greater);
    /// The items in order; equal ones keep theirs.
    [[nodiscard]] std::vector<value> sorted(std::vector<value> items, bool reverse);

private:
    /// Whether an item is in front of another one in a sorted list.
    [[nodiscard]] bool is_less(value const& a, value const& b);

    program_values& values_;
    code_position& at_;
    caller& caller_;
};

} // namespace ATON_NAMESPACE::torchscript
