// SPDX-License-Identifier: MIT
// ATen calls in patterns, `p.call<"aten::mul.Tensor">(x, y)`: their check against the schema, and what they record.
// Internal header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <aton/aten/function_schema.hpp>
#include <aton/aten/mutation.hpp>
#include <aton/core/fixed_string.hpp>
#include <aton/dsl/call_aten.hpp>
#include <aton/dsl/capture.hpp>
#include <aton/dsl/given_argument.hpp>
#include <aton/dsl/pattern_parts.hpp>

namespace ATON_NAMESPACE::dsl::detail {

// What parts of patterns are as arguments of a call.
template <type_set Types>
struct given_facts<pattern_value<Types>> {
    static constexpr given_argument value{given_kind::value};
};
template <>
struct given_facts<pattern_integers> {
    static constexpr given_argument value{given_kind::integers};
};
template <>
struct given_facts<pattern_list> {
    static constexpr given_argument value{given_kind::values};
};
template <>
struct given_facts<pattern_anything> {
    static constexpr given_argument value{given_kind::anything};
};
template <class T>
struct given_facts<capture<T>> { // a tensor is not one: weights are loaded after the calls have been replaced
    static constexpr given_argument value{std::is_same_v<T, tensor> ? given_kind::unusable : kind_of<T>()};
};

/// Calls of two operands whose order makes no difference.
constexpr bool call_commutes(std::string_view overload) {
    constexpr std::string_view overloads[] = {"aten::add.Tensor",
                                              "aten::mul.Tensor",
                                              "aten::maximum",
                                              "aten::minimum",
                                              "aten::eq.Tensor",
                                              "aten::ne.Tensor",
                                              "aten::logical_and",
                                              "aten::logical_or",
                                              "aten::logical_xor",
                                              "aten::bitwise_and.Tensor",
                                              "aten::bitwise_or.Tensor",
                                              "aten::bitwise_xor.Tensor"};
    for (std::string_view each : overloads)
        if (each == overload) return true;
    return false;
}

/// The overload that a call names: one of torch, or a whole schema of an operator that torch does not declare.
template <fixed_string Name>
struct called_source {
    static constexpr bool is_schema = Name.view().find('(') != std::string_view::npos;
    static constexpr std::string_view overload = Name.view().substr(0, Name.view().find('('));
    static constexpr std::string_view schema = is_schema ? Name.view() : aten::find_schema(overload);
};

template <class T>
inline constexpr bool is_output_count = outputs_asked<T> != 0;

/// The call without `outputs<n>`.
template <class Source, class Kept, class... Args>
struct call_of_arguments;
template <class Source, class... Kept>
struct call_of_arguments<Source, std::tuple<Kept...>> {
    using type = mapping_call<Source, Kept...>;
};
template <class Source, class... Kept, class First, class... Args>
struct call_of_arguments<Source, std::tuple<Kept...>, First, Args...>
    : std::conditional_t<is_output_count<First>, call_of_arguments<Source, std::tuple<Kept...>, Args...>,
                         call_of_arguments<Source, std::tuple<Kept..., First>, Args...>> {};

/// Whether a call can be in a pattern.
template <fixed_string Name, class... Args>
struct call_check {
    using source = called_source<Name>;
    using call = typename call_of_arguments<source, std::tuple<>, Args...>::type;

    static constexpr int asked = (0 + ... + (outputs_asked<Args> > 0 ? outputs_asked<Args> : 0));
    static constexpr bool returns_list = [] {
        if constexpr (call::result_count == 1) return call::kind_at(0) == returned_kind::list;
        else return false;
    }();

    static constexpr bool captures_constant = (captures_any<Args, tensor> || ...);

    static constexpr sentence find_problem() {
        sentence s;
        if (aten::names_default(source::overload))
            return s << source::overload << ": the default overload has no name in a schema; write "
                     << aten::without_default(source::overload);
        if constexpr (source::is_schema) {
            std::string_view const error = aten::syntax_error(source::schema);
            if (!error.empty()) return s << source::overload << ": the schema has an error: " << error;
        }
        if constexpr (captures_constant)
            return s << source::overload << ": a call has no constant tensors; write capture<value>";
        else if constexpr (!call::legal) return call::problem;
        else if constexpr (aten::writes(source::schema))
            return s << source::overload
                     << ": writes to an argument; when patterns are matched, a program has only functional operators";
        else if constexpr (call::result_count == 0) return s << source::overload << ": has no result";
        else if constexpr (returns_list && asked == 0)
            return s << source::overload << ": returns a list; ask for its elements with outputs<n>";
        else if constexpr (asked > 255) return s << source::overload << ": outputs<n> is for at most 255 elements";
        else if constexpr (!returns_list && asked != 0)
            return s << source::overload << ": outputs<n> is for operators that return a list";
        else return s;
    }
    static constexpr sentence problem = find_problem();
    static constexpr bool legal = problem.length == 0;
    using verdict = std::conditional_t<legal, char, diagnosis<problem>>;

    /// The results, or the elements of the list that is returned.
    static constexpr std::size_t results = asked != 0 ? static_cast<std::size_t>(asked)
                                           : legal    ? call::result_count
                                                      : 1;

    /// As many results as an illegal call asks for, so that compilers report only the call.
    static constexpr auto no_results() {
        if constexpr (results > 1) return std::array<pattern_value<any_type>, results>{};
        else return pattern_value<any_type>{};
    }
};

/// An argument of a call as a term.
template <class T>
constexpr pattern_term argument_term(pattern_recorder& r, T const& given) {
    if constexpr (named_argument_like<T>) return argument_term(r, given.given);
    else if constexpr (is_dtype_constant<T>)
        return {.what = pattern_term::kind::type, .index = static_cast<std::int16_t>(T::value)};
    else if constexpr (std::is_same_v<T, dtype>)
        return {.what = pattern_term::kind::type, .index = static_cast<std::int16_t>(given)};
    else if constexpr (std::is_convertible_v<T const&, std::string_view>) return r.add_text(given);
    else return term_of(given);
}

/// Records a call: its operands are the arguments of the schema, of which those that are not given have their defaults.
template <class Check, class... Args>
constexpr std::int16_t record_call(pattern_recorder& r, Args const&... args) {
    using source = typename Check::source;
    using call = typename Check::call;
    constexpr auto count = static_cast<std::size_t>(aten::argument_count(source::schema));
    pattern_term operands[count + 1]{};
    for (pattern_term& each : operands) each.what = pattern_term::kind::by_default;
    std::size_t i = 0;
    auto const place = [&](auto const& each) {
        if constexpr (!is_output_count<std::remove_cvref_t<decltype(each)>>)
            operands[static_cast<std::size_t>(call::position_of(i++))] = argument_term(r, each);
    };
    (place(args), ...);
    pattern_node n{.domain = {}, .op = source::overload, .schema = source::schema};
    n.first_operand = static_cast<std::int16_t>(r.term_count);
    n.operand_count = static_cast<std::int16_t>(count);
    n.first_attribute = static_cast<std::int16_t>(r.attribute_count);
    n.commutes = call_commutes(source::overload);
    for (std::size_t k = 2; k < count; ++k) // x + 2 * y is not y + 2 * x
        n.commutes = n.commutes && operands[k].what == pattern_term::kind::by_default;
    n.list_length = static_cast<std::uint8_t>(Check::asked);
    for (std::size_t k = 0; k != count; ++k) r.add(operands[k]);
    return r.append(r.nodes, r.node_count, n);
}

} // namespace ATON_NAMESPACE::dsl::detail
