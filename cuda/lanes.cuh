// SPDX-License-Identifier: MIT
// A block's threads as lanes: so many for each of its lines, so that neighbouring threads read neighbouring elements.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "launch.cuh"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

/// lines * along is block_threads; both are powers of two.
struct lanes {
    int lines = 1;              ///< of a block
    int along = block_threads;  ///< threads of a line
    bool elements_first = true; ///< neighbouring threads are on one line; else on neighbouring lines

    [[nodiscard]] ATON_HD int line(int thread) const { return elements_first ? thread / along : thread % lines; }
    [[nodiscard]] ATON_HD int lane(int thread) const { return elements_first ? thread % along : thread / lines; }
    /// From a thread to that of the next lane.
    [[nodiscard]] ATON_HD int step() const { return elements_first ? 1 : lines; }
};

inline lanes lanes_for(std::int64_t lines, std::int64_t length, bool elements_first) {
    constexpr std::int64_t warp = 32;
    constexpr std::int64_t few = 8; // elements for a thread
    auto const power = [](std::int64_t n) {
        return static_cast<std::int64_t>(
            std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(n, 1, block_threads))));
    };
    std::int64_t along = 1;
    if (elements_first) along = std::max(power(ceiling(length, few)), std::min(warp, power(length)));
    else along = std::min(block_threads / std::min(warp, power(lines)), power(length));
    return {static_cast<int>(block_threads / along), static_cast<int>(along), elements_first};
}

/// What the threads of each line have, combined, for each of them. All threads of the block must come here; `room` has a place for each.
template <class Functor>
__device__ typename Functor::accumulator combined(lanes const& l, typename Functor::accumulator own,
                                                  typename Functor::accumulator* room) {
    int const thread = static_cast<int>(threadIdx.x);
    int const lane = l.lane(thread);
    __syncthreads(); // what was there has been read
    room[thread] = own;
    for (int half = l.along / 2; half != 0; half /= 2) {
        __syncthreads();
        if (lane < half) room[thread] = Functor::combine(room[thread], room[thread + half * l.step()]);
    }
    __syncthreads();
    return room[thread - lane * l.step()];
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
