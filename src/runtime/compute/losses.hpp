// SPDX-License-Identifier: MIT
// Losses of classes.
#pragma once

#include <cstdint>
#include <optional>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

enum class loss_reduction : std::uint8_t { none, mean, sum };

struct weighted_loss {
    tensor loss;
    tensor weights; ///< their sum: what a mean is divided by
};

/// -log_probability[n, target[n, ...], ...] * weight[target[n, ...]], of the sizes [N, C, ...] and [N, ...]; weights may be missing.
/// Targets that are ignored count nothing. Throws aton::error for a target that is no class.
[[nodiscard]] weighted_loss nll_loss(tensor const& log_probability, tensor const& target, tensor const& weight,
                                     std::optional<std::int64_t> ignored, loss_reduction reduction);

} // namespace ATON_NAMESPACE::runtime
