// SPDX-License-Identifier: MIT
// One `g.op<...>(...)` at compile time: sorts its arguments into operands, attributes and outputs, and checks them against the schemas.
// Internal header.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/core/fixed_string.hpp>
#include <aton/core/safe_list.hpp>
#include <aton/dsl/attr.hpp>
#include <aton/dsl/body.hpp>
#include <aton/dsl/call_site.hpp>
#include <aton/dsl/complex_value.hpp>
#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/domain_list.hpp>
#include <aton/dsl/number.hpp>
#include <aton/dsl/value.hpp>
#include <aton/onnx/call_rules.hpp>

namespace ATON_NAMESPACE::dsl::detail {

template <class T>
inline constexpr bool is_typed_value = false;
template <type_set Types>
inline constexpr bool is_typed_value<typed_value<Types>> = true;

template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || std::same_as<T, scalar> || std::same_as<T, number>;

/// The dtypes that can represent C++ floating-point numbers.
constexpr type_set find_floating_types() {
    type_set found;
    for (std::size_t i = 1; i != dtype_count; ++i)
        if (auto const t = static_cast<dtype>(i); is_floating(t) || is_complex(t)) found = found | tensors(t);
    return found;
}
inline constexpr type_set floating_types = find_floating_types();

template <class T>
inline constexpr bool is_value_list = std::convertible_to<T const&, std::span<value const>>;

template <graph_body Body>
inline constexpr onnx::call_body body_facts_of{
    .since = body_traits<Body>::graph_type::since,
    .until = body_traits<Body>::graph_type::until,
    .inputs = values_taken<typename body_traits<Body>::parameters>,
    .results = returned_values<std::remove_cvref_t<typename body_traits<Body>::return_type>>::count};

template <class Payload>
constexpr void add_facts(onnx::call_attribute& a) {
    if constexpr (is_dtype_constant<Payload>) a.constant = Payload::value;
    else if constexpr (graph_body<Payload>) a.body = &body_facts_of<Payload>;
}

/// The arguments of a call that has more of them than `op` has parameters.
template <class... Args>
struct argument_pack {
    std::tuple<Args const&...> all;
};

/// The number of arguments that an argument of `op` stands for.
template <class T>
inline constexpr std::size_t arguments_in = 1;
template <>
inline constexpr std::size_t arguments_in<not_given> = 0;
template <>
inline constexpr std::size_t arguments_in<call_site> = 0;
template <class... Args>
inline constexpr std::size_t arguments_in<argument_pack<Args...>> = sizeof...(Args);
template <class... Args>
inline constexpr int outputs_asked<argument_pack<Args...>> = (0 + ... + outputs_asked<Args>);

/// Adds the arguments of a call, those whose graph a lambda builds last.
template <class Node, class... Args>
void add_all(Node& node, Args const&... args) {
    (node.add(args), ...);
    if constexpr ((false || ... || is_body_argument<Args>)) (node.add_body(args), ...);
}
template <class Node, class... Args, class... Others>
void add_all(Node& node, argument_pack<Args...> const& pack, Others const&... others) {
    (node.add(others), ...);
    std::apply([&](Args const&... args) { add_all(node, args...); }, pack.all);
}

/// What is wrong with an argument of this type, which `op` does not take.
template <class T>
constexpr std::string_view why_no_argument() {
    constexpr bool is_text = std::convertible_to<T const&, std::string_view>; // which is a list of numbers, too
    if constexpr (std::same_as<T, complex_value>) return " is complex; write g.real(z), g.imag(z) or g.as_real(z)";
    else if constexpr (std::same_as<T, std::nullptr_t>)
        return " is nullptr; write absent for an input that is left out";
    else if constexpr (is_text) return " is text; an attribute is written attr::mode_s(text), attr::axis_i(1)";
    else if constexpr (is_optional<T>) return " is a std::optional, which may be empty; check it and pass *it";
    else if constexpr (requires(T const& list) { static_cast<std::int64_t>(*std::data(list)); })
        return " is a list of numbers; write g.ints(list) for an input";
    else return " is not a value, number, list of values, attribute or outputs<n>";
}

/// The arguments of a call, sorted.
template <std::size_t N>
struct call_facts {
    onnx::call_operand operands[N + 1]{};
    onnx::call_attribute attributes[N + 1]{};
    std::size_t operand_count = 0;
    std::size_t attribute_count = 0;
    int output_count = 1;
    int unusable = 0;              ///< 1-based position of the first argument of another kind; 0: none
    std::string_view why_unusable; ///< what to say of it

