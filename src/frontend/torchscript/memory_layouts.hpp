// SPDX-License-Identifier: MIT
// Operators that depend on how a tensor lies in memory.
#pragma once

#include <optional>
#include <string_view>

#include <aton/program/program.hpp>

#include "calls.hpp"
#include "code_position.hpp"
#include "containers.hpp"
#include "program_builder.hpp"
#include "program_values.hpp"
#include "result_types.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class memory_layouts {
public:
    memory_layouts(program_builder& build, result_types const& types, program_values& values, containers& lists,
                   heap& in, code_position& at, caller& calls)
        : build_(build),
          types_(types),
          values_(values),
          containers_(lists),
          heap_(in),
          at_(at),
          caller_(calls) {}

    /// Functions that depend on the layout of their first operand; nothing for all others.
    [[nodiscard]] std::optional<value> call(std::string_view name, call_arguments const& given);

private:
    [[nodiscard]] bool is_known_contiguous(program::value_index v, int depth) const;
    [[nodiscard]] value contiguous_strides(program::value_index v);
    [[nodiscard]] value fill_diagonal(value const& x, value const& number, bool wraps);

    program_builder& build_;
    result_types const& types_;
    program_values& values_;
    containers& containers_;
    heap& heap_;
    code_position& at_;
    caller& caller_;
};

} // namespace ATON_NAMESPACE::torchscript
