// SPDX-License-Identifier: MIT
// The handle with which rewrites describe what they replace: nodes, `p.op<"Mul">(x, p.op<"Sigmoid">(x))`, or ATen calls,
// `p.call<"aten::mul.Tensor">(x, p.call<"aten::sigmoid">(x))`, checked like calls of a graph.
// Public header.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/core/fixed_string.hpp>
#include <aton/dsl/attr.hpp>
#include <aton/dsl/call.hpp>
#include <aton/dsl/capture.hpp>
#include <aton/dsl/graph.hpp>
#include <aton/dsl/pattern_call.hpp>
#include <aton/dsl/pattern_parts.hpp>
#include <aton/ir/pattern.hpp>

namespace ATON_NAMESPACE::dsl {

namespace detail {

/// Operators of two operands whose order makes no difference.
constexpr bool commutes(std::string_view domain, std::string_view op) {
    constexpr std::string_view operators[] = {"Add",
                                              "And",
                                              "BitwiseAnd",
                                              "BitwiseOr",
                                              "BitwiseXor",
                                              "Equal",
                                              "Max",
                                              "Mean",
                                              "Min",
                                              "Mul",
                                              "Or",
                                              "Sum",
                                              "Xor"};
    return domain.empty() && std::find(std::begin(operators), std::end(operators), op) != std::end(operators);
}

/// The argument of `g.op` that is checked in place of an argument of `p.op`.
template <class T>
struct stand_in {
    using type = T;
    static constexpr type_set types = any_type;
};
template <type_set Types>
struct stand_in<pattern_value<Types>> {
    using type = typed_value<Types>;
    static constexpr type_set types = Types;
};
template <class T>
struct stand_in<capture<T>> {
    using type = value;
    static constexpr type_set types = any_type;
};
template <>
struct stand_in<capture<std::vector<std::int64_t>>> {
    using type = typed_value<tensors(dtype::int64)>;
    static constexpr type_set types = tensors(dtype::int64);
};
template <>
struct stand_in<pattern_integers> : stand_in<capture<std::vector<std::int64_t>>> {};
template <class Number> // a constant of any dtype that has this number
    requires std::is_arithmetic_v<Number>
struct stand_in<Number> {
    static constexpr type_set types = std::is_floating_point_v<Number> ? floating_types : any_type;
    using type = typed_value<types>;
};

/// Records an attribute of a pattern. A payload that patterns do not support (tensors, graphs) is found by `is_pattern_attribute`.
template <class Attribute>
constexpr void record_attribute(pattern_recorder& r, Attribute const& given) {
    using payload = decltype(Attribute::payload);
    pattern_attribute a{.name = Attribute::name, .type = Attribute::type};
    if constexpr (is_capture<payload>) a.capture = given.payload.index();
    else if constexpr (is_dtype_constant<payload>) a.i = static_cast<std::int64_t>(payload::value);
    else if constexpr (std::is_same_v<payload, std::int64_t>) a.i = given.payload;
    else if constexpr (std::is_same_v<payload, float>) a.f = given.payload;
    else if constexpr (std::is_same_v<payload, std::string>) {
        pattern_term const t = r.add_text(given.payload);
        a.first = t.index;
        a.count = t.count;
    } else {
        pattern_term const list = r.add_integers(given.payload);
        a.first = list.index;
        a.count = list.count;
    }
    r.append(r.attributes, r.attribute_count, a);
}

/// The 1-based position of the first argument that a pattern cannot have; 0: none.
template <class... Args>
constexpr int unusable_in_pattern() {
    int position = 0;
    int found = 0;
    auto const usable = []<class T>(std::type_identity<T>) {
        if constexpr (attribute_like<T>) {
            using payload = decltype(T::payload);
            if constexpr (std::is_same_v<payload, capture<bool>>) return false; // only calls have bools
            return is_capture<payload> || is_dtype_constant<payload> || std::is_same_v<payload, std::int64_t> ||
                   std::is_same_v<payload, float> || std::is_same_v<payload, std::string> ||
                   std::is_same_v<payload, std::vector<std::int64_t>>;
        } else {
            return (is_pattern_term<T> && !std::is_same_v<T, capture<bool>>) || outputs_asked<T> > 0 ||
                   std::is_same_v<T, absent_t> || std::is_same_v<T, std::nullopt_t>;
        }
    };
    ((++position, found = found == 0 && !usable(std::type_identity<Args>{}) ? position : found), ...);
    return found;
}

/// Whether a node can be in a pattern.
template <class Checked, fixed_string Name, class... Args>
struct pattern_check {
    static constexpr int unusable = unusable_in_pattern<Args...>();
    static constexpr bool legal = unusable == 0 && Checked::legal;
    static constexpr sentence find_problem() {
        if constexpr (unusable == 0) return Checked::problem;
        else
            return sentence() << Name.view() << ": argument " << unusable
                              << " cannot be in a pattern; write a capture, a part of the pattern, a number, "
                                 "p.ints({...}), absent, or an attribute other than a tensor or a graph";
    }
    static constexpr sentence problem = find_problem();
    using verdict = std::conditional_t<legal, char, diagnosis<problem>>;

