// SPDX-License-Identifier: MIT
// Infers which integer and boolean tensors of a graph are linear functions of their coordinates, such as the positions from which
// models compute their masks, and what comparisons of them give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include <aton/ir/graph.hpp>

#include "linear_form.hpp"

namespace ATON_NAMESPACE::passes {

class rewriter;

/// For each axis that a gathering operator selects from, the index: a linear form of the coordinates of the indices, or nothing.
using index_components = std::vector<std::optional<linear_form>>;

/// The forms of one sweep. int64 and bool tensors have them; true is 1. What they say about the elements of an empty tensor is true.
class index_forms {
public:
    explicit index_forms(rewriter& r) : r_(r) {}

    void clear();
    /// Null if the elements are not known to have one.
    [[nodiscard]] linear_form const* of(value_id id);
    /// The number that all elements are.
    [[nodiscard]] std::optional<std::int64_t> number(value_id id);
    /// Records the result of a node that is kept, and completes the sizes of its type.
    void record(graph_node const& n);
    /// The form of the only result of a node.
    [[nodiscard]] std::optional<linear_form> infer(graph_node const& n);
    /// The sizes of a shape, and those of a value, of which more may be known.
    [[nodiscard]] size_forms sizes_of(shape const& s);
    [[nodiscard]] size_forms sizes_of(value_id id);
    /// `a - b` in these sizes, to which both broadcast.
    [[nodiscard]] std::optional<linear_form> difference(value_id a, value_id b, size_forms const& to);
    /// The indices of Gather, or of GatherND without batch dimensions. Empty if their number is not known.
    [[nodiscard]] index_components components(graph_node const& n);
    /// The result of Range that counts from 0 to this size (or a constant); no_value if there is none and it cannot be made.
    [[nodiscard]] value_id positions(dim const& size, graph_node const& like);

private:
    using form = std::optional<linear_form>;

    [[nodiscard]] form leaf(value_id id);
    [[nodiscard]] scalar_form size_of_symbol(std::size_t symbol);
    [[nodiscard]] form infer_operator(graph_node const& n);
    [[nodiscard]] size_forms result_sizes(graph_node const& n);
    [[nodiscard]] form broadcast(value_id id, size_forms const& to);
    [[nodiscard]] form sum(graph_node const& n, std::int64_t factor);
    [[nodiscard]] form product(graph_node const& n);
    [[nodiscard]] form comparison(graph_node const& n);
    [[nodiscard]] form logic(graph_node const& n);
    [[nodiscard]] form chosen(graph_node const& n);
    [[nodiscard]] form range(graph_node const& n);
    [[nodiscard]] form reshaped(graph_node const& n);
    [[nodiscard]] form transposed(graph_node const& n);
    [[nodiscard]] form sliced(graph_node const& n);
    [[nodiscard]] form joined(graph_node const& n);
    [[nodiscard]] form accumulated(graph_node const& n);
    [[nodiscard]] form gathered(graph_node const& n);
    void store(value_id id, form f);
    void refine_type(value_id id, size_forms const& sizes);

    rewriter& r_;
    std::vector<std::int32_t> index_; // by value; -1: not computed yet, -2: none
    std::deque<linear_form> forms_;
    std::unordered_map<std::size_t, scalar_form> symbols_;
    std::unordered_map<std::size_t, value_id> positions_; // by symbol: 0, 1, 2, ...
};

} // namespace ATON_NAMESPACE::passes
