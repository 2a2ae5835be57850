// SPDX-License-Identifier: MIT
// Operators that depend on how a tensor lies in memory.
#pragma once

#include <optional>
#include <string_view>

#include <aton/program/program.hpp>

#include "calls.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class interpreter;

class memory_layouts {
public:
    explicit memory_layouts(interpreter& in) : in_(in) {}

    /// Functions that depend on the layout of their first operand; nothing for all others.
    [[nodiscard]] std::optional<value> call(std::string_view name, call_arguments const& given);

private:
    [[nodiscard]] bool is_known_contiguous(program::value_index v, int depth) const;
    [[nodiscard]] value contiguous_strides(program::value_index v);
    [[nodiscard]] value fill_diagonal(value const& x, value const& number, bool wraps);

    interpreter& in_;
};

} // namespace ATON_NAMESPACE::torchscript
