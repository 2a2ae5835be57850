// SPDX-License-Identifier: MIT
// Recognizes changes that provably keep the function of a graph. No call can detect them, so they are not mutants.
#pragma once

#include <cstddef>
#include <string_view>

#include <aton/ir/graph.hpp>
#include <aton/verify/mutation.hpp>

#include "same_layout.hpp"
#include "value_facts.hpp"

namespace ATON_NAMESPACE::verify {

class same_function {
public:
    explicit same_function(graph_data const& g) : graph_(g), facts_(g), layout_(g) {}

    /// Whether the graph computes the same function after the change.
    [[nodiscard]] bool holds(mutation const& m) const;

private:
    [[nodiscard]] facts const& of(graph_node const& n, std::size_t input) const { return facts_.of(n, input); }
    [[nodiscard]] graph_node const* producer_of(graph_node const& n, std::size_t input) const;
    [[nodiscard]] bool same_constants(value_id a, value_id b) const;
    [[nodiscard]] bool only_even_uses(value_id v) const;
    [[nodiscard]] bool only_zero_counts(value_id v) const;
    [[nodiscard]] bool neutral(graph_node const& n, std::size_t kept) const;
    [[nodiscard]] bool is_empty(value_id v) const;
    [[nodiscard]] bool swapped(graph_node const& n, mutation const& m) const;
    [[nodiscard]] bool never_both(graph_node const& n) const;
    [[nodiscard]] bool same_comparison(graph_node const& n, std::string_view other) const;
    [[nodiscard]] bool replaced(graph_node const& n, std::string_view other) const;
    [[nodiscard]] bool is_default_input(graph_node const& n, std::size_t input) const;
    [[nodiscard]] bool left_out(graph_node const& n, mutation const& m) const;
    [[nodiscard]] bool any_dtype_holds(value_id v, double most, double capacity) const;
    [[nodiscard]] bool other_dtype(graph_node const& n, mutation const& m) const;
    [[nodiscard]] bool constant_changed(graph_node const& n, mutation const& m) const;
    [[nodiscard]] bool attribute_changed(graph_node const& n, mutation const& m) const;

    graph_data const& graph_;
    value_facts facts_;
    same_layout layout_;
};

} // namespace ATON_NAMESPACE::verify
