// SPDX-License-Identifier: MIT
// ONNX operators: normalization.
#include "runtime/compute/normalization.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/compute/spatial.hpp"
#include <aton/core/error.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

constexpr double usual_epsilon = 1e-5F; // float, like attributes

double epsilon_of(call const& c) { return c.f("epsilon", usual_epsilon); }

/// Whether the batch's statistics are used; before version 14 this follows from is_test or from the requested outputs.
bool trains(call const& c) {
    if (c.opset() >= 14) return c.i("training_mode", 0) != 0;
    return c.opset() >= 7 ? c.outputs() > 1 : c.i("is_test", 0) == 0;
}

results batch_normalization(call const& c) {
    tensor const& given = c.in(0);
    tensor x = given;
    if (c.opset() < 9 && c.i("spatial", 1) == 0 && x.rank() > 2) // each element of an image is a channel
        x = reshape(x, {x.size(0), x.size(0) == 0 ? 0 : x.count() / x.size(0)});
    std::vector<tensor> parts; // scale, bias, mean, variance
    for (std::size_t i = 1; i != 5; ++i) parts.push_back(flatten(c.in(i)));
    auto const normalized = [&](tensor const& mean, tensor const& variance) {
        return reshape(batch_norm(x, mean, variance, parts[0], parts[1], epsilon_of(c)), given.sizes());
    };
    if (!trains(c)) return normalized(parts[2], parts[3]);
    axis_list axes = all_axes(x);
    if (x.rank() > 1) axes.erase(axes.begin() + 1);
    tensor const wide = widened(x);
    tensor const mean = flatten(runtime::mean(wide, axes));
    tensor const variance = flatten(runtime::variance(wide, axes, 0));
    double const momentum = c.f("momentum", 0.9F);
    auto const running = [&](tensor const& before, tensor const& now) {
        tensor const old = cast(before, now.dtype());
        return reshape(cast(old * scalar(momentum) + now * scalar(1 - momentum), before.dtype()), before.sizes());
    };
    tensor const running_mean = running(c.in(3), mean);
    tensor const running_variance = running(c.in(4), variance);
    auto const saved = [&](tensor const& t) { return cast(t, given.dtype()); };
    tensor const y = normalized(mean, variance);
    if (c.opset() >= 14) return {y, running_mean, running_variance};
    return {y, running_mean, running_variance, saved(mean), saved(variance)};
}

void require_channels(tensor const& parameter, std::int64_t count) {
    if (parameter.count() != count)
        throw error("a parameter of shape " + to_string(parameter.sizes()) + " does not fit " + std::to_string(count) +
                    " channels");
}

results instance_normalization(call const& c) {
    tensor const& x = c.in(0);
    if (x.rank() < 3) throw error("[N, C, D1, ...] is expected, not " + to_string(x.sizes()));
    tensor const wide = widened(x);
    require_channels(c.in(1), x.size(1));
    require_channels(c.in(2), x.size(1));
    if (x.count() == 0) return x;
    tensor const y = standardize_groups(wide, x.size(1), epsilon_of(c)).values;
    auto const fitted = [&](std::size_t i) { return along_axis(cast(c.in(i), wide.dtype()), x.rank(), 1); };
    return cast(y * fitted(1) + fitted(2), x.dtype());
}

/// The dtype of stage one; with bfloat16, its inputs and outputs are rounded.
dtype stash_type(call const& c) { return c.type("stash_type", dtype::float32); }
tensor stashed(tensor const& x, dtype stash) { return widened(cast(x, stash)); }

results group_normalization(call const& c) {
    tensor const& x = c.in(0);
    std::int64_t const groups = c.i("num_groups");
    tensor const y = standardize_groups(stashed(x, stash_type(c)), groups, epsilon_of(c)).values;
    tensor const rounded = cast(y, x.dtype());
    auto const fitted = [&](std::size_t i) {
        tensor p = cast(flatten(c.in(i)), x.dtype());
        if (c.opset() < 21) { // one element per group
            require_channels(p, groups);
            p = reshape(reshape(p, {groups, 1}).expanded({groups, x.size(1) / groups}), {x.size(1)});
        }
        require_channels(p, x.size(1));
        return along_axis(p, x.rank(), 1);
    };
    return rounded * fitted(1) + fitted(2);
}

