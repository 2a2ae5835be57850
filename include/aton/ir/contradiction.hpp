// SPDX-License-Identifier: MIT
// Whether two shapes, or types, cannot be those of the same value.
// Internal header.
#pragma once

#include <cstddef>

#include <aton/core/dtype.hpp>
#include <aton/core/shape.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::detail {

/// Whether both ranks are known and differ, or a size is known in both and differs.
inline bool contradicts(shape const& a, shape const& b) {
    if (!a.has_rank() || !b.has_rank()) return false;
    if (a.rank() != b.rank()) return true;
    for (std::size_t i = 0; i != a.rank(); ++i)
        if (a[i].is_static() && b[i].is_static() && a[i].size() != b[i].size()) return true;
    return false;
}

/// Whether the kinds, the known dtypes or the shapes differ.
inline bool contradicts(value_type const& a, value_type const& b) {
    if (a.kind != b.kind) return true;
    if (a.dtype != b.dtype && a.dtype != dtype::undefined && b.dtype != dtype::undefined) return true;
    return contradicts(a.shape, b.shape);
}

} // namespace ATON_NAMESPACE::detail
