// SPDX-License-Identifier: MIT
// Appends one node to the graph: resolves type variables from the operands' dtypes, and refuses what the target opset does not allow.
// Internal header.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/dsl/append_constant.hpp>
#include <aton/dsl/attr.hpp>
#include <aton/dsl/body.hpp>
#include <aton/dsl/call_site.hpp>
#include <aton/dsl/number.hpp>
#include <aton/dsl/number_text.hpp>
#include <aton/dsl/value.hpp>
#include <aton/ir/graph.hpp>
#include <aton/ir/nested_types.hpp>
#include <aton/ir/shapes/rules.hpp>
#include <aton/ir/type_rules.hpp>
#include <aton/onnx/attribute_words.hpp>
#include <aton/onnx/registry.hpp>

namespace ATON_NAMESPACE::dsl::detail {

/// The only type in a set, or an unknown tensor.
inline value_type only_type(type_set s) {
    value_type out;
    for (std::size_t i = 1; i != dtype_count; ++i) {
        auto const t = static_cast<dtype>(i);
        if (s == type_set{std::uint64_t{1} << i, 0}) out.dtype = t;
        if (s == type_set{std::uint64_t{1} << (i + 32), 0}) {
            out.dtype = t;
            out.kind = value_kind::sequence;
        }
    }
    return out;
}

template <class Graph>
value_id append_cast(Graph& graph, value const& v, dtype type);

/// Collects the operands and attributes of one call in order, then appends the node.
/// A template only so that an include does not instantiate it.
template <class Graph, class Schema = onnx::op_schema>
class node_builder {
public:
    /// `opset` is the version of the node's domain, `target` that of ai.onnx. `at` is the line of the call, if the node is that of a call.
    node_builder(Graph& graph, std::string_view domain, std::string_view op, Schema schema, int opset, int target,
                 call_site at = call_site())
        : graph_(graph),
          schema_(schema),
          opset_(opset),
          target_(target),
          at_(at) {
        node_.domain = domain;
        node_.op = op;
        node_.source = graph.context.overload;
        node_.origin = graph.context.origin;
    }

    /// Adds one argument of the call. Every kind has its branch; there is no overload resolution.
    template <class T>
    void add(T const& argument) {
        if constexpr (is_body_argument<T>) {
            // built by add_body(), after all operands
        } else if constexpr (std::same_as<T, call_site>) {
            at_ = argument;
        } else if constexpr (std::same_as<T, not_given>) {
            // nothing
        } else if constexpr (is_optional_attribute<T>) {
            if (argument.payload) store(named(T::name, T::type), *argument.payload);
        } else if constexpr (attribute_like<T>) {
            store(named(T::name, T::type), argument.payload);
        } else if constexpr (std::derived_from<T, value>) {
            operand(argument);
        } else if constexpr (std::same_as<T, optional_value> || is_optional_operand<T>) {
            if (argument) operand(*argument);
            else node_.inputs.push_back(no_value);
        } else if constexpr (std::same_as<T, absent_t> || std::same_as<T, std::nullopt_t>) {
            node_.inputs.push_back(no_value);
        } else if constexpr (std::same_as<T, sym_int>) {
            if (argument.is_constant())
                node_.inputs.push_back(append_constant(graph_, scalar_tensor(argument.constant(), dtype::int64)));
            else operand(argument.as_value());
        } else if constexpr (std::same_as<T, output_list>) {
            outputs_ = argument.count;
        } else if constexpr (outputs_asked<T> > 0) {
            outputs_ = static_cast<std::size_t>(outputs_asked<T>);
        } else if constexpr (std::same_as<T, dsl::number>) {
            if (argument.is_constant()) number(argument.constant());
            else computed_number(argument.as_value());
        } else if constexpr (is_by_reference<T>) {
            computed_number(value(graph_, argument.append_to(graph_)));
        } else if constexpr (std::same_as<T, scalar> || std::same_as<T, bool>) {
            number(argument);
        } else if constexpr (std::integral<T>) {
            auto const bits = static_cast<std::int64_t>(argument);
            number(bits, std::is_unsigned_v<T> && bits < 0);
        } else if constexpr (std::floating_point<T>) {
            number(static_cast<double>(argument));
        } else {
            for (value const& v : argument) operand(v);
        }
    }

