// SPDX-License-Identifier: MIT
// The overloads of operators, and how well the arguments of a call fit them.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/frontend/torchscript/read_program.hpp>

#include "calls.hpp"
#include "program_builder.hpp"
#include "result_types.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

/// An overload that takes the arguments of a call.
struct fitting_overload {
    int cost; ///< lower is better
    overload const* chosen;
    std::vector<value const*> bound; ///< for each argument of the schema; null: its default
};

class overload_table {
public:
    overload_table(program_builder const& build, result_types const& types, heap const& in,
                   custom_schemas const& schemas_of)
        : build_(build),
          types_(types),
          heap_(in),
          schemas_of_(schemas_of) {}

    /// The overloads of an operator that torch or a table of the user's declares.
    [[nodiscard]] std::vector<overload> const& of(std::string const& op);
    /// Those that take the arguments of a call, the best first. They refer to the arguments.
    [[nodiscard]] std::vector<fitting_overload> fitting(std::vector<overload> const& all,
                                                        call_arguments const& given) const;

private:
    [[nodiscard]] std::optional<int> match(overload const& o, call_arguments const& given,
                                           std::vector<value const*>& bound) const;
    [[nodiscard]] std::optional<int> cost_of(aten::schema_type const& type, value const& v) const;
    [[nodiscard]] std::optional<int> cost_of_element(aten::schema_type const& type, value const& v) const;

    program_builder const& build_;
    result_types const& types_;
    heap const& heap_;
    custom_schemas const& schemas_of_;
    std::unordered_map<std::string, std::vector<overload>> known_;
};

} // namespace ATON_NAMESPACE::torchscript
