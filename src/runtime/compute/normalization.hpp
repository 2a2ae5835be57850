// SPDX-License-Identifier: MIT
// Normalization of floats by their mean and variance.
#pragma once

#include <cstdint>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// float16 and bfloat16 as float32, other floats unchanged. Throws aton::error for other dtypes.
[[nodiscard]] tensor widened(tensor const& x);
/// A vector reshaped to lie along one axis of a tensor of this rank.
[[nodiscard]] tensor along_axis(tensor const& vector, std::size_t rank, std::size_t axis);

struct standardized {
    tensor values;            ///< (x - mean) * inverse_deviation
    tensor mean;              ///< the reduced axes have size 1
    tensor inverse_deviation; ///< 1 / sqrt(variance + epsilon)
};
/// Standardizes over these axes. float32 or float64.
[[nodiscard]] standardized standardize(tensor const& x, axis_list const& axes, double epsilon);
/// Standardizes over groups of channels of [N, C, ...]; mean and deviation are [N, groups].
[[nodiscard]] standardized standardize_groups(tensor const& x, std::int64_t groups, double epsilon);
/// x / sqrt(mean(x^2) + epsilon)
[[nodiscard]] tensor divide_by_rms(tensor const& x, axis_list const& axes, double epsilon);

/// (x - mean) / sqrt(variance + epsilon) * scale + bias, with one element per channel of [N, C, ...]; scale and bias
/// may be empty. Computed in the widest of the dtypes, at least float32; the result has the dtype of `x`.
[[nodiscard]] tensor batch_norm(tensor const& x, tensor const& mean, tensor const& variance, tensor const& scale,
                                tensor const& bias, double epsilon);

} // namespace ATON_NAMESPACE::runtime
