// SPDX-License-Identifier: MIT
// Tables of symbolic functions: built at compile time, joined with +, looked up by overload and target opset.
// Public header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/hana/at.hpp>
#include <boost/hana/tuple.hpp>

#include <aton/core/budget.hpp>
#include <aton/dsl/binding.hpp>
#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/entry.hpp>
#include <aton/dsl/symbolic.hpp>

namespace ATON_NAMESPACE::dsl {

namespace detail {

template <class Row>
constexpr entry make_entry() {
    using signature = typename Row::signature;
    constexpr row_rule broken = row_check<signature, typename Row::body>::fault.rule;
    if constexpr (Row::traits::value && broken == row_rule::none) {
        constexpr signature_facts const& f = signature::facts;
        return {f.overload,
                f.schema,
                Row::traits::graph_type::since,
                Row::traits::graph_type::until,
                {signature::bound.positions, f.count},
                Row::runner(),
                hash_of(f.overload),
                Row::overrides,
                nullptr,
                Row::takes_complex};
    } else {
        return {};
    }
}

template <class T>
inline constexpr bool is_row = requires { typename T::signature; };

constexpr bool overlap(entry const& a, entry const& b) {
    return a.hash == b.hash && a.since <= b.until && b.since <= a.until && a.overload == b.overload;
}

constexpr sentence duplicate_row(table_view rows) {
    sentence s;
    seen_hashes seen;
    for (std::size_t i = 0; i != rows.size(); ++i) {
        if (!seen.add(rows[i].hash)) continue;
        for (std::size_t j = 0; j != i; ++j)
            if (overlap(rows[i], rows[j]))
                return s << rows[i].overload << ": two rows of the table cover opset "
                         << (rows[i].since > rows[j].since ? rows[i].since : rows[j].since)
                         << "; their ranges must not overlap";
    }
    return s;
}

/// Whether a call is one with complex numbers. Refuses complex tensors as arguments of a row for reals.
template <class Row, class Argument>
bool is_complex_call(Row const& row, std::vector<Argument> const& arguments) {
    bool found = false;
    for (Argument const& a : arguments) {
        dtype const type = complex_type(a);
        if (type != dtype::undefined && !row.takes_complex)
            throw unsupported_error("argument '" + std::string(a.name) + "' is " + std::string(name(type)) +
                                    "; the mapping takes real tensors only");
        bool const is_number = a.kind == argument_kind::number && a.number.is_constant() && a.number.is_complex();
        found = found || type != dtype::undefined || is_number || (a.kind == argument_kind::type && is_complex(a.type));
    }
    return found;
}

/// Sets the arguments and the limits of a call in the context while its body runs.
class call_scope {
public:
    call_scope(node_context& context, std::vector<bound_argument> const& arguments) : context_(context) {
        context.first_argument = arguments.data();
        context.argument_count = static_cast<std::uint32_t>(arguments.size());
        context.nodes_left = budget::max_nodes;
        context.constant_bytes_left = budget::max_constant_bytes;
    }
    call_scope(call_scope const&) = delete;
    call_scope& operator=(call_scope const&) = delete;
    ~call_scope() {
        context_.first_argument = nullptr;
        context_.argument_count = 0;
        context_.nodes_left = context_.constant_bytes_left = node_context::unlimited;
    }

private:
    node_context& context_;
};

} // namespace detail

/// Rows in order. Constant-initialized; `a + b` joins two tables.
template <class... Rows>
struct table_type {
    boost::hana::tuple<Rows...> rows;

    /// The rows without their C++ types.
    static constexpr std::array<entry, sizeof...(Rows)> entries{detail::make_entry<Rows>()...};

    /// The rows as a view, which every table of the program converts to.
    // NOLINTNEXTLINE(google-explicit-constructor): a table is a view of its rows.
    constexpr operator table_view() const { return entries; }
    /// The number of rows.
    [[nodiscard]] static constexpr std::size_t size() { return sizeof...(Rows); }

    /// The rows of both tables. Two rows for the same overload with overlapping opsets are a compile error.
    template <class... Other>
    friend constexpr auto operator+(table_type const&, table_type<Other...> const&) {
        return table_type<Rows..., Other...>{};
    }

