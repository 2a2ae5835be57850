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
#include <aton/dsl/complex_rows.hpp>
#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/entry.hpp>
#include <aton/dsl/function_traits.hpp>
#include <aton/dsl/graph.hpp>
#include <aton/dsl/invocation.hpp>
#include <aton/dsl/parameter.hpp>
#include <aton/dsl/refusal.hpp>
#include <aton/dsl/signature.hpp>
#include <aton/dsl/value.hpp>

namespace ATON_NAMESPACE::dsl {

namespace detail {

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
    captures,
    reference,
    parameter_count,
    parameter_type,
    result_type,
    result_count,
    result_kind,
    new_values,     ///< the number of results, for a schema that writes to arguments
    new_value_kind, ///< a list for a tensor, or vice versa
    no_effect,      ///< a schema without results and written arguments
    complex_body    ///< for complex tensors, but takes none
};

/// The properties of a body that the rules check.
struct body_facts {
    bool is_body = false;
    bool captures = false;
    std::size_t unbindable = 0; ///< 1-based position of a parameter that is a reference to a non-const object
    std::size_t arity = 0;
    parameter_check const* parameters = nullptr;
    bool refuses = false; ///< returns nothing but a refusal
    bool drops = false;   ///< returns no_effect
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
        f.drops = std::is_same_v<returned, no_effect_t>;
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
    if (count == 0 && f.declares && !body.drops) return {row_rule::no_effect};
    if (count == body.result_count) return fault;
    return {writes ? row_rule::new_values : row_rule::result_count, count};
}

/// The first broken rule of a signature and its body.
template <std::size_t N>
constexpr row_fault find_fault(signature_facts const& f, bound_arguments<N> const& bound, body_facts const& body) {
    named_argument const* const arguments = bound.arguments;
    if (!signature_is_sound(f, arguments, bound.well_formed)) return {row_rule::signature};
    if (!body.is_body) return {}; // row_maker rejects it
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

/// The C++ type that a parameter in front of another has the name of, so that the other cannot have the type; empty: none.
constexpr std::string_view hidden_type(named_argument const* arguments, std::size_t index, std::string_view type) {
    for (std::size_t i = 0; i != index; ++i)
        for (std::string_view const word : {"value", "size", "scalar", "dtype", "number"})
            if (arguments[i].name == word && find_text(type, word) != std::string_view::npos) return word;
    return {};
}

constexpr sentence describe(row_fault fault, signature_facts const& f, named_argument const* arguments,
                            body_facts const& body) {
    if (fault.rule == row_rule::signature) return signature_problem(f, arguments);
    sentence s;
    s << f.overload << ": ";
    switch (fault.rule) {
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
        if (type.base_text.substr(0, 10) == "__torch__.")
            return s << ", an object, which a model cannot hold; declare its tensors and numbers as arguments instead";
        if (suggested_parameter(type).empty())
            return near_type(type).empty()
                       ? s << ", which no C++ parameter type can hold; declare " << writable_instead(type) << " instead"
                       : s << ", which is not a type of a schema; did you mean " << near_type(type) << "?";
        if (!body.parameters[fault.index].wanted.empty())
            s << ", but the parameter takes " << body.parameters[fault.index].wanted;
        bool const wrap = type.optional && type.list;
        s << "; write " << (wrap ? "std::optional<" : "") << suggested_parameter(type) << (wrap ? ">" : "");
        std::string_view const hidden = hidden_type(arguments, fault.index, suggested_parameter(type));
        return hidden.empty() ? s : s << "; the parameter called " << hidden << " hides the type, so rename it";
    }
    case row_rule::result_type: return s << "the body must return a value, a tuple of values or a vector of values";
    case row_rule::result_count: {
        int const declared = static_cast<int>(fault.index);
        s << "the schema returns " << declared << (declared == 1 ? " result" : " results") << ", but the body returns ";
        bool const is_list = body.result_count == 1 && body.results[0] == result_kind::list;
        return is_list ? s << "a list; return a std::tuple" : s << static_cast<int>(body.result_count);
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
    case row_rule::no_effect:
        return s << "the schema has no results and marks no argument that the operator writes to; write Tensor(a!) for "
                    "each of them, or return no_effect if calls may be left out";
    case row_rule::complex_body:
        return s
               << "the body for complex tensors takes none; write complex_value for the arguments that may be complex";
    default: return s;
    }
}

} // namespace detail

namespace detail {

/// `ForComplex`: the body is that of `for_complex`, which may also serve calls without complex tensors, such as ones(dtype=complex64).
template <class Signature, class Body, bool ForComplex = false>
struct row_check {
    static constexpr row_fault fault = [] {
        row_fault const found = find_fault(Signature::facts, Signature::bound, facts_of_body<Body>());
        if constexpr (ForComplex && body_traits<Body>::value)
            if (found.rule == row_rule::none && !takes_complex<typename body_traits<Body>::parameters> &&
                has_tensors(Signature::bound))
                return row_fault{row_rule::complex_body};
        return found;
    }();
    static constexpr sentence problem =
        fault.rule == row_rule::none
            ? sentence{}
            : describe(fault, Signature::facts, Signature::bound.arguments, facts_of_body<Body>());
    using verdict = std::conditional_t<fault.rule == row_rule::none, char, diagnosis<problem>>; // incomplete
};

/// Calls a body with the arguments that its row names, and stores its results. Does not depend on the signature, whose text would be
/// in the name of each function.
template <class Body, class Indices = std::make_index_sequence<body_traits<Body>::arity>>
struct body_call;
template <class Body, std::size_t... I>
struct body_call<Body, std::index_sequence<I...>> {
    static void run(invocation& in) {
        using traits = body_traits<Body>;
        using returned = std::remove_cvref_t<typename traits::return_type>;
        typename traits::graph_type const g(in.graph, in.opset);
        if constexpr (!bindable<Body>) {
            return; // rejected where the row is made
        } else if constexpr (std::is_same_v<returned, refusal> || std::is_void_v<returned>) {
            Body{}(g,
                   parameter<std::tuple_element_t<I, typename traits::parameters>>::get(
                       in.arguments[in.row->named[I]])...);
        } else {
            result_traits<returned>::store(in,
                                           Body{}(g,
                                                  parameter<std::tuple_element_t<I, typename traits::parameters>>::get(
                                                      in.arguments[in.row->named[I]])...));
        }
    }
};

} // namespace detail

/// A signature with its body. A row is also callable: `row(g, x, alpha)` calls the body from another mapping. `Complex` converts calls with
/// complex tensors: a body, or detail::each_part.
template <fixed_string Text, class Body, bool Overrides = false, class Complex = void>
struct row {
    /// Whether the row was made with `override_`.
    static constexpr bool overrides = Overrides;
    /// Calls the body with the graph and the arguments that it takes, in its order. Throws what the body throws.
    template <class Graph, class... Args>
    constexpr decltype(auto) operator()(Graph g, Args const&... args) const {
        return Body{}(g, args...);
    }

