// SPDX-License-Identifier: MIT
// Checks that the body and the infer rule of a declared operator match its declaration, and describes mismatches.
// Internal header.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/operator_body.hpp>
#include <aton/onnx/read_declaration.hpp>
#include <aton/onnx/runtime_domains.hpp>

namespace ATON_NAMESPACE::dsl::detail {

/// What is wrong with a domain whose name is that of a runtime, or almost that.
constexpr sentence runtime_domain_problem(std::string_view name, int version) {
    sentence s;
    if (std::string_view const meant = onnx::misspelled_domain(name); !meant.empty())
        return s << name << ": did you mean " << meant
                 << "? The name of a domain of your own must differ from it in three letters or more";
    onnx::runtime_domain const* const known = onnx::find_runtime_domain(name);
    if (known == nullptr || known->version == 0 || known->version == version) return s;
    return s << name << ": this domain is that of " << known->owner << ", which knows only version " << known->version;
}

enum class body_rule : std::uint8_t { none, body, variadic, count, parameter, results, result_dtype, result_absent };

struct body_fault {
    body_rule rule = body_rule::none;
    int index = 0; ///< of the parameter or output; for a wrong count, the count of the body
    type_set given = {};
};

/// The possible types of a result of a body, as far as its C++ type determines them.
template <class R>
inline constexpr type_set returned_types = any_type;
template <type_set Types>
inline constexpr type_set returned_types<typed_value<Types>> = Types;
template <>
inline constexpr type_set returned_types<sym_int> = tensors(dtype::int64);

/// Whether a result of a body may be absent.
template <class R>
inline constexpr bool returns_optional = std::same_as<R, optional_value> || std::same_as<R, absent_t>;

/// Compares the C++ type of a result with output `i`: the declared types and the returned types must not be disjoint.
template <class R>
constexpr body_fault find_result_fault_at(onnx::declaration const& d, int i) {
    if (i >= d.output_count) return {};
    if (returns_optional<R> && d.outputs[i].kind != onnx::option::optional) return {body_rule::result_absent, i};
    if ((returned_types<R> & d.outputs[i].types).empty()) return {body_rule::result_dtype, i, returned_types<R>};
    return {};
}

/// Finds the first output that the body cannot return.
template <class... R>
constexpr body_fault find_result_fault(onnx::declaration const& d, std::tuple<R...> const*) {
    body_fault found;
    int i = 0;
    ((found = found.rule == body_rule::none ? find_result_fault_at<R>(d, i) : found, ++i), ...);
    return found;
}
template <class A, class B>
constexpr body_fault find_result_fault(onnx::declaration const& d, std::pair<A, B> const*) {
    return find_result_fault(d, static_cast<std::tuple<A, B> const*>(nullptr));
}
template <class R, std::size_t N>
constexpr body_fault find_result_fault(onnx::declaration const& d, std::array<R, N> const*) {
    body_fault found;
    for (int i = 0; i != static_cast<int>(N) && found.rule == body_rule::none; ++i)
        found = find_result_fault_at<R>(d, i);
    return found;
}
template <class R>
constexpr body_fault find_result_fault(onnx::declaration const& d, R const*) {
    return find_result_fault(d, static_cast<std::tuple<R> const*>(nullptr));
}

/// Whether P can be parameter `position` of a body, for an input or an attribute.
template <class P>
constexpr bool takes(onnx::declaration const& d, int position) {
    if (position < d.input_count) {
        bool const optional = d.inputs[position].kind == onnx::option::optional;
        return std::same_as<P, optional_value> || (!optional && std::same_as<P, value>);
    }
    onnx::attribute const& a = d.attributes[position - d.input_count];
    bool const optional = !a.required && a.default_text.empty();
    if constexpr (is_optional<P>) return attribute_parameter<typename P::value_type>::accepts(a);
    else return !optional && attribute_parameter<P>::accepts(a);
}

template <class Traits>
constexpr body_fault find_body_fault(onnx::declaration const& d) {
    if constexpr (!Traits::value) {
        return {body_rule::body};
    } else {
        for (int i = 0; i != d.input_count; ++i)
            if (d.inputs[i].kind == onnx::option::variadic) return {body_rule::variadic, i};
        constexpr int arity = static_cast<int>(Traits::arity);
        if (arity != d.input_count + d.attribute_count) return {body_rule::count, arity};
        body_fault fault;
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            auto const check = [&](bool fits, std::size_t i) {
                if (!fits && fault.rule == body_rule::none) fault = {body_rule::parameter, static_cast<int>(i)};
            };
            (check(takes<std::tuple_element_t<I, typename Traits::parameters>>(d, static_cast<int>(I)), I), ...);
        }(std::make_index_sequence<Traits::arity>{});
        if (fault.rule != body_rule::none) return fault;
        using returned = returned_values<std::remove_cvref_t<typename Traits::return_type>>;
        if (returned::count >= 0 && returned::count != d.output_count) return {body_rule::results, returned::count};
        return find_result_fault(d, static_cast<std::remove_cvref_t<typename Traits::return_type> const*>(nullptr));
    }
}

