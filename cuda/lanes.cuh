// SPDX-License-Identifier: MIT
// The threads of a block as lanes: each line gets a fixed number of threads, such that neighboring threads read
// neighboring elements.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "launch.cuh"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

inline constexpr int warp_threads = 32;

/// lines * along is block_threads; both are powers of two.
struct lanes {
    int lines = 1;              ///< lines per block
    int along = block_threads;  ///< threads per line
    bool elements_first = true; ///< neighboring threads are on one line, otherwise on neighboring lines

    [[nodiscard]] ATON_HD int line(int thread) const { return elements_first ? thread / along : thread % lines; }
    [[nodiscard]] ATON_HD int lane(int thread) const { return elements_first ? thread % along : thread / lines; }
};

inline lanes lanes_for(std::int64_t lines, std::int64_t length, bool elements_first) {
    constexpr std::int64_t warp = warp_threads;
    constexpr std::int64_t few = 8;           // elements per thread
    constexpr std::int64_t many_warps = 8192; // enough for every GPU: a warp per line needs no barriers
    auto const power = [](std::int64_t n) {
        return static_cast<std::int64_t>(
            std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(n, 1, block_threads))));
    };
    std::int64_t along = 1;
    if (elements_first && lines >= many_warps && length <= warp * few * 16) along = std::min(warp, power(length));
    else if (elements_first) along = std::max(power(ceiling(length, few)), std::min(warp, power(length)));
    else along = std::min(block_threads / std::min(warp, power(lines)), power(length));
    return {static_cast<int>(block_threads / along), static_cast<int>(along), elements_first};
}

/// The value that another thread of the same warp has: `shuffle` exchanges one word.
template <class T, class Shuffle>
__device__ T shuffled(T const& own, Shuffle const& shuffle) {
    static_assert(std::is_trivially_copyable_v<T>);
    constexpr int words = (sizeof(T) + 3) / 4;
    unsigned word[words] = {};
    std::memcpy(word, &own, sizeof own);
#pragma unroll
    for (unsigned& w : word) w = shuffle(w);
    T out;
    std::memcpy(&out, word, sizeof out);
    return out;
}
inline constexpr unsigned whole_warp = 0xffffffff;
/// The value of the thread of the same warp whose number differs in the bits of `mask`.
template <class T>
__device__ T exchanged(T const& own, int mask) {
    return shuffled(own, [mask](unsigned word) { return __shfl_xor_sync(whole_warp, word, mask); });
}
/// The value of a lane of the same warp.
template <class T>
__device__ T of_lane(T const& own, int lane) {
    return shuffled(own, [lane](unsigned word) { return __shfl_sync(whole_warp, word, lane); });
}

/// Combines the values of the threads of each line and returns the result to each of them. All threads of the block
/// must call this; `shared` has one element per thread.
template <class Functor>
__device__ typename Functor::accumulator combined(lanes const& l, typename Functor::accumulator own,
                                                  typename Functor::accumulator* shared) {
    int const thread = static_cast<int>(threadIdx.x);
    int const lane = l.lane(thread);
    if (l.elements_first) {
        int const in_warp = l.along < warp_threads ? l.along : warp_threads;
        for (int mask = in_warp / 2; mask != 0; mask /= 2) own = Functor::combine(own, exchanged(own, mask));
        if (l.along <= warp_threads) return own;
        __syncthreads(); // all reads of the previous round are done
        if (lane % warp_threads == 0) shared[thread / warp_threads] = own;
        __syncthreads();
        int const first = (thread - lane) / warp_threads;
        own = shared[first];
        for (int warp = 1; warp != l.along / warp_threads; ++warp) own = Functor::combine(own, shared[first + warp]);
        return own;
    }
    __syncthreads(); // all reads of the previous round are done
    shared[thread] = own;
    for (int half = l.along / 2; half != 0; half /= 2) {
        __syncthreads();
        if (lane < half) shared[thread] = Functor::combine(shared[thread], shared[thread + half * l.lines]);
    }
    __syncthreads();
    return shared[thread - lane * l.lines];
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
