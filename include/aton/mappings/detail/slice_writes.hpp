// SPDX-License-Identifier: MIT
// Ranges of positions along an axis, and what replaces them.
// Internal header.
#pragma once

#include <cstdint>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/shaping.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// x with x[start:end] along an axis replaced by the source.
inline value replace_range(graph<7> g, value x, value source, std::int64_t axis, sym_int start, sym_int end) {
    safe_vector<value> parts;
    if (!start.is(0)) parts.push_back(slice(g, x, axis, 0, start));
    parts.push_back(g.cast(source, x.dtype()));
    if (dim const& d = x.size(axis);
        !end.is(to_the_end) && !(d.is_static() && end.is_constant() && end.constant() >= d.size()))
        parts.push_back(slice(g, x, axis, end, to_the_end));
    return parts.size() == 1 ? parts[0] : g.op<"Concat">(parts, attr::axis_i(axis));
}

/// Converts an index of a Python slice to [0, n]: negative ones count from the end. The graph does so unless the index
/// is constant.
inline sym_int clamp_index(graph<9> g, sym_int i, sym_int n) {
    if (i.is_constant() && i.constant() >= 0) return i.is(to_the_end) ? n : i.is(0) ? i : min(i, n);
    if (i.is_constant()) return max(i + n, 0);
    value const at = i.as_value();
    sym_int const counted = value(g.op<"Where">(is_less(g, at, 0), g.to_value(i + n), at));
    return max(min(counted, n), 0);
}
/// Whether Slice converts both indices to [0, n] by itself: as constants whose order does not depend on n.
inline bool limited_by_slice(sym_int start, sym_int end) {
    if (!start.is_constant() || !end.is_constant()) return false;
    return (start.constant() < 0) == (end.constant() < 0) || end.is(to_the_end);
}

} // namespace ATON_NAMESPACE::mappings::detail
