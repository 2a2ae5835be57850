// SPDX-License-Identifier: MIT
// Finds the rewrites whose patterns a node may match: a discrimination tree over operators, shared by all patterns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <aton/ir/pattern.hpp>
#include <aton/passes/patterns.hpp>

namespace ATON_NAMESPACE::passes {

/// The patterns of all rewrites, with their variants, as a tree of what one meets on the way from a result to its operands (preorder).
/// Looking up a node follows only branches that exist, whatever the number of rewrites.
class rewrite_index {
public:
    /// The rewrites that hold at `opset`. The entries must outlive the index.
    rewrite_index(std::span<rewrite_entry const> rewrites, int opset);

    /// A variant of the pattern of a rewrite.
    struct candidate {
        std::size_t rewrite = 0; ///< index
        pattern_variant variant;
    };

    [[nodiscard]] bool empty() const { return variants_.empty(); }
    [[nodiscard]] rewrite_entry const& rewrite(candidate const& c) const { return rewrites_[c.rewrite]; }

    /// What the index has to know about a value.
    struct facts {
        graph_node const* producer = nullptr; ///< null: an input or constant
        bool is_constant = false;
    };
    /// The variants that a node may match, in the order of their rewrites; attributes and equal parts remain to be checked.
    [[nodiscard]] std::vector<candidate const*> candidates(graph_node const& root,
                                                           std::function<facts(value_id)> const& describe) const;

private:
    static constexpr int any_symbol = 0;
    static constexpr int constant_symbol = 1;
    static constexpr int absent_symbol = 2;
    static constexpr int first_operator = 3;

    struct tree_node {
        std::vector<std::pair<int, std::size_t>> edges; ///< symbol and child
        std::vector<std::size_t> ends;                  ///< indices of variants
    };
    struct search;

    void add(std::size_t rewrite);
    void insert(candidate variant, std::vector<int> const& symbols);
    int intern(std::string_view domain, std::string_view op, std::size_t operands);
    [[nodiscard]] int find_operator(graph_node const& n) const;
    void flatten(pattern_view const& p, std::size_t at, pattern_variant const& v, std::vector<int>& symbols);

    std::span<rewrite_entry const> rewrites_;
    std::vector<candidate> variants_;
    std::vector<tree_node> tree_;
    std::unordered_map<std::string, int> operators_;
    std::vector<bool> commutes_; ///< by symbol
};

/// Whether the operands of a commutative node are exchanged before they are matched, so that a constant is the second one.
[[nodiscard]] bool has_constant_first(graph_node const& n, std::function<bool(value_id)> const& is_constant);

/// The number of operands, without absent ones at the end.
[[nodiscard]] std::size_t operand_count(graph_node const& n);

} // namespace ATON_NAMESPACE::passes
