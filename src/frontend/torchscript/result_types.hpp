// SPDX-License-Identifier: MIT
// The types of what nodes compute: rules for operators that write, view or make tensors, and for all others the types that their mapping infers.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include <aton/frontend/torchscript/read_program.hpp>
#include <aton/program/program.hpp>

#include "calls.hpp"
#include "code_position.hpp"
#include "constant_elements.hpp"
#include "program_builder.hpp"

namespace ATON_NAMESPACE::torchscript {

class result_types {
public:
    result_types(program_builder& build, code_position const& at, constant_elements const& elements,
                 infer_types const& infer)
        : build_(build),
          at_(at),
          elements_(elements),
          infer_(infer) {}

    /// Values whose sizes were changed in place, and those that have the new ones.
    using new_sizes = std::unordered_map<program::value_index, program::value_index>;

    [[nodiscard]] inferred_type type_of(program::value_index v) const;
    /// The types of the results of a node that is not in the program yet.
    [[nodiscard]] std::vector<inferred_result> types_of(program::node const& n, overload const& o);

    /// Notes that a node changes the sizes of its operand in place; false if it does not.
    bool note_resized(program::node const& n, overload const& o);
    void note_resized_outs(program::node const& n, overload const& o);
    [[nodiscard]] new_sizes const& resized() const { return resized_; }
    void set_resized(new_sizes const& of) { resized_ = of; }

private:
    [[nodiscard]] std::vector<inferred_result> types_of_outs(program::node const& n, overload const& o);
    [[nodiscard]] std::vector<inferred_result> infer_now(program::node asked, known_elements const* elements = nullptr);
    [[nodiscard]] bool have_other_sizes(inferred_type const& a, inferred_type const& b) const;
    [[nodiscard]] std::optional<inferred_type> type_by_rule(program::node const& n);
    [[nodiscard]] std::optional<std::vector<std::optional<program::extent>>> reshaped(inferred_type const& from,
                                                                                      program::argument const& sizes);
    void complete_sizes(program::node const& n, inferred_type& type);

    program_builder& build_;
    code_position const& at_;
    constant_elements const& elements_;
    infer_types const& infer_;
    new_sizes resized_;
};

} // namespace ATON_NAMESPACE::torchscript
