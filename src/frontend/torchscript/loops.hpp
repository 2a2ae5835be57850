// SPDX-License-Identifier: MIT
// Loops that depend on data: the body is interpreted once and becomes a graph, which gets the variables that it assigns as its state.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <aton/program/program.hpp>

#include "calls.hpp"
#include "carried_values.hpp"
#include "code_position.hpp"
#include "constant_elements.hpp"
#include "containers.hpp"
#include "growing_lists.hpp"
#include "module_attributes.hpp"
#include "outside_writes.hpp"
#include "program_builder.hpp"
#include "program_values.hpp"
#include "regions.hpp"
#include "result_types.hpp"
#include "separate_parts.hpp"
#include "tensor_aliases.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class loops {
public:
    loops(program_builder& build, result_types const& types, program_values& values, carried_values& carried,
          growing_lists& lists, containers& of_code, outside_writes& writes, separate_parts& parts,
          module_attributes& attributes, tensor_aliases const& aliases, constant_elements const& elements,
          code_position& at, code_runner& code)
        : build_(build),
          types_(types),
          values_(values),
          carried_(carried),
          lists_(lists),
          containers_(of_code),
          writes_(writes),
          parts_(parts),
          attributes_(attributes),
          aliases_(aliases),
          elements_(elements),
          at_(at),
          code_(code) {}

    /// Adds the node of `while s.value: s.body`. `count`: the number of iterations, if it is known before the loop.
    void run(stmt const& s, std::optional<value> const& count = {});

private:
    /// A loop that is being made.
    struct loop {
        std::vector<std::string> names;     ///< of the variables that the body assigns
        std::vector<list_of_values*> lists; ///< that grow
        loop_state state;
        std::unordered_map<std::string, value> body_state; ///< at the start of an iteration
        std::unordered_map<std::string, value> test_state;
        outside_attributes body_attributes;
        outside_attributes test_attributes;
        state_axes resized;
        part test;
        part body;
    };
    void interpret(stmt const& s, loop& of);
    void carry_state(loop& of);
    void enter(std::unordered_map<std::string, value> const& variables, outside_attributes const& attributes);
    void find_resized(loop& of);
    void append_outputs(loop& of);
    /// Makes the tensors that the body writes to part of the state, which the tests and bodies of all iterations share.
    [[nodiscard]] std::vector<outside_write> carry_writes(loop& of);
    [[nodiscard]] program::node node_of(loop& of);
    [[nodiscard]] std::vector<program::value_index> carry_results(loop& of);

    program_builder& build_;
    result_types const& types_;
    program_values& values_;
    carried_values& carried_;
    growing_lists& lists_;
    containers& containers_;
    outside_writes& writes_;
    separate_parts& parts_;
    module_attributes& attributes_;
    tensor_aliases const& aliases_;
    constant_elements const& elements_;
    code_position& at_;
    code_runner& code_;
};

} // namespace ATON_NAMESPACE::torchscript
