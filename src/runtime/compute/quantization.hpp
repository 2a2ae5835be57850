// SPDX-License-Identifier: MIT
// Quantization: integers and narrow floats with a scale and a zero point.
#pragma once

#include <cstdint>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// Reshapes a scale or zero point so that it broadcasts against `x`: one element, one per index of `axis`, or (if
/// `block` > 0) one per `block` indices of it. Throws aton::error if its shape is none of these.
[[nodiscard]] tensor quantization_parameter(tensor const& given, tensor const& x, std::int64_t axis,
                                            std::int64_t block = 0);
/// Quantizes `scaled`, floats that are already divided by their scale: rounds to nearest even, adds the zero point
/// (which may be empty, and broadcasts) and saturates. For narrow floats: adds it and casts.
[[nodiscard]] tensor quantized(tensor const& scaled, tensor const& zero_point, dtype to, bool saturate = true);
/// x - zero_point (which may be empty, and broadcasts) as `type`.
[[nodiscard]] tensor centered(tensor const& x, tensor const& zero_point, dtype type);

} // namespace ATON_NAMESPACE::runtime
