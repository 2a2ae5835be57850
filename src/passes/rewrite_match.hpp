// SPDX-License-Identifier: MIT
// Matches a variant of a pattern against a node and what computes its operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <aton/ir/pattern.hpp>

#include "rewrite_index.hpp"
#include "rewriter.hpp"

namespace ATON_NAMESPACE::passes {

/// One attempt to match. The rewriter and the node must outlive it.
class pattern_match {
public:
    pattern_match(rewriter& r, graph_node const& root, pattern_view const& pattern, pattern_variant const& variant);

    /// Whether the node matches, and no value inside the match is used by other nodes, except results, by nodes that follow.
    [[nodiscard]] bool succeeds();
    /// What the captures have matched, after success.
    [[nodiscard]] std::span<captured const> captures() const { return captures_; }
    /// A further result of the pattern, after success.
    struct result {
        value_id value = no_value;     ///< no_value: the program does not use it
        std::uint32_t inside_uses = 0; ///< by nodes of the match
    };
    [[nodiscard]] std::vector<result> further_results() const;

private:
    bool match(std::size_t term, value_id id, graph_node const* user);
    bool match_node(std::size_t index, graph_node const& n);
    bool match_attributes(pattern_node const& p, graph_node const& n);
    bool match_attribute(pattern_attribute const& p, graph_node const& n);
    bool capture_operand(std::size_t index, value_id id, graph_node const* user);
    bool capture(std::size_t index, captured c);
    [[nodiscard]] tensor const* single_number(value_id id, graph_node const* user);
    [[nodiscard]] bool matches_list(pattern_term const& t, value_id id);
    [[nodiscard]] bool is_private() const;
    /// The matched nodes, each once.
    [[nodiscard]] std::vector<graph_node const*> matched() const;
    [[nodiscard]] value_id value_of(pattern_term const& t) const;
    [[nodiscard]] bool is_result(value_id id) const;
    [[nodiscard]] bool is_used_already(value_id id, std::vector<graph_node const*> const& inside) const;

    rewriter& r_;
    graph_node const& root_;
    pattern_view const& pattern_;
    pattern_variant const& variant_;
    std::vector<graph_node const*> nodes_; // by node of the pattern; null: not matched
    std::vector<captured> captures_;
    std::vector<bool> is_captured_;
};

} // namespace ATON_NAMESPACE::passes
