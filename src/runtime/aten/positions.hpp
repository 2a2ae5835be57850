// SPDX-License-Identifier: MIT
// Positions of the elements that indexing operators read and write.
#pragma once

#include "axes.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// The indices of an indexing operator (Tensor?[]), with bool masks as the int64 indices of their true elements. Empty
/// for None.
[[nodiscard]] std::vector<tensor> integer_indices(tensor const& x, std::vector<tensor> const& given);

/// Positions of x[indices] in row-major order: adjacent indices have the result's dimensions in their place, others in
/// front.
[[nodiscard]] tensor indexed_positions(sizes const& of, std::vector<tensor> const& indices);

/// x[indices].
[[nodiscard]] tensor indexed(tensor const& x, std::vector<tensor> const& given);

/// Positions of the slices of one dimension at a vector (or 0-d tensor) of indices.
[[nodiscard]] tensor slice_positions(sizes const& of, std::size_t axis, tensor const& index);

/// The int64 positions of true elements.
[[nodiscard]] tensor true_positions(tensor const& mask);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