    /// Adds an attribute whose name is known only at run time.
    void add_integer(std::string_view name, std::int64_t number) { named(name, onnx::attr_type::i).i = number; }

    /// Builds the graph of an attribute that is a lambda. Call it after add() for all arguments.
    template <class T>
    void add_body(T const& argument) {
        if constexpr (is_body_argument<T>) {
            Graph body = build_body(graph_, target_, nested_input_types(graph_, node_), argument.payload);
            std::size_t const results = outputs_ + (node_.op == "Loop" ? 1 : 0);
            if (node_.domain.empty() && body.outputs.size() != results)
                refuse("the lambda for " + std::string(T::name) + " returns " + std::to_string(body.outputs.size()) +
                       " values, but must return " + std::to_string(results));
            named(T::name, T::type).graphs.push_back(std::move(body));
        }
    }

    /// Appends the node. Its outputs have consecutive ids, starting at the returned one.
    value_id finish() {
        try {
            return append();
        } catch (illegal_call const& e) {
            std::string const which =
                is_described_ ? std::string() : describe_node(is_appended_ ? graph_.nodes.back() : node_);
            if (which.empty()) throw;
            if (e.subject().empty()) throw illegal_call(e.what() + which);
            throw illegal_call(e.subject(), std::string(e.reason()) + which);
        }
    }

private:
    /// "; plugin.cpp:41, the 7th Mul of the row", or "of the nested graph", or "of the body". Without the line, if that is unknown, the node
    /// is described only if the call of the mapping has called the operator before.
    template <class Node>
    [[nodiscard]] std::string describe_node(Node const& n) const {
        if (graph_.context.overload.empty() && graph_.around == nullptr && !graph_.in_function) return {};
        std::size_t number = is_appended_ ? 0 : 1;
        for (auto const& other : graph_.nodes)
            if (other.op == n.op && other.domain == n.domain && other.origin == n.origin && other.source == n.source)
                ++number;
        std::string line = at_.to_text();
        if (line.empty() && number == 1) return {};
        if (!line.empty()) line += ", ";
        bool const is_teen = number % 100 / 10 == 1;
        char const* const suffix = is_teen || number % 10 > 3 || number % 10 == 0 ? "th"
                                   : number % 10 == 1                             ? "st"
                                   : number % 10 == 2                             ? "nd"
                                                                                  : "rd";
        return "; " + line + "the " + std::to_string(number) + suffix + ' ' + n.op + " of " +
               (graph_.around != nullptr ? "the nested graph"
                : graph_.in_function     ? "the body"
                                         : "the row");
    }

    value_id append() {
        resolve_types();
        if (opset_ < 11 && node_.domain.empty()) count_axes_from_front();
        for (auto const& a : node_.attributes) {
            for (tensor const& t : a.tensors)
                if (a.type == onnx::attr_type::t) expect_whole(t);
            check_words(a);
        }
        while (!node_.inputs.empty() && node_.inputs.back() == no_value) node_.inputs.pop_back();
        count_nodes(graph_, outputs_ + 1);
        auto const index = static_cast<std::int64_t>(graph_.nodes.size());
        auto const first = static_cast<value_id>(graph_.values.size());
        for (std::size_t i = 0; i != outputs_; ++i) {
            value_id const id = graph_.add_value(output_type(i));
            graph_.values[id].producer = index;
            node_.outputs.push_back(id);
        }
        graph_.nodes.push_back(std::move(node_));
        is_appended_ = true;
        shapes::infer_types(graph_, graph_.nodes.back());
        if (schema_) // attributes determine some: Cast's `to`
            for (std::size_t i = 0; i != outputs_; ++i)
                require_type(schema_, opset_, true, i, graph_.values[first + i].type);
        return first;
    }

    struct number_operand {
        std::size_t position = 0;
        scalar number;
        bool beyond = false; ///< unsigned and above int64: `number` has its bits
        value computed = {}; ///< set: the graph computes the number
    };

