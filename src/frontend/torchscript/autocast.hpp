// SPDX-License-Identifier: MIT
// Regions of torch.autocast, in which the operands of some operators are cast.
#pragma once

#include <string_view>
#include <utility>

#include <aton/core/dtype.hpp>

#include "calls.hpp"
#include "program_values.hpp"
#include "result_types.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class autocast {
public:
    autocast(result_types const& types, program_values& values, caller& calls)
        : types_(types),
          values_(values),
          caller_(calls) {}

    /// Enters the region of `with context:`, if it is one, and returns the dtype of the region around it.
    [[nodiscard]] dtype enter(value const& context) { return std::exchange(type_, type_in(context)); }
    void leave(dtype outside) { type_ = outside; }
    /// The dtype of the region; undefined outside of any.
    [[nodiscard]] dtype type() const { return type_; }

    /// The operands of an operator in the region.
    [[nodiscard]] call_arguments cast(std::string_view op, call_arguments given);

private:
    [[nodiscard]] dtype type_in(value const& context) const;

    result_types const& types_;
    program_values& values_;
    caller& caller_;
    dtype type_ = dtype::undefined;
};

} // namespace ATON_NAMESPACE::torchscript
