// SPDX-License-Identifier: MIT
// Helpers of reduction kernels.
#pragma once

#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// The axes in `dim`; all if it is missing, None or empty.
[[nodiscard]] axis_list axes_of(call const& c, tensor const& x);
/// keepdim; false if the operator does not have it.
[[nodiscard]] bool keeps(call const& c);
/// The operand of a reduction over the axis `dim`, or over all axes, and the axis to reduce.
struct one_axis {
    tensor x; ///< flattened if there is no `dim`
    std::int64_t axis = 0;
    bool keep = false;
    std::size_t rank = 0; ///< rank before flattening

    /// Restores axes of size 1 if a flattened tensor keeps them.
    [[nodiscard]] tensor finish(tensor const& result) const;
};
[[nodiscard]] one_axis axis_of(call const& c);

/// Merges the reduced axes into one, the last; the others precede it.
[[nodiscard]] tensor gathered(tensor const& x, axis_list const& axes);
/// The shape of a reduced tensor.
[[nodiscard]] sizes reduced_sizes(tensor const& x, axis_list const& axes, bool keep);
/// The number of elements per result.
[[nodiscard]] std::int64_t count_along(tensor const& x, axis_list const& axes);
/// Combines halves of the last axis until one element is left, for functions without a reduction kernel.
[[nodiscard]] tensor fold(binary_op op, tensor const& x, scalar const& identity);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
