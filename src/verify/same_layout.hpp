// SPDX-License-Identifier: MIT
// Recognizes changes of axes, slices and shapes that keep every element in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/verify/mutation.hpp>

namespace ATON_NAMESPACE::verify {

class same_layout {
public:
    explicit same_layout(graph_data const& g) : graph_(g) {}

    /// Whether the change keeps every element in place.
    [[nodiscard]] bool holds(mutation const& m) const;
    /// The axes of a reduction, non-negative and sorted; empty if they are unknown or there are none.
    [[nodiscard]] std::vector<std::int64_t> axes_of(graph_node const& n) const;

private:
    using numbers = std::vector<std::int64_t>;

    [[nodiscard]] bool same_axes(graph_node const& n, numbers was, numbers now) const;
    [[nodiscard]] bool same_shape(graph_node const& n, numbers const& now) const;
    [[nodiscard]] bool same_places(graph_node const& n, numbers was, numbers now) const;
    [[nodiscard]] bool same_slices(graph_node const& n, std::size_t input, numbers const& now) const;
    [[nodiscard]] bool reduces_all(graph_node const& n) const;
    [[nodiscard]] bool reduces_first(graph_node const& n) const;
    [[nodiscard]] bool squeezes_all(graph_node const& n) const;
    [[nodiscard]] bool only_broadcast(value_id v, std::size_t rank) const;
    [[nodiscard]] bool only_reshaped(graph_node const& n, std::int64_t kept) const;
    [[nodiscard]] std::int64_t leading_axes(graph_node const& n) const;
    [[nodiscard]] bool input_dropped(graph_node const& n, std::size_t input) const;
    [[nodiscard]] bool is_removable(graph_node const& n, std::size_t kept) const;
    [[nodiscard]] bool attribute_changed(graph_node const& n, mutation const& m) const;
    [[nodiscard]] bool constant_changed(graph_node const& n, mutation const& m) const;

    graph_data const& graph_;
};

} // namespace ATON_NAMESPACE::verify
