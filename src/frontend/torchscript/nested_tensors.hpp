// SPDX-License-Identifier: MIT
// Nested tensors, which the interpreter holds as padded tensors with masks.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <aton/program/program.hpp>

#include "calls.hpp"
#include "code_position.hpp"
#include "program_builder.hpp"
#include "program_values.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class nested_tensors {
public:
    nested_tensors(program_builder& build, program_values& values, code_position& at, caller& calls)
        : build_(build),
          values_(values),
          at_(at),
          caller_(calls) {}

    /// Functions that make nested tensors, and those of nested tensors; nothing for all others.
    [[nodiscard]] std::optional<value> call(std::string_view name, std::vector<value> const& x);

private:
    [[nodiscard]] value without_padding(value const& x, value const& mask);

    program_builder& build_;
    program_values& values_;
    code_position& at_;
    caller& caller_;
    std::map<program::value_index, value> masks_; ///< of the padded tensors that stand for nested ones
};

} // namespace ATON_NAMESPACE::torchscript
