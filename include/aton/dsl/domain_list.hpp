// SPDX-License-Identifier: MIT
// What a graph<...> names after its first opset: the last one, and domains, whose operators are found here. Several declarations of one
// domain add up.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <aton/core/fixed_string.hpp>
#include <aton/core/nearest.hpp>
#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/domain.hpp>
#include <aton/dsl/function_traits.hpp>
#include <aton/onnx/call_rules.hpp>
#include <aton/onnx/declared_schema.hpp>
#include <aton/onnx/registry.hpp>

namespace ATON_NAMESPACE::dsl::detail {

template <class T>
concept domain_type = requires { T::is_domain; };

template <class T>
constexpr void offer_domain([[maybe_unused]] nearest& near) {
    if constexpr (domain_type<T>) near.offer(T::name);
}

/// Looks up schemas in ONNX's own domains. `More` are the arguments of the graph after its first opset.
template <class... More>
struct standard_source {
    static constexpr int version(std::string_view domain) { return onnx::newest_version(domain); }
    static constexpr onnx::call_outcome evaluate(onnx::call const& c) {
        onnx::call_outcome out = onnx::evaluate(c);
        if (out.broken.kind == onnx::rule::no_such_domain) out.broken.facts.nearest = nearest_domain(c.domain);
        return out;
    }
    static constexpr std::string_view nearest_domain(std::string_view name) {
        nearest near(name);
        for (int i = 1; i < onnx::domain_count(); ++i) near.offer(onnx::domain_at(i));
        (offer_domain<More>(near), ...);
        return near.found();
    }