/// The C++ type of the parameter for this input or attribute; empty: a body cannot take it.
constexpr std::string_view body_parameter_of(onnx::declaration const& d, int position) {
    using onnx::attr_type;
    if (position < d.input_count) return d.inputs[position].kind == onnx::option::optional ? "optional_value" : "value";
    switch (d.attributes[position - d.input_count].type) {
    case attr_type::f: return "double";
    case attr_type::i: return "std::int64_t";
    case attr_type::s: return "std::string_view";
    case attr_type::t: return "tensor";
    case attr_type::floats: return "std::span<float const>";
    case attr_type::ints: return "std::span<std::int64_t const>";
    case attr_type::strings: return "std::span<std::string const>";
    default: return {};
    }
}

constexpr sentence describe(body_fault fault, std::string_view domain, onnx::declaration const& d) {
    sentence s;
    s << domain << "::" << d.name << ": ";
    switch (fault.rule) {
    case body_rule::body:
        return s
               << "the body must be a lambda whose first parameter is a graph<...> by value, with no auto parameters; "
                  "if it has an error, correct that first";
    case body_rule::variadic:
        return s << "input " << d.inputs[fault.index].name << " is variadic; a body takes a fixed number of inputs";
    case body_rule::count:
        return s << "the declaration has " << d.input_count << (d.input_count == 1 ? " input and " : " inputs and ")
                 << d.attribute_count << (d.attribute_count == 1 ? " attribute" : " attributes")
                 << ", but the body takes " << fault.index << " after the graph";
    case body_rule::parameter: {
        bool const is_input = fault.index < d.input_count;
        onnx::attribute const* const a = is_input ? nullptr : &d.attributes[fault.index - d.input_count];
        bool const optional = !is_input && !a->required && a->default_text.empty();
        s << (is_input ? "input " : "attribute ") << (is_input ? d.inputs[fault.index].name : a->name);
        std::string_view const wanted = body_parameter_of(d, fault.index);
        if (wanted.empty()) return s << " cannot be passed to a body: it is a graph or a list of tensors";
        return s << " does not match its parameter of the body; write " << (optional ? "std::optional<" : "") << wanted
                 << (optional ? ">" : "");
    }
    case body_rule::results:
        return s << "the declaration has " << d.output_count << (d.output_count == 1 ? " output" : " outputs")
                 << ", but the body returns " << fault.index;
    case body_rule::result_dtype:
        return s << "output " << d.outputs[fault.index].name << " is " << fault.given << " in the body, but "
                 << d.outputs[fault.index].types << " in the declaration";
    case body_rule::result_absent:
        return s << "output " << d.outputs[fault.index].name
                 << " may be absent in the body, but not in the declaration; write T? " << d.outputs[fault.index].name
                 << ", or return a value";
    case body_rule::none: break;
    }
    return s;
}

enum class infer_rule : std::uint8_t { none, infer_signature, infer_count };

struct infer_fault {
    infer_rule rule = infer_rule::none;
    int count = 0; ///< of the types that the rule returns
};

/// The number of types in the result R of a rule of infer<...>; 0: another result; -1: known only when the graph is built.
template <class R>
inline constexpr int types_returned = 0;
template <>
inline constexpr int types_returned<value_type> = 1;
template <class Allocator>
inline constexpr int types_returned<std::vector<value_type, Allocator>> = -1;
template <std::size_t N>
inline constexpr int types_returned<std::array<value_type, N>> = static_cast<int>(N);

/// The same for a rule; 0: not a rule.
template <class Rule>
inline constexpr int types_given = 0;
template <class Rule>
    requires std::is_invocable_v<Rule const&, inference const&>
inline constexpr int types_given<Rule> =
    types_returned<std::remove_cvref_t<std::invoke_result_t<Rule const&, inference const&>>>;

/// Checks the number of types that a rule returns against the outputs of a declaration.
constexpr infer_fault find_infer_fault(int count, onnx::declaration const& d) {
    bool const variadic = d.output_count != 0 && d.outputs[d.output_count - 1].kind == onnx::option::variadic;
    if (count == 0) return {infer_rule::infer_signature};
    if (count > 0 && (variadic ? count < d.output_count : count != d.output_count))
        return {infer_rule::infer_count, count};
    return {};
}

constexpr sentence describe(infer_fault fault, std::string_view domain, onnx::declaration const& d) {
    sentence s;
    s << domain << "::" << d.name << ": ";
    if (fault.rule == infer_rule::infer_signature)
        return s
               << "infer<...> takes a function that takes an inference const& and returns a value_type, or an array or "
                  "vector of them";
    return s << "the declaration has " << d.output_count << (d.output_count == 1 ? " output" : " outputs")
             << ", but the infer<...> rule returns " << fault.count << (fault.count == 1 ? " type" : " types");
}

} // namespace ATON_NAMESPACE::dsl::detail
