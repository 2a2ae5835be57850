// SPDX-License-Identifier: MIT
// Helpers of convolution and pooling.
#pragma once

#include "runtime/compute/spatial.hpp"

namespace ATON_NAMESPACE::runtime {

/// Whether sums of these elements are computed in float32.
[[nodiscard]] inline bool is_narrow(tensor const& x) {
    return x.dtype() == dtype::float16 || x.dtype() == dtype::bfloat16;
}

/// The number of spatial axes. Throws aton::error if there is none.
[[nodiscard]] std::size_t spatial_rank(tensor const& x);
/// `x` with the padding that `counts` windows cover.
[[nodiscard]] tensor padded(tensor const& x, window const& w, sizes const& counts, scalar const& fill);
/// [N, C, counts..., kernel...]: the windows of a tensor that is already padded.
[[nodiscard]] tensor seen_by(tensor const& from, window const& w, sizes const& counts);

} // namespace ATON_NAMESPACE::runtime
