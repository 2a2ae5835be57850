// SPDX-License-Identifier: MIT
// What convolution and pooling share.
#pragma once

#include "runtime/compute/spatial.hpp"

namespace ATON_NAMESPACE::runtime {

/// Throws aton::error where there is no spatial axis.
[[nodiscard]] std::size_t spatial_rank(tensor const& x);
/// `x` with as much padding as so many windows see.
[[nodiscard]] tensor padded(tensor const& x, window const& w, sizes const& counts, scalar const& fill);
/// [N, C, counts..., kernel...]: what windows see of a tensor that has its padding.
[[nodiscard]] tensor seen_by(tensor const& from, window const& w, sizes const& counts);

} // namespace ATON_NAMESPACE::runtime
