// SPDX-License-Identifier: MIT
// Changes of a graph that are provably none of its function: no call tells them from the graph, so they are no mutants.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <aton/dsl/graph_data.hpp>
#include <aton/verify/mutation.hpp>

namespace aton::verify {

class same_function {
public:
    explicit same_function(graph_data const& g);

    /// Whether the change leaves the function what it is, for all inputs.
    [[nodiscard]] bool holds(mutation const& m) const;

private:
    /// What is known of the elements of a value, whatever the inputs are; of NaN nothing is.
    struct facts {
        bool least_zero = false;   ///< none is negative
        bool bit = false;          ///< each is 0 or 1
        bool whole = false;        ///< none has a fraction
        bool zero_or_nan = false;  ///< none is anything else
        std::optional<double> all; ///< each is this
    };

    void learn(graph_node const& n);
    [[nodiscard]] facts const& of(graph_node const& n, std::size_t input) const;
    [[nodiscard]] bool same_constants(value_id a, value_id b) const;
    [[nodiscard]] bool only_even_uses(value_id v) const;
    [[nodiscard]] bool neutral(graph_node const& n, std::size_t kept) const;
    [[nodiscard]] bool swapped(graph_node const& n, mutation const& m) const;
    [[nodiscard]] bool never_both(graph_node const& n) const;
    [[nodiscard]] bool replaced(graph_node const& n, mutation const& m) const;
    [[nodiscard]] bool left_out(graph_node const& n, mutation const& m) const;
    [[nodiscard]] bool same_axes(graph_node const& n, std::vector<std::int64_t> was,
                                 std::vector<std::int64_t> now) const;
    [[nodiscard]] bool reduces_all(graph_node const& n) const;
    [[nodiscard]] bool only_broadcast(graph_node const& n) const;
    [[nodiscard]] bool squeezes_all(graph_node const& n) const;
    [[nodiscard]] bool exact_uses_of_bits(graph_node const& n, mutation const& m) const;
    [[nodiscard]] bool attribute_changed(graph_node const& n, mutation const& m) const;
    [[nodiscard]] bool constant_changed(graph_node const& n, mutation const& m) const;

    graph_data const& graph_;
    std::vector<facts> facts_; ///< by value
};

} // namespace aton::verify
