// SPDX-License-Identifier: MIT
// Where the elements lie that index operators read and write.
#pragma once

#include "axes.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// Indices of an indexing operator (Tensor?[]) with bools as the int64 indices of what is true. No tensor for None.
[[nodiscard]] std::vector<tensor> integer_indices(tensor const& x, std::vector<tensor> const& given);

/// Positions of x[indices], counted in row-major order: indices that stand beside each other have the result's dimensions in their place,
/// others in front.
[[nodiscard]] tensor indexed_positions(sizes const& of, std::vector<tensor> const& indices);

/// Positions of the slices of one dimension that a vector (or 0-d tensor) of indices names.
[[nodiscard]] tensor slice_positions(sizes const& of, std::size_t axis, tensor const& index);

/// The int64 positions of true elements.
[[nodiscard]] tensor true_positions(tensor const& mask);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
