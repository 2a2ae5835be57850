// SPDX-License-Identifier: MIT
// A symbolic function: converts calls of one ATen overload to ONNX operators, for a range of opsets.
// Public header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/aten/mutation.hpp>
#include <aton/core/fixed_string.hpp>
#include <aton/dsl/argument.hpp>
#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/function_traits.hpp>
#include <aton/dsl/graph.hpp>
#include <aton/dsl/parameter.hpp>
#include <aton/dsl/signature.hpp>
#include <aton/dsl/value.hpp>

namespace ATON_NAMESPACE::dsl {

/// One result of a mapping: a tensor (absent if the body does not produce it) or a list of tensors. The results of the schema are
/// followed by the new values of the arguments that it writes to (aten/mutation.hpp).
struct result {
    optional_value single;
    std::vector<value> list;
    bool is_list = false;
};

struct entry;

/// A call of a mapping: bound arguments in schema order, and the results.
struct invocation {
    graph_data& graph;
    int opset;
    std::span<bound_argument const> arguments;
    std::vector<result> results;
    entry const* row = nullptr; ///< the row that is called
};

namespace detail {

// The result type of a body, to be compared with the schema's returns.

enum class result_kind : std::uint8_t { none, single, list };

/// The same kind N times.
template <std::size_t N>
struct array_kinds {
    result_kind kinds[N + 1]{};
    constexpr explicit array_kinds(result_kind each) {
        for (std::size_t i = 0; i != N; ++i) kinds[i] = each;
    }
};

template <class R>
struct result_traits {
    static constexpr bool known = std::derived_from<R, value> || std::same_as<R, sym_int> || std::same_as<R, number> ||
                                  std::same_as<R, optional_value>;
    static constexpr std::size_t count = 1;
    static constexpr result_kind kinds[1] = {result_kind::single};
    static void store(invocation& in, R const& r) {
        if constexpr (std::same_as<R, sym_int> || std::same_as<R, number>) {
            in.results.push_back({graph<1>(in.graph, in.opset).to_value(r), {}, false});
        } else {
            in.results.push_back({r, {}, false});
        }
    }
};
template <>
struct result_traits<void> {
    static constexpr bool known = true;
    static constexpr std::size_t count = 0;
    static constexpr result_kind kinds[1] = {result_kind::none};
};
template <>
struct result_traits<std::vector<value>> {
    static constexpr bool known = true;
    static constexpr std::size_t count = 1;
    static constexpr result_kind kinds[1] = {result_kind::list};
    template <class Invocation>
    static void store(Invocation& in, std::vector<value> r) {
        in.results.push_back({{}, std::move(r), true});
    }
};
template <>
struct result_traits<safe_vector<value>> : result_traits<std::vector<value>> {};
template <class... R>
struct result_traits<std::tuple<R...>> {
    static constexpr bool known = (result_traits<R>::known && ...);
    static constexpr std::size_t count = sizeof...(R);
    static constexpr result_kind kinds[sizeof...(R) + 1] = {result_traits<R>::kinds[0]..., result_kind::none};
    static void store(invocation& in, std::tuple<R...> const& r) {
        std::apply([&](R const&... each) { (result_traits<R>::store(in, each), ...); }, r);
    }
};
template <class A, class B>
struct result_traits<std::pair<A, B>> : result_traits<std::tuple<A, B>> {};
template <class R, std::size_t N>
struct result_traits<std::array<R, N>> {
    static constexpr bool known = result_traits<R>::known;
    static constexpr std::size_t count = N;
    static constexpr array_kinds<N> all{result_traits<R>::kinds[0]};
    static constexpr result_kind const* kinds = all.kinds;
    static void store(invocation& in, std::array<R, N> const& r) {
        for (R const& each : r) result_traits<R>::store(in, each);
    }
};

/// The type-erased parameter<P> of one parameter of a body.
struct parameter_check {
    std::string_view wanted;
    bool (*accepts)(aten::schema_type const&) = nullptr;
};

template <class Parameters>
struct parameter_checks;
template <class... P>
struct parameter_checks<std::tuple<P...>> {
    static constexpr parameter_check rows[sizeof...(P) + 1] = {{parameter<P>::wanted, &parameter<P>::accepts}..., {}};
};

enum class row_rule : std::uint8_t {
    none,
    signature,
    body,
    captures,
    reference,
    parameter_count,
    parameter_type,
    result_type,
    result_count,
    result_kind,
    new_values,    ///< the number of results, for a schema that writes to arguments
    new_value_kind ///< a list for a tensor, or vice versa
};

/// The properties of a body that the rules check.
struct body_facts {
    bool is_body = false;
    bool captures = false;
    std::size_t unbindable = 0; ///< 1-based position of a parameter that is a reference to a non-const object
    std::size_t arity = 0;
    parameter_check const* parameters = nullptr;
    bool refuses = false; ///< returns nothing but a refusal
    bool known_result = false;
    std::size_t result_count = 0;
    result_kind const* results = nullptr;
};

template <class Body>
constexpr body_facts facts_of_body() {
    body_facts f;
    using traits = body_traits<Body>;
    if constexpr (traits::value) {
        using returned = std::remove_cvref_t<typename traits::return_type>;
        f.is_body = true;
        f.captures = !std::is_empty_v<Body>;
        f.unbindable = traits::unbindable;
        f.arity = traits::arity;
        f.parameters = parameter_checks<typename traits::parameters>::rows;
        f.refuses = std::is_same_v<returned, refusal>;
        f.known_result = result_traits<returned>::known;
        f.result_count = result_traits<returned>::count;
        f.results = result_traits<returned>::kinds;
    }
    return f;
}

struct row_fault {
    row_rule rule = row_rule::none;
    std::size_t index = 0;
};

constexpr bool is_new_value(aten::schema_return const&) { return false; }
constexpr bool is_new_value(aten::functional_result const& r) { return !r.written.empty(); }

/// The first mismatch between the results of a body and those of the schema, which `Cursor` iterates over.
template <class Cursor>
constexpr row_fault find_result_fault(signature_facts const& f, body_facts const& body) {
    Cursor cursor(f.schema);
    std::conditional_t<std::is_same_v<Cursor, aten::return_cursor>, aten::schema_return, aten::functional_result> r;
    row_fault fault;
    bool writes = false;
    std::size_t count = 0;
    for (; cursor.next(r); ++count) {
        writes = writes || is_new_value(r);
        if (count < body.result_count && fault.rule == row_rule::none &&
            r.type.list != (body.results[count] == result_kind::list))
            fault = {is_new_value(r) ? row_rule::new_value_kind : row_rule::result_kind, count};
    }
    if (count == body.result_count) return fault;
    return {writes ? row_rule::new_values : row_rule::result_count, count};
}

/// The first broken rule of a signature and its body.
template <std::size_t N>
constexpr row_fault find_fault(signature_facts const& f, bound_arguments<N> const& bound, body_facts const& body) {
    named_argument const* const arguments = bound.arguments;
    if (!signature_is_sound(f, arguments, bound.well_formed)) return {row_rule::signature};
    if (!body.is_body) return {row_rule::body};
    if (body.captures) return {row_rule::captures};
    if (body.unbindable != 0) return {row_rule::reference};
    if (body.arity != f.count) return {row_rule::parameter_count};
    for (std::size_t i = 0; i != f.count; ++i)
        if (!body.parameters[i].accepts(arguments[i].type)) return {row_rule::parameter_type, i};
    if (body.refuses) return {};
    if (!body.known_result) return {row_rule::result_type};
    if (f.schema.find('!') != std::string_view::npos) return find_result_fault<aten::functional_cursor>(f, body);
    return find_result_fault<aten::return_cursor>(f, body);
}

constexpr aten::schema_type return_type_at(std::string_view schema, std::size_t index) {
    aten::return_cursor cursor(schema);
    aten::schema_return r;
    for (std::size_t i = 0; i <= index; ++i) cursor.next(r);
    return r.type;
}

/// "1 result, then the new values of x, y": the expected results of a body whose schema writes to arguments.
constexpr void describe_new_values(sentence& s, std::string_view schema, std::size_t count) {
    aten::functional_cursor cursor(schema);
    aten::functional_result r;
    std::size_t results = 0;
    while (cursor.next(r) && !is_new_value(r)) ++results;
    if (results != 0) s << static_cast<int>(results) << (results == 1 ? " result" : " results") << ", then ";
    s << (count - results == 1 ? "the new value of " : "the new values of ") << r.written;
    while (cursor.next(r)) s << ", " << r.written;
}

constexpr sentence describe(row_fault fault, signature_facts const& f, named_argument const* arguments,
                            body_facts const& body) {
    if (fault.rule == row_rule::signature) return signature_problem(f, arguments);
    sentence s;
    s << f.overload << ": ";
    switch (fault.rule) {
    case row_rule::body:
        return s << "the body must be a lambda whose first parameter is a graph<...> by value, with no auto parameters";
    case row_rule::captures: return s << "the body must not capture anything";
    case row_rule::reference:
        return s << "parameter " << static_cast<int>(body.unbindable)
                 << " of the body after the graph is a non-const reference; take it by value";
    case row_rule::parameter_count:
        return s << "the signature names " << static_cast<int>(f.count) << (f.count == 1 ? " argument" : " arguments")
                 << ", but the body takes " << static_cast<int>(body.arity) << " after the graph";
    case row_rule::parameter_type: {
        aten::schema_type const& type = arguments[fault.index].type;
        s << "argument " << arguments[fault.index].name << " is " << type.text;
        if (type.base_text.substr(0, 10) == "__torch__.") return s << ", an object, which a model cannot hold";
        if (suggested_parameter(type).empty()) return s << ", which no C++ parameter type can hold";
        if (!body.parameters[fault.index].wanted.empty())
            s << ", but the parameter takes " << body.parameters[fault.index].wanted;
        bool const wrap = type.optional && type.list;
        return s << "; write " << (wrap ? "std::optional<" : "") << suggested_parameter(type) << (wrap ? ">" : "");
    }
    case row_rule::result_type: return s << "the body must return a value, a tuple of values or a vector of values";
    case row_rule::result_count: {
        int const declared = static_cast<int>(fault.index);
        return s << "the schema returns " << declared << (declared == 1 ? " result" : " results")
                 << ", but the body returns " << static_cast<int>(body.result_count);
    }
    case row_rule::result_kind: {
        aten::schema_type const type = return_type_at(f.schema, fault.index);
        return s << "result " << static_cast<int>(fault.index + 1) << " is " << type.text
                 << (type.list ? "; return a std::vector<value>" : "; return a value");
    }
    case row_rule::new_values:
        s << "the body returns " << static_cast<int>(body.result_count)
          << (body.result_count == 1 ? " value" : " values") << ", not " << static_cast<int>(fault.index) << ": ";
        describe_new_values(s, f.schema, fault.index);
        return s << ", which the operator writes to";
    case row_rule::new_value_kind: {
        aten::functional_cursor cursor(f.schema);
        aten::functional_result r;
        for (std::size_t i = 0; i <= fault.index; ++i) cursor.next(r);
        return s << "value " << static_cast<int>(fault.index + 1) << " is the new value of " << r.written << ", "
                 << r.type.text << (r.type.list ? "; return a std::vector<value>" : "; return a value");
    }
    default: return s;
    }
}

} // namespace detail

/// A signature with its body. A row is also callable: `row(g, x, alpha)` calls the body from another mapping.
template <fixed_string Text, class Body, bool Overrides = false>
struct row {
    /// Whether the row was made with `override_`.
    static constexpr bool overrides = Overrides;
    /// Calls the body with the graph and the arguments that it takes, in its order. Throws what the body throws.
    template <class Graph, class... Args>
    constexpr decltype(auto) operator()(Graph g, Args const&... args) const {
        return Body{}(g, args...);
    }