    template <class... T>
    constexpr void add_all() {
        int position = 0;
        (add<T>(++position), ...);
    }
    template <class... T>
    constexpr void add_pack(std::type_identity<argument_pack<T...>>) {
        add_all<T...>();
    }

    template <class T>
    constexpr void add(int position) {
        using onnx::operand_kind;
        if constexpr (arguments_in<T> == 0) {
            // no argument
        } else if constexpr (arguments_in<T> > 1) {
            add_pack(std::type_identity<T>());
        } else if constexpr (attribute_like<T>) {
            using payload = decltype(T::payload);
            attributes[attribute_count] = {T::name, T::type};
            attributes[attribute_count].optional = is_optional_attribute<T>;
            if constexpr (std::is_class_v<payload>) add_facts<payload>(attributes[attribute_count]);
            ++attribute_count;
        } else if constexpr (outputs_asked<T> != 0) {
            output_count = outputs_asked<T>;
        } else if constexpr (is_typed_value<T>) {
            operands[operand_count++] = {operand_kind::value, T::types};
        } else if constexpr (std::derived_from<T, value>) {
            operands[operand_count++] = {operand_kind::value, any_type};
        } else if constexpr (std::same_as<T, sym_int>) {
            operands[operand_count++] = {operand_kind::value, tensors(dtype::int64)};
        } else if constexpr (std::same_as<T, optional_value>) {
            operands[operand_count++] = {operand_kind::optional_value, any_type};
        } else if constexpr (is_optional_operand<T>) {
            add<typename T::value_type>(position);
            operands[operand_count - 1].kind = operand_kind::optional_value;
        } else if constexpr (std::same_as<T, absent_t> || std::same_as<T, std::nullopt_t>) {
            operands[operand_count++] = {operand_kind::absent, {}};
        } else if constexpr (is_number<T>) {
            operands[operand_count++] = {operand_kind::number, std::is_floating_point_v<T> ? floating_types : any_type};
        } else if constexpr (refers_to<T, onnx::attr_type::f, onnx::attr_type::i>) {
            constexpr bool is_floating = refers_to<T, onnx::attr_type::f>;
            operands[operand_count++] = {operand_kind::number, is_floating ? floating_types : any_type};
        } else if constexpr (is_value_list<T>) {
            operands[operand_count++] = {operand_kind::list, any_type};
        } else if (unusable == 0) {
            unusable = position;
            why_unusable = why_no_argument<T>();
        }
    }
};

/// The size of call_facts: it does not depend on arguments that are not given.
template <class... Args>
inline constexpr std::size_t argument_count = (std::size_t{0} + ... + arguments_in<Args>);

template <class... Args>
constexpr call_facts<argument_count<Args...>> sort_arguments() {
    call_facts<argument_count<Args...>> f;
    f.template add_all<Args...>();
    return f;
}

/// "ai.onnx.ml::Scaler" is operator Scaler of domain ai.onnx.ml. Without `::`, or with `onnx::`, the domain is ai.onnx.
struct op_name {
    std::string_view domain;
    std::string_view op;
};

constexpr op_name split_name(std::string_view name) {
    std::size_t colon = 0;
    while (colon + 1 < name.size() && (name[colon] != ':' || name[colon + 1] != ':')) ++colon;
    if (colon + 1 >= name.size()) return {{}, name};
    std::string_view const domain = name.substr(0, colon);
    return {domain == "ai.onnx" || domain == "onnx" ? std::string_view{} : domain, name.substr(colon + 2)};
}

/// A checked call in the opset range [Since, Until]. Other ONNX domains are checked at their newest version.
template <class Source, int Since, int Until, fixed_string Name, class... Args>
struct checked_call {
    static constexpr op_name name = split_name(Name.view());
    static constexpr std::string_view domain = name.domain;
    static constexpr std::string_view op = name.op;
    static constexpr auto facts = sort_arguments<Args...>();

    static constexpr onnx::call call() {
        int const fixed = domain.empty() ? 0 : Source::version(domain);
        return {domain,
                op,
                fixed != 0 ? fixed : Since,
                fixed != 0 ? fixed : Until,
                {facts.operands, facts.operand_count},
                {facts.attributes, facts.attribute_count},
                facts.output_count};
    }

    static constexpr onnx::call_outcome outcome = facts.unusable != 0 ? onnx::call_outcome{} : Source::evaluate(call());
    static constexpr bool legal = facts.unusable == 0 && !outcome.broken;

