// SPDX-License-Identifier: MIT
// What kernels of reductions share.
#pragma once

#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// The axes that `dim` names; all where it is missing, None or empty.
[[nodiscard]] axis_list axes_of(call const& c, tensor const& x);
/// keepdim, where the operator has it.
[[nodiscard]] bool keeps(call const& c);
/// The argument of a reduction over all axes or the axis `dim`: with the axis that it goes along.
struct one_axis {
    tensor x; ///< flattened, without `dim`
    std::int64_t axis = 0;
    bool keep = false;
    std::size_t rank = 0; ///< before

    /// Sizes of 1 for all axes, where a flattened tensor keeps them.
    [[nodiscard]] tensor finish(tensor const& result) const;
};
[[nodiscard]] one_axis axis_of(call const& c);

/// The reduced axes as one, the last; the others stay before it.
[[nodiscard]] tensor gathered(tensor const& x, axis_list const& axes);
/// Sizes of a reduced tensor.
[[nodiscard]] sizes reduced_sizes(tensor const& x, axis_list const& axes, bool keep);
/// How many elements become one.
[[nodiscard]] std::int64_t count_along(tensor const& x, axis_list const& axes);
/// Halves of the last axis meet until one element is left: for functions that the device does not reduce by.
[[nodiscard]] tensor fold(binary_op op, tensor const& x, scalar const& identity);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
