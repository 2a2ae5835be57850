// SPDX-License-Identifier: MIT
// The passes by name, and a trace of what they change: to print the graph between them, to stop after one, and to find a wrong one.
// Public header.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE {

/// A pass: its name, as in "fold-constants", and what it does, in one clause.
struct pass_description {
    std::string_view name;
    std::string_view does;
};

/// All passes of an export: first those over the whole graph, in the order in which they run, then the rules for single nodes. Throws
/// only if memory runs out.
[[nodiscard]] std::vector<pass_description> all_passes();

/// Returns the name of all_passes() that `name` is. Throws aton::error if there is none, with the most similar one.
[[nodiscard]] std::string_view find_pass(std::string_view name);

/// A change that a pass has made to a graph.
struct pass_step {
    std::size_t number = 0; ///< from 1
    std::string pass;       ///< its name in all_passes()
    std::string subject; ///< "mine.wrong at Max 'relu', model.py:12 in forward"; empty for a pass over the whole graph
};

/// Observes and limits the passes over a graph (pass_options::trace). Changes are numbered in the order in which they are made: the same
/// graph and options give the same numbers, so that `max_steps` can be searched for the first change that makes a graph wrong.
struct pass_trace {
    /// Further changes are not made.
    std::size_t max_steps = std::numeric_limits<std::size_t>::max();
    /// No changes are made after the first one of this pass; empty: all.
    std::string stop_after{};
    /// Called when a pass over the graph has run, and after a sweep with the names of the rules that have changed something. May be null.
    std::function<void(std::string_view pass, graph_data const& graph)> after{};
    /// Called with every change. May be null.
    std::function<void(pass_step const&)> step{};

    std::size_t steps = 0; ///< made so far
    pass_step last{};      ///< the one with this number

    /// Whether another change may be made.
    [[nodiscard]] bool may_step() const noexcept;
    /// Records a change. Throws only if memory runs out.
    void record(std::string_view pass, std::string subject);
    /// Calls `after` for the rules that have changed something since the last call, and then for `pass`. Throws what `after`
    /// throws.
    void finish(std::string_view pass, graph_data const& graph);

    /// Internal: rules that have changed something since the last call of finish().
    std::vector<std::string_view> changed_by{};
};

} // namespace ATON_NAMESPACE
