// SPDX-License-Identifier: MIT
// Nested tensors, which the interpreter holds as padded tensors with masks.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <aton/program/program.hpp>

#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class interpreter;

class nested_tensors {
public:
    explicit nested_tensors(interpreter& in) : in_(in) {}

    /// Functions that make nested tensors, and those of nested tensors; nothing for all others.
    [[nodiscard]] std::optional<value> call(std::string_view name, std::vector<value> const& x);

private:
    [[nodiscard]] value without_padding(value const& x, value const& mask);

    interpreter& in_;
    std::map<program::value_index, value> masks_; ///< of the padded tensors that stand for nested ones
};

} // namespace ATON_NAMESPACE::torchscript
