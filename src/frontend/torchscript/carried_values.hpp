// SPDX-License-Identifier: MIT
// Values of variables and attributes from one iteration of a loop to the next.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <aton/program/program.hpp>

#include "code_position.hpp"
#include "program_builder.hpp"
#include "program_values.hpp"
#include "result_types.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

/// Dimensions of the state of a loop: the position of the tensor in the state, and the axis.
using state_axes = std::set<std::pair<std::size_t, std::size_t>>;

class carried_values {
public:
    carried_values(program_builder& build, result_types const& types, program_values& values, heap& in,
                   code_position& at)
        : build_(build),
          types_(types),
          values_(values),
          heap_(in),
          at_(at) {}

    /// The value at the start of an iteration, inside the graph of the body: the same types, other values.
    [[nodiscard]] value carry(value const& v, std::vector<program::value_index>& start,
                              std::vector<program::value_index>& inside, int depth = 0);
    /// Adds the values of a variable or an attribute at the end of an iteration to the outputs of the body, in the order of carry().
    void append(std::string const& what, value const& before, value const& after, std::vector<program::node>& nodes,
                std::vector<program::argument>& outputs);
    /// Adds the dimensions of tensors of the state, in the order of carry(), that have another size after an iteration.
    void find_resized(value const& before, value const& after, std::size_t& position, state_axes& resized) const;
    /// Gives a dimension of the state of a loop a size of its own in each iteration.
    void open_axis(program::value_index carried, std::size_t axis);

private:
    program_builder& build_;
    result_types const& types_;
    program_values& values_;
    heap& heap_;
    code_position& at_;
    std::map<program::value_index, std::set<std::size_t>> open_axes_; ///< those of open_axis()
};

} // namespace ATON_NAMESPACE::torchscript
