// SPDX-License-Identifier: MIT
// Matches a variant of a pattern of ATen calls against a node of a program and what computes its arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/ir/pattern.hpp>
#include <aton/passes/patterns.hpp>
#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::exporter {

/// Which node of a program computes a value, and how often a value is used.
class value_uses {
public:
    explicit value_uses(program::program const& p);

    /// The node, or null for an input.
    [[nodiscard]] program::node const* producer(program::value_index v) const { return producers_[v]; }
    [[nodiscard]] std::size_t count(program::value_index v) const { return counts_[v]; }
    /// Forgets the uses of a node that is removed.
    void remove(program::node const& n);
    /// Counts those of a new node.
    void add(program::node const& n);

private:
    void add(program::graph const& g);

    std::vector<program::node const*> producers_; // by value
    std::vector<std::size_t> counts_;
};

/// One attempt to match. Everything that it is made of must outlive it.
class call_match {
public:
    call_match(value_uses const& uses, program::node const& root, pattern_view const& pattern,
               pattern_variant const& variant);

    /// Whether the node matches, and nothing else uses what the match computes on the way.
    [[nodiscard]] bool succeeds();
    /// What the captures have matched, after success: arguments of the program.
    [[nodiscard]] std::span<program::argument const> captures() const { return captures_; }
    /// The nodes that the replacement makes superfluous, without the root.
    [[nodiscard]] std::vector<program::node const*> inner_nodes() const;

private:
    bool match(std::size_t term, program::argument const& given, aten::schema_argument const& formal);
    bool match_node(std::size_t index, program::node const& n);
    bool capture(std::size_t index, program::argument const& given);
    [[nodiscard]] bool is_private() const;

    value_uses const& uses_;
    program::node const& root_;
    pattern_view const& pattern_;
    pattern_variant const& variant_;
    std::vector<program::node const*> nodes_; // by node of the pattern; null: not matched
    std::vector<program::argument> captures_;
    std::vector<bool> is_captured_;
};

} // namespace ATON_NAMESPACE::exporter
