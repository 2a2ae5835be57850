// SPDX-License-Identifier: MIT
// The threads of a block as lanes: each line gets a fixed number of threads, such that neighboring threads read
// neighboring elements.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "launch.cuh"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

/// lines * along is block_threads; both are powers of two.
struct lanes {
    int lines = 1;              ///< lines per block
    int along = block_threads;  ///< threads per line
    bool elements_first = true; ///< neighboring threads are on one line, otherwise on neighboring lines

    [[nodiscard]] ATON_HD int line(int thread) const { return elements_first ? thread / along : thread % lines; }
    [[nodiscard]] ATON_HD int lane(int thread) const { return elements_first ? thread % along : thread / lines; }
    /// The distance between the threads of two neighboring lanes.
    [[nodiscard]] ATON_HD int step() const { return elements_first ? 1 : lines; }
};

inline lanes lanes_for(std::int64_t lines, std::int64_t length, bool elements_first) {
    constexpr std::int64_t warp = 32;
    constexpr std::int64_t few = 8; // elements per thread
    auto const power = [](std::int64_t n) {
        return static_cast<std::int64_t>(
            std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(n, 1, block_threads))));
    };
    std::int64_t along = 1;
    if (elements_first) along = std::max(power(ceiling(length, few)), std::min(warp, power(length)));
    else along = std::min(block_threads / std::min(warp, power(lines)), power(length));
    return {static_cast<int>(block_threads / along), static_cast<int>(along), elements_first};
}

/// Combines the values of the threads of each line and returns the result to each of them. All threads of the block
/// must call this; `shared` has one element per thread.
template <class Functor>
__device__ typename Functor::accumulator combined(lanes const& l, typename Functor::accumulator own,
                                                  typename Functor::accumulator* shared) {
    int const thread = static_cast<int>(threadIdx.x);
    int const lane = l.lane(thread);
    __syncthreads(); // all reads of the previous round are done
    shared[thread] = own;
    for (int half = l.along / 2; half != 0; half /= 2) {
        __syncthreads();
        if (lane < half) shared[thread] = Functor::combine(shared[thread], shared[thread + half * l.step()]);
    }
    __syncthreads();
    return shared[thread - lane * l.step()];
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
