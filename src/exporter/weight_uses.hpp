// SPDX-License-Identifier: MIT
// The nodes that multiply by a weight or look up its rows, also through Transpose and Cast.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::exporter {

/// A node that reads a matrix with one row for each column of a product, or for each entry of an embedding.
struct weight_use {
    std::size_t node = 0;          ///< index into graph_data::nodes
    bool is_lookup = false;        ///< Gather
    bool is_stored = false;        ///< the matrix is the weight as it is stored, and not transposed
    dtype type = dtype::undefined; ///< of the matrix: the weight may be cast
};

/// What uses a weight.
struct weight_uses {
    std::vector<weight_use> all;
    std::string obstacle; ///< another use: "is also used by Add"; empty: there is none

    [[nodiscard]] bool has_products() const;
    [[nodiscard]] bool has_lookups() const;
};

/// Finds the uses of values of a graph, which must not change.
class use_finder {
public:
    explicit use_finder(graph_data const& graph);

    /// Of an initializer of rank 2.
    [[nodiscard]] weight_uses uses_of(value_id weight) const;

private:
    struct operand {
        std::size_t node = 0;
        std::size_t slot = 0;
    };

    void find(value_id id, bool is_transposed, weight_uses& to) const;
    void add(operand const& at, bool is_transposed, dtype type, weight_uses& to) const;

    graph_data const& graph_;
    std::vector<std::vector<operand>> users_; ///< by value
    std::vector<char> is_captured_;           ///< by value: by a nested graph
};

} // namespace ATON_NAMESPACE::exporter
