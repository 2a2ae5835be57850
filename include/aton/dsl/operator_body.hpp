// SPDX-License-Identifier: MIT
// Declared operators at run time: default attributes, types of results, and bodies that become functions.
// Public header.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/aten/default_value.hpp>
#include <aton/core/error.hpp>
#include <aton/core/tensor.hpp>
#include <aton/dsl/body.hpp>
#include <aton/dsl/by_reference.hpp>
#include <aton/dsl/declared_results.hpp>
#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/function_traits.hpp>
#include <aton/dsl/value.hpp>
#include <aton/ir/graph.hpp>
#include <aton/ir/same_body.hpp>
#include <aton/ir/shapes/context.hpp>
#include <aton/onnx/declared_schema.hpp>

namespace ATON_NAMESPACE::dsl {

namespace detail {

/// The default of a declared attribute.
template <class Attribute>
Attribute default_attribute(onnx::attribute const& a) {
    using onnx::attr_type;
    aten::schema_argument text;
    text.has_default = true;
    text.default_text = a.default_text;
    text.type.list = a.type == attr_type::ints || a.type == attr_type::floats || a.type == attr_type::strings;
    text.type.base = a.type == attr_type::i || a.type == attr_type::ints     ? aten::base_type::int_
                     : a.type == attr_type::f || a.type == attr_type::floats ? aten::base_type::float_
                                                                             : aten::base_type::str;
    aten::default_value const d = aten::parse_default(text);
    Attribute out;
    out.name = a.name;
    out.type = a.type;
    switch (a.type) {
    case attr_type::i: out.i = d.as_int(); break;
    case attr_type::f: out.f = static_cast<float>(d.as_double()); break;
    case attr_type::s: aten::unescape(d.text(), [&](char c) { out.s += c; }); break;
    case attr_type::ints:
        for (std::size_t i = 0; i != d.size(); ++i) out.ints.push_back(d.int_at(i));
        break;
    case attr_type::floats:
        for (std::size_t i = 0; i != d.size(); ++i) out.floats.push_back(static_cast<float>(d.double_at(i)));
        break;
    case attr_type::strings:
        for (std::size_t i = 0; i != d.size(); ++i)
            aten::unescape(d.element(i), [&each = out.strings.emplace_back()](char c) { each += c; });
        break;
    default: break;
    }
    return out;
}

/// How a C++ parameter type takes an attribute.
template <class T>
struct attribute_parameter {
    static constexpr bool accepts(onnx::attribute const&) { return false; }
    static T get(node_attribute const&) { throw error("not an attribute type"); }
};
template <std::floating_point T>
struct attribute_parameter<T> {
    static constexpr bool accepts(onnx::attribute const& a) { return a.type == onnx::attr_type::f; }
    static T get(node_attribute const& a) { return static_cast<T>(a.f); }
};
template <std::integral T>
struct attribute_parameter<T> {
    static constexpr bool accepts(onnx::attribute const& a) { return a.type == onnx::attr_type::i; }
    static T get(node_attribute const& a) {
        if constexpr (!std::same_as<T, bool>)
            if (static_cast<std::int64_t>(static_cast<T>(a.i)) != a.i || (a.i < 0 && std::is_unsigned_v<T>))
                throw illegal_call("attribute '" + a.name + "' is " + std::to_string(a.i) +
                                   ", which does not fit its parameter; write std::int64_t");
        return static_cast<T>(a.i);
    }
};
template <>
struct attribute_parameter<std::string_view> {
    static constexpr bool accepts(onnx::attribute const& a) { return a.type == onnx::attr_type::s; }
    static std::string_view get(node_attribute const& a) { return a.s; }
};
template <class Element>
struct attribute_parameter<std::span<Element const>> {
    static constexpr onnx::attr_type type = std::is_same_v<Element, std::int64_t>  ? onnx::attr_type::ints
                                            : std::is_same_v<Element, float>       ? onnx::attr_type::floats
                                            : std::is_same_v<Element, std::string> ? onnx::attr_type::strings
                                                                                   : onnx::attr_type::undefined;
    static constexpr bool accepts(onnx::attribute const& a) {
        return type != onnx::attr_type::undefined && a.type == type;
    }
    static std::span<Element const> get(node_attribute const& a) {
        if constexpr (type == onnx::attr_type::ints) return a.ints;
        else if constexpr (type == onnx::attr_type::floats) return a.floats;
        else if constexpr (type == onnx::attr_type::strings) return a.strings;
        else throw error("not an attribute type");
    }
};
/// A copy; only for rules of infer<...>.
template <class Element>
struct attribute_parameter<std::vector<Element>> {
    using list = attribute_parameter<std::span<Element const>>;
    static constexpr bool accepts(onnx::attribute const& a) { return list::accepts(a); }
    static std::vector<Element> get(node_attribute const& a) {
        auto const all = list::get(a);
        return {all.begin(), all.end()};
    }
};
template <>
struct attribute_parameter<std::string> {
    static constexpr bool accepts(onnx::attribute const& a) { return a.type == onnx::attr_type::s; }
    static std::string get(node_attribute const& a) { return a.s; }
};
template <>
struct attribute_parameter<tensor> {
    static constexpr bool accepts(onnx::attribute const& a) { return a.type == onnx::attr_type::t; }
    template <class Attribute>
    static tensor const& get(Attribute const& a) {
        return a.tensors.at(0);
    }
};

template <class T>
struct attribute_parameter<by_reference<T>> {
    static constexpr bool accepts(onnx::attribute const& a) { return a.type == by_reference<T>::type; }
    static by_reference<T> get(node_attribute const& a) { return by_reference<T>(a); }
};

/// An attribute of a node, or its default, which is put into `storage`; nullptr if it has neither.
template <class Attribute>
Attribute const* find_attribute(graph_node const& node, onnx::declared_schema schema, std::string_view name,
                                Attribute& storage) {
    if (Attribute const* const given = node.attribute(name); given != nullptr) return given;
    int const i = schema.find_attribute(name);
    if (i < 0 || schema.attr(i).default_text.empty()) return nullptr;
    storage = default_attribute<Attribute>(schema.attr(i));
    return &storage;
}

} // namespace detail

/// The argument of a rule for `infer<rule>`: types of the inputs, constants, attributes. `value_type rule(inference const& in)`.
/// A template only so that an include does not instantiate it.
template <class Graph>
class basic_inference {
public:
    /// For one call of a declared operator.
    basic_inference(Graph const& graph, graph_node const& node, onnx::declared_schema schema)
        : graph_(graph),
          node_(node),
          schema_(schema) {}

