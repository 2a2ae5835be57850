// SPDX-License-Identifier: MIT
// Names for all values of a graph and its subgraphs, unique in the model, for printers and writers.
// Internal header.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE {

/// Names every value of a graph: by its own name, or else by its number. A name already in use gets a suffix: "x.1".
/// The same object names subgraphs, after the graph around them; captured values keep their outer names.
template <class Graph = graph_data>
class value_names {
public:
    using list = std::vector<std::string>;

    /// The names of the values of `graph`, by id.
    [[nodiscard]] list add(Graph const& graph) {
        list names(graph.values.size());
        for (std::size_t i = 0; i != names.size();
             ++i) // first the values with names, so that they keep them if possible
            if (is_captured(graph.values[i])) names[i] = scopes_.back().names[graph.values[i].outer];
            else if (!graph.values[i].name.empty()) names[i] = unique(graph.values[i].name);
        for (std::size_t i = 0; i != names.size(); ++i)
            if (graph.values[i].name.empty() && !is_captured(graph.values[i])) names[i] = unique(std::to_string(i));
        scopes_.push_back({names});
        return names;
    }
    /// Leaves the innermost graph; its names remain in use.
    void leave() { scopes_.pop_back(); }

    /// Reserves and returns an unused name: `wanted`, or `wanted` with a suffix.
    [[nodiscard]] std::string unique(std::string const& wanted) {
        if (take(wanted)) return wanted;
        for (std::size_t n = 1;; n = n < 16 || count_ <= n ? n + 1 : count_) // many values with this name: skip ahead
            if (std::string s = wanted + '.' + std::to_string(n); take(s)) return s;
    }

private:
    struct scope {
        std::vector<std::string> names;
    };

    [[nodiscard]] bool is_captured(graph_value const& v) const {
        return v.outer != no_value && !scopes_.empty() && v.outer < scopes_.back().names.size();
    }

    bool take(std::string const& name) {
        if (2 * (count_ + 1) > slots_.size()) grow();
        return insert(slots_, name) && ++count_ != 0;
    }
    static bool insert(std::vector<std::string>& slots, std::string const& name) {
        std::size_t at = std::hash<std::string_view>{}(name) & (slots.size() - 1);
        for (; !slots[at].empty(); at = (at + 1) & (slots.size() - 1))
            if (slots[at] == name) return false;
        slots[at] = name;
        return true;
    }
    void grow() {
        std::vector<std::string> larger(slots_.empty() ? 64 : slots_.size() * 2);
        for (std::string const& s : slots_)
            if (!s.empty()) insert(larger, s);
        slots_ = std::move(larger);
    }

    std::vector<std::string> slots_; ///< open addressing; the size is a power of two
    std::size_t count_ = 0;
    std::vector<scope> scopes_; ///< the open graphs, outermost first
};

} // namespace ATON_NAMESPACE