    // Internal.
    static constexpr detail::sentence duplicate = detail::duplicate_row(entries);
    using verdict = std::conditional_t<duplicate.length == 0, char, detail::diagnosis<duplicate>>;
#ifdef ATON_DIAGNOSIS_IN_CONDITION
    static_assert(detail::holds<verdict>);
#else
    static_assert(sizeof(verdict) != 0);
#endif
};

/// A table of symbolic functions. Two rows for the same overload with overlapping opsets are a compile error.
/// ```cpp
/// inline constexpr auto hard_swish = table(
///     symbolic<"aten::hardswish(self)">([](graph<13, 13> g, value x) {
///         value const gate = g.op<"HardSigmoid">(x, attr::alpha_f(1.0 / 6));
///         return g.op<"Mul">(x, gate);
///     }),
///     symbolic<"aten::hardswish(self)">([](graph<14> g, value x) { return g.op<"HardSwish">(x); }));
/// inline constexpr auto all = hard_swish + table(symbolic<"aten::neg(self)">([](graph<13> g, value x) { return g.op<"Neg">(x); }));
/// ```
template <class... Rows>
constexpr auto table(Rows...) {
    constexpr bool only_rows = (detail::is_row<Rows> && ...);
    static_assert(only_rows, "table(...) takes rows made by symbolic<\"...\">(body); join tables with +");
    if constexpr (only_rows) return table_type<Rows...>{}; // rows have no state
}

/// The row of `overload` that covers `opset`; nullptr if there is none.
constexpr entry const* find(table_view rows, std::string_view overload, int opset) {
    std::uint64_t const h = hash_of(overload);
    for (entry const& e : rows)
        if (e.hash == h && e.holds_at(opset) && e.overload == overload) return &e;
    return nullptr;
}

/// The same in several tables; earlier ones win.
constexpr entry const* find(std::span<table_view const> tables, std::string_view overload, int opset) {
    for (table_view const& t : tables)
        if (entry const* e = find(t, overload, opset); e != nullptr) return e;
    return nullptr;
}

/// The row of a later table that this one shadows without override_, because both cover some opset; nullptr if there is none.
constexpr entry const* hidden_row(entry const& row, table_view later) {
    if (row.overrides) return nullptr;
    for (entry const& other : later)
        if (detail::overlap(row, other)) return &other;
    return nullptr;
}

/// Calls the row of a table by its overload from another mapping: `call_row<"aten::elu">(activation, g, x, 1.0, 1.0)`. The row must cover
/// the whole range of `g`.
template <fixed_string Overload, class... Rows, class Graph, class... Args>
constexpr auto call_row(table_type<Rows...> const& t, Graph g, Args const&... args) {
    constexpr std::size_t index = [] {
        std::size_t i = 0;
        for (entry const& e : table_type<Rows...>::entries) {
            if (e.overload == Overload.view() && e.since <= Graph::since && Graph::until <= e.until) return i;
            ++i;
        }
        return i;
    }();
    constexpr bool found = index != sizeof...(Rows);
    static_assert(found, "call_row: the table has no row for this overload that covers the whole opset range of g");
    if constexpr (found) return boost::hana::at_c<index>(t.rows)(g, args...);
    else return value();
}

/// Converts one ATen call with `arguments` in schema order; missing ones get their defaults, also at the end of the list.
/// Throws unsupported_error or illegal_call with the reason; the graph may then contain unused nodes.
/// ```cpp
/// #include <aton/mappings.hpp>
///
/// inline std::string elu_at_opset_20() {
///     graph_data data;
///     value const x(data, data.add_input("x", {dtype::float32, aton::shape{"batch", 8}}));
///     entry const* const row = find(aton::mappings::library(), "aten::elu", 20); // nullptr: no mapping
///     std::vector<result> const results = convert(data, *row, 20, {argument::of_tensor(x)});
///     data.outputs = {results[0].single.id()};
///     return to_string(data);
/// }
/// ```
template <class Graph>
std::vector<result> convert(Graph& graph, entry const& row, int opset, std::vector<argument> arguments) {
    graph.opset = opset;
    graph.context.overload = row.overload;
    std::vector<bound_argument> const bound =
        detail::bind_arguments<bound_argument>(graph, row.overload, row.schema, row.named, std::move(arguments));
    invocation in{graph, opset, bound, {}, &row};
    detail::call_scope const scope(graph.context, bound);
    try {
        in.complex = detail::is_complex_call(row, bound);
        row.run(in);
    } catch (declined const& e) {
        throw declined(std::string(row.overload) + " (opset " + std::to_string(opset) + ')', e.reason());
    } catch (unsupported_error const& e) {
        if (!e.subject().empty()) throw;
        throw unsupported_error(std::string(row.overload) + " (opset " + std::to_string(opset) + ')', e.reason());
    } catch (illegal_call const& e) {
        throw illegal_call(row.overload, e.what());
    }
    return std::move(in.results);
}
#ifdef ATON_EXTERN_TEMPLATES // src/dsl/templates.cpp
extern template std::vector<result> convert(graph_data&, entry const&, int, std::vector<argument>);
#endif

} // namespace ATON_NAMESPACE::dsl
