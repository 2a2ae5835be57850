// SPDX-License-Identifier: MIT
// What operators of ai.onnx.ml share: features, scores and labels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

inline constexpr char const* ml_domain = "ai.onnx.ml";

/// The input as [N, F], floats: those of float64 stay, all others are float32. A vector is one row.
[[nodiscard]] tensor features(call const& c);
/// A list as float32 on the device of the call.
[[nodiscard]] tensor numbers(call const& c, std::vector<float> const& list);
[[nodiscard]] tensor numbers(call const& c, std::vector<std::int64_t> const& list);

/// The transform that 'post_transform' names, along the last axis of [N, E]. Throws aton::error for names that are none.
[[nodiscard]] tensor transformed_scores(tensor const& scores, std::string const& transform);
/// The labels of a classifier at these indices: integers or strings, whichever the attributes hold.
[[nodiscard]] tensor labels_at(call const& c, tensor const& indices, std::vector<std::int64_t> const& integers,
                               std::vector<std::string> const& texts);

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
