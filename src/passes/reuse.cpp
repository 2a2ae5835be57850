// SPDX-License-Identifier: MIT
// Eliminates common subexpressions: a node is replaced by an earlier equal node.
#include "reuse.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <string_view>

#include <aton/ir/same_body.hpp>

#include "draws.hpp"
#include "graph_editor.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

/// Whether equal calls give equal results. Not known for operators of other domains.
bool is_repeatable(graph_node const& n) { return n.domain.empty() && !draws_random_numbers(n); }

void mix(std::size_t& h, std::size_t more) { h = (h ^ more) * 0x9e3779b97f4a7c15U + (h >> 29U); }

std::size_t hash_of(graph_node const& n) {
    std::size_t h = std::hash<std::string_view>()(n.op);
    for (value_id id : n.inputs) mix(h, id);
    mix(h, n.outputs.size());
    for (node_attribute const& a : n.attributes) {
        mix(h, std::hash<std::string_view>()(a.name));
        mix(h, static_cast<std::size_t>(a.i));
        mix(h, std::bit_cast<std::uint32_t>(a.f));
        mix(h, std::hash<std::string_view>()(a.s));
        for (std::int64_t i : a.ints) mix(h, static_cast<std::size_t>(i));
        for (float f : a.floats) mix(h, std::bit_cast<std::uint32_t>(f));
        for (tensor const& t : a.tensors) mix(h, std::hash<std::string_view>()(t.bytes));
    }
    return h;
}

bool equal(graph_node const& a, graph_node const& b) {
    return a.op == b.op && a.inputs == b.inputs && a.outputs.size() == b.outputs.size() && same_attributes(a, b);
}

} // namespace

bool known_nodes::reuse(graph_editor& g, graph_node const& n) {
    if (!is_repeatable(n)) return false;
    std::vector<graph_node> const& nodes = g.graph().nodes;
    auto const [found, is_new] = nodes_.try_emplace(hash_of(n), nodes.size());
    if (is_new) return false;
    std::size_t const earlier = found->second;
    if (earlier < nodes.size() && !g.is_dropped(earlier) && equal(nodes[earlier], n)) {
        bool const same_outputs =
            std::equal(n.outputs.begin(), n.outputs.end(), nodes[earlier].outputs.begin(), [](value_id a, value_id b) {
                return (a == no_value) == (b == no_value);
            });
        if (same_outputs) {
            for (std::size_t i = 0; i != n.outputs.size(); ++i)
                if (n.outputs[i] != no_value) g.replace(n.outputs[i], nodes[earlier].outputs[i]);
            return true;
        }
    }
    found->second = nodes.size();
    return false;
}

} // namespace ATON_NAMESPACE::passes
