// SPDX-License-Identifier: MIT
// The batch dimensions of torch.vmap, while a graph is rewritten to one that has them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <aton/program/program.hpp>

#include "node_emitter.hpp"

namespace ATON_NAMESPACE::program {

/// The batch dimensions of a tensor, by the depth of their vmap; they are its first ones, in this order.
using levels = std::vector<std::int64_t>;

class batch_dimensions {
protected:
    explicit batch_dimensions(program& p) : program_(p), out_(p, p.main.nodes.size()) {}

    /// Whether the types of the argument's tensors are recorded.
    [[nodiscard]] bool is_known(argument const& a) const;

    [[nodiscard]] levels batch_levels(value_index v) const;
    /// The number of its dimensions that are not batch dimensions.
    [[nodiscard]] std::int64_t rank(value_index v) const;
    [[nodiscard]] static levels joined(levels const& a, levels const& b);

    /// Gives a value its batch dimensions: its recorded sizes do not have them.
    void add_batch_levels(value_index v, levels const& all);

    /// A value like another one, but for its sizes.
    value_index fresh(value_index like, std::vector<extent> sizes, levels const& all);
    value_index unsqueezed(value_index x, std::int64_t at, levels const& all, node const& cause);
    /// x with all batch dimensions, of size 1 where it has none, and with at least `dims` others. What has no batch dimensions broadcasts
    /// anyway.
    value_index aligned(value_index x, levels const& all, std::int64_t dims, node const& cause);
    /// The size of a batch dimension.
    number size_of(value_index x, std::size_t i, node const& cause);

    program& program_;                               ///< to be rewritten
    node_emitter out_;                               ///< its new nodes
    std::unordered_map<std::int64_t, extent> sizes_; ///< of the batch dimensions, by level

private:
    std::unordered_map<value_index, levels> batch_levels_;
};

} // namespace ATON_NAMESPACE::program
