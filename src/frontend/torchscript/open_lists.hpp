// SPDX-License-Identifier: MIT
// Lists whose length the model computes: the rows of a tensor, and chunk and split along a dynamic dimension. An unpacking into k variables,
// or a constant index, says which of their items are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "calls.hpp"
#include "code_position.hpp"
#include "program_values.hpp"
#include "result_types.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class open_lists {
public:
    open_lists(program_values& values, result_types const& types, heap& in, code_position& at, caller& calls)
        : values_(values),
          types_(types),
          heap_(in),
          at_(at),
          caller_(calls) {}

    /// The rows of a tensor along a dimension of dynamic size; nothing if the size is a number.
    [[nodiscard]] std::optional<value> unbind(call_arguments const& given);
    /// The parts of a tensor along a dimension of dynamic size; nothing if the size, and so their number, is known.
    [[nodiscard]] std::optional<value> split(std::string_view op, call_arguments const& given);

    [[nodiscard]] value row_of(value const& rows, value const& index);
    /// One of the parts: the slice from index * step to (index + 1) * step.
    [[nodiscard]] value part_of(value const& parts, std::int64_t index);
    /// The items that an unpacking into `count` variables gets, if the model decides how many there are; torch raises an exception if there
    /// are more or less.
    [[nodiscard]] std::optional<std::vector<value>> unpacked(value const& v, std::size_t count);
    /// stack, cat and len of a list whose length the model computes.
    [[nodiscard]] std::optional<value> call_on_rows(std::string_view name, std::vector<value> const& x);

private:
    program_values& values_;
    result_types const& types_;
    heap& heap_;
    code_position& at_;
    caller& caller_;
};

} // namespace ATON_NAMESPACE::torchscript
