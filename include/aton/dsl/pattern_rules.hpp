// SPDX-License-Identifier: MIT
// Checks at compile time that a rewrite makes sense: its lambdas fit each other, every capture is used and bound, every node belongs to it.
// Internal header.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <aton/dsl/body.hpp>
#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/operator_rules.hpp>
#include <aton/dsl/pattern.hpp>
#include <aton/dsl/refusal.hpp>

namespace ATON_NAMESPACE::dsl::detail {

/// The condition of a rewrite that has none.
struct always {};

template <class Function>
struct pattern_function : std::false_type {};
template <class Return, int Since, auto... More, class... T>
struct pattern_function<Return (*)(pattern<Since, More...>, capture<T>...)> : std::true_type { // a static operator()
    using return_type = Return;
    using pattern_type = pattern<Since, More...>;
    using captures = std::tuple<T...>;
    static constexpr std::size_t arity = sizeof...(T);
    static constexpr bool known = (capture_traits<T>::known && ...);
    static constexpr std::array<capture_kind, arity + 1> kinds{capture_traits<T>::kind..., capture_kind::value};
};
template <class Return, class Class, int Since, auto... More, class... T>
struct pattern_function<Return (Class::*)(pattern<Since, More...>, capture<T>...) const>
    : pattern_function<Return (*)(pattern<Since, More...>, capture<T>...)> {};

template <class Pattern>
struct pattern_traits : std::false_type {};
template <class Pattern>
    requires requires { &Pattern::operator(); }
struct pattern_traits<Pattern> : pattern_function<decltype(&Pattern::operator())> {};

/// Runs the lambda of a pattern.
template <class Pattern>
consteval pattern_recorder record_pattern() {
    using traits = pattern_traits<Pattern>;
    pattern_recorder r;
    typename traits::pattern_type const p(r);
    [&]<class... T, std::size_t... I>(std::type_identity<std::tuple<T...>>, std::index_sequence<I...>) {
        auto const result = Pattern{}(p, capture<T>(static_cast<std::int16_t>(I))...);
        if constexpr (is_pattern_value<std::remove_cvref_t<decltype(result)>>) r.root = result.term;
        else
            std::apply(
                [&](auto const& first, auto const&... more) {
                    r.root = first.term;
                    (r.append(r.further, r.further_count, more.term), ...);
                },
                result);
    }(std::type_identity<typename traits::captures>{}, std::make_index_sequence<traits::arity>{});
    return r;
}
template <class Pattern>
inline constexpr pattern_recorder recorded_pattern = record_pattern<Pattern>();

/// The lists of a pattern at their exact sizes.
template <std::size_t Nodes, std::size_t Terms, std::size_t Attributes, std::size_t Integers, std::size_t Text,
          std::size_t Captures, std::size_t Further>
struct pattern_storage {
    std::array<pattern_node, Nodes> nodes{};
    std::array<pattern_term, Terms> terms{};
    std::array<pattern_attribute, Attributes> attributes{};
    std::array<std::int64_t, Integers> integers{};
    std::array<char, Text> text{};
    std::array<capture_kind, Captures> captures{};
    pattern_term root;
    std::array<pattern_term, Further> further{};

