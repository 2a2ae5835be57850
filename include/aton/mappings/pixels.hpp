// SPDX-License-Identifier: MIT
// Pixel and channel shuffles: aten's pixel_shuffle, pixel_unshuffle and channel_shuffle.
// Public header.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include <aton/mappings/detail/elements.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The first `lead` sizes of x, followed by `tail`.
inline safe_vector<sym_int> with_lead(graph<7> g, value x, std::int64_t lead, std::initializer_list<sym_int> tail) {
    safe_vector<sym_int> sizes;
    for (std::int64_t i = 0; i != lead; ++i) sizes.push_back(g.size(x, i));
    sizes.insert(sizes.end(), tail);
    return sizes;
}

/// Permutes the last dimensions of x; order[i] counts from the first of them.
inline value permute_last(graph<7> g, value x, safe_span<std::int64_t const> order) {
    auto const lead = x.rank() - static_cast<std::int64_t>(order.size());
    safe_vector<std::int64_t> perm = iota(lead);
    for (std::int64_t axis : order) perm.push_back(lead + axis);
    return permute(g, x, perm);
}

inline constexpr auto pixel_shuffle =
    symbolic<"aten::pixel_shuffle(self, upscale_factor)">([](graph<7> g, value x, std::int64_t factor) -> value {
        if (x.rank() < 3 || factor < 1)
            return g.unsupported("pixel_shuffle of rank " + std::to_string(x.rank()) + " by " + std::to_string(factor));
        if (x.rank() == 4 && x.dtype() == dtype::float32 && !is_empty(x) && g.opset() >= 11)
            return g.within<11>().op<"DepthToSpace">(x, attr::blocksize_i(factor), attr::mode_s("CRD"));
        std::int64_t const lead = x.rank() - 3;
        sym_int const channels = g.size(x, lead) / checked_multiply(factor, factor);
        sym_int const height = g.size(x, lead + 1);
        sym_int const width = g.size(x, lead + 2);
        value const blocks = reshape(g, x, with_lead(g, x, lead, {channels, factor, factor, height, width}));
        constexpr std::int64_t order[] = {0, 3, 1, 4, 2};
        return reshape(
            g, permute_last(g, blocks, order), with_lead(g, x, lead, {channels, height * factor, width * factor}));
    }).by_parts<"self">();

/// Not SpaceToDepth, which orders the position in a block before the channel; ATen orders it after the channel.
inline constexpr auto pixel_unshuffle =
    symbolic<"aten::pixel_unshuffle(self, downscale_factor)">([](graph<7> g, value x, std::int64_t factor) -> value {
        if (x.rank() < 3 || factor < 1)
            return g.unsupported("pixel_unshuffle of rank " + std::to_string(x.rank()) + " by " +
                                 std::to_string(factor));
        if (is_empty(x)) return x; // as in ATen
        std::int64_t const lead = x.rank() - 3;
        sym_int const channels = g.size(x, lead);
        sym_int const height = g.size(x, lead + 1) / factor;
        sym_int const width = g.size(x, lead + 2) / factor;
        value const blocks = reshape(g, x, with_lead(g, x, lead, {channels, height, factor, width, factor}));
        constexpr std::int64_t order[] = {0, 2, 4, 1, 3};
        return reshape(g,
                       permute_last(g, blocks, order),
                       with_lead(g, x, lead, {channels * checked_multiply(factor, factor), height, width}));
    }).by_parts<"self">();

inline constexpr auto shuffle_channels = [](graph<7> g, value x, std::int64_t groups) -> value {
    if (is_empty(x)) return x;
    if (x.rank() < 3) return g.unsupported("channel_shuffle of rank " + std::to_string(x.rank()));
    sym_int const channels = g.size(x, 1);
    value const grouped = reshape(g, x, with_lead(g, x, 1, {groups, channels / groups, -1}));
    constexpr std::int64_t order[] = {0, 2, 1, 3};
    return reshape(g, permute_last(g, grouped, order), g.sizes(x));
};

} // namespace detail

inline constexpr auto pixels =
    table(detail::pixel_shuffle, detail::pixel_unshuffle,
          symbolic<"aten::channel_shuffle(self, groups)">(detail::shuffle_channels).by_parts<"self">(),
          symbolic<"aten::native_channel_shuffle(self, groups)">(detail::shuffle_channels).by_parts<"self">());

} // namespace ATON_NAMESPACE::mappings
