// SPDX-License-Identifier: MIT
// `call_aten<"aten::gelu">(mappings::activation, g, x, "tanh")`: calls a mapping by its overload, with ATen's defaults and conversions of
// arguments. The call is checked against the schema at compile time (given_argument.hpp).
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/aten/mutation.hpp>
#include <aton/core/error.hpp>
#include <aton/core/fixed_string.hpp>
#include <aton/core/safe_list.hpp>
#include <aton/dsl/binding.hpp>
#include <aton/dsl/given_argument.hpp>
#include <aton/dsl/table.hpp>
#include <aton/dsl/table_coverage.hpp>

namespace ATON_NAMESPACE::dsl {

namespace detail {

enum class call_rule : std::uint8_t { none, overload, unknown, twice, too_many, type, missing };

/// The first broken rule of a call, with the argument of the schema or of the call that breaks it.
struct call_fault {
    call_rule rule = call_rule::none;
    aten::schema_argument formal = {};
    given_argument given = {};
    int count = 0;
};

enum class returned_kind : std::uint8_t { single, optional, list };

constexpr returned_kind kind_of(aten::schema_type const& t) {
    return t.list ? returned_kind::list : t.optional ? returned_kind::optional : returned_kind::single;
}

/// A call of `Source::schema` with arguments of these C++ types.
template <class Source, class... Args>
struct mapping_call {
    static constexpr std::string_view overload = Source::overload;
    static constexpr std::string_view schema = Source::schema;
    static constexpr std::size_t given_count = sizeof...(Args);
    static constexpr given_argument given[given_count + 1] = {given_facts<Args>::value..., {}};

    /// The position of an argument in the schema; -1: none has its name.
    static constexpr int position_of(std::size_t index) {
        if (given[index].name.empty()) return static_cast<int>(index);
        aten::schema_argument found;
        int position = -1;
        return aten::find_argument(schema, given[index].name, found, position) ? position : -1;
    }

    static constexpr call_fault find_fault() {
        if (schema.empty()) return {call_rule::overload};
        int const count = aten::argument_count(schema);
        for (std::size_t i = 0; i != given_count; ++i) {
            if (position_of(i) < 0) return {call_rule::unknown, {}, given[i]};
            if (position_of(i) >= count) return {call_rule::too_many, {}, {}, count};
        }
        aten::argument_cursor cursor(schema);
        aten::schema_argument formal;
        for (int position = 0; cursor.next(formal); ++position) {
            bool is_given = false;
            for (std::size_t i = 0; i != given_count; ++i) {
                if (position_of(i) != position) continue;
                if (is_given) return {call_rule::twice, formal};
                if (!takes(formal.type, given[i])) return {call_rule::type, formal, given[i]};
                is_given = true;
            }
            if (!is_given && !formal.has_default) return {call_rule::missing, formal};
        }
        return {};
    }
    static constexpr call_fault fault = find_fault();
    static constexpr bool legal = fault.rule == call_rule::none;

    static constexpr sentence describe_problem() {
        sentence s;
        s << Source::overload << ": ";
        aten::schema_argument const& formal = fault.formal;
        switch (fault.rule) {
        case call_rule::overload: {
            auto const near = aten::nearest_overload(Source::overload);
            s << "no such ATen operator";
            return near.empty() ? s : s << "; did you mean " << near << "?";
        }
        case call_rule::unknown: {
            auto const near = aten::nearest_argument(schema, fault.given.name);
            s << "no argument " << fault.given.name;
            return near.empty() ? s : s << "; did you mean " << near << "?";
        }
        case call_rule::twice: return s << "argument " << formal.name << " is given twice";
        case call_rule::too_many:
            return s << static_cast<int>(given_count) << " arguments given, at most " << fault.count << " allowed";
        case call_rule::type:
            return s << "argument " << formal.name << " is " << formal.type.text << ", given "
                     << (fault.given.optional && fault.given.kind != given_kind::none ? "an optional of " : "")
                     << describe(fault.given.kind);
        case call_rule::missing: return s << "argument " << formal.name << " (" << formal.type.text << ") is missing";
        default: return s;
        }
    }
    static constexpr sentence problem = legal ? sentence{} : describe_problem();

    /// The arguments in the order of the schema; those that are not given are missing.
    static std::vector<argument> bind(Args const&... args) {
        std::vector<argument> out(static_cast<std::size_t>(aten::argument_count(schema)));
        std::size_t i = 0;
        ((out[static_cast<std::size_t>(position_of(i))] = to_argument(args), ++i), ...);
        return out;
    }

