// SPDX-License-Identifier: MIT
// Derives facts about the elements of a graph's values that hold for all inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::verify {

/// Facts about all elements of a value except NaN.
struct facts {
    bool non_negative = false; ///< no element is negative
    bool bit = false;          ///< every element is 0 or 1
    bool whole = false;        ///< no element has a fraction
    bool zero_or_nan = false;  ///< every element is 0 or NaN
    std::optional<double> all; ///< every element has this value
};

class value_facts {
public:
    explicit value_facts(graph_data const& g);

    [[nodiscard]] facts const& of(value_id v) const { return all_[v]; }
    /// The facts of an input of a node; none if the input is missing.
    [[nodiscard]] facts const& of(graph_node const& n, std::size_t input) const;

private:
    void derive(graph_node const& n);

    graph_data const& graph_;
    std::vector<facts> all_; ///< by value
};

/// The elements of a constant; nothing if there is no tensor or it does not hold real numbers.
[[nodiscard]] std::optional<std::vector<double>> numbers_of(aton::tensor const* t);

[[nodiscard]] bool one_of(std::string_view op, std::initializer_list<std::string_view> all);
/// Whether the value is an output of the graph, or a nested graph may read it.
[[nodiscard]] bool is_result(graph_data const& g, value_id v);

/// Whether only nodes read a value, and `is(node, input)` holds for every use.
template <class Is>
bool all_uses(graph_data const& g, value_id v, Is const& is) {
    if (is_result(g, v)) return false;
    for (graph_node const& user : g.nodes)
        for (std::size_t i = 0; i != user.inputs.size(); ++i)
            if (user.inputs[i] == v && !is(user, i)) return false;
    return true;
}

} // namespace ATON_NAMESPACE::verify
