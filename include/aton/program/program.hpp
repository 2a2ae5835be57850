// SPDX-License-Identifier: MIT
// The ATen program that is being exported, whichever front end it came from: nodes with arguments by the names of their schemas,
// what is known of every value, weights that stay in their file.
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
#include <aton/program/expression.hpp>

namespace ATON_NAMESPACE::program {

/// An index into `program::values`.
using value_index = std::uint32_t;
/// The index of no value: None.
inline constexpr value_index no_value = ~value_index{0};

/// A size, a stride or a number that may be symbolic.
struct extent {
    /// The index of no expression.
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    std::int64_t number = 0;         ///< where it is not symbolic
    std::uint32_t expression = none; ///< index into program::expressions

    /// Whether it is a number and not symbolic.
    [[nodiscard]] bool is_number() const { return expression == none; }
    friend bool operator==(extent const&, extent const&) = default;
};

/// What a value is; `token` only orders effects.
enum class value_kind : std::uint8_t { tensor, sym_int, sym_float, sym_bool, custom_object, token };

/// A value and what the program says of it.
struct value {
    std::string name;
    value_kind kind = value_kind::tensor;
    bool has_type = false; ///< whether the program says anything: of tensors the members below
    dtype type = dtype::undefined;
    std::vector<extent> sizes;
    std::vector<extent> strides;
    bool strided = true;            ///< false: a sparse or other layout
    std::optional<extent> symbolic; ///< sym_int: the closed form, where it is known
};

/// What an argument is, and which members of `argument` hold it.
enum class argument_kind : std::uint8_t {
    none,
    value,  ///< a tensor, or a SymInt, SymFloat, SymBool that a node computes: values[0]
    values, ///< Tensor[] and Tensor?[] (no_value: None)
    integer,
    real,
    boolean,
    complex,  ///< reals[0] + reals[1] i
    integers, ///< int[], and SymInt[]: where values[i] is not no_value, element i is computed
    reals,    ///< the same for float[]
    booleans, ///< the same for bool[], in integers
    text,
    texts,
    type,          ///< ScalarType
    memory_format, ///< text: "channels_last"
    layout,        ///< text: "strided"
    device,        ///< text: "cuda:0"
    graph,         ///< of a higher-order operator: integer is an index into program::subgraphs, text its name
    op,            ///< of a higher-order operator: text is the overload that it runs, as in node::op
    other,         ///< anything that ATen operators do not take; text says what
};

/// An argument of a node.
struct argument {
    std::string name; ///< in the schema; empty: positional (higher-order and Python operators)
    argument_kind kind = argument_kind::none;
    std::int64_t integer = 0;
    double real = 0;
    dtype type = dtype::undefined;
    std::string text;
    std::vector<value_index> values;
    std::vector<std::int64_t> integers;
    std::vector<double> reals;
    std::vector<std::string> texts;
};

/// A result of a node: one value, or a list of them (Tensor[]); None has neither.
struct result {
    std::vector<value_index> values;
    bool is_list = false;
};

/// Where a node comes from in the user's program.
struct origin {
    std::string module;      ///< "layer1.0.conv1"
    std::string module_type; ///< "torch.nn.modules.conv.Conv2d"
    std::string source;      ///< "model.py:12 in forward"
    std::string code;        ///< the line itself, where the program has it
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
    std::string_view schema; ///< of torch's; empty: an operator that torch does not declare
    std::string name;
    std::vector<argument> arguments; ///< those that the program gives, in its order; the others have their default
    std::vector<result> results;
    std::uint32_t origin = 0; ///< index into program::origins
    /// Of an operator that torch does not declare: it is known to write to nothing. Where its schema does, it is functional now, and
    /// behind the results of its schema it has the new values of those arguments that it does not return (aten/mutation.hpp).
    bool is_functional = false;
};

/// A list of nodes in topological order, with arguments for results: a result may be a number or None.
struct graph {
    std::vector<value_index> inputs; ///< no_value: a constant that was baked in
    std::vector<node> nodes;
    std::vector<argument> outputs;
};

/// Who provides an input.
enum class input_kind : std::uint8_t { user, parameter, buffer, constant, baked, custom_object, token };

/// An input of the main graph, in its order.
struct input {
    input_kind kind = input_kind::user;
    value_index value = no_value;
    std::string target; ///< "conv1.weight": the name in the module; of user inputs their name
    bool persistent = true;
    stored_tensor data; ///< parameters, buffers and constants
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

/// An output of the main graph, in its order.
struct output {
    output_kind kind = output_kind::user;
    std::string target; ///< what is mutated; of user outputs the key under which a dict returns them, or empty
};

/// What a symbol may be.
struct symbol_range {
    std::int64_t least = std::numeric_limits<std::int64_t>::min();
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// What a number in a guard is: the size of an input along `axis`, or (-1) an input that is a number itself.
struct guard_source {
    value_index input = no_value;
    std::int64_t axis = -1;
};

/// How a guard is obeyed.
enum class guard_state : std::uint8_t {
    open,   ///< it limits which sizes are accepted, and nothing else
    kept,   ///< it follows from sizes of inputs that are numbers
    frozen, ///< a number of the program was computed from the sizes, and is right only where the guard holds
};

/// A condition on the inputs under which the program was recorded: outside of it the module refuses them.
struct guard {
    std::string text;                    ///< as the file has it: "L['x'].size()[0] == 5"
    std::optional<expression> condition; ///< of the names in program::guard_sources; nothing: it is not understood
    guard_state state = guard_state::open;
};

/// A dimension of an input that was a symbol, and that guards leave one number only.
struct pinned_dimension {
    std::string input;
    std::int64_t axis = 0;
    std::int64_t number = 0;
    std::string reason; ///< the guards
};

/// An operator that was removed although it may have done something.
struct dropped_node {
    std::string op;
    std::string place;       ///< "model.py:12 in forward"; may be empty
    bool has_effect = false; ///< false: its results are not used, and torch does not declare it
};

/// A program with everything that is known about it.
struct program {
    std::string name; ///< of the model in its archive
    std::string file; ///< for messages
    std::string torch_version;
    std::vector<value> values; ///< of all graphs; subgraphs have values of their own
    graph main;
    std::vector<graph> subgraphs;
    std::vector<input> inputs;   ///< one for each of main.inputs
    std::vector<output> outputs; ///< one for each of main.outputs
    std::vector<expression> expressions;
    std::vector<origin> origins; ///< [0]: unknown
    std::map<std::string, symbol_range, std::less<>> ranges;
    std::vector<guard> guards;
    std::map<std::string, guard_source, std::less<>> guard_sources;
    std::vector<pinned_dimension> pinned; ///< by obey_guards()
    std::map<std::string, expression, std::less<>>
        relations;                       ///< symbols that are computed from others, by obey_guards()
    std::vector<dropped_node> dropped;   ///< by remove_dead_nodes()
    std::shared_ptr<void const> storage; ///< keeps the file open and mapped that stored tensors point into
};

/// "model.pt2: aten::foo (node foo_1, at model.py:12 in forward)": how messages name a node.
[[nodiscard]] std::string describe(program const& p, node const& n);

/// The results of a node, those of lists one after the other; no_value: None.
[[nodiscard]] std::vector<value_index> result_values(node const& n);

/// The program as text: inputs, weights, one line for each node with types and the user's source line, outputs.
[[nodiscard]] std::string to_string(program const& p);

/// Replaces calls of torch.no_grad(), autocast and the like (wrap_with_set_grad_enabled, wrap_with_autocast) by what they wrap, in
/// branches and bodies of loops too.
/// Throws aton::error, with the node, for a wrapper that does not fit its graph or is nested too deeply.
void inline_wrappers(program& p);

/// The schema of an operator that torch does not declare, by its qualified overload; empty: it is not known.
using schema_lookup = std::function<std::string_view(std::string_view op)>;

/// Makes every operator a function of its arguments: in-place operators and writes through views become functional ones, whose results
/// take the place of what they wrote to. A buffer or input that ends with another value gets an output of its mutation. Afterwards
/// no node has a schema with an argument that is written to. Branches and bodies of loops may write to what they made themselves.
/// Operators that torch does not declare are rewritten where `schema_of` knows them, and where the program has them as operands of
/// auto_functionalized or auto_functionalized_v2. Throws aton::error for what cannot be expressed, with the node.
void functionalize(program& p, schema_lookup const& schema_of = {});

/// Removes nodes that compute nothing an output needs: assertions, guards, and arithmetic that only fed those. program::dropped lists
/// those of them that have an effect, or that this release of Aton does not know. Custom operators without a known schema stay, without
/// results: torch.export has removed those that write to nothing, so they are there for what they write.
void remove_dead_nodes(program& p);

/// Holds sizes to the guards and ranges: symbols that can only be one number become that number, those that equal an expression of
/// others are listed in program::relations, and every guard gets its state. Throws aton::error where no size at all is accepted.
void obey_guards(program& p);

} // namespace ATON_NAMESPACE::program