    [[nodiscard]] constexpr pattern_view view() const {
        return {nodes, terms, attributes, integers, {text.data(), text.size()}, captures, root, further};
    }
};

template <class Pattern>
consteval auto store_pattern() {
    constexpr pattern_recorder const& r = recorded_pattern<Pattern>;
    using traits = pattern_traits<Pattern>;
    pattern_storage<r.node_count,
                    r.term_count,
                    r.attribute_count,
                    r.integer_count,
                    r.text_size,
                    traits::arity,
                    r.further_count>
        out;
    std::copy_n(r.nodes, r.node_count, out.nodes.begin());
    std::copy_n(r.terms, r.term_count, out.terms.begin());
    std::copy_n(r.attributes, r.attribute_count, out.attributes.begin());
    std::copy_n(r.integers, r.integer_count, out.integers.begin());
    std::copy_n(r.text, r.text_size, out.text.begin());
    std::copy_n(traits::kinds.begin(), traits::arity, out.captures.begin());
    out.root = r.root;
    std::copy_n(r.further, r.further_count, out.further.begin());
    return out;
}
template <class Pattern>
inline constexpr auto stored_pattern = store_pattern<Pattern>();

enum class rewrite_rule : std::uint8_t {
    none,
    pattern,      ///< not a lambda of a pattern and captures
    capture_type, ///< a capture<T> of another type
    state,        ///< a lambda that captures variables
    root,         ///< the result is not a node
    mixed,        ///< nodes of ONNX and calls of ATen
    size,         ///< too many nodes
    variants,     ///< too many orders and alternatives
    unused_node,  ///< a node that is not part of the result
    unused_capture,
    unbound_capture, ///< an alternative without the capture
    condition,       ///< not a function of the captures that returns bool
    replacement,     ///< not a lambda that takes a graph
    parameters,      ///< number of parameters of the replacement
    parameter,       ///< type of one
    range,           ///< opsets of the replacement
    result,          ///< not as many values as the pattern has results
    result_type,
    further ///< several results of a call
};

struct rewrite_fault {
    rewrite_rule rule = rewrite_rule::none;
    int index = 0; ///< of a capture (1-based), or a number of parameters
    std::string_view op = {};
    capture_kind kind = capture_kind::value;
    int since = 0, until = 0;             ///< of the pattern
    int graph_since = 0, graph_until = 0; ///< of the replacement
    type_set pattern_types = {}, result_types = {};
};

/// What a term of a pattern contains: bits of nodes and of captures.
struct term_contents {
    std::uint64_t nodes = 0;
    std::uint64_t used = 0;  ///< captures in any alternative
    std::uint64_t bound = 0; ///< captures in every alternative
};

constexpr term_contents contents_of(pattern_recorder const& r, pattern_term const& t) {
    term_contents c;
    auto const include = [&](term_contents const& more) {
        c.nodes |= more.nodes;
        c.used |= more.used;
        c.bound |= more.bound;
    };
    if (t.what == pattern_term::kind::capture) c.used = c.bound = std::uint64_t{1} << t.index;
    if (t.what == pattern_term::kind::list)
        for (int i = 0; i != t.count; ++i) include(contents_of(r, r.terms[t.index + i]));
    if (t.what == pattern_term::kind::either) {
        std::uint64_t common = ~std::uint64_t{0};
        for (int i = 0; i != t.count; ++i) {
            term_contents const one = contents_of(r, r.terms[t.index + i]);
            common &= one.bound;
            include(one);
        }
        c.bound = common;
    }
    if (t.what == pattern_term::kind::node) {
        pattern_node const& n = r.nodes[t.index];
        c.nodes = std::uint64_t{1} << t.index;
        for (int i = 0; i != n.operand_count; ++i) include(contents_of(r, r.terms[n.first_operand + i]));
        for (int i = 0; i != n.attribute_count; ++i)
            if (pattern_attribute const& a = r.attributes[n.first_attribute + i]; a.capture >= 0)
                include({0, std::uint64_t{1} << a.capture, std::uint64_t{1} << a.capture});
    }
    return c;
}

/// Whether a term is a node, or one of several.
constexpr bool is_node_term(pattern_recorder const& r, pattern_term const& t) {
    if (t.what != pattern_term::kind::either) return t.what == pattern_term::kind::node;
    for (int i = 0; i != t.count; ++i)
        if (!is_node_term(r, r.terms[t.index + i])) return false;
    return true;
}

inline constexpr std::size_t max_variants = 1024;

/// The number of orders of operands and alternatives that a term stands for, or one more than the maximum.
constexpr std::size_t count_variants(pattern_recorder const& r, pattern_term const& t,
                                     std::span<capture_kind const> captures) {
    std::size_t n = t.what == pattern_term::kind::either ? 0 : 1;
    for (int i = 0; t.what == pattern_term::kind::either && i != t.count; ++i)
        n += count_variants(r, r.terms[t.index + i], captures);
    if (t.what == pattern_term::kind::node) {
        pattern_node const& node = r.nodes[t.index];
        n = has_two_orders(node, r.terms, captures) ? 2 : 1;
        for (int i = 0; i != node.operand_count && n <= max_variants; ++i)
            n *= count_variants(r, r.terms[node.first_operand + i], captures);
    }
    for (int i = 0; t.what == pattern_term::kind::list && i != t.count && n <= max_variants; ++i)
        n *= count_variants(r, r.terms[t.index + i], captures);
    return std::min(n, max_variants + 1);
}

template <class Pattern>
constexpr rewrite_fault find_pattern_fault() {
    using traits = pattern_traits<Pattern>;
    constexpr pattern_recorder const& r = recorded_pattern<Pattern>;
    if (r.has_error) return {};
    if (r.is_full) return {rewrite_rule::size};
    if (!is_node_term(r, r.root)) return {rewrite_rule::root};
    for (std::size_t i = 0; i != r.further_count; ++i) {
        if (r.further[i].what != pattern_term::kind::node || r.further[i] == r.root) return {rewrite_rule::root};
        if (!r.nodes[0].schema.empty()) return {rewrite_rule::further};
    }
    if (count_variants(r, r.root, traits::kinds) > max_variants) return {rewrite_rule::variants};
    for (std::size_t i = 1; i < r.node_count; ++i)
        if (r.nodes[i].schema.empty() != r.nodes[0].schema.empty()) return {rewrite_rule::mixed};
    term_contents const c = contents_of(r, r.root);
    for (std::size_t i = 0; i != r.node_count; ++i)
        if ((c.nodes >> i & 1U) == 0) return {rewrite_rule::unused_node, 0, r.nodes[i].op};
    for (std::size_t i = 0; i != traits::arity; ++i) {
        auto const index = static_cast<int>(i) + 1;
        if ((c.used >> i & 1U) == 0) return {rewrite_rule::unused_capture, index};
        if ((c.bound >> i & 1U) == 0) return {rewrite_rule::unbound_capture, index};
    }
    return {};
}

template <class T, class Parameter>
inline constexpr bool receives =
    std::is_arithmetic_v<Parameter> ? std::is_same_v<T, Parameter> : std::is_convertible_v<T const&, Parameter>;

/// Whether a result of the replacement can have the type of that of the pattern.
template <class Matched, class Returned>
constexpr rewrite_fault check_result(rewrite_fault fault) {
    fault.pattern_types = stand_in<Matched>::types;
    fault.result_types = returned_types<Returned>;
    if ((fault.pattern_types & fault.result_types).empty()) fault.rule = rewrite_rule::result_type;
    return fault;
}

template <class Pattern, class Replacement>
constexpr rewrite_fault find_replacement_fault() {
    using traits = pattern_traits<Pattern>;
    using body = body_traits<Replacement>;
    if constexpr (!body::value) {
        return {rewrite_rule::replacement};
    } else if constexpr (body::arity != traits::arity) {
        return {rewrite_rule::parameters, static_cast<int>(body::arity)};
    } else {
        rewrite_fault fault{};
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            auto const check = [&](bool fits, std::size_t i) {
                if (!fits && fault.rule == rewrite_rule::none)
                    fault = {rewrite_rule::parameter, static_cast<int>(i) + 1, {}, traits::kinds[i]};
            };
            (check(receives<std::tuple_element_t<I, typename traits::captures>,
                            std::tuple_element_t<I, typename body::parameters>>,
                   I),
             ...);
        }(std::make_index_sequence<traits::arity>{});
        if (fault.rule != rewrite_rule::none) return fault;
        using pattern_type = typename traits::pattern_type;
        using graph_type = typename body::graph_type;
        fault.since = pattern_type::since;
        fault.until = pattern_type::until;
        fault.graph_since = graph_type::since;
        fault.graph_until = graph_type::until;
        if (fault.graph_since > fault.since || fault.graph_until < fault.until) {
            fault.rule = rewrite_rule::range;
            return fault;
        }
        using returned = std::remove_cvref_t<typename body::return_type>;
        using matched = std::remove_cvref_t<typename traits::return_type>;
        constexpr std::size_t count = result_count<matched>;
        if constexpr (count != result_count<returned>) return {rewrite_rule::result, static_cast<int>(count)};
        else if constexpr (count == 1 && !std::is_convertible_v<returned, value>) return {rewrite_rule::result, 1};
        else if constexpr (count == 1) return check_result<matched, returned>(fault);
        else
            return [&]<std::size_t... I>(std::index_sequence<I...>) {
                rewrite_fault found = fault;
                auto const check = [&]<class M, class R>(std::type_identity<M>, std::type_identity<R>) {
                    if (found.rule != rewrite_rule::none) return;
                    if constexpr (!std::is_convertible_v<R, value>)
                        found = {rewrite_rule::result, static_cast<int>(count)};
                    else found = check_result<M, R>(fault);
                };
                (check(std::type_identity<std::tuple_element_t<I, matched>>{},
                       std::type_identity<std::tuple_element_t<I, returned>>{}),
                 ...);
                return found;
            }(std::make_index_sequence<count>{});
    }
}