    /// The number of inputs of the call, skipped ones included.
    [[nodiscard]] std::size_t inputs() const { return node_.inputs.size(); }
    /// Whether the call has input `i`.
    [[nodiscard]] bool has(std::size_t i) const { return i < inputs() && node_.inputs[i] != no_value; }
    /// The type of an input as far as it is known; unknown for a missing input.
    [[nodiscard]] value_type input(std::size_t i) const {
        return has(i) ? graph_.values[node_.inputs[i]].type : value_type{};
    }
    /// The payload of a constant input, or nullptr.
    [[nodiscard]] tensor const* constant(std::size_t i) const {
        return has(i) ? graph_.constant(node_.inputs[i]) : nullptr;
    }
    /// An attribute or its default: `in.attribute<double>("alpha")`, `in.attribute<std::vector<std::int64_t>>("pads")`.
    /// Throws illegal_call if there is neither, or if it has another type.
    template <class T>
    [[nodiscard]] T attribute(std::string_view name) const {
        typename Graph::attribute_type storage;
        auto const* const a = detail::find_attribute(node_, schema_, name, storage);
        if (a == nullptr) throw illegal_call(node_.op + ": attribute '" + std::string(name) + "' is not given");
        if (!detail::attribute_parameter<T>::accepts({a->name, a->type, false, {}}))
            throw illegal_call(node_.op + ": attribute '" + std::string(name) + "' is " +
                               std::string(detail::attribute_kind(a->type)) +
                               ", but infer<...> reads it as another type");
        return detail::attribute_parameter<T>::get(*a);
    }

private:
    Graph const& graph_;
    graph_node const& node_;
    onnx::declared_schema schema_;
};
/// What a rule takes: `value_type rule(inference const& in)`.
using inference = basic_inference<graph_data>;

namespace detail {

/// Sets the types of the outputs to those that the rule returns.
template <auto Rule>
void infer_by_rule(graph_data& graph, graph_node const& node, onnx::declared_schema schema) {
    auto result = Rule(inference(graph, node, schema));
    auto const put = [&](value_type* types, std::size_t count) {
        bool const one_too_many = count > node.outputs.size() && static_cast<int>(count) != schema.output_count();
        if (count < node.outputs.size() || one_too_many)
            throw illegal_call(node.op + ": the infer<...> rule returns " + std::to_string(count) +
                               " types, but the call has " + std::to_string(node.outputs.size()) + " outputs");
        for (std::size_t i = 0; i != node.outputs.size(); ++i) {
            require_declared(graph, node, schema, i, types[i], "its infer<...> rule");
            graph.values[node.outputs[i]].type = std::move(types[i]);
        }
    };
    if constexpr (std::is_same_v<decltype(result), value_type>) put(&result, 1);
    else put(result.data(), result.size());
}

/// IR 10 came with this opset. Files of earlier ones must be readable for runtimes of their time.
inline constexpr int first_opset_with_overloads = 21;

/// Makes the node call the function with this body, which is added if it is new. A body other than the first gets an overload; it gets a name
/// of its own before the opset that has overloads, and inside a function, because ONNX Runtime (1.31) ignores the overload of a call there.
template <class Graph>
void call_function(Graph& root, graph_node& node, onnx::declared_schema schema, Graph body) {
    std::string const renamed = std::string(schema.name()) + "__";
    bool const renames = root.in_function || body.opset < first_opset_with_overloads;
    std::size_t earlier = 0;
    for (graph_function const& f : root.functions) {
        bool const plain = f.name == schema.name();
        if (f.domain != node.domain || !(plain || f.name.starts_with(renamed))) continue;
        ++earlier;
        bool const callable = renames ? f.overload.empty() : plain;
        if (!callable || !same_body(f.body[0], body)) continue;
        node.op = f.name;
        node.overload = f.overload;
        return;
    }
    if (earlier != 0 && renames) node.op = renamed + std::to_string(earlier + 1);
    else if (earlier != 0) node.overload = std::to_string(earlier + 1);
    graph_function& f = root.functions.emplace_back();
    f.domain = node.domain;
    f.name = node.op;
    f.overload = node.overload;
    for (int i = 0; i != schema.attribute_count(); ++i) f.attributes.emplace_back(schema.attr(i).name);
    f.body.push_back(std::move(body));
}

template <class P>
inline constexpr bool takes_reference = is_by_reference<P>;
template <class P>
inline constexpr bool takes_reference<std::optional<P>> = is_by_reference<P>;

/// Adds the defaults of attributes that the body refers to, because a function of IR 8 has none.
template <class Parameters, class Node>
void add_referred_defaults(Node& node, onnx::declared_schema schema) {
    [&]<class... P>(std::type_identity<std::tuple<P...>>) {
        int position = -schema.input_count();
        auto const add = [&](bool refers) {
            int const i = position++;
            if (!refers || i < 0 || node.attribute(schema.attr(i).name) != nullptr) return;
            if (!schema.attr(i).default_text.empty())
                node.attributes.push_back(default_attribute<node_attribute>(schema.attr(i)));
        };
        (add(takes_reference<P>), ...);
    }(std::type_identity<Parameters>());
}

/// The arguments for the body of an operator: inputs, then attributes, in the order of the declaration.
struct operator_arguments {
    graph_node const& node;
    onnx::declared_schema schema;
    std::vector<optional_value> const& inputs;
    std::vector<node_attribute>& defaults; ///< one for each attribute

