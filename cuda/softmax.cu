// SPDX-License-Identifier: MIT
// Softmax on the GPU. Contiguous lines that fit are kept in the registers of their threads; others take three passes, of
// which the last two mostly read from the cache.
#include "runtime/kernels/scan.hpp"

#include "kernels.hpp"
#include "lanes.cuh"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

template <class Parts, class T>
__global__ void __launch_bounds__(block_threads) run_softmax(axis_shape s, lanes l, T* out, T const* __restrict__ x) {
    using number = typename Parts::number;
    using largest = reduction<reduce_op::max, number, double>;
    using sum = reduction<reduce_op::sum, number, double>;
    __shared__ number numbers[block_threads];
    __shared__ double sums[block_threads];
    std::int64_t const lines = s.outer * s.inner;
    int const lane = l.lane(static_cast<int>(threadIdx.x));
    for (auto [tile, step] = own_tiles(); tile * l.lines < lines; tile += step) {
        std::int64_t const line = tile * l.lines + l.line(static_cast<int>(threadIdx.x));
        bool const is_one = line < lines;
        std::int64_t const start = is_one ? line / s.inner * s.length * s.inner + line % s.inner : 0;
        std::int64_t const last = is_one ? s.length : 0;
        auto const at = [&](std::int64_t i) { return start + i * s.inner; };
        number peak = largest::identity();
        for (std::int64_t i = lane; i < last; i += l.along)
            peak = largest::combine(peak, static_cast<number>(x[at(i)]));
        peak = combined<largest>(l, peak, numbers);
        double terms = 0;
        for (std::int64_t i = lane; i < last; i += l.along)
            terms += static_cast<double>(Parts::term(static_cast<number>(x[at(i)]), peak));
        number const whole = Parts::line(peak, static_cast<number>(combined<sum>(l, terms, sums)));
        for (std::int64_t i = lane; i < last; i += l.along) {
            auto const v = static_cast<number>(x[at(i)]);
            out[at(i)] = Parts::finish(v, Parts::term(v, peak), whole);
        }
    }
}

/// Contiguous lines of whole vectors, at most `Kept` per thread.
template <int Width, int Kept, class Parts, class T>
__global__ void __launch_bounds__(block_threads)
    run_kept_softmax(std::int64_t lines, int length, lanes l, T* out, T const* __restrict__ x) {
    using number = typename Parts::number;
    using largest = reduction<reduce_op::max, number, double>;
    using sum = reduction<reduce_op::sum, number, double>;
    using vector = vector_of<Width, T>;
    __shared__ number numbers[block_threads];
    __shared__ double sums[block_threads];
    int const lane = l.lane(static_cast<int>(threadIdx.x));
    for (auto [tile, step] = own_tiles(); tile * l.lines < lines; tile += step) {
        std::int64_t const line = tile * l.lines + l.line(static_cast<int>(threadIdx.x));
        int const last = line < lines ? length / Width : 0;
        auto const* const from = reinterpret_cast<vector const*>(x + line * length);
        auto* const to = reinterpret_cast<vector*>(out + line * length);
        vector read[Kept];
#pragma unroll
        for (int k = 0; k != Kept; ++k)
            if (lane + k * l.along < last) read[k] = from[lane + k * l.along];
        number kept[Kept][Width]; // elements, then terms
        number peak = largest::identity();
#pragma unroll
        for (int k = 0; k != Kept; ++k)
            if (lane + k * l.along < last)
#pragma unroll
                for (int e = 0; e != Width; ++e)
                    peak = largest::combine(peak, kept[k][e] = static_cast<number>(read[k].at[e]));
        peak = combined<largest>(l, peak, numbers);
        double all = 0;
#pragma unroll
        for (int k = 0; k != Kept; ++k)
            if (lane + k * l.along < last)
#pragma unroll
                for (int e = 0; e != Width; ++e) {
                    number const term = Parts::term(kept[k][e], peak);
                    all += static_cast<double>(term);
                    if constexpr (!Parts::is_logarithm) kept[k][e] = term;
                }
        number const whole = Parts::line(peak, static_cast<number>(combined<sum>(l, all, sums)));
#pragma unroll
        for (int k = 0; k != Kept; ++k)
            if (lane + k * l.along < last) {
                vector results;
#pragma unroll
                for (int e = 0; e != Width; ++e) results.at[e] = Parts::finish(kept[k][e], kept[k][e], whole);
                to[lane + k * l.along] = results;
            }
    }
}

struct softmax_launcher : cuda_launcher {
    /// Lines of at most Width * Kept * block_threads elements.
    template <int Width, int Kept, class Parts, class T>
    static void keep(std::int64_t lines, std::int64_t length, T* out, T const* x) {
        auto const needed = std::bit_ceil(static_cast<std::uint64_t>(ceiling(length, Width * Kept)));
        int const along = std::max(warp_threads, static_cast<int>(needed));
        lanes const l{block_threads / along, along, true};
        launch(run_kept_softmax<Width, Kept, Parts, T>,
               blocks_for(ceiling(lines, l.lines)),
               lines,
               static_cast<int>(length),
               l,
               out,
               x);
    }

    template <class Parts, class T>
    static void softmax(axis_shape const& s, T* out, T const* x) {
        constexpr int few = 4; // elements per thread
        constexpr int many = 32;
        constexpr int width = vector_width<T>;
        std::int64_t const lines = s.outer * s.inner;
        if (lines == 0 || s.length == 0) return;
        if (s.inner == 1 && s.length <= std::int64_t{many} * block_threads) {
            bool const is_short = s.length <= warp_threads * few;
            if (s.length % width == 0 && are_aligned(width, out, x)) {
                if (is_short) return keep<width, few / width, Parts>(lines, s.length, out, x);
                return keep<width, many / width, Parts>(lines, s.length, out, x);
            }
            if (is_short) return keep<1, few, Parts>(lines, s.length, out, x);
            return keep<1, many, Parts>(lines, s.length, out, x);
        }
        lanes const l = lanes_for(lines, s.length, s.inner == 1);
        launch(run_softmax<Parts, T>, blocks_for(ceiling(lines, l.lines)), s, l, out, x);
    }
};

} // namespace

void add_softmax(launches& to) { to.softmax = launch_softmax<softmax_launcher>; }

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
