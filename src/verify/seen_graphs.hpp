// SPDX-License-Identifier: MIT
// The graphs of a call that ran, so that those that compute the same at another opset do not run again.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/ir/same_body.hpp>
#include <aton/runtime/onnx_model.hpp>

namespace ATON_NAMESPACE::verify {

/// Whether two graphs have the same nodes and types; their opsets may differ.
[[nodiscard]] inline bool same_graph(graph_data const& a, graph_data const& b) {
    auto const same_function = [](graph_function const& x, graph_function const& y) {
        return x.domain == y.domain && x.name == y.name && x.overload == y.overload &&
               std::equal(x.body.begin(), x.body.end(), y.body.begin(), y.body.end(), same_graph);
    };
    auto const same_type = [](graph_value const& x, graph_value const& y) { return x.type == y.type; };
    return same_body(a, b) &&
           std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), same_type) &&
           std::equal(a.functions.begin(), a.functions.end(), b.functions.begin(), b.functions.end(), same_function);
}

class seen_graphs {
public:
    /// `same`: the opsets at which the graph computes the same.
    void add(graph_data graph, runtime::opset_range same) { all_.emplace_back(std::move(graph), same); }
    /// Whether the same graph ran, and computes the same at the opset.
    [[nodiscard]] bool contain(graph_data const& graph, int opset) const {
        return std::any_of(all_.begin(), all_.end(), [&](auto const& each) {
            return each.second.contains(opset) && same_graph(each.first, graph);
        });
    }

private:
    std::vector<std::pair<graph_data, runtime::opset_range>> all_;
};

} // namespace ATON_NAMESPACE::verify
