// SPDX-License-Identifier: MIT
// Rows that decline a call (`return g.next();`): the row below gets it, in the graph as it was before.
// Public header.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/dsl/argument.hpp>
#include <aton/dsl/table.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::dsl {

/// The state of a graph under construction, and of the graphs around it: what is appended later can be removed again.
template <class Graph = graph_data>
class graph_mark {
public:
    /// Notes how much the graphs hold. They must outlive the mark.
    explicit graph_mark(Graph& graph) {
        for (Graph* each = &graph; each != nullptr; each = each->around)
            levels_.push_back({each,
                               each->values.size(),
                               each->nodes.size(),
                               each->initializers.size(),
                               each->opset_imports.size(),
                               each->functions.size()});
    }
    /// Notes the types of these arguments, too, which a body may change.
    template <class Argument>
    graph_mark(Graph& graph, std::vector<Argument> const& arguments) : graph_mark(graph) {
        auto const note = [this](value const& v) { types_.emplace_back(v, v.type()); };
        for (Argument const& a : arguments) {
            if (a.tensor) note(*a.tensor);
            for (optional_value const& each : a.tensors)
                if (each) note(*each);
        }
    }

    /// Removes what was appended since.
    void restore() const {
        for (level const& l : levels_) {
            l.graph->values.resize(l.values);
            cut(l.graph->nodes, l.nodes);
            cut(l.graph->initializers, l.initializers);
            cut(l.graph->opset_imports, l.imports);
            cut(l.graph->functions, l.functions);
        }
        for (auto const& [v, type] : types_) v.set_type(type);
    }

private:
    struct level {
        Graph* graph;
        std::size_t values;
        std::size_t nodes;
        std::size_t initializers;
        std::size_t imports;
        std::size_t functions;
    };
    template <class List>
    static void cut(List& list, std::size_t kept) {
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(kept), list.end());
    }

    std::vector<level> levels_;
    std::vector<std::pair<value, value_type>> types_;
};

/// The row for the same overload at this opset in the first table after the one that holds `row`; nullptr if there is none.
constexpr entry const* find_below(std::span<table_view const> tables, entry const& row, int opset) {
    bool is_below = false;
    for (table_view const& t : tables) {
        entry const* const e = find(t, row.overload, opset);
        if (is_below && e != nullptr) return e;
        is_below = is_below || e == &row;
    }
    return nullptr;
}

/// Converts a call with `row`. If it declines, the nodes that it has made are removed, and `below(*row)` is the next row to try; `row` is then
/// the one that converted the call. Throws as `convert` does, and `declined` where no row is left.
template <class Graph, class Below>
std::vector<result> convert_or_next(Graph& graph, entry const*& row, int opset, std::vector<argument> const& arguments,
                                    Below const& below) {
    for (;;) {
        entry const* const other = below(*row);
        if (other == nullptr) return convert(graph, *row, opset, arguments);
        if (!row->takes_complex &&
            detail::has_complex_tensor(arguments)) { // a row for reals leaves the call to the one below
            row = other;
            continue;
        }
        graph_mark const before(graph, arguments);
        try {
            return convert(graph, *row, opset, arguments);
        } catch (declined const&) {
            before.restore();
        }
        if (other->schema != row->schema)
            throw unsupported_error(std::string(row->overload) + " (opset " + std::to_string(opset) + ')',
                                    "the row leaves the call to a row with another schema, " +
                                        std::string(other->schema));
        row = other;
    }
}

/// Converts one ATen call with the first of several tables that has a row for it, or with the next one if that row declines.
/// Throws unsupported_error if no table has a row, and otherwise as the other overload does.
template <class Graph>
std::vector<result> convert(Graph& graph, std::span<table_view const> tables, std::string_view overload, int opset,
                            std::vector<argument> const& arguments) {
    entry const* row = find(tables, overload, opset);
    if (row == nullptr)
        throw unsupported_error(std::string(overload) + " (opset " + std::to_string(opset) + ')', "no mapping");
    return convert_or_next(
        graph, row, opset, arguments, [&](entry const& declining) { return find_below(tables, declining, opset); });
}

} // namespace ATON_NAMESPACE::dsl