    /// As many results as an illegal call asks for, so that compilers report only the call.
    static constexpr auto no_results() {
        constexpr int count = (0 + ... + (outputs_asked<Args> > 0 ? outputs_asked<Args> : 0));
        if constexpr (count > 1) return std::array<pattern_value<any_type>, static_cast<std::size_t>(count)>{};
        else return pattern_value<any_type>{};
    }
};

} // namespace detail

/// Describes nodes that must be legal at each opset from `Since` to the integer in `More` (default: the newest), like a graph of this range.
/// Further arguments are domains, whose operators it may have. Of these, an attribute that a pattern does not name must be absent.
/// ```cpp
/// #include <aton/dsl/rewrite.hpp>
///
/// inline constexpr auto swish = rewrite<"swish">(
///     [](pattern<24> p, capture<value> x) { return p.op<"Mul">(x, p.op<"Sigmoid">(x)); },
///     [](graph<24> g, value x) { return g.op<"Swish">(x); });
/// ```
template <int Since, auto... More>
class pattern {
public:
    /// The first opset of the range.
    static constexpr int since = Since;
    /// The last opset of the range.
    static constexpr int until = detail::last_opset<More...>();
    static_assert(detail::is_range(since, until), "pattern<Since, Until>: 1 <= Since <= Until <= newest opset");

    /// A node. Operands are captures, other parts of the pattern, numbers (constants with this one element), lists of integers, and
    /// `absent`; attributes are given or captured. An attribute that is not named must have its default. Of a commutative operator, the
    /// operands may come in either order. Without `outputs<n>`, the node has one result that is used.
    template <fixed_string Name, class... Args>
    [[nodiscard("the node is not part of the pattern")]] constexpr auto op(Args const&... args) const {
        using checked =
            call_of_domain<Name>::template type<Since, until, Name, typename detail::stand_in<Args>::type...>;
        using check = detail::pattern_check<checked, Name, Args...>;
        using verdict = typename check::verdict;
#ifdef ATON_DIAGNOSIS_IN_CONDITION
        static_assert(detail::holds<verdict>);
#else
        static_assert(sizeof(verdict) != 0);
#endif
        if constexpr (!check::legal) {
            recorder_->has_error = true;
            return check::no_results();
        } else {
            pattern_node n{.domain = checked::domain, .op = checked::op, .schema = {}};
            n.first_operand = static_cast<std::int16_t>(recorder_->term_count);
            n.first_attribute = static_cast<std::int16_t>(recorder_->attribute_count);
            (add(n, args), ...);
            n.commutes = n.operand_count == 2 && detail::commutes(checked::domain, checked::op);
            std::int16_t const index = recorder_->append(recorder_->nodes, recorder_->node_count, n);
            return results<checked, Name>(
                index, std::make_index_sequence<static_cast<std::size_t>(checked::facts.output_count)>{});
        }
    }

    /// A call of an ATen operator in the program, before it is converted: `p.call<"aten::gelu">(x, "tanh")`. An operator that torch does not
    /// declare has its whole schema: `p.call<"my_ops::scale(Tensor x, float by) -> Tensor">(x, by)`. Arguments are in the order of the schema, or named,
    /// `arg<"dim">(-1)`: captures, other calls of the pattern, numbers, strings, dtypes, `p.ints({0, 1})`, `p.list(x, y)`, `absent` and
    /// `p.anything()`. An argument that is not named must have its default. `outputs<n>` asks for the elements of a list of n tensors.
    template <fixed_string Name, class... Args>
    [[nodiscard("the call is not part of the pattern")]] constexpr auto call(Args const&... args) const {
        using check = detail::call_check<Name, Args...>;
        using verdict = typename check::verdict;
#ifdef ATON_DIAGNOSIS_IN_CONDITION
        static_assert(detail::holds<verdict>);
#else
        static_assert(sizeof(verdict) != 0);
#endif
        if constexpr (!check::legal) {
            recorder_->has_error = true;
            return check::no_results();
        } else {
            std::int16_t const index = detail::record_call<check>(*recorder_, args...);
            auto const result = [&](std::size_t i) {
                return pattern_value<any_type>{
                    {.what = pattern_term::kind::node, .output = static_cast<std::uint8_t>(i), .index = index}};
            };
            if constexpr (check::results == 1) return result(0);
            else
                return [&]<std::size_t... I>(std::index_sequence<I...>) {
                    return std::tuple(result(I)...);
                }(std::make_index_sequence<check::results>{});
        }
    }