template <class Condition, class Captures>
inline constexpr bool is_condition = false;
template <class Condition, class... T>
inline constexpr bool is_condition<Condition, std::tuple<T...>> =
    std::is_invocable_r_v<bool, Condition const&, T const&...>;

/// The first broken rule of a rewrite.
template <class Pattern, class Condition, class Replacement>
constexpr rewrite_fault find_rewrite_fault() {
    using traits = pattern_traits<Pattern>;
    if constexpr (!traits::value) {
        return {rewrite_rule::pattern};
    } else if constexpr (!traits::known) {
        return {rewrite_rule::capture_type};
    } else if constexpr (!std::is_empty_v<Pattern> || !std::is_empty_v<Condition> || !std::is_empty_v<Replacement>) {
        return {rewrite_rule::state};
    } else if constexpr (!is_pattern_result<std::remove_cvref_t<typename traits::return_type>>) {
        return {rewrite_rule::root};
    } else {
        rewrite_fault const fault = find_pattern_fault<Pattern>();
        if (fault.rule != rewrite_rule::none) return fault;
        if (!std::is_same_v<Condition, always> && !is_condition<Condition, typename traits::captures>)
            return {rewrite_rule::condition};
        return find_replacement_fault<Pattern, Replacement>();
    }
}

constexpr std::string_view name_of(capture_kind k) {
    constexpr std::string_view names[] = {"value",
                                          "tensor",
                                          "scalar",
                                          "double",
                                          "std::int64_t",
                                          "std::vector<std::int64_t>",
                                          "std::string",
                                          "dtype",
                                          "bool"};
    return names[static_cast<std::size_t>(k)];
}