    static constexpr type_set result_types(onnx::call const& c, int index) { return onnx::result_types(c, index); }
};

/// The index of the operator with this name; -1: none.
constexpr int operator_index(operator_list const& operators, std::string_view name) {
    std::uint64_t const hash = hash_of(name);
    for (std::size_t i = 0; i != operators.count; ++i)
        if (operators.first[i].hash == hash) return static_cast<int>(i);
    return -1;
}

/// Looks up operator `Index` of a domain that the graph names.
template <class Domain, int Index>
struct declared_source {
    static constexpr int version(std::string_view) { return Domain::version; }
    static constexpr declared_operator const& declared() { return operators_of(Domain()).first[Index]; }
    static constexpr onnx::call_outcome evaluate(onnx::call const& c) {
        onnx::declared_schema const schema = declared().schema;
        onnx::broken_rule const broken = onnx::check_version(c, schema);
        return {broken, broken ? type_set{} : onnx::result_types_of(c, 0, schema)};
    }
    static constexpr type_set result_types(onnx::call const& c, int index) {
        return onnx::result_types_of(c, index, declared().schema);
    }
};

template <class Domain, class T>
constexpr void offer_operators([[maybe_unused]] nearest& near) {
    if constexpr (domain_type<T>)
        if (T::name == Domain::name)
            for (declared_operator const& o : operators_of(T())) near.offer(o.schema.name());
}

/// An operator that no declaration of the domain has. `More` are the arguments of the graph after its first opset.
template <class Domain, class... More>
struct missing_source {
    static constexpr int version(std::string_view) { return Domain::version; }
    static constexpr onnx::call_outcome evaluate(onnx::call const& c) {
        nearest near(c.name);
        (offer_operators<Domain, More>(near), ...);
        return {{onnx::rule::no_such_operator, c.since, c.name, {.nearest = near.found()}}, {}};
    }
    static constexpr type_set result_types(onnx::call const&, int) { return {}; }
};

/// Whether all domains with the name of `One` have its version.
template <class One, class... Others>
constexpr bool one_version() {
    if constexpr (!domain_type<One>) return true;
    else
        return (true && ... && [] {
            if constexpr (domain_type<Others>) return Others::name != One::name || Others::version == One::version;
            else return true;
        }());
}

template <class T>
constexpr bool is_domain_named([[maybe_unused]] std::string_view name) {
    if constexpr (domain_type<T>) return T::name == name;
    else return false;
}

/// How well a declaration serves a call; the highest one is used, the first of equal ones.
enum class match : std::uint8_t { none, domain, declared, defined };

template <class T>
constexpr match match_of([[maybe_unused]] std::string_view domain, [[maybe_unused]] std::string_view op) {
    if constexpr (domain_type<T>) {
        if (T::name != domain) return match::none;
        int const index = operator_index(operators_of(T()), op);
        if (index < 0) return match::domain;
        return operators_of(T()).first[index].make_body != nullptr ? match::defined : match::declared;
    } else {
        return match::none;
    }
}

/// The number of domains in `More`.
template <auto... More>
constexpr int count_domains() {
    return (0 + ... + (domain_type<type_of<More>> ? 1 : 0));
}

/// The index in `More` of the declaration of the domain with this operator, or, if none has it, of the domain; -1: no such domain.
template <auto... More>
constexpr int domain_index([[maybe_unused]] std::string_view domain, [[maybe_unused]] std::string_view op) {
    if constexpr (count_domains<More...>() == 1) { // the usual case, without a search for the operator
        int found = -1;
        [[maybe_unused]] int i = 0;
        ((found = found < 0 && is_domain_named<type_of<More>>(domain) ? i : found, ++i), ...);
        return found;
    } else {
        int found = -1;
        auto best = match::none;
        [[maybe_unused]] int i = 0;
        [[maybe_unused]] auto const compare = [&](match here) {
            if (here > best) {
                best = here;
                found = i;
            }
            ++i;
        };
        (compare(match_of<type_of<More>>(domain, op)), ...);
        return found;
    }
}

constexpr bool same_formal(onnx::formal const& a, onnx::formal const& b) {
    return a.name == b.name && a.type_var == b.type_var && a.kind == b.kind && a.homogeneous == b.homogeneous &&
           a.min_arity == b.min_arity && a.types == b.types;
}

/// Whether two declarations of an operator say the same, rules of outputs included.
constexpr bool same_declaration(onnx::declared_schema a, onnx::declared_schema b) {
    if (a.input_count() != b.input_count() || a.output_count() != b.output_count() ||
        a.attribute_count() != b.attribute_count())
        return false;
    for (int i = 0; i != a.input_count(); ++i)
        if (!same_formal(a.input(i), b.input(i))) return false;
    for (int i = 0; i != a.output_count(); ++i)
        if (!same_formal(a.output(i), b.output(i)) || a.rule(i).is != b.rule(i).is ||
            a.rule(i).first != b.rule(i).first || a.rule(i).second != b.rule(i).second)
            return false;
    for (int i = 0; i != a.attribute_count(); ++i) {
        onnx::attribute const& x = a.attr(i);
        onnx::attribute const& y = b.attr(i);
        if (x.name != y.name || x.type != y.type || x.required != y.required || x.default_text != y.default_text)
            return false;
    }
    return true;
}

/// Why one operator that two declarations of a domain contain is ambiguous.
template <class A, class B>
constexpr void find_ambiguity([[maybe_unused]] sentence& s) {
    if constexpr (domain_type<A> && domain_type<B> && !std::is_same_v<A, B>) {
        if (s.length != 0 || A::name != B::name) return;
        for (declared_operator const& a : operators_of(A())) {
            int const index = operator_index(operators_of(B()), a.schema.name());
            if (index < 0) continue;
            declared_operator const& b = operators_of(B()).first[index];
            if (!same_declaration(a.schema, b.schema))
                return void(s << A::name << "::" << a.schema.name() << ": declared twice, with different signatures");
            bool const bodies = a.make_body != nullptr && b.make_body != nullptr && a.make_body != b.make_body;
            bool const rules = a.infer != nullptr && b.infer != nullptr && a.infer != b.infer;
            if (bodies || rules)
                return void(s << A::name << "::" << a.schema.name() << ": declared twice, with different "
                              << (bodies ? "bodies" : "infer<...> rules"));
        }
    }
}

template <class One, class... Others>
constexpr void find_ambiguities(sentence& s) {
    (find_ambiguity<One, Others>(s), ...);
}

/// Whether the declarations of a domain in `More` contradict each other: `verdict` is char, or else the compile error.
template <bool Several, auto... More>
struct declarations {
    using verdict = char;
};
template <auto... More>
struct declarations<true, More...> {
    static constexpr sentence find_problem() {
        sentence s;
        (find_ambiguities<type_of<More>, type_of<More>...>(s), ...);
        return s;
    }
    static constexpr sentence problem = find_problem();
    using verdict = std::conditional_t<problem.length == 0, char, diagnosis<problem>>;
};

/// An incomplete type if the declarations of a domain contradict each other.
template <auto... More>
using declarations_verdict = typename declarations<(count_domains<More...>() > 1), More...>::verdict;

/// Whether `More` does not contain two versions of one domain.
template <auto... More>
constexpr bool one_version_of_each() {
    if constexpr (sizeof...(More) < 2) return true;
    else return (one_version<type_of<More>, type_of<More>...>() && ...);
}

/// Whether `More` contains the domain `One`; true if `One` is not a domain.
template <auto One, auto... More>
constexpr bool names_domain() {
    if constexpr (domain_type<type_of<One>>) return (std::is_same_v<type_of<One>, type_of<More>> || ...);
    else return true;
}

/// The last opset of a graph.
template <auto... More>
consteval int last_opset() {
    int until = onnx::newest_opset;
    (
        [&] {
            if constexpr (std::is_integral_v<detail::type_of<More>>) until = static_cast<int>(More);
        }(),
        ...);
    return until;
}

} // namespace ATON_NAMESPACE::dsl::detail