    /// Adds a value of this graph or, captured, of one around it.
    void operand(value const& v) {
        if (v.id() == no_value)
            refuse("operand " + std::to_string(node_.inputs.size() + 1) + " is a value that was never set");
        value_id const id = graph_.capture(v.owner(), v.id());
        if (id == no_value) refuse("an operand belongs to a graph that does not enclose this one");
        if (is_complex(v.dtype()))
            refuse("operand " + std::to_string(node_.inputs.size() + 1) + " is " + std::string(name(v.dtype())) +
                   "; take the argument as complex_value, and use its parts");
        node_.inputs.push_back(id);
    }
    void number(scalar const& s, bool beyond = false) {
        numbers_.push_back({node_.inputs.size(), s, beyond});
        node_.inputs.push_back(no_value);
    }
    void computed_number(value const& v) {
        numbers_.push_back({node_.inputs.size(), {}, false, v});
        node_.inputs.push_back(no_value);
    }

    auto& named(std::string_view name, onnx::attr_type type) {
        auto& a = node_.attributes.emplace_back();
        a.name = name;
        a.type = type;
        return a;
    }

    /// Axes that count from the end are legal since opset 11; below, they are written as axes that count from the front.
    void count_axes_from_front() {
        for (auto& a : node_.attributes) {
            if (!a.reference.empty()) continue; // inlined before it is written
            if (a.name == "axis" && a.i < 0) a.i += counted_rank(node_.op == "OneHot" ? 1 : 0);
            if (a.name == "axes")
                for (std::int64_t& axis : a.ints)
                    if (axis < 0) axis += counted_rank(node_.op == "Unsqueeze" ? a.ints.size() : 0);
        }
    }
    [[nodiscard]] std::int64_t counted_rank(std::size_t added) {
        if (node_.inputs.empty() || node_.inputs[0] == no_value ||
            !graph_.values[node_.inputs[0]].type.shape.has_rank())
            refuse("an axis that counts from the end needs opset 11, or a tensor of known rank");
        return static_cast<std::int64_t>(graph_.values[node_.inputs[0]].type.shape.rank() + added);
    }

    [[nodiscard]] onnx::formal formal(std::size_t i) const {
        int const n = schema_.input_count();
        return schema_.input(static_cast<int>(i) < n ? static_cast<int>(i) : n - 1);
    }

    void resolve_types() {
        if (!schema_) return;
        auto const given = static_cast<int>(node_.inputs.size());
        if (given < schema_.min_inputs() || given > schema_.max_inputs())
            refuse((given < schema_.min_inputs() ? "takes at least " + std::to_string(schema_.min_inputs())
                                                 : "takes at most " + std::to_string(schema_.max_inputs())) +
                   " inputs, given " + std::to_string(given));
        bound_.assign(static_cast<std::size_t>(schema_.type_var_count()), value_type{});
        for (std::size_t i = 0; i != node_.inputs.size(); ++i)
            if (node_.inputs[i] != no_value) bind(i, graph_.values[node_.inputs[i]].type);
        for (number_operand const& n : numbers_) make_number(n);
    }

    void bind(std::size_t i, value_type const& given) {
        if (given.dtype == dtype::undefined) return;
        onnx::formal const in = formal(i);
        require_type(schema_, opset_, false, i, given);
        if (in.type_var < 0 || !in.homogeneous) return;
        value_type& known = bound_[static_cast<std::size_t>(in.type_var)];
        if (known.dtype != dtype::undefined && known.dtype != given.dtype)
            refuse("input '" + std::string(in.name) + "' is " + std::string(name(given.dtype)) +
                   ", but another input of the same type variable is " + std::string(name(known.dtype)) +
                   "; cast one of them");
        known.dtype = given.dtype;
        known.kind = given.kind;
    }

    void make_number(number_operand const& n) {
        onnx::formal const in = formal(n.position);
        value_type t = in.type_var < 0 ? value_type{} : bound_[static_cast<std::size_t>(in.type_var)];
        if (t.dtype == dtype::undefined) t = only_type(in.types);
        if (t.dtype == dtype::undefined)
            refuse("the type of the number at input '" + std::string(in.name) + "' is not known");
        if (n.computed.id() != no_value) {
            if (is_floating(n.computed.dtype()) && !is_floating(t.dtype))
                refuse("input '" + std::string(in.name) +
                       "' is a floating-point number that the program computes, "
                       "which does not fit " +
                       std::string(name(t.dtype)) + "; cast the other input first");
            node_.inputs[n.position] = append_cast(graph_, n.computed, t.dtype);
            return;
        }
        auto const unsigned_number = static_cast<std::uint64_t>(n.number.template to<std::int64_t>());
        scalar const given = n.beyond ? scalar(static_cast<double>(unsigned_number)) : n.number;
        bool const exact = n.beyond && t.dtype == dtype::uint64;
        if (!exact && !fits(given, t.dtype))
            refuse("input '" + std::string(in.name) + "' is " +
                   (n.beyond ? std::to_string(unsigned_number) : to_text(given)) + ", which does not fit " +
                   std::string(name(t.dtype)) + "; cast the other input first");
        node_.inputs[n.position] = append_constant(graph_, scalar_tensor(exact ? n.number : given, t.dtype));
    }