    /// The same row with a second body, for calls with complex tensors, numbers or dtypes. It takes the arguments that the signature names;
    /// those that may be complex as `complex_value`.
    /// ```cpp
    /// inline constexpr auto square = symbolic<"aten::square(self)">([](graph<13> g, value x) {
    ///     return g.op<"Mul">(x, x);
    /// }).for_complex([](graph<13> g, complex_value z) {
    ///     value const re = g.real(z);
    ///     value const im = g.imag(z);
    ///     value const both = g.op<"Mul">(re, im);
    ///     return g.complex(g.op<"Sub">(g.op<"Mul">(re, re), g.op<"Mul">(im, im)), g.op<"Add">(both, both));
    /// });
    /// ```
    template <class Other>
    constexpr row<Text, Body, Overrides, Other> for_complex(Other) const {
        using verdict = typename detail::row_check<signature, Other, true>::verdict;
#ifdef ATON_DIAGNOSIS_IN_CONDITION
        static_assert(detail::holds<verdict>);
#else
        static_assert(sizeof(verdict) != 0);
#endif
        return {};
    }
    /// The same row, whose body also converts complex tensors: once the real parts of the named arguments, once their imaginary parts. Right
    /// for operators that are linear in these arguments together: views, sums, concatenations.
    /// ```cpp
    /// inline constexpr auto negative = symbolic<"aten::neg(self)">([](graph<13> g, value x) { return g.op<"Neg">(x); }).by_parts<"self">();
    /// ```
    template <fixed_string... Names>
    constexpr auto by_parts() const {
        using verdict = typename detail::parts_check<signature, Names...>::verdict;
#ifdef ATON_DIAGNOSIS_IN_CONDITION
        static_assert(detail::holds<verdict>);
#else
        static_assert(sizeof(verdict) != 0);
#endif
        return row<Text, Body, Overrides, detail::each_part<detail::parts_mask<Names...>(signature::bound)>>{};
    }

    // Internal.
    using signature = detail::signature<Text>;
    using body = Body;
    using traits = detail::body_traits<Body>;
    static constexpr bool takes_complex =
        !std::is_void_v<Complex> || detail::takes_complex<typename traits::parameters>;
    /// Converts a call, of real tensors or of complex ones.
    static void run_either(invocation& in) {
        if (!in.complex) return detail::body_call<Body>::run(in);
        if constexpr (detail::is_each_part<Complex>) {
            detail::run_by_parts(in, Complex::mask, &detail::body_call<Body>::run);
        } else {
            using body_graph = typename detail::body_traits<Complex>::graph_type;
            detail::require_opset_of_complex(in.opset, body_graph::since, body_graph::until);
            detail::body_call<Complex>::run(in);
        }
    }
    /// The function that converts a call.
    static constexpr auto runner() -> void (*)(invocation&) {
        if constexpr (std::is_void_v<Complex>) return &detail::body_call<Body>::run;
        else return &run_either;
    }
};

namespace detail {

template <fixed_string Text, bool Overrides>
struct row_maker {
    /// Binds a body to the signature; any mismatch is a compile error, after which the row is not instantiated.
    template <class Body>
    constexpr row<Text, Body, Overrides> operator()(Body) const {
        using verdict = typename row_check<signature<Text>, Body>::verdict;
#ifdef ATON_DIAGNOSIS_IN_CONDITION
        static_assert(holds<verdict>);
#else
        static_assert(sizeof(verdict) != 0);
#endif
        constexpr bool is_body = body_traits<Body>::value || has_reported_error<Body>();
        require_reported_error<Body>();
        static_assert(is_body,
                      "the body must be a lambda whose first parameter is a graph<...> by value, with no auto "
                      "parameters; if it has an error, correct that first (an attribute that ONNX does not have is "
                      "attr_i<\"name\">)");
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
