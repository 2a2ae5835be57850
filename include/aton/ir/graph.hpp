// SPDX-License-Identifier: MIT
// The ONNX graph under construction: plain structs. `value` and `graph` are handles to them; printers and writers read them.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>
#include <aton/core/shape.hpp>
#include <aton/core/tensor.hpp>
#include <aton/onnx/schema.hpp>

namespace ATON_NAMESPACE {

/// The kind of a value: a tensor, a sequence of tensors, or an optional of either.
enum class value_kind : std::uint8_t { tensor, sequence, optional_tensor, optional_sequence };

/// The type of a value: kind, element type (undefined: unknown) and shape (of the elements of a sequence).
struct value_type {
    aton::dtype dtype = aton::dtype::undefined;
    aton::shape shape;
    value_kind kind = value_kind::tensor;

    friend bool operator==(value_type const&, value_type const&) = default;
};

/// The set that contains only this type, whose dtype must be known.
constexpr type_set set_of(value_type const& t) {
    std::uint64_t const bit = std::uint64_t{1} << static_cast<unsigned>(t.dtype);
    switch (t.kind) {
    case value_kind::tensor: return {bit, 0};
    case value_kind::sequence: return {bit << 32, 0};
    case value_kind::optional_tensor: return {0, bit};
    case value_kind::optional_sequence: return {0, bit << 32};
    }
    return {};
}

/// The index of a value in `graph_data::values`.
using value_id = std::uint32_t;
/// The id of no value: an input that is skipped.
inline constexpr value_id no_value = ~value_id{0};

/// The domain of nodes that call ATen itself: `g.at`.
inline constexpr std::string_view aten_domain = "org.pytorch.aten";

struct graph_data;
struct stored_tensor; // core/stored_tensor.hpp, which the DSL does not need

/// An attribute of a node. `type` determines the member with the payload.
struct node_attribute {
    std::string name;
    onnx::attr_type type = onnx::attr_type::undefined;
    std::int64_t i = 0;
    float f = 0;
    std::string s;
    std::vector<std::int64_t> ints;
    std::vector<float> floats;
    std::vector<std::string> strings;
    std::vector<tensor> tensors; ///< t: one; tensors: all; sparse_tensor: values and indices, with its sizes in `ints`
    std::vector<graph_data> graphs;     ///< g: one; graphs: all
    std::string reference;              ///< in the body of a function: the attribute of the call with the payload
    std::vector<value_type> types = {}; ///< type_proto: one; type_protos: all
};

/// A call of an operator. Inputs may be `no_value` (skipped).
struct graph_node {
    std::string domain; ///< "" is ai.onnx
    std::string op;
    std::string overload; ///< of a graph_function
    std::vector<value_id> inputs;
    std::vector<value_id> outputs;
    std::vector<node_attribute> attributes;
    std::string source;       ///< the ATen overload that the node belongs to
    std::uint32_t origin = 0; ///< index into graph_data::origins

    /// What messages call the node: its ATen overload, or else its operator.
    [[nodiscard]] std::string const& subject() const { return source.empty() ? op : source; }

    /// The attribute of this name, or nullptr.
    template <class Attribute = node_attribute>
    [[nodiscard]] Attribute const* attribute(std::string_view attribute_name) const {
        for (Attribute const& a : attributes)
            if (a.name == attribute_name) return &a;
        return nullptr;
    }
};

/// The node of the program that a graph node was made from, and its source line.
struct node_origin {
    std::string name;   ///< "conv2d_1"
    std::string module; ///< "layer1.0.conv1"
    std::string source; ///< "model.py:12 in forward"
};

/// A value of a graph: its name, its type and where it comes from.
struct graph_value {
    std::string name; ///< empty: numbered when printed or written
    value_type type;
    std::int64_t producer = -1;    ///< index into nodes; -1: an input or initializer
    std::int64_t initializer = -1; ///< index into initializers; -1: none
    bool wrapped_number = false;   ///< made from a Python number: promotes weakly
    value_id outer = no_value;     ///< in a nested graph: the captured value of the graph around it
};

/// A tensor that the graph carries by name instead of in a Constant node.
struct graph_initializer {
    value_id value = no_value;
    tensor data;
    stored_tensor const* stored = nullptr; ///< the elements in a file, if `data` is empty; kept alive by its creator
};

namespace dsl {
struct bound_argument; // dsl/argument.hpp
}

/// The call being converted. A body reads it through `g.context()`, so that one body can serve a family of operators.
struct node_context {
    /// The budget of a call outside a conversion.
    static constexpr std::uint32_t unlimited = static_cast<std::uint32_t>(-1);

    std::string_view overload;                     ///< "aten::elu"
    std::string_view node_name;                    ///< the name of the node in the program, if it has one
    std::string_view module;                       ///< the path of the module in the model, if known: "layer1.0.conv1"
    std::string_view source;                       ///< the user's source line, if known
    std::uint32_t origin = 0;                      ///< of the new nodes, index into graph_data::origins
    std::uint32_t constant_bytes_left = unlimited; ///< limit for the constants of the call: core/budget.hpp
    std::vector<value_type> expected; ///< the types of the results that the program records; empty: unknown
    dsl::bound_argument const* first_argument = nullptr;
    std::uint32_t argument_count = 0;
    std::uint32_t nodes_left = unlimited; ///< limit for the nodes of the call: core/budget.hpp
    bool exact_nan = true;                ///< graph::exact_nan()
    bool may_be_empty = false; ///< whether an operand may have no elements: a size depends on data, as in x[x > 0]

