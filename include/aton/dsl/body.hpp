// SPDX-License-Identifier: MIT
// Nested graphs, built by lambdas: `attr::then_branch_g([&](graph<13> g) { return g.op<"Neg">(x); })`. Outer values are captured;
// If, Loop, Scan and SequenceMap determine the types of the parameters.
// Internal header.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/dsl/attr.hpp>
#include <aton/dsl/function_traits.hpp>
#include <aton/dsl/value.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::dsl::detail {

/// Whether T is an attribute whose graph a lambda builds.
template <class T>
inline constexpr bool is_body_argument = false;
template <attribute_like T>
inline constexpr bool is_body_argument<T> = graph_body<decltype(T::payload)>;

/// The number of values that a body takes after the graph; -1: a list takes the remaining ones.
template <class Parameters>
inline constexpr int values_taken = 0;
template <class... P>
inline constexpr int values_taken<std::tuple<P...>> =
    ((std::is_convertible_v<std::span<value const>, P> ? 1 : 0) + ... + 0) != 0 ? -1 : static_cast<int>(sizeof...(P));

/// An empty, open graph inside `around`; its nodes can capture outer values.
template <class Graph>
Graph open_body(Graph& around, int opset) {
    Graph inner;
    inner.name = "body";
    inner.opset = opset;
    inner.around = &around;
    inner.context = around.context;
    if (around.context.origin < around.origins.size() && around.context.origin != 0) {
        inner.origins.push_back(around.origins[around.context.origin]);
        inner.context.origin = 1;
    }
    return inner;
}

/// Closes a body that has its outputs; the outer graph imports the domains that it uses.
template <class Graph>
void leave_body(Graph& inner) {
    if (inner.around != nullptr)
        for (auto const& [domain, version] : inner.opset_imports) inner.around->import_domain(domain, version);
    inner.around = nullptr;
    inner.context = {};
}

/// Sets the outputs of a body and closes it. Captured, repeated and parameter values are returned through an Identity.
template <class Graph>
void close_body(Graph& inner, std::vector<value> const& results) {
    for (value const& v : results) {
        if (v.id() == no_value) throw error("a body returns a value that was never set, or is absent");
        value_id const here = inner.capture(v.owner(), v.id());
        if (here == no_value) throw error("a body returns a value of a graph that does not enclose it");
        bool direct = inner.values[here].producer >= 0;
        for (value_id earlier : inner.outputs) direct = direct && earlier != here;
        if (direct) {
            inner.outputs.push_back(here);
            continue;
        }
        value_id const out = inner.add_value(inner.values[here].type);
        inner.values[out].producer = static_cast<std::int64_t>(inner.nodes.size());
        auto& identity = inner.nodes.emplace_back();
        identity.op = "Identity";
        identity.inputs.push_back(here);
        identity.outputs.push_back(out);
        identity.source = inner.context.overload;
        identity.origin = inner.context.origin;
        inner.outputs.push_back(out);
    }
    leave_body(inner);
}

/// The argument for one parameter of a body: a value, or the remaining ones.
template <class Parameter>
auto body_argument(std::vector<value> const& in, std::size_t position) {
    if constexpr (std::is_convertible_v<std::span<value const>, Parameter>)
        return Parameter(std::span(in).subspan(position));
    else return in[position];
}

/// Calls a body with these values and returns its results.
template <class Body, class Graph>
std::vector<value> call_body(Body const& body, Graph& inner, int opset, std::vector<value> const& in) {
    using traits = body_traits<Body>;
    using parameters = typename traits::parameters;
    constexpr bool takes_rest = values_taken<parameters> < 0;
    constexpr std::size_t singles = traits::arity - (takes_rest ? 1 : 0);
    if (takes_rest ? in.size() < singles : in.size() != singles)
        throw illegal_call("a body takes " + std::to_string(singles) + " values, but " + std::to_string(in.size()) +
                           " are passed");
    typename traits::graph_type const g(inner, opset);
    std::vector<value> results;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        if constexpr (bindable<Body>) // otherwise rejected where the lambda is given
            returned_values<std::remove_cvref_t<typename traits::return_type>>::append(
                g, results, body(g, body_argument<std::tuple_element_t<I, parameters>>(in, I)...));
    }(std::make_index_sequence<traits::arity>{});
    return results;
}

/// The graph that a lambda builds inside `around`.
template <class Graph, class Body>
Graph build_body(Graph& around, int opset, std::vector<value_type> const& types, Body const& body) {
    Graph inner = open_body(around, opset);
    std::vector<value> in;
    for (value_type const& t : types) in.emplace_back(inner, inner.add_input({}, t));
    close_body(inner, call_body(body, inner, opset, in));
    return inner;
}

} // namespace ATON_NAMESPACE::dsl::detail
