// SPDX-License-Identifier: MIT
// Sums of products over subscripts, and determinants.
#pragma once

#include <span>
#include <string_view>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// The diagonal of two axes as a view; its axis is the first of the two.
[[nodiscard]] tensor diagonal_view(tensor const& x, std::size_t first, std::size_t second);

/// numpy's einsum: "ij,jk->ik", with "..." and repeated letters; without "->" the result has the letters that occur
/// once, in alphabetical order.
[[nodiscard]] tensor einsum(std::string_view equation, std::span<tensor const> operands);

/// Determinants of matrices [..., n, n], as [...]. float32 and float64.
[[nodiscard]] tensor determinant(tensor const& x);

} // namespace ATON_NAMESPACE::runtime
