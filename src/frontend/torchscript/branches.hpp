// SPDX-License-Identifier: MIT
// Conditions that depend on data: both branches become graphs of a higher-order operator, which chooses the values of variables, of attributes
// and of tensors from outside.
#pragma once

#include <vector>

#include <aton/program/program.hpp>

#include "calls.hpp"
#include "code_position.hpp"
#include "gradients.hpp"
#include "module_attributes.hpp"
#include "outside_writes.hpp"
#include "program_builder.hpp"
#include "program_values.hpp"
#include "result_types.hpp"
#include "separate_parts.hpp"
#include "tensor_aliases.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class branches {
public:
    branches(program_builder& build, result_types const& types, program_values& values, module_attributes& attributes,
             tensor_aliases const& aliases, outside_writes& writes, gradients& require, heap& in, code_position& at,
             caller& calls)
        : build_(build),
          types_(types),
          values_(values),
          attributes_(attributes),
          aliases_(aliases),
          writes_(writes),
          gradients_(require),
          heap_(in),
          at_(at),
          caller_(calls) {}

    /// Adds the node that runs one of two parts. Variables and attributes have its values from now on; returns its result.
    [[nodiscard]] value join(value const& condition, part& first, part& second);

private:
    struct merged_outputs {
        value condition;
        std::vector<program::node>* first_nodes = nullptr; ///< of the branches
        std::vector<program::node>* second_nodes = nullptr;
        std::vector<program::argument> first;
        std::vector<program::argument> second;
        std::vector<program::value_index> results;
    };
    [[nodiscard]] value merge(value const& a, value const& b, merged_outputs& to, int depth);
    [[nodiscard]] value merge_optional(value const& a, value const& b, merged_outputs& to, int depth);
    [[nodiscard]] value one_of(value const& a, value const& b, merged_outputs& to, int depth);
    [[nodiscard]] value stand_in(value const& like, std::vector<program::node> const& makers,
                                 std::vector<program::node>& nodes, int depth);
    void merge_attributes(part const& first, part const& second, merged_outputs& to);
    [[nodiscard]] std::vector<outside_write> merge_writes(part& first, part& second, merged_outputs& to);

    program_builder& build_;
    result_types const& types_;
    program_values& values_;
    module_attributes& attributes_;
    tensor_aliases const& aliases_;
    outside_writes& writes_;
    gradients& gradients_;
    heap& heap_;
    code_position& at_;
    caller& caller_;
};

} // namespace ATON_NAMESPACE::torchscript
