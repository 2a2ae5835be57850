// SPDX-License-Identifier: MIT
// The names of all passes, and the trace of what they change.
#include <aton/passes/pass_trace.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/core/nearest.hpp>

#include "rewriter.hpp"

namespace ATON_NAMESPACE {

namespace {

/// Over the whole graph, in the order in which they first run. Those of the exporter are among them.
constexpr pass_description graph_passes[] = {
    {"convert", "the graph as the mappings have made it, before any pass"},
    {"remove-unused", "removes nodes, initializers and functions that nothing uses"},
    {"widen-dtypes", "computes in a wider dtype what ONNX Runtime has no kernel for"},
    {"recognize-quantized-weights", "keeps weights as integers that the program turns into reals by arithmetic"},
    {"share-constants", "keeps one of equal constants, and of equal weights"},
    {"simplify-functions", "applies the rules for nodes to the bodies of functions"},
    {"simplify", "applies the rules for nodes to the graph: one sweep, repeated until nothing changes"},
    {"simplify-nested", "applies the rules for nodes to branches and loop bodies"},
    {"shorten-sorts", "replaces a sort of which only the first elements are used by TopK"},
    {"separate-padded-pools", "puts a Reshape between a Pad and a pool, which ONNX Runtime would merge wrongly"},
    {"exact-integers", "replaces nodes whose integers the runtime does not compute exactly"},
    {"order", "puts nodes into an order that does not depend on how they were made"},
    {"random-numbers", "seeds random operators, or replaces them by inputs"},
};

} // namespace

std::vector<pass_description> all_passes() {
    std::vector<pass_description> out(std::begin(graph_passes), std::end(graph_passes));
    for (passes::node_pass const& p : passes::node_passes()) out.push_back({p.name, p.does});
    return out;
}

std::string_view find_pass(std::string_view name) {
    nearest near(name);
    for (pass_description const& p : all_passes()) {
        if (p.name == name) return p.name;
        near.offer(p.name);
    }
    throw error("no pass has the name " + std::string(name) +
                (near.found().empty() ? "; aton ops --passes lists them"
                                      : "; did you mean " + std::string(near.found()) + "?"));
}

bool pass_trace::may_step() const noexcept { return steps < max_steps; }

void pass_trace::record(std::string_view pass, std::string subject) {
    last = {++steps, std::string(pass), std::move(subject)};
    if (step) step(last);
    if (std::ranges::find(changed_by, pass) == changed_by.end()) changed_by.push_back(pass);
    if (pass == stop_after) max_steps = std::min(max_steps, steps);
}

void pass_trace::finish(std::string_view pass, graph_data const& graph) {
    std::vector<std::string_view> const rules = std::exchange(changed_by, {});
    if (pass == stop_after) max_steps = std::min(max_steps, steps);
    if (!after) return;
    for (std::string_view rule : rules)
        if (rule != pass) after(rule, graph);
    after(pass, graph);
}

} // namespace ATON_NAMESPACE
