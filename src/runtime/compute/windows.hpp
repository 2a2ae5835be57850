// SPDX-License-Identifier: MIT
// What convolution and pooling share.
#pragma once

#include <aton/runtime/spatial.hpp>

namespace aton::runtime {

/// Throws aton::error where there is no spatial axis.
[[nodiscard]] std::size_t spatial_rank(tensor const& x);
/// `x` with as much padding as so many windows see.
[[nodiscard]] tensor padded(tensor const& x, window const& w, sizes const& counts, scalar const& fill);

} // namespace aton::runtime
