// SPDX-License-Identifier: MIT
// The inputs of a program: the arguments of `forward`, with the types or the values that the user gives.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <aton/frontend/torchscript/read_program.hpp>

#include "calls.hpp"
#include "code_position.hpp"
#include "program_builder.hpp"
#include "program_values.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class module_inputs {
public:
    /// `path`: that of the archive.
    module_inputs(std::vector<input_type> const& given, std::string const& path, program_builder& build,
                  program_values& values, heap& in, code_position& at, code_runner& code)
        : given_(given),
          path_(path),
          build_(build),
          values_(values),
          heap_(in),
          at_(at),
          code_(code) {}

    /// The arguments of a call of `forward`.
    [[nodiscard]] call_arguments make(function_code const& forward, value const& module);
    /// One more input, which is a tensor.
    [[nodiscard]] value add(std::string const& name, inferred_type const& type);

    /// The names of dynamic dimensions.
    [[nodiscard]] std::set<std::string> const& dimensions() const { return dimensions_; }
    /// The arguments that are numbers which the model gets.
    [[nodiscard]] std::vector<std::string> const& numbers() const { return numbers_; }

private:
    [[nodiscard]] value add(input_type const& type);
    /// A tensor, or the number that an argument of type int, float or bool gets from a tensor.
    [[nodiscard]] value argument(input_type const& given, expr const* type);
    /// The value of an argument whose elements are given one by one: "x.0", "x.1", or "x.key"; "x.1.0" of a tuple in a tuple.
    [[nodiscard]] value group(std::string const& name, expr const* type);
    /// `declared`: the type of the argument; null if it is a tensor.
    [[nodiscard]] value constant_argument(input_type const& given, expr const* declared);

    std::vector<input_type> const& given_;
    std::string const& path_;
    program_builder& build_;
    program_values& values_;
    heap& heap_;
    code_position& at_;
    code_runner& code_;
    std::set<std::string> dimensions_;
    std::vector<std::string> numbers_;
};

} // namespace ATON_NAMESPACE::torchscript
