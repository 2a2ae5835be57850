// SPDX-License-Identifier: MIT
// Which results of an operator share memory with its arguments, and what a write to them means for the arguments.
// From the schemas' alias annotations, and a table of the operators that return their argument without saying so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "layouts.hpp"
#include "node_emitter.hpp"

namespace ATON_NAMESPACE::program {

/// How a write to a view reaches what it is a view of.
enum class view_rule : std::uint8_t {
    same,         ///< no view: the argument itself
    reshape,      ///< other sizes, the same elements in the same order
    self_inverse, ///< the operator undoes itself: transpose
    permute,
    move_dimensions,
    select,
    slice,
    narrow,
    diagonal,
    as_strided,
    pieces,  ///< split, chunk: put together they are the argument
    unbind,  ///< slices along a dimension that is gone
    opaque,  ///< can be repeated, not written through: expand, unfold, real
    unknown, ///< the program does not tell whether this is a view or a copy
};

/// A result that may share memory with an argument.
struct view_of {
    view_rule rule = view_rule::opaque;
    std::size_t argument = 0; ///< position in node::arguments
    std::size_t element = 0;  ///< of a list of tensors
};

/// What element `element` of result `r` of a node is a view of; nothing: it has memory of its own. `n` does not write.
[[nodiscard]] std::optional<view_of> find_view(program const& p, layouts const& layout, node const& n, std::size_t r,
                                               std::size_t element);

/// The argument of a view with `part` in place of what the view shows of it. `whole` is the argument's value, and where
/// the rule is pieces `parts` are all results of the view of it. Throws for what cannot be written through; `cause`
/// wrote.
[[nodiscard]] value_index put_back(node_emitter& out, node const& view, view_rule rule, std::size_t element,
                                   value_index whole, std::vector<value_index> const& parts, value_index part,
                                   node const& cause);

} // namespace ATON_NAMESPACE::program