    template <class P>
    [[nodiscard]] P get(std::size_t position) const {
        if constexpr (std::same_as<P, optional_value>) {
            return inputs[position];
        } else if constexpr (std::same_as<P, value>) {
            return *inputs[position];
        } else {
            std::size_t const i = position - inputs.size();
            onnx::attribute const& formal = schema.attr(static_cast<int>(i));
            node_attribute const* const a = find_attribute(node, schema, formal.name, defaults[i]);
            if constexpr (is_optional<P>) {
                if (a == nullptr) return std::nullopt;
                return attribute_parameter<typename P::value_type>::get(*a);
            } else {
                return attribute_parameter<P>::get(*a);
            }
        }
    }
};

/// Moves the functions of the outermost graph into a body while it is built, so that operators that it calls add theirs to them. The
/// destructor moves them back, and removes the new ones if the body was refused.
template <class Functions>
struct lent_functions {
    Functions& owner;
    Functions& borrower;
    std::size_t before = 0;
    bool built = false;

    lent_functions(Functions& from, Functions& to) : owner(from), borrower(to), before(from.size()) {
        borrower.swap(owner);
    }
    lent_functions(lent_functions const&) = delete;
    lent_functions& operator=(lent_functions const&) = delete;
    ~lent_functions() {
        owner.swap(borrower);
        while (!built && owner.size() > before) owner.pop_back();
    }
};

/// Builds the body for a call with these operand types and attributes, as a function that the node calls.
template <auto Body, class Graph>
void build_function(Graph& graph, graph_node& node, onnx::declared_schema schema, int opset) {
    using traits = body_traits<type_of<Body>>;
    Graph* root = &graph;
    while (root->around != nullptr) root = root->around;
    Graph inner;
    inner.name = schema.name();
    inner.opset = opset;
    inner.in_function = true;
    std::vector<optional_value> inputs;
    for (std::size_t i = 0; i != static_cast<std::size_t>(schema.input_count()); ++i) {
        bool const given = i < node.inputs.size() && node.inputs[i] != no_value;
        value_type type = given ? graph.values[node.inputs[i]].type : value_type{};
        value const v(inner, inner.add_input(std::string(schema.input(static_cast<int>(i)).name), std::move(type)));
        inputs.push_back(given ? optional_value(v) : optional_value());
    }
    add_referred_defaults<typename traits::parameters>(node, schema);
    std::vector<typename Graph::attribute_type> defaults(static_cast<std::size_t>(schema.attribute_count()));
    operator_arguments const arguments{node, schema, inputs, defaults};
    std::vector<value> results;
    {
        lent_functions<decltype(root->functions)> lent(root->functions, inner.functions);
        typename traits::graph_type const g(inner, opset);
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            returned_values<std::remove_cvref_t<typename traits::return_type>>::append(
                g,
                results,
                Body(g, arguments.template get<std::tuple_element_t<I, typename traits::parameters>>(I)...));
        }(std::make_index_sequence<traits::arity>{});
        lent.built = true;
    }
    drop_absent_results(results, node, schema);
    close_body(inner, results);
    inner.in_function = false;
    for (std::size_t i = 0; i != inner.outputs.size(); ++i) {
        graph_value& out = inner.values[inner.outputs[i]];
        out.name = schema.output(static_cast<int>(i)).name;
        require_declared(graph, node, schema, i, out.type, "its body");
        if (i >= node.outputs.size()) continue;
        value_type& type = graph.values[node.outputs[i]].type;
        require_declared_shape(graph, node, schema, i, out.type.shape);
        shape known = type.shape;
        if (type.dtype == dtype::undefined) type = out.type;
        type.shape = known.has_rank() ? std::move(known) : out.type.shape;
    }
    call_function(*root, node, schema, std::move(inner));
}

/// The same; nothing for a body that is not a body, which the declaration rejects.
template <auto Body, class Graph>
void add_function(Graph& graph, graph_node& node, onnx::declared_schema schema, int opset) {
    if constexpr (body_traits<type_of<Body>>::value) build_function<Body>(graph, node, schema, opset);
}

} // namespace detail

} // namespace ATON_NAMESPACE::dsl
