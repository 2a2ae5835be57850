// SPDX-License-Identifier: MIT
// Parts of the code that become graphs of their own: branches, tests and bodies that depend on data.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <aton/program/program.hpp>

#include "autocast.hpp"
#include "code_position.hpp"
#include "containers.hpp"
#include "gradients.hpp"
#include "module_attributes.hpp"
#include "program_builder.hpp"
#include "program_values.hpp"
#include "result_types.hpp"
#include "tensor_aliases.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

/// What a part of the code has made.
struct part {
    std::vector<program::node> nodes;
    std::unordered_map<std::string_view, value> variables; ///< at its end
    std::vector<program::value_index> written;             ///< the tensors that its operators change in place
    outside_attributes attributes;                         ///< at its end, those that it has changed
    value result;
};

class separate_parts {
public:
    separate_parts(program_builder& build, result_types& types, program_values& values, containers& lists,
                   module_attributes& attributes, tensor_aliases& aliases, autocast& casts, gradients& require,
                   heap& in, code_position& at)
        : build_(build),
          types_(types),
          values_(values),
          containers_(lists),
          attributes_(attributes),
          aliases_(aliases),
          autocast_(casts),
          gradients_(require),
          heap_(in),
          at_(at) {}

    /// Interprets a part of the code into nodes of its own. Containers from outside must not change; variables and attributes have their values
    /// from before when it ends, also by an exception of the module.
    [[nodiscard]] part interpret(std::function<value()> const& body);
    /// The same; nothing if the part raises an exception whatever the data is.
    [[nodiscard]] std::optional<part> interpret_branch(std::function<value()> const& body);

private:
    program_builder& build_;
    result_types& types_;
    program_values& values_;
    containers& containers_;
    module_attributes& attributes_;
    tensor_aliases& aliases_;
    autocast& autocast_;
    gradients& gradients_;
    heap& heap_;
    code_position& at_;
    int depth_ = 0; ///< of branches and loops that depend on data
};

} // namespace ATON_NAMESPACE::torchscript