    static constexpr sentence describe_problem() {
        if (legal) return {};
        sentence s;
        if (Name.view().empty())
            return s << "g.op: the operator is a template argument; write it in angle brackets before the parentheses";
        if (facts.unusable == 0) return describe(call(), outcome.broken);
        s << (domain.empty() ? std::string_view("onnx") : domain) << "::" << op << " (opset " << Since
          << "): argument ";
        return s << facts.unusable << facts.why_unusable;
    }

    static constexpr sentence problem = describe_problem();

    template <std::size_t... I>
    static auto result(graph_data& g, value_id first, std::index_sequence<I...>) {
        return std::tuple<typed_value<Source::result_types(call(), static_cast<int>(I))>...>(
            typed_value<Source::result_types(call(), static_cast<int>(I))>(
                value(g, first + static_cast<value_id>(I)))...);
    }

    /// The results of an illegal call: as many as it asks for, so that compilers report only the call.
    static auto no_results() {
        constexpr int count = (0 + ... + (outputs_asked<Args> > 0 ? outputs_asked<Args> : 0));
        if constexpr (count > 0) return std::array<value, static_cast<std::size_t>(count)>();
        else return value();
    }
    /// One typed value; a tuple of them for outputs<n>; a vector for output_list.
    static auto results(graph_data& g, value_id first, std::size_t count) {
        constexpr bool tuple = (false || ... || (outputs_asked<Args> > 0));
        if constexpr (!legal) {
            return no_results();
        } else if constexpr (facts.output_count < 0) {
            safe_vector<value> all;
            for (std::size_t i = 0; i != count; ++i) all.emplace_back(g, first + static_cast<value_id>(i));
            return all;
        } else if constexpr (tuple) {
            if constexpr (facts.output_count == 1) return single_output<outcome.first_result>(value(g, first));
            else return result(g, first, std::make_index_sequence<static_cast<std::size_t>(facts.output_count)>{});
        } else {
            return typed_value<outcome.first_result>(value(g, first));
        }
    }
};

/// The checked call for a domain of the graph (index into `More`), or for ONNX's own domains (-1).
template <int Domain, auto... More>
struct call_of {
    using domain = std::tuple_element_t<static_cast<std::size_t>(Domain), std::tuple<type_of<More>...>>;

    /// Where the schema of operator `Index` of the domain is; -1: there is no such operator.
    template <int Index>
    using source_at =
        std::conditional_t<(Index < 0), missing_source<domain, type_of<More>...>, declared_source<domain, Index>>;
    template <fixed_string Name>
    using source = source_at<operator_index(operators_of(domain()), split_name(Name.view()).op)>;

    template <int Since, int Until, fixed_string Name, class... Args>
    using type = checked_call<source<Name>, Since, Until, Name, Args...>;
};
template <auto... More>
struct call_of<-1, More...> {
    template <int Since, int Until, fixed_string Name, class... Args>
    using type = checked_call<standard_source<type_of<More>...>, Since, Until, Name, Args...>;
};

/// The body of an operator does not cover the range of the graph that calls it.
constexpr sentence body_range_problem(declared_operator const& o, int since, int until) {
    sentence s;
    return s << o.schema.domain() << "::" << o.schema.name() << ": its body covers opsets " << o.body_since << " to "
             << o.body_until << ", but the graph covers " << since << " to " << until;
}

/// Writes the attributes of a declared operator that a call does not give: the runtime's own default may be another.
template <class Node>
void write_defaults(Node& node, onnx::declared_schema schema) {
    for (int i = 0; i != schema.attribute_count(); ++i)
        if (onnx::attribute const& a = schema.attr(i); !a.default_text.empty() && node.attribute(a.name) == nullptr)
            node.attributes.push_back(default_attribute<node_attribute>(a));
}

/// Writes the defaults, infers the types and builds the body of a declared operator's node, the last one of the graph.
template <class Graph>
void complete(Graph& graph, declared_operator const& o, int opset) {
    write_defaults(graph.nodes.back(), o.schema);
    infer_by_declaration(graph, graph.nodes.back(), o.schema);
    if (o.infer != nullptr) o.infer(graph, graph.nodes.back(), o.schema);
    if (o.make_body != nullptr) o.make_body(graph, graph.nodes.back(), o.schema, opset);
}

} // namespace ATON_NAMESPACE::dsl::detail