    [[nodiscard]] value_type output_type(std::size_t i) const {
        if (!schema_ || schema_.output_count() == 0) return {};
        int const n = schema_.output_count();
        onnx::formal const out = schema_.output(static_cast<int>(i) < n ? static_cast<int>(i) : n - 1);
        if (out.type_var >= 0 && out.homogeneous) {
            value_type t = bound_[static_cast<std::size_t>(out.type_var)];
            return t.dtype != dtype::undefined ? t : only_type(out.types);
        }
        return only_type(out.types);
    }

    /// Refuses a word that ONNX does not list for a string attribute in this version of the operator.
    void check_words([[maybe_unused]] node_attribute const& a) {
        if constexpr (std::same_as<Schema, onnx::op_schema>) {
            if (!schema_ || !a.reference.empty()) return;
            if (a.type == onnx::attr_type::s) check_word(a.name, a.s);
            for (std::string const& each : a.strings) check_word(a.name, each);
        }
    }
    void check_word(std::string const& attribute, std::string const& value) {
        if (std::string const why = onnx::refused_word(schema_, attribute, value); !why.empty()) refuse(why);
    }

    [[noreturn]] void refuse(std::string const& what) {
        is_described_ = true;
        throw illegal_call((node_.domain.empty() ? "onnx" : node_.domain) + "::" + node_.op + " (opset " +
                           std::to_string(opset_) + "): " + what + describe_node(node_));
    }

    Graph& graph_;
    Schema schema_;
    int opset_;
    int target_;
    call_site at_;
    typename Graph::node_type node_;
    std::vector<number_operand> numbers_;
    std::vector<value_type> bound_;
    std::size_t outputs_ = 1;
    bool is_appended_ = false;
    bool is_described_ = false; ///< a message says which node it is
};

/// Appends a Cast to `type`, except of a value that has it.
template <class Graph>
value_id append_cast(Graph& graph, value const& v, dtype type) {
    if (v.dtype() == type) return graph.capture(v.owner(), v.id());
    node_builder<Graph> node(graph, "", "Cast", onnx::find("", "Cast", graph.opset), graph.opset, graph.opset);
    node.add(v);
    node.add(attr_i<"to">(type));
    return node.finish();
}

/// Appends a number as an operand that promotes weakly, as in `x + 2`. A computed number gets an Identity, unless it is marked already: its
/// value may also be used as a tensor, as the operand of `x.item()`.
template <class Graph, class Number>
value_id append_wrapped_number(Graph& graph, Number const& n) {
    if (!n.is_constant() && n.as_value().is_wrapped_number()) {
        value const& v = n.as_value();
        return graph.capture(v.owner(), v.id());
    }
    value_id id = no_value;
    if (n.is_constant()) {
        id = append_constant(graph, scalar_tensor(n.constant(), n.dtype()));
    } else {
        onnx::op_schema const schema = onnx::find("", "Identity", graph.opset);
        node_builder<Graph> node(graph, "", "Identity", schema, graph.opset, graph.opset);
        node.add(n.as_value());
        id = node.finish();
    }
    graph.values[id].wrapped_number = true;
    return id;
}

#ifdef ATON_EXTERN_TEMPLATES // src/dsl/templates.cpp
extern template void count_nodes(graph_data&, std::size_t);
extern template value_id append_constant(graph_data&, tensor);
extern template class node_builder<graph_data>;
extern template value_id append_cast(graph_data&, value const&, dtype);
extern template value_id append_wrapped_number(graph_data&, dsl::number const&);
#endif

} // namespace ATON_NAMESPACE::dsl::detail
