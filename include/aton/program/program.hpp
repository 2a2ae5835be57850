// SPDX-License-Identifier: MIT
// The ATen program to export, independent of the front end: nodes with arguments by the names of their schemas, the recorded
// types of all values, and weights that stay in their file.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/stored_tensor.hpp>
#include <aton/program/argument.hpp>
#include <aton/program/expression.hpp>

namespace ATON_NAMESPACE::program {

/// A size, a stride or a number that may be symbolic.
struct extent {
    /// The index of no expression.
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    std::int64_t number = 0;         ///< if not symbolic
    std::uint32_t expression = none; ///< index into program::expressions

    /// Whether it is a number and not symbolic.
    [[nodiscard]] bool is_number() const { return expression == none; }
    friend bool operator==(extent const&, extent const&) = default;
};

/// What a value is; `token` only orders effects.
enum class value_kind : std::uint8_t { tensor, sym_int, sym_float, sym_bool, custom_object, token };

/// A value and its recorded type.
struct value {
    std::string name;
    value_kind kind = value_kind::tensor;
    bool has_type = false; ///< whether the program recorded a type; if so, tensors have the members below
    dtype type = dtype::undefined;
    std::vector<extent> sizes;
    std::vector<extent> strides;
    extent storage_offset; ///< in elements: not 0 if the tensor is a view that starts inside the memory of another one
    bool strided = true;   ///< false: a sparse or other layout
    std::optional<extent> symbolic; ///< sym_int: its expression, if known
};

/// A result of a node: one value, or a list of values (Tensor[]). None has no values and is not a list.
struct result {
    std::vector<value_index> values;
    bool is_list = false;
};

/// The origin of a node in the user's program.
struct origin {
    std::string module;      ///< "layer1.0.conv1"
    std::string module_type; ///< "torch.nn.modules.conv.Conv2d"
    std::string source;      ///< "model.py:12 in forward"
    std::string code;        ///< the source line, if recorded
};

/// Who defines the operator of a node.
enum class node_kind : std::uint8_t {
    aten,         ///< an operator with a schema: "aten::conv2d", "custom_ops::foo_forward"
    python,       ///< arithmetic on sizes: "_operator.mul", "math.trunc", "torch.sym_max"
    higher_order, ///< "higher_order::cond"
};

/// A call of an operator.
struct node {
    node_kind kind = node_kind::aten;
    std::string op;          ///< qualified overload: "aten::add.Tensor"; the default overload has no suffix
    std::string_view schema; ///< torch's schema; empty for an operator that torch does not declare
    std::string name;
    std::vector<argument> arguments; ///< the recorded ones, in their order; the others have their defaults
    std::vector<result> results;
    std::uint32_t origin = 0; ///< index into program::origins
    /// For an operator that torch does not declare: it does not write to its arguments. If its schema does, the node is the functional
    /// form: after the results of the schema, it returns the new values of the mutated arguments that the schema does not return
    /// (aten/mutation.hpp).
    bool is_functional = false;
};

/// A list of nodes in topological order. Its outputs are arguments, because an output may be a number or None.
struct graph {
    std::vector<value_index> inputs; ///< no_value: an input that torch.export replaced by a constant
    std::vector<node> nodes;
    std::vector<argument> outputs;
};

/// Who provides an input.
enum class input_kind : std::uint8_t { user, parameter, buffer, constant, baked, custom_object, token };

/// An input of the main graph.
struct input {
    input_kind kind = input_kind::user;
    value_index value = no_value;
    std::string target; ///< the name in the module, such as "conv1.weight"; the name of a user input
    bool persistent = true;
    stored_tensor data; ///< parameters, buffers and constants
    /// Of a user input that keeps an attribute of the module between calls: its value before the first one, "zeros" or "3".
    std::string first_value = {};
    stored_tensor as_real =
        {}; ///< complex data as reals with a trailing axis of 2, in the same bytes; made by prepare()
};

/// What an output of the program is for.
enum class output_kind : std::uint8_t {
    user,
    buffer_mutation,
    input_mutation,
    parameter_mutation,
    loss,
    gradient,
    token
};

/// An output of the main graph.
struct output {
    output_kind kind = output_kind::user;
    std::string target; ///< what is mutated; for user outputs, the key in a returned dict, or empty
};

/// The values that a symbol may have, bounds included.
struct symbol_range {
    std::int64_t min = std::numeric_limits<std::int64_t>::min();
    std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

/// The source of a number in a guard: the size of an input along `axis`, or (-1) an input that is a number.
struct guard_source {
    value_index input = no_value;
    std::int64_t axis = -1;
};

/// How the exported program relates to a guard.
enum class guard_state : std::uint8_t {
    open,   ///< the guard only limits which sizes are accepted
    kept,   ///< the guard follows from the static sizes of the inputs
    frozen, ///< a number in the program was computed from the sizes, and is correct only if the guard holds
};

/// A condition on the inputs under which the program was recorded; the module refuses other inputs.
struct guard {
    std::string text; ///< as in the file: "L['x'].size()[0] == 5"
    std::optional<expression>
        condition; ///< over the names in program::guard_sources; nullopt if it could not be parsed
    guard_state state = guard_state::open;
};

/// A dynamic dimension of an input for which the guards allow only one size.
struct pinned_dimension {
    std::string input;
    std::int64_t axis = 0;
    std::int64_t number = 0;
    std::string reason; ///< names the guards
};

/// A removed node that may have had an effect.
struct dropped_node {
    std::string op;
    std::string place;       ///< "model.py:12 in forward"; may be empty
    bool has_effect = false; ///< false: an operator that torch does not declare, whose results are unused
};

/// What a source of numbers gave to the weights of a program (weights::bind).
struct given_weights {
    std::string source;              ///< as it was named: a file or a folder
    std::vector<std::string> files;  ///< the paths of the files with the numbers
    std::vector<std::string> kept;   ///< weights that it does not have, with the numbers of the program
    std::vector<std::string> unused; ///< its tensors that no weight uses
    std::vector<std::pair<std::string, std::string>>
        assumed; ///< a weight that it does not have, and the tensor it is tied to
};

/// A program with everything that is known about it.
struct program {
    std::string name; ///< of the model in its archive
    std::string file; ///< for messages
    std::string torch_version;
    std::vector<value> values; ///< of all graphs; graphs do not share values
    graph main;
    std::vector<graph> subgraphs;
    std::vector<input> inputs;   ///< one for each of main.inputs
    std::vector<output> outputs; ///< one for each of main.outputs
    std::vector<expression> expressions;
    std::vector<origin> origins; ///< [0]: unknown
    std::map<std::string, symbol_range, std::less<>> ranges;
    std::vector<guard> guards;
    std::map<std::string, guard_source, std::less<>> guard_sources;
    std::vector<pinned_dimension> pinned; ///< by specialize_sizes()
    std::map<std::string, expression, std::less<>>
        relations;                       ///< symbols as expressions of others, by specialize_sizes()
    std::vector<dropped_node> dropped;   ///< by remove_dead_nodes()
    std::optional<given_weights> given;  ///< by weights::bind()
    std::shared_ptr<void const> storage; ///< keeps the file mapped that stored tensors point into
};

/// The name of a node in messages: "model.pt2: aten::foo (node foo_1, at model.py:12 in forward)".
[[nodiscard]] std::string describe(program const& p, node const& n);

/// The results of a node, with lists flattened; no_value for None.
[[nodiscard]] std::vector<value_index> result_values(node const& n);

/// Whether a tensor is known to be contiguous: its strides are those of its sizes, whatever the symbols are. Dimensions of size 1 are ignored.
[[nodiscard]] bool is_contiguous(program const& p, value_index v);

/// The program as text: inputs, weights, one line per node with types and source position, and outputs.
[[nodiscard]] std::string to_string(program const& p);

/// Replaces wrappers such as torch.no_grad() and autocast (wrap_with_set_grad_enabled, wrap_with_autocast) by the nodes of their graph,
/// including in branches and loop bodies, and functions under torch.vmap by operators on tensors with one more dimension.
/// Throws aton::error, with the node, for a wrapper that does not fit its graph or is nested too deeply.
void inline_wrappers(program& p);

/// Returns the schema of an operator that torch does not declare, by its qualified overload; empty if unknown.
using schema_lookup = std::function<std::string_view(std::string_view op)>;

/// Replaces in-place operators and writes through views by functional operators, whose results replace the tensors that were written to.
/// A buffer or input that is mutated gets an output with its final value. Afterwards, no node of torch has a schema with a mutated
/// argument. Branches and loop bodies may only write to tensors that they created. Operators that torch does not declare are rewritten if
/// `schema_of` knows them, or if they are called by auto_functionalized or auto_functionalized_v2. Throws aton::error, which names the
/// node, for writes that cannot be expressed.
void functionalize(program& p, schema_lookup const& schema_of = {});

/// The call that computes what a call of an in-place or out operator writes, and writes nothing: `aten::add.Tensor` for `aten::add.out`.
/// What the operator returns comes first among its results. nullopt if torch declares no such operator. Throws aton::error if `n` is malformed.
[[nodiscard]] std::optional<node> functional_form(node const& n);

/// Removes nodes that no output depends on, such as assertions and the arithmetic that only they use. program::dropped lists removed nodes
/// that have an effect or are unknown to this release. Custom operators without a known schema stay, without results: torch.export already
/// removed those without side effects.
void remove_dead_nodes(program& p);

/// Solves the guards and ranges: symbols with only one possible value become that number, symbols that equal an expression of others are
/// listed in program::relations, and the state of every guard is set. Throws aton::error if no size satisfies the guards.
void specialize_sizes(program& p);

} // namespace ATON_NAMESPACE::program
