// SPDX-License-Identifier: MIT
// Makes one graph functional: replaces operators that write to tensors by operators that return the new values.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <aton/program/program.hpp>

#include "alias_state.hpp"
#include "custom_operators.hpp"
#include "functional_counterpart.hpp"
#include "input_memory.hpp"
#include "layouts.hpp"
#include "node_emitter.hpp"

namespace ATON_NAMESPACE::program {

class functionalizer {
public:
    functionalizer(program& p, graph& g, schema_lookup const& schema_of);

    void run();

private:
    /// A tensor and its new value.
    struct tensor_write {
        value_index tensor = no_value;
        value_index now = no_value;
        bool resizes = false; ///< the new value has other sizes
    };
    using dtype_cast = std::pair<value_index, value_index>; ///< a value, and the same value in another dtype

    [[nodiscard]] bool is_main() const { return &graph_ == &program_.main; }

    // functionalize.cpp: the walk over the nodes, operators that do not write, and what all operators need.
    void visit(node const& n);
    std::vector<std::string_view> const& written_by(std::string_view schema);
    /// Replaces the tensors of an argument by their current values.
    void read_argument(argument& a, node const& cause);
    node with_arguments_read(node n);
    /// The node with its tensors replaced by values whose recorded types have their current sizes and strides.
    node with_arguments_described(node n) const;
    void add_results(node const& n);
    void pass(node const& n);
    void visit_pure(node const& n, std::string_view schema);
    /// The tensor of an argument. Throws aton::error if it is not a tensor.
    value_index tensor_of(node const& n, std::string_view name);
    /// The result, or a new value of the type of `written` if there is none.
    value_index result_of(node const& n, value_index written);
    void same_tensor(node const& n);
    void write(value_index written, value_index now, node const& cause);
    /// The same for a new value with other sizes.
    void resize(value_index written, value_index now, node const& cause);
    void check_write(value_index written, node const& cause) const;
    /// Whether a tensor shares memory with an input of the graph.
    [[nodiscard]] bool is_outer(value_index tensor) const;
    /// Refuses writes of branches and loop bodies to tensors of outer graphs.
    void check_outside(value_index written, node const& cause) const;
    void finish();

    // functionalize_in_place.cpp: operators that write in a way of their own.
    void change_view(node const& n, std::string_view op);
    void visit_resize(node const& n);
    void visit_set(node const& n);
    void visit_copy(node const& n);
    void visit_fill(node const& n);
    void visit_fill_diagonal(node const& n);
    value_index with_every_filled(node const& n, value_index whole, concrete_layout const& layout,
                                  argument const& number);
    void visit_norm(node const& n);

    // functionalize_custom.cpp: operators that torch does not declare.
    void visit_custom(node const& n);
    [[nodiscard]] std::string_view custom_schema(std::string_view op) const;
    /// auto_functionalized: calls the operator on copies of its mutated arguments.
    void visit_functionalized(node const& n);
    /// Emits the functional form: the results of the schema, then the new values of mutated arguments that it does not return.
    void write_custom(node const& n, custom_operator const& op);
    /// Refuses mutated arguments that share memory with other arguments: the effect depends on the operator.
    void check_disjoint(node const& n, written_argument const& written) const;
    /// The new values of a mutated argument, named like the result `named` of the schema that returns it, if any.
    result new_values(node const& n, written_argument const& written, result const& named,
                      std::vector<tensor_write>& writes);

    // functionalize_by_counterpart.cpp: operators for which torch has a functional operator.
    /// The general case: emits the functional counterpart and writes its results.
    void visit_write(node const& n, std::vector<std::string_view> const& written);
    /// Adds one result to `made`, and the writes and casts that follow from it.
    void make_result(node const& n, counterpart const& to, counterpart_result const& r, node& made,
                     std::vector<tensor_write>& writes, std::vector<dtype_cast>& casts);
    /// Gives the counterpart the dtype of what the operator writes to.
    void set_written_dtype(node const& n, counterpart const& to, node& made);
    [[nodiscard]] bool changes_sizes(value_index tensor, value_index now) const;

    program& program_;
    graph& graph_;
    schema_lookup const& schema_of_;
    std::vector<node> old_;
    layouts layout_;
    node_emitter out_;
    alias_state state_;
    input_memory memory_;
    node last_; ///< stands for the reader of the outputs
    std::unordered_map<std::string_view, std::vector<std::string_view>> written_;
    std::unordered_map<std::string_view, std::optional<counterpart>> counterparts_;
};

/// Whether the node has exactly one result, which is a value.
[[nodiscard]] bool has_one_result(node const& n);

} // namespace ATON_NAMESPACE::program
