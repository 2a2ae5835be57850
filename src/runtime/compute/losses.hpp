// SPDX-License-Identifier: MIT
// Classification losses.
#pragma once

#include <cstdint>
#include <optional>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

enum class loss_reduction : std::uint8_t { none, mean, sum };

struct weighted_loss {
    tensor loss;
    tensor weights; ///< sum of the weights: the divisor of a mean
};

/// -log_probability[n, target[n, ...], ...] * weight[target[n, ...]], for shapes [N, C, ...] and [N, ...]; `weight` may
/// be empty. Ignored targets contribute 0. Throws aton::error for a target that is out of range.
[[nodiscard]] weighted_loss nll_loss(tensor const& log_probability, tensor const& target, tensor const& weight,
                                     std::optional<std::int64_t> ignored, loss_reduction reduction);

} // namespace ATON_NAMESPACE::runtime
