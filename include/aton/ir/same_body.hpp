// SPDX-License-Identifier: MIT
// Bitwise comparison of attributes and bodies of nodes: NaN equals itself, and -0. does not equal 0.
// Internal header.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE {

template <class Graph>
bool same_body(Graph const& a, Graph const& b);

template <class Floats>
bool same_floats(Floats const& a, Floats const& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i != a.size(); ++i)
        if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) return false;
    return true;
}

template <class Attribute>
bool same_attribute(Attribute const& a, Attribute const& b) {
    if (!a.reference.empty()) return a.name == b.name && a.type == b.type && a.reference == b.reference; // any value
    if (a.graphs.size() != b.graphs.size()) return false;
    for (std::size_t i = 0; i != a.graphs.size(); ++i)
        if (!same_body(a.graphs[i], b.graphs[i])) return false;
    return a.name == b.name && a.type == b.type && a.reference == b.reference && a.i == b.i &&
           std::bit_cast<std::uint32_t>(a.f) == std::bit_cast<std::uint32_t>(b.f) && a.s == b.s && a.ints == b.ints &&
           same_floats(a.floats, b.floats) && a.strings == b.strings && a.tensors == b.tensors && a.types == b.types;
}

/// Whether the attributes are the same, in the same order.
template <class Node>
bool same_attributes(Node const& a, Node const& b) {
    if (a.attributes.size() != b.attributes.size()) return false;
    for (std::size_t i = 0; i != a.attributes.size(); ++i)
        if (!same_attribute(a.attributes[i], b.attributes[i])) return false;
    return true;
}

/// Whether two bodies have the same operators; types are ignored.
template <class Graph>
bool same_body(Graph const& a, Graph const& b) {
    if (a.nodes.size() != b.nodes.size() || a.inputs != b.inputs || a.outputs != b.outputs ||
        a.values.size() != b.values.size())
        return false;
    for (std::size_t i = 0; i != a.values.size(); ++i)
        if (a.values[i].outer != b.values[i].outer) return false;
    for (std::size_t i = 0; i != a.nodes.size(); ++i) {
        auto const& x = a.nodes[i];
        auto const& y = b.nodes[i];
        if (x.op != y.op || x.domain != y.domain || x.overload != y.overload || x.inputs != y.inputs ||
            x.outputs != y.outputs || !same_attributes(x, y))
            return false;
    }
    return true;
}

} // namespace ATON_NAMESPACE
