// SPDX-License-Identifier: MIT
// Questions about tensors, devices and the state of torch, whose answers follow from types or are the same for every exported model.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "calls.hpp"
#include "code_position.hpp"
#include "comparisons.hpp"
#include "gradients.hpp"
#include "program_builder.hpp"
#include "program_values.hpp"
#include "result_types.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class tensor_questions {
public:
    tensor_questions(program_builder& build, result_types const& types, program_values& values, comparisons& order,
                     heap& in, gradients& require, code_position& at, caller& calls)
        : build_(build),
          types_(types),
          values_(values),
          comparisons_(order),
          heap_(in),
          gradients_(require),
          at_(at),
          caller_(calls) {}

    /// torch's state, and dtypes and devices.
    [[nodiscard]] std::optional<value> call_about_state(std::string_view name, std::vector<value> const& x);
    /// Questions about a tensor whose answers follow from its type, in code that is scripted or traced.
    [[nodiscard]] std::optional<value> call_about_tensor(std::string_view name, call_arguments const& given);
    /// x.tolist(): the elements as numbers of the program, in as many lists as there are dimensions.
    [[nodiscard]] value to_list(value const& tensor);

private:
    [[nodiscard]] value broadcast_sizes(std::vector<value> const& a, std::vector<value> const& b);
    /// The dtype and the sizes of a tensor.
    [[nodiscard]] std::optional<value> call_about_type(std::string_view name, std::vector<value> const& x);
    /// Whether all elements of two tensors are equal, or close.
    [[nodiscard]] value compare_tensors(bool closely, call_arguments const& given);

    program_builder& build_;
    result_types const& types_;
    program_values& values_;
    comparisons& comparisons_;
    heap& heap_;
    gradients& gradients_;
    code_position& at_;
    caller& caller_;
};

} // namespace ATON_NAMESPACE::torchscript
