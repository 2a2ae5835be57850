// SPDX-License-Identifier: MIT
// ATen operators: pixel and channel shuffles.
#include <cstdint>
#include <vector>

#include <aton/core/error.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

tensor permuted_axes(tensor const& x, std::vector<std::size_t> const& axes) { return x.permuted(axes); }

/// [..., C, H, W] as [P, C, H, W].
tensor as_planes(tensor const& x) {
    if (x.rank() < 3) throw error("self must have at least 3 dimensions");
    std::size_t const front = x.rank() - 3;
    return reshape(x,
                   {count_of(std::span(x.sizes()).first(front)), x.size(front), x.size(front + 1), x.size(front + 2)});
}
tensor with_front(tensor const& y, tensor const& x) {
    sizes to(x.sizes().begin(), x.sizes().end() - 3);
    to.insert(to.end(), y.sizes().end() - 3, y.sizes().end());
    return reshape(y, to);
}

results pixel_shuffle(call const& c) {
    tensor const x = c.t("self");
    tensor const y = as_planes(x);
    std::int64_t const r = c.i("upscale_factor");
    constexpr std::int64_t limit = 1 << 15;
    if (r < 1 || r > limit || y.size(1) % (r * r) != 0)
        throw error("the number of channels is not a multiple of the squared factor");
    std::int64_t const channels = y.size(1) / (r * r);
    tensor const split = reshape(y, {y.size(0), channels, r, r, y.size(2), y.size(3)});
    return with_front(
        reshape(permuted_axes(split, {0, 1, 4, 2, 5, 3}), {y.size(0), channels, y.size(2) * r, y.size(3) * r}), x);
}

results pixel_unshuffle(call const& c) {
    tensor const x = c.t("self");
    tensor const y = as_planes(x);
    std::int64_t const r = c.i("downscale_factor");
    if (r < 1 || y.size(2) % r != 0 || y.size(3) % r != 0)
        throw error("the size of an axis is not a multiple of the factor");
    if (x.count() == 0) return x; // ATen keeps the shape of an empty tensor
    std::int64_t const h = y.size(2) / r;
    std::int64_t const w = y.size(3) / r;
    tensor const split = reshape(y, {y.size(0), y.size(1), h, r, w, r});
    return with_front(reshape(permuted_axes(split, {0, 1, 3, 5, 2, 4}), {y.size(0), y.size(1) * r * r, h, w}), x);
}

results channel_shuffle(call const& c) {
    tensor const x = c.t("self");
    std::int64_t const groups = c.i("groups");
    if (x.rank() < 3) throw error("self must have at least 3 dimensions");
    if (groups < 1 || x.size(1) % groups != 0)
        throw error("the number of channels is not a multiple of the number of groups");
    std::int64_t const rest = count_of(std::span(x.sizes()).subspan(2));
    tensor const split = reshape(x, {x.size(0), groups, x.size(1) / groups, rest});
    return reshape(transpose(split, 1, 2), x.sizes());
}

} // namespace

rows pixels() {
    static constexpr row all[] = {
        {"pixel_shuffle", pixel_shuffle},
        {"pixel_unshuffle", pixel_unshuffle},
        {"channel_shuffle", channel_shuffle},
        {"native_channel_shuffle", channel_shuffle},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