    /// The operator without the name of the overload: "aten::add" of "aten::add.Tensor".
    [[nodiscard]] constexpr std::string_view op() const { return overload.substr(0, overload.find('.')); }
    /// "Tensor" of "aten::add.Tensor"; empty: the default overload.
    [[nodiscard]] constexpr std::string_view overload_name() const {
        std::size_t const dot = overload.find('.');
        return dot == std::string_view::npos ? std::string_view() : overload.substr(dot + 1);
    }
    /// All arguments of the call in schema order, including those that the row does not name; empty outside a conversion.
    template <class Argument = dsl::bound_argument>
    [[nodiscard]] std::span<Argument const> arguments() const {
        return {first_argument, argument_count};
    }
    /// The argument with this name, or nullptr if the schema does not have it.
    template <class Argument = dsl::bound_argument>
    [[nodiscard]] Argument const* argument(std::string_view name) const {
        for (Argument const& a : arguments<Argument>())
            if (a.name == name) return &a;
        return nullptr;
    }
};

/// A FunctionProto: the body of an operator in ONNX operators, for runtimes that do not implement it. The inputs and outputs of the body
/// are those of the operator. It refers to attributes of the call, or their values are baked into it: calls that lead to a different body
/// have another overload, or another name.
struct graph_function {
    std::string domain;
    std::string name;
    std::string overload;                      ///< empty for the first body
    std::vector<std::string> attributes;       ///< the names that a call may use
    std::vector<graph_data> body;              ///< exactly one
    std::vector<node_attribute> defaults = {}; ///< of some of `attributes`
};

/// A graph of ONNX operators. Values are in a deque, so that references stay valid while it grows; nodes are in topological order.
/// Its functions are templates only so that an include does not instantiate those that nobody calls.
struct graph_data {
    /// The type of the elements of `nodes`, for templates.
    using node_type = graph_node;
    /// The type of the attributes of a node, for templates.
    using attribute_type = node_attribute;

    std::string name = "aton";
    int opset = 0; ///< of the default domain
    std::deque<graph_value> values;
    std::vector<graph_node> nodes;
    std::vector<value_id> inputs;
    std::vector<value_id> outputs;
    std::vector<graph_initializer> initializers;
    std::vector<node_origin> origins = std::vector<node_origin>(1); ///< [0]: unknown
    std::vector<std::pair<std::string, int>> opset_imports;         ///< of the other domains that nodes use
    std::vector<graph_function> functions;                          ///< of the outermost graph: bodies of its operators
    graph_data* around = nullptr; ///< of a nested graph while it is built: the graph that will contain it
    bool in_function = false;     ///< set while the body of a function is built
    node_context context;

    /// Appends a value that nothing produces yet; without a name it is numbered when it is printed or written.
    template <class Type = value_type>
    value_id add_value(Type type, std::string value_name = {}) {
        values.push_back({std::move(value_name), std::move(type), -1, -1, false, no_value});
        return static_cast<value_id>(values.size() - 1);
    }

    /// Appends an input of the graph.
    template <class Type = value_type>
    value_id add_input(std::string value_name, Type type) {
        value_id const id = add_value(std::move(type), std::move(value_name));
        inputs.push_back(id);
        return id;
    }

    /// The payload of a value that is an initializer in memory or the result of a Constant node; nullptr for others.
    [[nodiscard]] tensor const* constant(value_id id) const {
        std::int64_t const producer = values[id].producer;
        if (producer >= 0) {
            graph_node const& n = nodes[static_cast<std::size_t>(producer)];
            bool const has_tensor = n.op == "Constant" && n.domain.empty() && n.attributes.size() == 1 &&
                                    n.attributes[0].type == onnx::attr_type::t && n.attributes[0].reference.empty();
            return has_tensor ? n.attributes[0].tensors.data() : nullptr;
        }
        if (around != nullptr && values[id].outer != no_value) return around->constant(values[id].outer);
        std::int64_t const initializer = values[id].initializer;
        if (initializer < 0) return nullptr;
        graph_initializer const& i = initializers[static_cast<std::size_t>(initializer)];
        return i.stored == nullptr ? &i.data : nullptr;
    }

    /// The value of this nested graph for value `id` of `owner`, captured if necessary; no_value if `owner` does not enclose this graph.
    template <class Owner>
    value_id capture(Owner const& owner, value_id id) {
        if (&owner == this || id == no_value) return id;
        value_id const near = around == nullptr ? no_value : around->capture(owner, id);
        if (near == no_value) return no_value;
        for (std::size_t i = 0; i != values.size(); ++i)
            if (values[i].outer == near) return static_cast<value_id>(i);
        value_id const here = add_value(around->values[near].type);
        values[here].outer = near;
        values[here].wrapped_number = around->values[near].wrapped_number;
        return here;
    }

    /// Makes a value without producer an initializer; `stored` may be null.
    template <class Tensor = tensor>
    void set_initializer(value_id id, Tensor data, stored_tensor const* stored = nullptr) {
        values[id].initializer = static_cast<std::int64_t>(initializers.size());
        initializers.push_back({id, std::move(data), stored});
    }

    /// Records the version of a non-default domain that a node uses; throws illegal_call if another version is recorded.
    template <class Domain>
    void import_domain(Domain const& domain, int since) {
        for (auto const& [known, v] : opset_imports) {
            if (known != domain) continue;
            if (v == since) return;
            throw illegal_call("version " + std::to_string(since) + " of domain " + std::string(domain) +
                               " is called, but an earlier call imports version " + std::to_string(v) +
                               "; a model imports only one version of a domain");
        }
        opset_imports.emplace_back(domain, since);
    }
};

} // namespace ATON_NAMESPACE
