// SPDX-License-Identifier: MIT
// Whether the body of a declared operator fits its declaration, and the sentence that says what does not.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/operator_body.hpp>
#include <aton/onnx/read_declaration.hpp>

namespace aton::dsl::detail {

enum class body_rule : std::uint8_t { none, body, variadic, count, parameter, results };

struct body_fault {
    body_rule rule = body_rule::none;
    int index = 0; ///< of the parameter; of wrong counts, what the body has
};

/// Whether parameter `position` of a body fits the input or attribute that stands there.
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
        return {};
    }
}

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
    default: return "nothing: a body takes no graphs and no lists of tensors";
    }
}

constexpr sentence describe(body_fault fault, std::string_view domain, onnx::declaration const& d) {
    sentence s;
    s << domain << "::" << d.name << ": ";
    switch (fault.rule) {
    case body_rule::body:
        return s << "the body must be a lambda whose first parameter is a graph<...> by value, with no auto parameters";
    case body_rule::variadic:
        return s << "input " << d.inputs[fault.index].name << " is variadic; a body takes a fixed number of inputs";
    case body_rule::count:
        return s << "the declaration has " << d.input_count << (d.input_count == 1 ? " input and " : " inputs and ")
                 << d.attribute_count << (d.attribute_count == 1 ? " attribute" : " attributes") << ", the body takes "
                 << fault.index << " after the graph";
    case body_rule::parameter: {
        bool const is_input = fault.index < d.input_count;
        onnx::attribute const* const a = is_input ? nullptr : &d.attributes[fault.index - d.input_count];
        bool const optional = !is_input && !a->required && a->default_text.empty();
        return s << (is_input ? "input " : "attribute ") << (is_input ? d.inputs[fault.index].name : a->name)
                 << " does not fit its parameter of the body; write " << (optional ? "std::optional<" : "")
                 << body_parameter_of(d, fault.index) << (optional ? ">" : "");
    }
    case body_rule::results:
        return s << "the declaration has " << d.output_count << (d.output_count == 1 ? " output" : " outputs")
                 << ", the body returns " << fault.index;
    case body_rule::none: break;
    }
    return s;
}

} // namespace aton::dsl::detail
