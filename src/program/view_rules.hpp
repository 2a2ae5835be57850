// SPDX-License-Identifier: MIT
// Determines which results of an operator share memory with its arguments, and how writes to them reach the arguments,
// from the alias annotations of schemas and a table of operators that lack them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "layouts.hpp"
#include "node_emitter.hpp"

namespace ATON_NAMESPACE::program {

/// How a write to a view is put back into the viewed tensor.
enum class view_rule : std::uint8_t {
    same,         ///< the argument itself
    reshape,      ///< the same elements in the same order
    self_inverse, ///< the operator is its own inverse: transpose
    permute,
    move_dimensions,
    select,
    slice,
    narrow,
    diagonal,
    as_strided,
    pieces,      ///< split, chunk: their concatenation is the argument
    unbind,      ///< slices along a dimension that is dropped
    expand,      ///< in the table only: reshape if no element is repeated, otherwise overlapping
    overlapping, ///< some elements more than once: not written through
    opaque,      ///< can be recomputed, but not written through: real, view.dtype
    unknown,     ///< the program does not tell whether this is a view or a copy
};

/// Whether such a view has every element of the viewed tensor once, perhaps in another order.
[[nodiscard]] constexpr bool keeps_all_elements(view_rule rule) {
    return rule == view_rule::same || rule == view_rule::reshape || rule == view_rule::self_inverse ||
           rule == view_rule::permute || rule == view_rule::move_dimensions;
}

/// The argument that a result may share memory with.
struct view_of {
    view_rule rule = view_rule::opaque;
    std::size_t argument = 0; ///< index in node::arguments
    std::size_t element = 0;  ///< index in a list of tensors
};

/// What element `element` of result `r` of a node is a view of; nullopt if it has its own memory. `n` must not write to its arguments.
[[nodiscard]] std::optional<view_of> find_view(program const& p, layouts const& layout, node const& n, std::size_t r,
                                               std::size_t element);

/// A write to a view.
struct view_write {
    node const& view; ///< the call that made the view
    view_rule rule;
    std::size_t element;            ///< index in a list of tensors
    value_index whole;              ///< the viewed tensor
    std::vector<value_index> parts; ///< for the rule pieces: all results of the call
    value_index part;               ///< the new value of the view
    node const& cause;              ///< the node that writes
};

/// Emits the new value of the viewed tensor: `whole`, in which the elements of the view are replaced by `part`. Throws aton::error, which
/// names `cause`, if the view cannot be written through.
[[nodiscard]] value_index write_through_view(node_emitter& out, view_write const& w);

} // namespace ATON_NAMESPACE::program
