// SPDX-License-Identifier: MIT
// The nodes of the program: of the overloads that take the arguments of a call, the first one whose result types can be inferred.
#pragma once

#include <string>
#include <vector>

#include <aton/frontend/torchscript/read_program.hpp>
#include <aton/program/program.hpp>

#include "calls.hpp"
#include "code_position.hpp"
#include "constant_elements.hpp"
#include "gradients.hpp"
#include "overload_table.hpp"
#include "program_builder.hpp"
#include "program_values.hpp"
#include "result_types.hpp"
#include "tensor_aliases.hpp"
#include "tensor_conversions.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class operator_nodes {
public:
    /// `path`: that of the archive.
    operator_nodes(std::string const& path, program_builder& build, result_types& types, overload_table& overloads,
                   program_values& values, tensor_conversions& conversions, constant_elements& elements,
                   tensor_aliases& aliases, gradients& require, heap& in, code_position& at, caller& calls)
        : path_(path),
          build_(build),
          types_(types),
          overloads_(overloads),
          values_(values),
          conversions_(conversions),
          elements_(elements),
          aliases_(aliases),
          gradients_(require),
          heap_(in),
          at_(at),
          caller_(calls) {}

    /// Adds the node of a call, and returns its results: one, a tuple of several, or None.
    [[nodiscard]] value add(std::string const& op, call_arguments const& given);

private:
    [[nodiscard]] program::node node_of(fitting_overload const& fitting);
    [[nodiscard]] value add_results(program::node n, overload const& o, std::vector<inferred_result> const& types);
    [[nodiscard]] value add_result(program::node& n, aten::schema_return const& declared,
                                   inferred_result const& inferred);

    std::string const& path_;
    program_builder& build_;
    result_types& types_;
    overload_table& overloads_;
    program_values& values_;
    tensor_conversions& conversions_;
    constant_elements& elements_;
    tensor_aliases& aliases_;
    gradients& gradients_;
    heap& heap_;
    code_position& at_;
    caller& caller_;
};

} // namespace ATON_NAMESPACE::torchscript
