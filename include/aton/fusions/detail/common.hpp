// SPDX-License-Identifier: MIT
// What the built-in rewrites share.
// Internal header.
#pragma once

#include <cstdint>
#include <vector>

#include <aton/dsl/rewrite.hpp>

namespace ATON_NAMESPACE::fusions {

using namespace dsl; // NOLINT(google-build-using-namespace): the tables are written in this language

namespace detail {

using integers = std::vector<std::int64_t>;

/// Whether runtimes compute functions of this value in float32: ONNX stores factors of its activations, and epsilons,
/// with that precision.
inline bool computes_in_float32(value x) {
    return x.dtype() == dtype::float32 || x.dtype() == dtype::float16 || x.dtype() == dtype::bfloat16;
}

/// Whether two sizes are known to be equal.
inline bool is_same(dim const& a, dim const& b) { return a == b && (a.is_static() || a.is_symbolic()); }

/// Whether a list of axes is the last axis of `x`.
inline bool is_last_axis(value x, integers const& axes) {
    return axes.size() == 1 && x.has_rank() && x.rank() != 0 && (axes[0] == -1 || axes[0] == x.rank() - 1);
}

/// Whether `scale` has one element for each element of the last axis of `x`.
inline bool is_per_last_axis(value x, value scale) {
    return scale.has_rank() && scale.rank() == 1 && x.has_rank() && x.rank() != 0 && scale.size(0).is_static() &&
           x.size(-1).is_static() && scale.size(0).size() == x.size(-1).size();
}

} // namespace detail

} // namespace ATON_NAMESPACE::fusions
