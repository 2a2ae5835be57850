// SPDX-License-Identifier: MIT
// The graphs that a pattern stands for: its variants, and each of them as nodes.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/ir/pattern.hpp>

namespace ATON_NAMESPACE {

/// An order of the operands of commutative nodes, and an alternative of each `either`. A pattern stands for all of its variants.
struct pattern_variant {
    std::vector<std::uint8_t>
        swapped; ///< by node: whether the first operand of the pattern is the second one of the graph
    std::vector<std::uint8_t> chosen; ///< by term, as in term_at: the alternative
};

/// A term of a pattern by its index; the last index is that of the result.
[[nodiscard]] constexpr pattern_term const& term_at(pattern_view const& p, std::size_t index) {
    return index == p.terms.size() ? p.root : p.terms[index];
}

/// The term that a variant has at an index: the chosen alternative of an `either`.
[[nodiscard]] constexpr pattern_term const& chosen_term(pattern_view const& p, pattern_variant const& v,
                                                        std::size_t index) {
    while (term_at(p, index).what == pattern_term::kind::either)
        index = static_cast<std::size_t>(term_at(p, index).index) + v.chosen[index];
    return term_at(p, index);
}

/// Whether all parts of a pattern exist, a node comes after its operands, and it has at most 4,096 variants, as patterns of the DSL do.
[[nodiscard]] bool is_well_formed(pattern_view const& p) noexcept;

/// All variants of a pattern. Of a commutative node with a constant operand, only the order with the constant behind is listed; matching
/// accepts both. Throws only if memory runs out.
[[nodiscard]] std::vector<pattern_variant> variants_of(pattern_view const& p);

/// Appends the nodes of a variant of a pattern of nodes to a graph, for tests of rewrites, and returns the results. `captures` has the values, which must be in the
/// graph, and the numbers. Numbers become constants of the dtype of the other operands, or float32. Throws aton::error for a capture that is
/// missing or for a call that is not legal at the opset of the graph.
std::vector<value_id> instantiate(graph_data& graph, pattern_view const& p, pattern_variant const& v,
                                  std::span<captured const> captures);

/// Appends the replacement of a rewrite to a graph, which has the captured values, and returns the results; none if the condition does not
/// hold or the replacement refuses. Throws aton::error, which names the rewrite, for other exceptions of the rewrite.
[[nodiscard]] std::vector<value_id> build_replacement(graph_data& graph, rewrite_entry const& rewrite,
                                                      std::span<captured const> captures);

} // namespace ATON_NAMESPACE
