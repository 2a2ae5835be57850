// SPDX-License-Identifier: MIT
// Orders and numbers a graph by what it computes. Rows nest their calls, and C++ does not say which argument is evaluated first: without
// this the bytes of a model would depend on the compiler.
#include <aton/ir/producers.hpp>
#include <aton/passes/passes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "captures.hpp"

namespace ATON_NAMESPACE {

namespace {

/// What a node reads: its inputs, and what its nested graphs capture.
std::vector<value_id> operands(graph_node& n) {
    std::vector<value_id> out = n.inputs;
    passes::for_each_capture(n, [&](value_id id) { out.push_back(id); });
    std::erase(out, no_value);
    return out;
}

class orderer {
public:
    explicit orderer(graph_data& graph) : graph_(graph), operands_(graph.nodes.size()) {
        for (std::size_t i = 0; i != graph.nodes.size(); ++i) operands_[i] = operands(graph.nodes[i]);
    }

    void run() {
        rank_nodes();
        order_nodes();
        order_initializers();
        number_values();
    }

private:
    [[nodiscard]] std::int64_t producer(value_id id) const { return graph_.values[id].producer; }

    /// Numbers the nodes in the order in which a depth-first walk from the outputs leaves them.
    void rank_nodes() {
        ranks_.assign(graph_.nodes.size(), unranked);
        for (value_id id : graph_.outputs)
            if (id != no_value && producer(id) >= 0) walk(static_cast<std::size_t>(producer(id)));
        for (std::size_t i = 0; i != ranks_.size(); ++i) walk(i); // unused ones last
    }
    void walk(std::size_t root) {
        std::vector<std::pair<std::size_t, std::size_t>> open; // a node and the operand to follow next
        auto const enter = [&](std::size_t node) {
            if (ranks_[node] != unranked) return;
            ranks_[node] = entered;
            open.emplace_back(node, 0);
        };
        for (enter(root); !open.empty();) {
            auto& [node, next] = open.back();
            if (next == operands_[node].size()) {
                ranks_[node] = next_rank_++;
                open.pop_back();
            } else if (std::int64_t const from = producer(operands_[node][next++]); from >= 0) {
                enter(static_cast<std::size_t>(from)); // `node` and `next` are no longer valid
            }
        }
    }

    /// Nodes as early as their operands allow; of several, the one whose call comes first in the program.
    void order_nodes() {
        std::size_t const count = graph_.nodes.size();
        std::vector<std::size_t> missing(count, 0);
        std::vector<std::vector<std::size_t>> readers(count);
        for (std::size_t i = 0; i != count; ++i)
            for (value_id id : operands_[i])
                if (std::int64_t const from = producer(id); from >= 0) {
                    readers[static_cast<std::size_t>(from)].push_back(i);
                    ++missing[i];
                }
        using candidate = std::tuple<std::uint32_t, std::size_t, std::size_t>; // origin, rank, node
        std::priority_queue<candidate, std::vector<candidate>, std::greater<>> ready;
        auto const add = [&](std::size_t i) { ready.emplace(graph_.nodes[i].origin, ranks_[i], i); };
        for (std::size_t i = 0; i != count; ++i)
            if (missing[i] == 0) add(i);
        std::vector<graph_node> nodes;
        nodes.reserve(count);
        for (; !ready.empty();) {
            std::size_t const i = std::get<2>(ready.top());
            ready.pop();
            for (std::size_t reader : readers[i])
                if (--missing[reader] == 0) add(reader);
            nodes.push_back(std::move(graph_.nodes[i]));
        }
        graph_.nodes = std::move(nodes);
        number_producers(graph_);
    }

    /// Weights, which have names, keep their places, so that a file is read from its beginning to its end. The other initializers go to
    /// the places that are left, in the order of their first uses.
    void order_initializers() {
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i != graph_.initializers.size(); ++i)
            if (graph_.values[graph_.initializers[i].value].name.empty()) places.push_back(i);
        if (places.size() < 2) return;
        std::vector<std::size_t> first_use(graph_.values.size(), never);
        std::size_t uses = 0;
        auto const use = [&](value_id id) {
            if (id != no_value && first_use[id] == never) first_use[id] = uses++;
        };
        for (graph_node& n : graph_.nodes)
            for (value_id id : operands(n)) use(id);
        for (value_id id : graph_.outputs) use(id);
        std::vector<graph_initializer> moved;
        for (std::size_t place : places) moved.push_back(std::move(graph_.initializers[place]));
        std::stable_sort(moved.begin(), moved.end(), [&](graph_initializer const& a, graph_initializer const& b) {
            return first_use[a.value] < first_use[b.value];
        });
        for (std::size_t i = 0; i != places.size(); ++i) graph_.initializers[places[i]] = std::move(moved[i]);
    }

    /// Values in the order in which the graph defines them: inputs, initializers, captured values, results. Others are dropped.
    void number_values() {
        std::vector<value_id> ids(graph_.values.size(), no_value);
        std::deque<graph_value> values;
        auto const define = [&](value_id id) {
            if (id == no_value || ids[id] != no_value) return;
            ids[id] = static_cast<value_id>(values.size());
            values.push_back(std::move(graph_.values[id]));
        };
        for (value_id id : graph_.inputs) define(id);
        for (graph_initializer const& i : graph_.initializers) define(i.value);
        for (graph_node& n : graph_.nodes) {
            for (value_id id : operands(n)) define(id); // captured
            for (value_id id : n.outputs) define(id);
        }
        for (value_id id : graph_.outputs) define(id); // captured
        auto const renumber = [&](value_id& id) {
            if (id != no_value) id = ids[id];
        };
        for (std::vector<value_id>* list : {&graph_.inputs, &graph_.outputs})
            std::for_each(list->begin(), list->end(), renumber);
        for (graph_node& n : graph_.nodes) {
            for (std::vector<value_id>* list : {&n.inputs, &n.outputs})
                std::for_each(list->begin(), list->end(), renumber);
            passes::for_each_capture(n, renumber);
        }
        for (std::size_t i = 0; i != graph_.initializers.size(); ++i) {
            renumber(graph_.initializers[i].value);
            values[graph_.initializers[i].value].initializer = static_cast<std::int64_t>(i);
        }
        graph_.values = std::move(values);
    }

    static constexpr std::size_t unranked = static_cast<std::size_t>(-1);
    static constexpr std::size_t entered = unranked - 1;
    static constexpr std::size_t never = unranked;

    graph_data& graph_;
    std::vector<std::vector<value_id>> operands_; ///< of each node, before the nodes are ordered
    std::vector<std::size_t> ranks_;
    std::size_t next_rank_ = 0;
};

} // namespace

void order_canonically(graph_data& graph) {
    for (graph_node& n : graph.nodes) // first, because captured values are operands in the order of their numbers
        for (node_attribute& a : n.attributes)
            for (graph_data& nested : a.graphs) order_canonically(nested);
    for (graph_function& f : graph.functions)
        for (graph_data& body : f.body) order_canonically(body);
    orderer(graph).run();
}

} // namespace ATON_NAMESPACE
