// SPDX-License-Identifier: MIT
// The same call with the axes of its tensors in another order, so that rules need not say everything once for each axis.
#pragma once

#include <string_view>
#include <vector>

#include <aton/verify/sample.hpp>

#include "random_source.hpp"

namespace ATON_NAMESPACE::verify {

/// Reorders the axes of a call at random. The first name is that of the argument that is an axis or a list of axes; it follows, and counts from
/// either end. The others are tensors, lists of tensors, and lists with one number per axis, the first of which is a tensor or a list of
/// tensors with all axes; a tensor with one axis fewer lacks that axis. Nothing changes if the first argument is at its default.
void reorder_axes(random_source& random, sample& s, std::vector<std::string_view> const& names);

} // namespace ATON_NAMESPACE::verify
