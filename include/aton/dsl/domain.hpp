// SPDX-License-Identifier: MIT
// Operators outside ONNX, declared in C++ and checked like ONNX's own:
//   inline constexpr auto foo_domain = domain<"custom_domain", 1, op<"Foo(T X, T Y, float alpha, int n=1) -> (T Z = like(X))", "T: float16, float">>{};
// A graph that calls them names the domain: `graph<13, foo_domain> g; g.op<"custom_domain::Foo">(x, y, attr_f<"alpha">(0.5))`.
// Public header.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <aton/core/fixed_string.hpp>
#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/operator_body.hpp>
#include <aton/dsl/operator_rules.hpp>
#include <aton/onnx/declared_schema.hpp>
#include <aton/onnx/read_declaration.hpp>
#include <aton/onnx/registry.hpp>

namespace ATON_NAMESPACE::dsl {

namespace detail {

template <auto Rule>
struct infer_part {
    static constexpr int types = types_given<type_of<Rule>>;
    static constexpr auto infer = [] {
        if constexpr (types == 0) return nullptr; // part_problem() says so
        else return &infer_by_rule<Rule>;
    }();
};
template <auto Body>
struct body_part {
    using traits = body_traits<type_of<Body>>;
    static constexpr auto make = &add_function<Body, graph_data>;
};

template <class Part>
concept is_infer_part = requires { Part::infer; };
template <class Part>
concept is_body_part = requires { Part::make; };

} // namespace detail

/// Infers the types of an operator's results: `infer<rule>` with `value_type rule(inference const& in)`, or with an array or vector of types.
template <auto Rule>
inline constexpr detail::infer_part<Rule> infer{};

/// Defines an operator by ONNX operators, for runtimes that do not have it: `body<foo>`, where
/// `inline constexpr auto foo = [](graph<13> g, value x, value y, double alpha, std::int64_t n) { ... };` takes inputs, then attributes,
/// in the order of the declaration. The model contains it as a function.
template <auto Body>
inline constexpr detail::body_part<Body> body{};

namespace detail {

/// Rules and bodies of the operators of a domain.
template <class... Parts>
struct part_list {};
template <class... A, class... B>
constexpr part_list<A..., B...> operator+(part_list<A...>, part_list<B...>) {
    return {};
}

/// A declared operator without its C++ types; calls look it up.
struct declared_operator {
    onnx::declared_schema schema;
    std::uint64_t hash = 0; ///< of the name
    void (*infer)(graph_data&, graph_node const&, onnx::declared_schema) = nullptr;
    void (*make_body)(graph_data&, graph_node&, onnx::declared_schema, int) = nullptr;
    int body_since = 1;
    int body_until = onnx::newest_opset;
};

template <class T>
constexpr void copy_rows(T const* from, int count, T* to) {
    for (int i = 0; i != count; ++i) to[i] = from[i];
}

/// The rows of a declaration, in arrays of exact size.
template <std::size_t Inputs, std::size_t Outputs, std::size_t Vars, std::size_t Attributes>
struct declaration_rows {
    onnx::formal inputs[Inputs + 1]{};
    onnx::formal outputs[Outputs + 1]{};
    onnx::output_rule rules[Outputs + 1]{};
    onnx::type_var vars[Vars + 1]{};
    onnx::attribute attributes[Attributes + 1]{};

