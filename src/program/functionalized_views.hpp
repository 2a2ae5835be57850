// SPDX-License-Identifier: MIT
// The views of auto_functionalized_v2, given as a slice or as sizes, strides and offset, as operators.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <aton/program/program.hpp>

#include "node_emitter.hpp"

namespace ATON_NAMESPACE::program {

struct functionalized_view {
    value_index value = no_value;
    std::vector<node> nodes; ///< nodes that compute it, in order
};

/// A node of a torch operator with one result. Does not append it to the graph.
[[nodiscard]] node view_node(program& p, node const& cause, std::string_view op, std::vector<argument> arguments,
                             value_index made);

/// The sizes or strides in an argument; nullopt if one of them is unknown.
[[nodiscard]] std::optional<std::vector<extent>> extents_of(program const& p, argument const& list);

struct slice_arguments {
    argument const& dim;
    argument const& start;
    argument const& end;
};
/// A slice of the base; nullopt if it is out of range.
[[nodiscard]] std::optional<functionalized_view> slice_of(node_emitter& out, node const& cause, value_index base,
                                                          slice_arguments const& given);

struct strided_arguments {
    argument const& sizes;
    argument const& strides;
    argument const& offset;
};
/// Selections and slices if they can express the view, otherwise `as_strided`. Returns nullopt if the arguments are inconsistent.
[[nodiscard]] std::optional<functionalized_view> strided_of(node_emitter& out, node const& cause, value_index base,
                                                            strided_arguments const& given);

} // namespace ATON_NAMESPACE::program