axis_list axes_from(call const& c, tensor const& x) {
    axis_list axes;
    for (std::size_t i = axis_at(c.i("axis", -1), x.rank()); i < x.rank(); ++i)
        axes.push_back(static_cast<std::int64_t>(i));
    return axes;
}

void require_fitting(tensor const& x, tensor const& parameter) {
    if (broadcast(x.sizes(), parameter.sizes()) != x.sizes())
        throw error("shape " + to_string(parameter.sizes()) + " does not broadcast to " + to_string(x.sizes()));
}

results layer_normalization(call const& c) {
    tensor const& x = c.in(0);
    dtype const stash = stash_type(c);
    standardized const s = standardize(stashed(x, stash), axes_from(c, x), epsilon_of(c));
    require_fitting(x, c.in(1));
    tensor y = cast(s.values, x.dtype()) * c.in(1);
    if (c.has(2)) {
        require_fitting(x, c.in(2));
        y = y + c.in(2);
    }
    return {y, cast(s.mean, stash), cast(s.inverse_deviation, stash)};
}

results rms_normalization(call const& c) {
    tensor const& x = c.in(0);
    tensor const y = divide_by_rms(stashed(x, stash_type(c)), axes_from(c, x), epsilon_of(c));
    require_fitting(x, c.in(1));
    return cast(cast(y, x.dtype()), c.in(1).dtype()) * c.in(1);
}

results mean_variance_normalization(call const& c) {
    tensor const x = widened(c.in(0));
    axis_list const axes = c.ints("axes", {0, 2, 3});
    tensor const centered = x - mean(x, axes, true);
    tensor const deviation = sqrt(mean(square(centered), axes, true));
    return cast(centered / (deviation + scalar(1e-9)), c.in(0).dtype());
}

results lp_normalization(call const& c) {
    tensor const x = widened(c.in(0));
    std::int64_t const axis = c.i("axis", -1);
    std::int64_t const p = c.i("p", 2);
    if (p != 1 && p != 2) throw error("p is " + std::to_string(p) + ", expected 1 or 2");
    tensor const norm = p == 1 ? sum(abs(x), {axis}, true) : sqrt(sum(square(x), {axis}, true));
    return cast(where(equal(norm, 0), scalar(0), x / norm), c.in(0).dtype());
}

results lrn(call const& c) {
    tensor const x = widened(c.in(0));
    if (x.rank() < 2) throw error("[N, C, ...] is expected, not " + to_string(x.sizes()));
    std::int64_t const size = c.i("size");
    if (size < 1) throw error("size is " + std::to_string(size));
    if (x.count() == 0) return c.in(0);
    std::int64_t const channels = x.size(1);
    window w = window::of({1, 1});
    w.before[0] = std::min((size - 1) / 2, channels); // no more than all channels
    w.after[0] = std::min(size / 2, channels);
    w.kernel[0] = w.before[0] + w.after[0] + 1;
    tensor const planes = reshape(square(x), {x.size(0), 1, channels, x.count() / (x.size(0) * channels)});
    tensor const squares = reshape(sum_pool(planes, w), x.sizes());
    double const alpha = c.f("alpha", 0.0001F) / static_cast<double>(size);
    tensor const base = squares * scalar(alpha) + scalar(c.f("bias", 1));
    return cast(x * pow(base, scalar(-c.f("beta", 0.75))), c.in(0).dtype());
}

} // namespace

rows normalization() {
    static constexpr row all[] = {
        {"BatchNormalization", batch_normalization},
        {"GroupNormalization", group_normalization},
        {"InstanceNormalization", instance_normalization},
        {"LRN", lrn},
        {"LayerNormalization", layer_normalization},
        {"LpNormalization", lp_normalization},
        {"MeanVarianceNormalization", mean_variance_normalization},
        {"RMSNormalization", rms_normalization},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