    constexpr explicit declaration_rows(onnx::declaration const& d) {
        copy_rows(d.inputs, d.input_count, inputs);
        copy_rows(d.outputs, d.output_count, outputs);
        copy_rows(d.rules, d.output_count, rules);
        copy_rows(d.vars, d.var_count, vars);
        copy_rows(d.attributes, d.attribute_count, attributes);
    }
};

} // namespace detail

/// An operator of a domain: `op<"Foo(T X, T? B, float alpha, int n=1) -> (T Z = like(X))", "T: float16, float", infer<rule>, body<foo>>`.
/// The type of an input or output is a type variable (constrained by the second string; by default any tensor), `any`, or a type such as
/// tensor(float); `?` makes it optional, `...` at the end variadic. Attributes are float, int, string, tensor or graph, or lists of them
/// with `[]`; one without default or `?` is required. An output may have the rule `= like(X)` or `= broadcast(X, Y)`.
template <fixed_string Declaration, fixed_string Constraints = "", auto... Parts>
struct op {
    // Internal.
    using parts = detail::part_list<detail::type_of<Parts>...>;
    static constexpr bool has_parts = sizeof...(Parts) != 0;
    static constexpr std::uint64_t hash = 31 * hash_of(Declaration.view()) + hash_of(Constraints.view());
    static constexpr onnx::declaration read = onnx::read_declaration(Declaration.view(), Constraints.view());
    static constexpr detail::declaration_rows<
        static_cast<std::size_t>(read.input_count), static_cast<std::size_t>(read.output_count),
        static_cast<std::size_t>(read.var_count), static_cast<std::size_t>(read.attribute_count)>
        rows{read};

    template <class Domain>
    static constexpr onnx::declared_schema::rows schema_in{Domain::name,
                                                           read.name,
                                                           Domain::version,
                                                           rows.inputs,
                                                           read.input_count,
                                                           rows.outputs,
                                                           rows.rules,
                                                           read.output_count,
                                                           rows.vars,
                                                           read.var_count,
                                                           rows.attributes,
                                                           read.attribute_count};

    template <class Domain>
    static constexpr detail::declared_operator make() {
        detail::declared_operator out{onnx::declared_schema(schema_in<Domain>), hash_of(read.name)};
        (add<detail::type_of<Parts>>(out), ...);
        return out;
    }

    template <class Part>
    static constexpr bool is_sound() {
        if constexpr (detail::is_body_part<Part>)
            return detail::find_body_fault<typename Part::traits>(read).rule == detail::body_rule::none;
        else if constexpr (detail::is_infer_part<Part>)
            return detail::find_infer_fault(Part::types, read).rule == detail::infer_rule::none;
        else return false;
    }
    static constexpr bool sound = !read.problem && (true && ... && is_sound<detail::type_of<Parts>>());
    /// The first error of the declaration; empty if there is none.
    static constexpr detail::sentence problem(std::string_view domain) {
        detail::sentence s;
        if (read.problem) {
            s << domain << "::" << (read.name.empty() ? Declaration.view() : read.name) << ": " << read.problem.what;
            if (!read.problem.culprit.empty()) s << ": " << read.problem.culprit;
            if (!read.problem.nearest.empty()) s << "; did you mean " << read.problem.nearest << "?";
            return s;
        }
        ((s.length == 0 ? void(s = part_problem<detail::type_of<Parts>>(domain)) : void()), ...);
        return s;
    }

private:
    template <class Part>
    static constexpr void add(detail::declared_operator& out) {
        if constexpr (detail::is_infer_part<Part>) out.infer = Part::infer;
        if constexpr (detail::is_body_part<Part>) {
            using traits = typename Part::traits;
            if constexpr (traits::value) { // else part_problem() says so
                out.make_body = Part::make;
                out.body_since = traits::graph_type::since;
                out.body_until = traits::graph_type::until;
            }
        }
    }
    template <class Part>
    static constexpr detail::sentence part_problem(std::string_view domain) {
        detail::sentence s;
        if constexpr (detail::is_body_part<Part>) {
            detail::body_fault const fault = detail::find_body_fault<typename Part::traits>(read);
            if (fault.rule != detail::body_rule::none) return describe(fault, domain, read);
        } else if constexpr (detail::is_infer_part<Part>) {
            detail::infer_fault const fault = detail::find_infer_fault(Part::types, read);
            if (fault.rule != detail::infer_rule::none) return describe(fault, domain, read);
        } else {
            s << domain << "::" << read.name << ": only infer<...> and body<...> may follow the constraints";
        }
        return s;
    }
};

namespace detail {

/// The operators of a domain.
struct operator_list {
    declared_operator const* first = nullptr;
    std::size_t count = 0;

