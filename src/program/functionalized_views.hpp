// SPDX-License-Identifier: MIT
// The views of auto_functionalized_v2: a slice of a tensor, or sizes, strides and an offset in it, as operators that make them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <aton/program/program.hpp>

#include "node_emitter.hpp"

namespace ATON_NAMESPACE::program {

struct functionalized_view {
    value_index value = no_value;
    std::vector<node> nodes; ///< that make it, in order
};

/// A node of a torch operator with one result, which is not appended.
[[nodiscard]] node view_node(program& p, node const& cause, std::string_view op, std::vector<argument> arguments,
                             value_index made);

/// Sizes or strides that an argument says; nothing where the program does not know one.
[[nodiscard]] std::optional<std::vector<extent>> extents_of(program const& p, argument const& list);

struct slice_arguments {
    argument const& dim;
    argument const& start;
    argument const& end;
};
/// Nothing where there is no such part.
[[nodiscard]] std::optional<functionalized_view> slice_of(node_emitter& out, node const& cause, value_index base,
                                                          slice_arguments const& given);

struct strided_arguments {
    argument const& sizes;
    argument const& strides;
    argument const& offset;
};
/// Selections and slices where they are the same, `as_strided` otherwise. Nothing where the arguments contradict each other.
[[nodiscard]] std::optional<functionalized_view> strided_of(node_emitter& out, node const& cause, value_index base,
                                                            strided_arguments const& given);

} // namespace ATON_NAMESPACE::program
