// SPDX-License-Identifier: MIT
// Conditions on nodes, for the tables of targets.
// Internal header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::targets::detail {

inline bool has_input(graph_node const& n, std::size_t i) { return i < n.inputs.size() && n.inputs[i] != no_value; }

inline bool is_constant(graph_data const& g, value_id id) {
    graph_value const& v = g.values[id];
    if (v.outer != no_value && g.around != nullptr) return is_constant(*g.around, v.outer);
    return v.initializer >= 0 || g.constant(id) != nullptr;
}

/// Whether input `Index` is absent or known when the model is written.
template <std::size_t Index>
inline bool has_constant(graph_data const& g, graph_node const& n) {
    return !has_input(n, Index) || is_constant(g, n.inputs[Index]);
}

inline bool has_one_result(graph_data const&, graph_node const& n) {
    return std::count(n.outputs.begin(), n.outputs.end(), no_value) + 1 >=
           static_cast<std::ptrdiff_t>(n.outputs.size());
}

/// The rank of the first input; -1 if it is not known.
inline std::int64_t rank_of(graph_data const& g, graph_node const& n) {
    if (!has_input(n, 0)) return -1;
    shape const& s = g.values[n.inputs[0]].type.shape;
    return s.has_rank() ? static_cast<std::int64_t>(s.rank()) : -1;
}
template <std::int64_t Rank>
inline bool has_rank_of(graph_data const& g, graph_node const& n) {
    return rank_of(g, n) == Rank || rank_of(g, n) < 0;
}
template <std::int64_t Rank>
inline bool has_rank_up_to(graph_data const& g, graph_node const& n) {
    return rank_of(g, n) <= Rank;
}

inline bool has_number(graph_node const& n, std::string_view name, std::int64_t number, std::int64_t otherwise) {
    node_attribute const* const a = n.attribute(name);
    return (a == nullptr ? otherwise : a->i) == number;
}
inline bool has_text(graph_node const& n, std::string_view name, std::string_view text, std::string_view otherwise) {
    node_attribute const* const a = n.attribute(name);
    return (a == nullptr ? otherwise : std::string_view(a->s)) == text;
}

} // namespace ATON_NAMESPACE::targets::detail
