// SPDX-License-Identifier: MIT
// Numbers in few bits: integers and narrow floats that a scale and a zero point give their meaning.
#pragma once

#include <cstdint>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// A scale or zero point in the form that broadcasts against `x`: one number, one for each index of `axis`, or (`block` above 0) one for
/// each `block` indices of it. Throws aton::error where its sizes fit none of these.
[[nodiscard]] tensor quantization_parameter(tensor const& given, tensor const& x, std::int64_t axis,
                                            std::int64_t block = 0);
/// `scaled`, floats that are divided by their scale: rounded to nearest even, moved by the zero point (which may be missing, and
/// broadcasts) and saturated. To narrow floats: moved and cast.
[[nodiscard]] tensor quantized(tensor const& scaled, tensor const& zero_point, dtype to, bool saturate = true);
/// x - zero_point (which may be missing, and broadcasts) as `type`.
[[nodiscard]] tensor centered(tensor const& x, tensor const& zero_point, dtype type);

} // namespace ATON_NAMESPACE::runtime
