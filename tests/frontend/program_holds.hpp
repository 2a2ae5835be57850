// SPDX-License-Identifier: MIT
// The invariants of every program that was read, whatever its file contained.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <aton/program/program.hpp>

namespace aton::tests {

inline bool holds(program::program const& p, program::extent const& e) {
    return e.is_number() ? e.number >= 0 : e.expression < p.expressions.size();
}

/// Whether an argument refers to existing values, and has the members of its kind.
inline bool holds(program::program const& p, program::argument const& a) {
    using program::argument_kind;
    bool known = true;
    program::for_each_value(a, [&](program::value_index v) { known = known && v < p.values.size(); });
    if (!known) return false;
    switch (a.kind) {
    case argument_kind::missing: return false;
    case argument_kind::tensor: return static_cast<bool>(a.tensor);
    case argument_kind::graph: return a.index >= 0 && static_cast<std::size_t>(a.index) < p.subgraphs.size();
    case argument_kind::tag:
    case argument_kind::other: return !a.text.empty();
    default: return true;
    }
}

/// Whether every value is defined once and before it is used, and every node is valid.
inline bool holds(program::program const& p, program::graph const& g, std::vector<bool>& defined) {
    auto const define = [&](program::value_index v) {
        if (v >= p.values.size() || defined[v]) return false;
        defined[v] = true;
        return true;
    };
    auto const good = [&](program::argument const& a) {
        bool known = holds(p, a);
        program::for_each_value(a, [&](program::value_index v) { known = known && defined[v]; });
        return known;
    };
    for (program::value_index const v : g.inputs)
        if (v != program::no_value && !define(v)) return false;
    for (program::node const& n : g.nodes) {
        if (n.op.empty() || n.name.empty() || n.origin >= p.origins.size()) return false;
        if (!std::all_of(n.arguments.begin(), n.arguments.end(), good)) return false;
        for (program::result const& r : n.results) {
            if (!r.is_list && r.values.size() > 1) return false;
            if (!std::all_of(r.values.begin(), r.values.end(), define)) return false;
        }
    }
    return std::all_of(g.outputs.begin(), g.outputs.end(), good);
}

/// Whether a program satisfies its invariants.
inline bool holds(program::program const& p) {
    std::vector<bool> defined(p.values.size());
    if (p.origins.empty() || p.inputs.size() != p.main.inputs.size() || p.outputs.size() != p.main.outputs.size())
        return false;
    for (program::value const& v : p.values) {
        auto const good = [&](program::extent const& e) { return holds(p, e); };
        if (v.name.empty() || !std::all_of(v.sizes.begin(), v.sizes.end(), good) ||
            !std::all_of(v.strides.begin(), v.strides.end(), good))
            return false;
        if (v.symbolic && !v.symbolic->is_number() && v.symbolic->expression >= p.expressions.size()) return false;
        if (v.kind == program::value_kind::tensor && v.has_type && v.strided && v.strides.size() != v.sizes.size())
            return false;
    }
    for (std::size_t i = 0; i != p.inputs.size(); ++i)
        if (p.inputs[i].value != p.main.inputs[i]) return false;
    for (program::graph const& g : p.subgraphs)
        if (!holds(p, g, defined)) return false;
    return holds(p, p.main, defined);
}

} // namespace aton::tests
