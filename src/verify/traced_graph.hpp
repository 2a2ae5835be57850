// SPDX-License-Identifier: MIT
// The graph of a call with the values of all its nodes: of a mutant only what its change reaches is run.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <aton/runtime/onnx_model.hpp>
#include <aton/verify/mutation.hpp>
#include <aton/verify/translation.hpp>

namespace ATON_NAMESPACE::verify {

class traced_graph {
public:
    /// Throws aton::error where the graph does not run.
    traced_graph(translation const& t, runtime::device where);

    /// What a mutant of the graph is for this call.
    enum class fate : std::uint8_t {
        illegal, ///< no ONNX graph: an operator does not take these dtypes
        fails,   ///< the runtime refuses it, for its sizes as a rule
        same,    ///< gives the very same bits
        other,   ///< gives something else, which `results` are
    };
    struct outcome {
        fate is = fate::same;
        std::vector<runtime::value> results{};
    };
    [[nodiscard]] outcome run(mutation const& m);
    /// Whether a result of the graph depends on the node.
    [[nodiscard]] bool is_used(std::size_t node) const { return used_[node]; }

private:
    /// The nodes after one that read what it makes, or what such a node makes, as a graph.
    struct consequence {
        graph_data graph; ///< its inputs are `takes`
        std::vector<value_id> takes;
        std::unique_ptr<runtime::onnx_model> model;
    };

    [[nodiscard]] std::vector<runtime::value> changed(mutation const& m, bool& legal) const;
    [[nodiscard]] bool is_legal(graph_node const& n, std::vector<runtime::value> const& values) const;
    [[nodiscard]] consequence& consequence_of(std::size_t node);

    translation const* of_;
    runtime::device where_;
    graph_data shell_;                   ///< the values of the graph, without types, and no node
    std::vector<runtime::value> values_; ///< by id
    std::vector<bool> used_;             ///< by node
    std::map<std::size_t, consequence> consequences_;
};

} // namespace ATON_NAMESPACE::verify
