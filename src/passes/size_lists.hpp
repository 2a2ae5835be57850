// SPDX-License-Identifier: MIT
// Tracks lists of sizes, from Shape, Gather, Concat and similar operators, as numbers and symbols; uses one node per symbol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

class rewriter;

/// One element of a list of sizes: a number, a symbol (its index), or unknown.
struct size_element {
    enum class kind : std::uint8_t { unknown, number, symbol };
    kind what = kind::unknown;
    std::int64_t number = 0; ///< or the index of the symbol
};

/// The lists of one sweep.
class size_lists {
public:
    explicit size_lists(rewriter& r) : r_(r) {}

    /// Forgets what an earlier sweep has found, and reads the types of the inputs.
    void begin_sweep();
    /// The elements of a list of at most 32 integers, as far as they are known; null if none is.
    [[nodiscard]] std::vector<size_element> const* elements(value_id id);
    /// Records the elements of the results of a node that is kept.
    void record(graph_node const& n);
    /// Replaces a list of sizes by a constant, or by another node's. Whether the node was replaced.
    bool simplify(graph_node& n);
    /// The index of a symbolic size; nothing for other dimensions.
    [[nodiscard]] std::optional<std::size_t> symbol_of(dim const& d);
    [[nodiscard]] std::size_t symbol_of(std::string_view name);
    [[nodiscard]] std::string_view symbol_name(std::size_t symbol_index) const { return symbols_[symbol_index].name; }
    /// A node's result that is this size, as a tensor of rank 0 or 1, computed after its source; for the size of a graph input, before
    /// all nodes. no_value if no tensor that has it is alive.
    [[nodiscard]] value_id size_value(std::size_t symbol_index, std::size_t rank, graph_node const& like);
    /// The sizes of a shape as a list; a constant if all are numbers, no_value if one cannot be computed.
    [[nodiscard]] value_id shape_value(std::vector<dim> const& dims, graph_node const& like);

private:
    struct symbol {
        std::string name;
        value_id source = no_value; ///< a tensor that has it as dimension `axis`
        std::int64_t axis = 0;
        std::array<value_id, 2> sizes{no_value, no_value}; ///< the size as 0-d and as 1-d int64
    };
    /// The elements of a list of sizes; nothing if they are not known.
    using size_list = std::optional<std::vector<size_element>>;

    void grow();
    void record_symbols(value_id source);
    void set_elements(value_id id, std::vector<size_element> elements);
    size_list infer_elements(graph_node const& n);
    size_list shape_elements(graph_node const& n);
    size_list concat_elements(graph_node const& n);
    [[nodiscard]] size_list gather_elements(graph_node const& n, std::vector<size_element> const& from) const;
    [[nodiscard]] size_list slice_elements(graph_node const& n, std::vector<size_element> const& from) const;
    bool reuse_size(graph_node& n, size_element const& e);
    [[nodiscard]] value_id tensor_of_sizes(std::vector<size_element> const& list) const;

    rewriter& r_;
    std::unordered_map<std::string, std::size_t> symbol_index_;
    std::vector<symbol> symbols_;
    std::vector<std::int32_t> element_index_; // by value; -1: not computed yet, -2: unknown
    std::deque<std::vector<size_element>> elements_;
};

} // namespace ATON_NAMESPACE::passes
