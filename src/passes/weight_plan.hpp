// SPDX-License-Identifier: MIT
// Which weights in a file a sweep may rewrite, and what they are called then.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <aton/core/tensor.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

class rewriter;

class weight_plan {
public:
    explicit weight_plan(rewriter& r) : r_(r) {}

    /// Computes the bytes that layout operators would write of each weight, before a sweep that may rewrite them.
    void plan(std::vector<graph_node> const& nodes);
    /// Before a sweep that rewrites none.
    void clear() { rewritten_.clear(); }
    /// Whether rewriting a weight does not make the file larger.
    [[nodiscard]] bool may_rewrite(value_id id) const;
    /// Whether no outer graph uses the value elsewhere.
    [[nodiscard]] bool is_only_used_here(value_id id) const;
    /// The name of a weight derived from this one; if it is the only one, it takes over the name.
    [[nodiscard]] std::string derived_name(value_id id, bool is_only);
    /// A constant, or a small weight, which is read once; otherwise null.
    [[nodiscard]] tensor const* loaded(value_id id);

private:
    rewriter& r_;
    std::vector<std::uint64_t> rewritten_; // by value: bytes that layout operators would write of a weight
    std::unordered_map<value_id, tensor> loaded_;
    std::size_t generated_names_ = 0;
};

} // namespace ATON_NAMESPACE::passes
