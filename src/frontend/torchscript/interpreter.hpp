// SPDX-License-Identifier: MIT
// Runs `forward` on values whose numbers are known and whose tensors are not: everything that depends on tensors becomes nodes of a
// program. Each part has its own source file.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/frontend/torchscript/read_program.hpp>
#include <aton/program/program.hpp>

#include "attribute_lookup.hpp"
#include "autocast.hpp"
#include "bounds.hpp"
#include "branches.hpp"
#include "calls.hpp"
#include "carried_values.hpp"
#include "code_position.hpp"
#include "comparisons.hpp"
#include "constant_elements.hpp"
#include "containers.hpp"
#include "gradients.hpp"
#include "growing_lists.hpp"
#include "library.hpp"
#include "loops.hpp"
#include "memory_layouts.hpp"
#include "module_attributes.hpp"
#include "module_inputs.hpp"
#include "module_state.hpp"
#include "nested_tensors.hpp"
#include "number_functions.hpp"
#include "open_lists.hpp"
#include "operator_nodes.hpp"
#include "outside_writes.hpp"
#include "overload_table.hpp"
#include "program_builder.hpp"
#include "program_values.hpp"
#include "quantized_operators.hpp"
#include "result_types.hpp"
#include "separate_parts.hpp"
#include "tensor_aliases.hpp"
#include "tensor_conversions.hpp"
#include "tensor_questions.hpp"
#include "upgraders.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class interpreter : caller, code_runner {
public:
    interpreter(library& code, read_options const& options, state_before before);
    interpreter(interpreter const&) = delete; // its parts refer to it
    interpreter& operator=(interpreter const&) = delete;

    /// The program of one call.
    [[nodiscard]] program::program run();
    /// What the attributes hold that the call has changed.
    [[nodiscard]] state_left const& left() const { return attributes_.left(); }

private:
    // interpreter.cpp: statements and calls
    [[nodiscard]] flow run_block(std::vector<stmt> const& block) override;
    [[nodiscard]] flow run_statement(stmt const& s);
    [[nodiscard]] flow run_if(stmt const& s);
    [[nodiscard]] flow run_cond(stmt const& s, value const& condition);
    [[nodiscard]] flow run_while(stmt const& s);
    [[nodiscard]] flow run_for(stmt const& s);
    [[nodiscard]] std::optional<value> open_count(expr const& over);
    void run_counted_loop(stmt const& s, value const& count);
    [[nodiscard]] flow run_with(stmt const& s);
    void assign(std::vector<expr> const& targets, value const& v);
    void assign_attribute(expr const& target, value const& v);
    [[nodiscard]] value call_function(function_code const& f, call_arguments given);
    [[nodiscard]] value call_method(value const& object, std::string const& name, std::vector<value> given) override;
    [[nodiscard]] value construct(class_code const& type, call_arguments given);

    // open_ranks.cpp: tensors whose rank or dtype data decides
    [[nodiscard]] std::optional<value> call_on_either(value const& function, call_arguments const& given);
    [[nodiscard]] value call(value const& function, call_arguments given);

    // expressions.cpp
    [[nodiscard]] value evaluate(expr const& e) override;
    [[nodiscard]] value evaluate_name(expr const& e);
    [[nodiscard]] value evaluate_call(expr const& e);
    [[nodiscard]] call_arguments evaluate_arguments(expr const& e);
    [[nodiscard]] std::optional<value> call_special(expr const& e, std::string_view name);
    [[nodiscard]] value run_fork(expr const& e);

    // functions.cpp: functions by their names
    [[nodiscard]] value call_path(std::string_view path, call_arguments const& given) override;
    [[nodiscard]] std::optional<value> call_prim(std::string_view name, std::vector<value> const& x);

    // operators.cpp
    [[nodiscard]] value call_operator(std::string const& op, call_arguments const& operands) override;

    library& code_;
    read_options const& options_;
    program::program out_;
    code_position at_{code_, out_};
    program_builder build_{out_, at_};
    heap heap_;
    gradients gradients_;
    int depth_ = 0; ///< of calls
    attribute_lookup lookup_{code_, heap_, at_, *this};
    tensor_aliases aliases_;
    constant_elements elements_{aliases_};
    result_types types_{build_, at_, elements_, options_.infer};
    overload_table overloads_{build_, types_, heap_, options_.schemas_of};
    program_values values_{build_, types_, heap_, gradients_, elements_, at_, *this};
    module_inputs inputs_{options_.inputs, code_.path(), build_, values_, heap_, at_, *this};
    module_attributes attributes_;
    upgraders upgraders_{code_.format(), build_, types_, values_};
    autocast autocast_{types_, values_, *this};
    comparisons comparisons_{values_, at_, *this};
    number_functions numbers_{values_, build_, heap_, at_, *this};
    open_lists open_lists_{values_, types_, heap_, at_, *this};
    tensor_conversions conversions_{values_, types_, heap_, *this};
    operator_nodes operators_{code_.path(),
                              build_,
                              types_,
                              overloads_,
                              values_,
                              conversions_,
                              elements_,
                              aliases_,
                              gradients_,
                              heap_,
                              at_,
                              *this};
    containers containers_{values_, comparisons_, open_lists_, heap_, at_, *this};
    tensor_questions questions_{build_, types_, values_, comparisons_, heap_, gradients_, at_, *this};
    quantized_operators quantized_{build_, aliases_, heap_, at_, *this};
    memory_layouts layouts_{build_, types_, values_, containers_, heap_, at_, *this};
    separate_parts parts_{
        build_, types_, values_, containers_, attributes_, aliases_, autocast_, gradients_, heap_, at_};
    outside_writes writes_{build_, attributes_, at_, *this};
    branches branches_{build_, types_, values_, attributes_, aliases_, writes_, gradients_, heap_, at_, *this};
    carried_values carried_{build_, types_, values_, heap_, at_};
    growing_lists lists_{build_, values_, containers_, aliases_, heap_, at_, *this};
    loops loops_{build_,
                 types_,
                 values_,
                 carried_,
                 lists_,
                 containers_,
                 writes_,
                 parts_,
                 attributes_,
                 aliases_,
                 elements_,
                 at_,
                 *this};
    nested_tensors nested_{build_, values_, at_, *this};
    std::deque<stmt> made_; ///< in place of others: the names of variables point into them
};

} // namespace ATON_NAMESPACE::torchscript
