// SPDX-License-Identifier: MIT
// Helpers of ai.onnx.ml operators: features, scores and labels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

inline constexpr char const* ml_domain = "ai.onnx.ml";

/// The input as [N, F]: float64 stays, all other dtypes become float32. A vector is one row.
[[nodiscard]] tensor features(call const& c);
/// A list as float32 on the device of the call.
[[nodiscard]] tensor numbers(call const& c, std::vector<float> const& list);
[[nodiscard]] tensor numbers(call const& c, std::vector<std::int64_t> const& list);

/// Applies the transform 'post_transform' along the last axis of [N, E]. Throws aton::error for unknown names.
[[nodiscard]] tensor transformed_scores(tensor const& scores, std::string const& transform);
/// The labels of a classifier at these indices: integers or strings, depending on the attributes.
[[nodiscard]] tensor labels_at(call const& c, tensor const& indices, std::vector<std::int64_t> const& integers,
                               std::vector<std::string> const& texts);

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