    [[nodiscard]] constexpr declared_operator const* begin() const { return first; }
    [[nodiscard]] constexpr declared_operator const* end() const { return first + count; }
};

// Each handle has its own function, as intended.
#pragma GCC diagnostic push
#if defined(__NVCC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1301
#endif
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif

/// A domain as an argument of graph<...>. Its type is short, whatever the number of operators, because compilers often compare and print it.
template <fixed_string Name, int Version, std::uint64_t Hash, class Parts>
struct domain_handle {
    static constexpr bool is_domain = true;
    static constexpr std::string_view name = Name.view();
    static constexpr int version = Version;

    /// Defined by domain_operators.
    friend constexpr operator_list operators_of(domain_handle);
};

#if defined(__NVCC__)
#pragma nv_diagnostic pop
#endif
#pragma GCC diagnostic pop

/// Defines the operators of a handle.
template <class Handle, class... Ops>
struct domain_operators {
    static constexpr declared_operator operators[sizeof...(Ops) + 1] = {Ops::template make<Handle>()..., {}};

    friend constexpr operator_list operators_of(Handle) { return {operators, sizeof...(Ops)}; }

    static constexpr sentence find_problem() {
        sentence s;
        std::string_view const name = Handle::name;
        if (name.empty() || onnx::newest_version(name) != 0)
            return s << (name.empty() ? "ai.onnx" : name) << ": this domain belongs to ONNX; give yours another name";
        if (Handle::version < 1) return s << name << ": the version of a domain must be 1 or more";
        if (s = runtime_domain_problem(name, Handle::version); s.length != 0) return s;
        if constexpr (!(true && ... && Ops::sound)) {
            ((s.length == 0 && !Ops::sound ? void(s = Ops::problem(name)) : void()), ...);
            return s;
        }
        seen_hashes seen;
        for (std::size_t i = 0; i != sizeof...(Ops) && s.length == 0; ++i) {
            bool const maybe_duplicate = seen.add(operators[i].hash);
            for (std::size_t j = 0; maybe_duplicate && j != i && s.length == 0; ++j)
                if (operators[i].hash == operators[j].hash)
                    s << name << "::" << operators[i].schema.name() << ": declared twice";
        }
        return s;
    }
    static constexpr sentence problem = find_problem();
};

/// The parts of all operators, to distinguish domains that differ only in them.
template <bool AnyParts, class... Ops>
struct parts_of {
    using type = part_list<>;
};
template <class... Ops>
struct parts_of<true, Ops...> {
    using type = decltype((part_list<>() + ... + typename Ops::parts()));
};

template <fixed_string Name, int Version, class... Ops>
struct domain_maker {
    using type = domain_handle<Name, Version, (hash_of(Name.view()) ^ ... ^ Ops::hash),
                               typename parts_of<(false || ... || Ops::has_parts), Ops...>::type>;
    using operators = domain_operators<type, Ops...>;
    static constexpr bool sound = operators::problem.length == 0;
    using verdict = std::conditional_t<sound, char, diagnosis<operators::problem>>; // incomplete if there is a problem
#ifdef ATON_DIAGNOSIS_IN_CONDITION
    static_assert(holds<verdict>);
#else
    static_assert(sizeof(verdict) != 0);
#endif
};

} // namespace detail

/// A domain with your own operators, and the version that models import. An object of this type is an argument of graph<...>.
/// ```cpp
/// inline constexpr auto half_body = [](graph<13> g, value x, double factor) { return g.op<"Mul">(x, factor); };
/// inline constexpr auto my_ops = domain<"my_ops", 1, op<"Scale(T X, float factor=0.5) -> (T Y = like(X))", "T: float, double",
///                                                       body<half_body>>>{};
/// inline value halved(graph<13, my_ops> g, value x) { return g.op<"my_ops::Scale">(x); }
/// ```
template <fixed_string Name, int Version, class... Ops>
using domain = typename detail::domain_maker<Name, Version, Ops...>::type;

} // namespace ATON_NAMESPACE::dsl
