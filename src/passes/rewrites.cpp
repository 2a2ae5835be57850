// SPDX-License-Identifier: MIT
// Applies the rewrites of tables: builds the replacement of a match beside the graph, checks its type, and takes its nodes over.
#include <algorithm>
#include <utility>
#include <vector>

#include <aton/ir/contradiction.hpp>
#include <aton/passes/patterns.hpp>

#include "rewrite_index.hpp"
#include "rewrite_match.hpp"
#include "rewriter.hpp"
#include "splice.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

/// A graph of its own in which a replacement is built; its inputs are the captured values.
struct replacement {
    graph_data graph;
    std::vector<captured> captures;
    std::vector<value_id> ids;     ///< by value of `graph`: the value of the outer graph, or unassigned
    std::vector<value_id> results; ///< of `graph`

    replacement(rewriter const& r, std::span<captured const> matched) : captures(matched.begin(), matched.end()) {
        graph.opset = r.graph().opset;
        for (captured& c : captures) {
            if (c.value == no_value) continue;
            value_id const outer = c.value;
            auto const known = std::find(ids.begin(), ids.end(), outer);
            c.value = static_cast<value_id>(known - ids.begin());
            if (known != ids.end()) continue;
            graph.add_input({}, r.type(outer));
            graph.values[c.value].wrapped_number = r.graph().values[outer].wrapped_number;
            ids.push_back(outer);
        }
    }

    /// Whether the condition holds and the replacement exists.
    bool build(rewrite_entry const& rewrite) {
        results = build_replacement(graph, rewrite, captures);
        ids.resize(graph.values.size(), unassigned);
        return !results.empty();
    }
    /// Whether a value is captured.
    [[nodiscard]] bool captures_value(value_id outer) const {
        return std::find(ids.begin(), ids.end(), outer) != ids.end();
    }
};

/// Leaves out results of an operator of a runtime that no node uses: all but the first are optional in those that rewrites make. Standard
/// operators keep theirs: ONNX Runtime's Attention demands both caches as results where it has them as operands.
void leave_out_unused_results(rewriter const& r, graph_node& n) {
    if (n.domain.empty()) return;
    for (std::size_t i = 1; i < n.outputs.size(); ++i)
        if (n.outputs[i] != no_value && r.uses(n.outputs[i]) == 0) n.outputs[i] = no_value;
    while (n.outputs.size() > 1 && n.outputs.back() == no_value) n.outputs.pop_back();
}

} // namespace

bool apply_rewrites(rewriter& r, graph_node& n) {
    constexpr int max_depth = 4; // of replacements that are replaced in turn, in one sweep
    if (r.rewrites().empty() || n.outputs.empty() || r.rewrite_depth() == max_depth) return false;
    auto const describe = [&](value_id id) {
        std::int64_t const p = r.graph().values[id].producer;
        bool const has_node = p >= 0 && r.is_alive(id);
        return rewrite_index::facts{has_node ? &r.graph().nodes[static_cast<std::size_t>(p)] : nullptr,
                                    r.is_constant(id)};
    };
    for (rewrite_index::candidate const* c : r.rewrites().candidates(n, describe)) {
        rewrite_entry const& rewrite = r.rewrites().rewrite(*c);
        pattern_match match(r, n, rewrite.pattern, c->variant);
        if (!match.succeeds()) continue;
        replacement made(r, match.captures());
        if (!made.build(rewrite)) continue;
        std::vector<pattern_match::result> old = match.further_results();
        old.insert(old.begin(), {n.outputs[0], 0});
        bool fits = true;
        for (std::size_t i = 0; fits && i != old.size(); ++i)
            fits = old[i].value == no_value ||
                   !(aton::detail::contradicts(r.type(old[i].value), made.graph.values[made.results[i]].type) ||
                     made.captures_value(old[i].value));
        if (!fits) continue;
        std::vector<value_id> const results = made.results;
        std::vector<graph_node> nodes = splice(r.graph(), std::move(made.graph), made.ids, n);
        r.grow();
        for (graph_node& each : nodes) r.count_uses(each);
        for (std::size_t i = 0; i != old.size(); ++i)
            if (old[i].value != no_value) r.replace_from_here(old[i].value, made.ids[results[i]], old[i].inside_uses);
        if (old.size() > 1)
            for (graph_node& each : nodes) leave_out_unused_results(r, each);
        r.expand({std::move(nodes), r.rewrite_depth() + 1, rewrite.name});
        return true;
    }
    return false;
}

} // namespace ATON_NAMESPACE::passes
