// SPDX-License-Identifier: MIT
// What is known of the elements of a graph's values, whatever its inputs are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::verify {

/// Of NaN nothing is known.
struct facts {
    bool least_zero = false;   ///< none is negative
    bool bit = false;          ///< each is 0 or 1
    bool whole = false;        ///< none has a fraction
    bool zero_or_nan = false;  ///< none is anything else
    std::optional<double> all; ///< each is this
};

class value_facts {
public:
    explicit value_facts(graph_data const& g);

    [[nodiscard]] facts const& of(value_id v) const { return all_[v]; }
    /// Of an input of a node, which it may not have.
    [[nodiscard]] facts const& of(graph_node const& n, std::size_t input) const;

private:
    void learn(graph_node const& n);

    graph_data const& graph_;
    std::vector<facts> all_; ///< by value
};

/// The elements of a constant; nothing where they are no real numbers, or there is no tensor.
[[nodiscard]] std::optional<std::vector<double>> numbers_of(tensor const* t);

[[nodiscard]] bool one_of(std::string_view op, std::initializer_list<std::string_view> all);
/// Whether the graph gives the value, or a graph inside of a node may read it.
[[nodiscard]] bool is_result(graph_data const& g, value_id v);

/// Whether only nodes read a value, and each of them, at each of its inputs, is as asked.
template <class Is>
bool all_uses(graph_data const& g, value_id v, Is const& is) {
    if (is_result(g, v)) return false;
    for (graph_node const& user : g.nodes)
        for (std::size_t i = 0; i != user.inputs.size(); ++i)
            if (user.inputs[i] == v && !is(user, i)) return false;
    return true;
}

} // namespace ATON_NAMESPACE::verify
