// SPDX-License-Identifier: MIT
// Calls of functions on constants, and of their counterparts for numbers that the program computes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "calls.hpp"
#include "code_position.hpp"
#include "program_builder.hpp"
#include "program_values.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class number_functions {
public:
    number_functions(program_values& values, program_builder& build, heap& in, code_position& at, caller& calls)
        : values_(values),
          build_(build),
          heap_(in),
          at_(at),
          caller_(calls) {}

    /// A function on constants; nothing if there is no such function, or if an argument is not a constant.
    [[nodiscard]] std::optional<value> call_builtin(std::string_view name, std::vector<value> const& x);
    /// A function of which an argument is a number; nothing if it is an operator on tensors.
    [[nodiscard]] std::optional<value> call_on_numbers(std::string_view name, call_arguments const& given);
    /// Refuses a function of Python that gets a value that the model computes: it has no operator.
    void expect_computable(std::string_view name, std::vector<value> const& x) const;

private:
    [[nodiscard]] std::optional<value> call_on_computed(std::string_view name, std::vector<value> const& x);
    [[nodiscard]] std::optional<value> call_on_range(std::string_view name, std::vector<value> const& x);

    program_values& values_;
    program_builder& build_;
    heap& heap_;
    code_position& at_;
    caller& caller_;
};

} // namespace ATON_NAMESPACE::torchscript