    // Internal.
    using signature = detail::signature<Text>;
    using traits = detail::body_traits<Body>;
    static void run(invocation& in) { run(in, std::make_index_sequence<signature::count>{}); }

private:
    template <std::size_t... I>
    static void run(invocation& in, std::index_sequence<I...>) {
        using returned = std::remove_cvref_t<typename traits::return_type>;
        typename traits::graph_type const g(in.graph, in.opset);
        if constexpr (traits::unbindable != 0) {
            return; // rejected where the row is made
        } else if constexpr (std::is_same_v<returned, refusal> || std::is_void_v<returned>) {
            Body{}(g,
                   detail::parameter<std::tuple_element_t<I, typename traits::parameters>>::get(
                       in.arguments[signature::bound.positions[I]])...);
        } else {
            detail::result_traits<returned>::store(
                in,
                Body{}(g,
                       detail::parameter<std::tuple_element_t<I, typename traits::parameters>>::get(
                           in.arguments[signature::bound.positions[I]])...));
        }
    }
};

namespace detail {

template <class Signature, class Body>
struct row_check {
    static constexpr row_fault fault = find_fault(Signature::facts, Signature::bound, facts_of_body<Body>());
    static constexpr sentence problem =
        fault.rule == row_rule::none
            ? sentence{}
            : describe(fault, Signature::facts, Signature::bound.arguments, facts_of_body<Body>());
};

template <fixed_string Text, bool Overrides>
struct row_maker {
    /// Binds a body to the signature; any mismatch is a compile error.
    template <class Body>
    constexpr row<Text, Body, Overrides> operator()(Body) const {
        using check = row_check<signature<Text>, Body>;
        if constexpr (check::fault.rule != row_rule::none) (void)sizeof(diagnosis<check::problem>);
        return {};
    }
};

} // namespace detail

/// `symbolic<"aten::elu(self, alpha, scale)">(body)`: names the arguments that the body takes, in its order. Arguments that are not named
/// must have their schema defaults in an exported call. For operators that torch does not declare, the string is a whole schema.
/// ```cpp
/// inline constexpr auto elu = symbolic<"aten::elu(self, alpha)">( // `scale` and `input_scale` must be 1
///     [](graph<13> g, value x, double alpha) { return g.op<"Elu">(x, attr::alpha_f(alpha)); });
/// ```
template <fixed_string Text>
inline constexpr detail::row_maker<Text, false> symbolic{};

/// The same for a row that replaces one in a later table or in the built-in library; without `override_`, the export is refused. If it
/// replaces nothing, it is an ordinary row.
/// ```cpp
/// inline constexpr auto my_table = table(
///     override_<"aten::relu(self)">([](graph<14> g, value x) { return g.op<"Max">(x, g.scalar_like(0, x)); }));
/// ```
template <fixed_string Text>
// NOLINTNEXTLINE(readability-identifier-naming): `override` has a meaning in C++.
inline constexpr detail::row_maker<Text, true> override_{};

} // namespace ATON_NAMESPACE::dsl