    /// A list of tensors as the argument of a call: `p.call<"aten::cat">(p.list(x, y), 1)`.
    template <class... Parts>
        requires((detail::is_pattern_value<Parts> || detail::captures_any<Parts, value>) && ...)
    [[nodiscard]] constexpr pattern_list list(Parts const&... parts) const {
        pattern_term t{.what = pattern_term::kind::list, .index = static_cast<std::int16_t>(recorder_->term_count)};
        t.count = static_cast<std::int16_t>(sizeof...(Parts));
        (recorder_->add(detail::term_of(parts)), ...);
        return {t};
    }

    /// An argument of a call that may be anything, such as the sizes of a view, which the type of the result tells.
    [[nodiscard]] constexpr pattern_anything anything() const { return {{.what = pattern_term::kind::anything}}; }

    /// A constant 1-d list of these integers.
    [[nodiscard]] constexpr pattern_integers ints(std::initializer_list<std::int64_t> list) const {
        return {recorder_->add_integers(list)};
    }

    /// Any of these parts: `p.either(p.op<"Cast">(x, attr::to_i(dtype_c<dtype::float32>)), x)` is a value with or without a Cast.
    template <class... Parts>
        requires(sizeof...(Parts) >= 2 && (detail::is_pattern_term<Parts> && ...))
    [[nodiscard]] constexpr auto either(Parts const&... parts) const {
        pattern_term t{.what = pattern_term::kind::either, .index = static_cast<std::int16_t>(recorder_->term_count)};
        t.count = static_cast<std::int16_t>(sizeof...(Parts));
        (recorder_->add(detail::term_of(parts)), ...);
        return pattern_value<(type_set{} | ... | detail::stand_in<Parts>::types)>{t};
    }

    /// A node whose result may also be used outside the match, where it stays: `p.shared(p.op<"Cos">(angles))`.
    template <type_set Types>
    [[nodiscard]] constexpr pattern_value<Types> shared(pattern_value<Types> const& part) const {
        if (part.term.what == pattern_term::kind::node) recorder_->nodes[part.term.index].shared = true;
        return part;
    }

    // Internal.
    constexpr explicit pattern(detail::pattern_recorder& r) : recorder_(&r) {}

private:
    /// The index in `More` of the domain of an operator; -1: one of ONNX's own.
    static constexpr int domain_of([[maybe_unused]] std::string_view name) {
        if constexpr (detail::count_domains<More...>() != 0)
            return detail::domain_index<More...>(detail::split_name(name).domain, detail::split_name(name).op);
        else return -1;
    }
    template <fixed_string Name>
    using call_of_domain = detail::call_of<domain_of(Name.view()), More...>;
    /// The dtypes of a result.
    template <class Checked, fixed_string Name>
    static constexpr type_set result_types(std::size_t i) {
        if constexpr (domain_of(Name.view()) < 0)
            return detail::standard_source<>::result_types(Checked::call(), static_cast<int>(i));
        else return call_of_domain<Name>::template source<Name>::result_types(Checked::call(), static_cast<int>(i));
    }

    template <class Arg>
    constexpr void add(pattern_node& n, Arg const& arg) const {
        if constexpr (attribute_like<Arg>) {
            detail::record_attribute(*recorder_, arg);
            ++n.attribute_count;
        } else if constexpr (detail::outputs_asked<Arg> == 0) {
            recorder_->add(detail::term_of(arg));
            ++n.operand_count;
        }
    }

    template <class Checked, fixed_string Name, std::size_t... I>
    static constexpr auto results(std::int16_t node, std::index_sequence<I...>) {
        auto const term = [&](std::size_t i) {
            return pattern_term{
                .what = pattern_term::kind::node, .output = static_cast<std::uint8_t>(i), .index = node};
        };
        if constexpr (sizeof...(I) == 1) return pattern_value<Checked::outcome.first_result>{term(0)};
        else return std::tuple(pattern_value<result_types<Checked, Name>(I)>{term(I)}...);
    }

    detail::pattern_recorder* recorder_;
};

} // namespace ATON_NAMESPACE::dsl
