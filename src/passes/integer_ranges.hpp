// SPDX-License-Identifier: MIT
// Between which numbers the integers of a graph lie: from constants, dtypes, sizes, indices and arithmetic on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// A size, and an index along an axis, counts as at most 2^28; a number of elements as less than 2^31. Below these limits, the arithmetic of
/// sizes and positions does not leave the numbers that every kernel computes exactly.
inline constexpr double max_size = 268435456;
inline constexpr double max_elements = 2147483647;

/// An interval of integers. In float64: exact up to 2^53, which is all that is asked.
struct integer_range {
    double low = 0;
    double high = 0;

    /// The greatest magnitude.
    [[nodiscard]] double magnitude() const { return -low > high ? -low : high; }
    [[nodiscard]] bool within(double least, double greatest) const { return low >= least && high <= greatest; }
};

/// All numbers of a dtype; those of int64 for dtypes that have no integers.
[[nodiscard]] integer_range range_of(dtype type);

/// The ranges of the values of one graph, computed when they are asked for. The graph must not change meanwhile.
class integer_ranges {
public:
    /// `outer`: of the graph around this one, or null. `counts_iterations`: the first input is the number of the iteration, in a Loop.
    integer_ranges(graph_data const& graph, integer_ranges* outer, bool counts_iterations);

    [[nodiscard]] integer_range of(value_id id);
    /// The number of elements that a reduction along `axes` takes for one result, at most; of all axes if there are none.
    [[nodiscard]] double count_along(value_id id, std::optional<std::vector<std::int64_t>> const& axes) const;
    /// Whether the elements are different sizes of one tensor, whose product is the number of its elements.
    [[nodiscard]] bool are_sizes_of_one_tensor(value_id id) const;

private:
    [[nodiscard]] integer_range infer(value_id id);
    [[nodiscard]] integer_range of_result(graph_node const& n, std::size_t output, dtype type);
    [[nodiscard]] std::optional<integer_range> of_arithmetic(graph_node const& n);
    [[nodiscard]] std::optional<integer_range> of_reduction(graph_node const& n);
    [[nodiscard]] integer_range of_cast(graph_node const& n);
    [[nodiscard]] integer_range join(graph_node const& n, std::size_t first, std::size_t last);

    graph_data const& graph_;
    integer_ranges* outer_;
    bool counts_iterations_;
    int depth_ = 0;
    std::vector<std::optional<integer_range>> known_;
};

/// The axes of a reduction, an attribute or a constant operand; nothing for all axes. Fails, with false, if they are computed.
bool read_axes(graph_data const& graph, graph_node const& n, std::optional<std::vector<std::int64_t>>& axes);

} // namespace ATON_NAMESPACE::passes