constexpr sentence describe(rewrite_fault const& f, std::string_view name) {
    sentence s;
    if (f.rule == rewrite_rule::none) return s;
    s << "rewrite " << name << ": ";
    switch (f.rule) {
    case rewrite_rule::pattern:
        return s << "the pattern must be a lambda [](pattern<since> p, capture<value> x, ...), whose other parameters "
                    "are captures by value";
    case rewrite_rule::capture_type:
        return s << "a capture is of a value, tensor, scalar, double, std::int64_t, std::vector<std::int64_t>, "
                    "std::string, dtype or bool";
    case rewrite_rule::state: return s << "a lambda of a rewrite cannot capture variables; it must be [](...)";
    case rewrite_rule::root:
        return s << "the result of the pattern must be a node, the result of p.op<...>(...) or "
                    "p.call<...>(...)";
    case rewrite_rule::mixed:
        return s << "a pattern is of nodes of ONNX, p.op<...>(...), or of calls of ATen, p.call<...>(...), not of both";
    case rewrite_rule::size:
        return s << "the pattern is too large; it may have " << static_cast<int>(pattern_recorder::max_nodes)
                 << " nodes with " << static_cast<int>(pattern_recorder::max_terms) << " operands";
    case rewrite_rule::variants:
        return s << "the orders of commutative operands and the alternatives of p.either(...) make more than "
                 << static_cast<int>(max_variants) << " patterns; split the rewrite";
    case rewrite_rule::unused_node: return s << "node " << f.op << " is not part of the result of the pattern";
    case rewrite_rule::unused_capture: return s << "capture " << f.index << " is not used in the pattern";
    case rewrite_rule::unbound_capture:
        return s << "capture " << f.index << " is missing in an alternative of p.either(...); it must be in all";
    case rewrite_rule::condition:
        return s << "the condition must take what the pattern captures, in the same order, and return bool";
    case rewrite_rule::replacement:
        return s << "the replacement must be a lambda whose first parameter is a graph<...> by value, with no auto "
                    "parameters; if it has an error, correct that first";
    case rewrite_rule::parameters:
        return s << "the replacement takes " << f.index << (f.index == 1 ? " parameter" : " parameters")
                 << " after the graph; it must take what the pattern captures, in the same order";
    case rewrite_rule::parameter:
        return s << "parameter " << f.index << " of the replacement does not match capture " << f.index << "; write "
                 << name_of(f.kind);
    case rewrite_rule::range:
        return s << "the pattern covers opsets " << f.since << " to " << f.until
                 << ", but the graph of the replacement covers " << f.graph_since << " to " << f.graph_until;
    case rewrite_rule::result:
        if (f.index == 1) return s << "the replacement must return one value";
        return s << "the replacement must return " << f.index
                 << " values, as many as the pattern has results, in a std::tuple or std::array";
    case rewrite_rule::further: return s << "a pattern of ATen calls has one result";
    case rewrite_rule::result_type:
        return s << "the replacement returns " << f.result_types << ", but the pattern is " << f.pattern_types;
    case rewrite_rule::none: break;
    }
    return s;
}

} // namespace ATON_NAMESPACE::dsl::detail