    // The results: those of the schema, then the new values of the arguments that it writes to.
    static constexpr std::size_t result_count = [] {
        std::size_t n = 0;
        aten::functional_result r;
        if (legal)
            for (aten::functional_cursor cursor(schema); cursor.next(r);) ++n;
        return n;
    }();
    static constexpr returned_kind kind_at(std::size_t index) {
        aten::functional_cursor cursor(schema);
        aten::functional_result r;
        for (std::size_t i = 0; i <= index; ++i) cursor.next(r);
        return kind_of(r.type);
    }
};

/// Sets the context of a call inside a call, which counts against the limits of the outer one.
template <class Graph>
class inner_call {
public:
    inner_call(Graph& graph, entry const& row) : graph_(graph), outer_(graph.context), first_node_(graph.nodes.size()) {
        graph.context.overload = row.overload;
        graph.context.expected.clear();
    }
    inner_call(inner_call const&) = delete;
    inner_call& operator=(inner_call const&) = delete;
    ~inner_call() {
        outer_.nodes_left = graph_.context.nodes_left;
        outer_.constant_bytes_left = graph_.context.constant_bytes_left;
        graph_.context = std::move(outer_);
        for (std::size_t i = first_node_; i < graph_.nodes.size(); ++i) // they belong to the outer call
            graph_.nodes[i].source.assign(graph_.context.overload.data(), graph_.context.overload.size());
    }

private:
    Graph& graph_;
    node_context outer_;
    std::size_t first_node_;
};

/// Runs a row inside the body of another one.
template <class Graph>
std::vector<result> run_inside(Graph& graph, entry const& row, int opset, std::vector<argument> arguments) {
    inner_call<Graph> const scope(graph, row);
    try {
        std::vector<bound_argument> const bound =
            bind_arguments<bound_argument>(graph, row.overload, row.schema, row.named, std::move(arguments));
        graph.context.first_argument = bound.data();
        graph.context.argument_count = static_cast<std::uint32_t>(bound.size());
        invocation in{graph, opset, bound, {}, &row};
        row.run(in);
        return std::move(in.results);
    } catch (unsupported_error const& e) {
        throw unsupported_error(std::string(row.overload) + ": " + std::string(e.reason()));
    } catch (illegal_call const& e) {
        throw illegal_call(std::string(row.overload) + ": " + e.what());
    }
}

/// Result `I` of a call as the schema declares it.
template <class Call, std::size_t I>
auto result_at(std::vector<result> const& all) {
    if (I >= all.size()) throw unsupported_error("the mapping does not produce result " + std::to_string(I + 1));
    if constexpr (Call::kind_at(I) == returned_kind::list) return safe_vector<value>(all[I].list);
    else if constexpr (Call::kind_at(I) == returned_kind::optional) return all[I].single;
    else if (all[I].single) return *all[I].single;
    else throw unsupported_error("the mapping does not produce result " + std::to_string(I + 1));
}

/// Calls a row and returns what the schema returns.
template <class Call, class Graph, class... Args>
auto call_mapping(Graph g, entry const* row, Args const&... args) {
    if (row == nullptr)
        throw unsupported_error(std::string(Call::overload) + ": no mapping at opset " + std::to_string(g.opset()));
    if (row->schema != Call::schema)
        throw unsupported_error(std::string(Call::overload) + ": the row declares another schema, " +
                                std::string(row->schema));
    [[maybe_unused]] std::vector<result> const all = run_inside(g.data(), *row, g.opset(), Call::bind(args...));
    if constexpr (Call::result_count == 1) {
        return result_at<Call, 0>(all);
    } else if constexpr (Call::result_count > 1) {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return std::tuple(result_at<Call, I>(all)...);
        }(std::make_index_sequence<Call::result_count>{});
    }
}

/// The schema of an overload in a table known to the compiler, and the part of the range of a graph that it does not cover.
template <fixed_string Overload, int Since, int Until, class... Rows>
struct row_source {
    static constexpr std::string_view overload = Overload.view();
    static constexpr table_view rows = table_type<Rows...>::entries;
    static constexpr coverage_gap gap = gap_of(rows, Overload.view(), Since, Until);
    static constexpr std::string_view schema = [] {
        for (entry const& e : rows)
            if (e.overload == Overload.view()) return e.schema;
        return std::string_view{};
    }();
    static constexpr sentence problem = describe(gap, rows, Since, Until);
};

/// The schema of an overload of torch.
template <fixed_string Overload>
struct torch_source {
    static constexpr std::string_view overload = Overload.view();
    static constexpr std::string_view schema = aten::find_schema(overload);
};

} // namespace detail

/// Calls the mapping of an overload from the body of another row: `call_aten<"aten::gelu">(mappings::activation, g, x, "tanh")`. Arguments are
/// in the order of ATen's schema, or named, `arg<"alpha">(2)`; missing ones get their defaults. The table needs rows for the whole
/// range of `g`; where it has several, the one for the target opset is called. Returns what the schema returns: a value, an
/// optional_value for `Tensor?`, a vector for a list, a tuple of several.
/// Throws unsupported_error if the mapping refuses or declines.
/// ```cpp
/// #include <aton/dsl/call_aten.hpp>
/// #include <aton/mappings/activation.hpp>
///
/// inline constexpr auto gated = symbolic<"my_ops::geglu(Tensor x, Tensor gate) -> Tensor">([](graph<13> g, value x, value gate) -> value {
///     return g.op<"Mul">(x, call_aten<"aten::gelu">(aton::mappings::activation, g, gate, arg<"approximate">("tanh")));
/// });
/// ```
template <fixed_string Overload, class... Rows, class Graph, class... Args>
auto call_aten(table_type<Rows...> const&, Graph g, Args const&... args) {
    using source = detail::row_source<Overload, Graph::since, Graph::until, Rows...>;
    if constexpr (source::gap.opset != 0) {
        (void)sizeof(detail::diagnosis<source::problem>);
        return value();
    } else {
        using call = detail::mapping_call<source, Args...>;
        if constexpr (!call::legal) (void)sizeof(detail::diagnosis<call::problem>);
        else return detail::call_mapping<call>(g, find(source::rows, Overload.view(), g.opset()), args...);
    }
}

/// The same with tables that are searched when the graph is built, such as `aton::mappings::built_in_tables()`, which need not be compiled
/// here. The overload must be torch's. Throws unsupported_error if no table has a row for it at the target opset.
template <fixed_string Overload, class Graph, class... Args>
auto call_aten(std::span<table_view const> tables, Graph g, Args const&... args) {
    using call = detail::mapping_call<detail::torch_source<Overload>, Args...>;
    if constexpr (!call::legal) (void)sizeof(detail::diagnosis<call::problem>);
    else return detail::call_mapping<call>(g, find(tables, Overload.view(), g.opset()), args...);
}

} // namespace ATON_NAMESPACE::dsl
