// SPDX-License-Identifier: MIT
// Classification losses.
#include "runtime/compute/losses.hpp"

#include <string>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

namespace {

void require_fitting(tensor const& log_probability, tensor const& target, tensor const& weight) {
    sizes expected = log_probability.sizes();
    bool fits = expected.size() >= 2;
    if (fits) expected.erase(expected.begin() + 1);
    fits = fits && expected == target.sizes() &&
           (!weight || (weight.rank() == 1 && weight.count() == log_probability.size(1)));
    if (!fits)
        throw error("the shapes do not match: scores " + to_string(log_probability.sizes()) + ", targets " +
                    to_string(target.sizes()) + (weight ? ", weights " + to_string(weight.sizes()) : ""));
}

} // namespace

weighted_loss nll_loss(tensor const& log_probability, tensor const& target, tensor const& weight,
                       std::optional<std::int64_t> ignored, loss_reduction reduction) {
    require_fitting(log_probability, target, weight);
    if (!is_integral(target.dtype())) throw error("targets must be integers, not " + std::string(name(target.dtype())));
    dtype const type = log_probability.dtype();
    if (type == dtype::float16 || type == dtype::bfloat16) { // summed in float32
        tensor const wide = weight ? cast(weight, dtype::float32) : tensor();
        weighted_loss const all = nll_loss(cast(log_probability, dtype::float32), target, wide, ignored, reduction);
        return {cast(all.loss, type), cast(all.weights, type)};
    }
    tensor classes = cast(target, dtype::int64);
    tensor skipped;
    if (ignored) {
        skipped = equal(classes, scalar(static_cast<long long>(*ignored)));
        classes = where(skipped, scalar(0), classes);
    }
    tensor const picked = take_along(log_probability, classes.unsqueezed(1), 1).squeezed(1);
    tensor weights =
        weight ? index_select(weight, 0, classes) : contiguous(full(1, type, classes.sizes(), log_probability.where()));
    tensor loss = -picked * weights;
    if (skipped) {
        weights = where(skipped, scalar(0), weights);
        loss = where(skipped, scalar(0), loss);
    }
    tensor const total = sum(weights, all_axes(weights));
    if (reduction == loss_reduction::none) return {loss, total};
    loss = sum(loss, all_axes(loss));
    return {reduction == loss_reduction::mean ? loss / total : loss, total};
}

} // namespace ATON_NAMESPACE::runtime
