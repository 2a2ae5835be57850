// SPDX-License-Identifier: MIT
// Values as tensors of the program: numbers, lists, tensors of another dtype, and constants that are as weak as numbers.
#pragma once

#include <vector>

#include "calls.hpp"
#include "program_values.hpp"
#include "result_types.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class tensor_conversions {
public:
    tensor_conversions(program_values& values, result_types const& types, heap& in, caller& calls)
        : values_(values),
          types_(types),
          heap_(in),
          caller_(calls) {}

    /// torch.tensor() of a number, or of nested lists of numbers.
    [[nodiscard]] value make_tensor(call_arguments const& given);
    /// torch.as_tensor() of a tensor: the tensor, or a copy of another dtype.
    [[nodiscard]] value convert_type(call_arguments const& given);
    /// Whether `to` gets a tensor, its own dtype, and no demand for a copy: torch then returns the tensor itself.
    [[nodiscard]] bool has_type_already(std::vector<value> const& x) const;
    /// A call in which constants beside other tensors have a dtype that does not promote that of the others, as Python's numbers do.
    [[nodiscard]] call_arguments without_weak_types(call_arguments const& given);

private:
    program_values& values_;
    result_types const& types_;
    heap& heap_;
    caller& caller_;
};

} // namespace ATON_NAMESPACE::torchscript
