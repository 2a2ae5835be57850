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
        for (std::int64_t i = lane; i < last; i += l.along) terms += static_cast<double>(Parts::term(x[at(i)], peak));
        number const whole = Parts::line(peak, static_cast<number>(combined<sum>(l, terms, sums)));
        for (std::int64_t i = lane; i < last; i += l.along) {
            T const v = x[at(i)];
            out[at(i)] = Parts::finish(v, Parts::term(v, peak), whole);
        }
    }
}

/// Contiguous lines of at most `Kept` elements per thread.
template <int Kept, class Parts, class T>
__global__ void __launch_bounds__(block_threads)
    run_kept_softmax(std::int64_t lines, int length, lanes l, T* out, T const* __restrict__ x) {
    using number = typename Parts::number;
    using largest = reduction<reduce_op::max, number, double>;
    using sum = reduction<reduce_op::sum, number, double>;
    __shared__ number numbers[block_threads];
    __shared__ double sums[block_threads];
    int const lane = l.lane(static_cast<int>(threadIdx.x));
    for (auto [tile, step] = own_tiles(); tile * l.lines < lines; tile += step) {
        std::int64_t const line = tile * l.lines + l.line(static_cast<int>(threadIdx.x));
        int const last = line < lines ? length : 0;
        T kept[Kept];
        number peak = largest::identity();
#pragma unroll
        for (int k = 0; k != Kept; ++k)
            if (lane + k * l.along < last) kept[k] = x[line * length + lane + k * l.along];
#pragma unroll
        for (int k = 0; k != Kept; ++k)
            if (lane + k * l.along < last) peak = largest::combine(peak, static_cast<number>(kept[k]));
        peak = combined<largest>(l, peak, numbers);
        number terms[Kept];
        double all = 0;
#pragma unroll
        for (int k = 0; k != Kept; ++k)
            if (lane + k * l.along < last) all += static_cast<double>(terms[k] = Parts::term(kept[k], peak));
        number const whole = Parts::line(peak, static_cast<number>(combined<sum>(l, all, sums)));
#pragma unroll
        for (int k = 0; k != Kept; ++k)
            if (lane + k * l.along < last)
                out[line * length + lane + k * l.along] = Parts::finish(kept[k], terms[k], whole);
    }
}

struct softmax_launcher : cuda_launcher {
    /// True if the lines are short enough for a block.
    template <int Kept, class Parts, class T>
    static bool keeps(std::int64_t lines, std::int64_t length, T* out, T const* x) {
        if (length > std::int64_t{Kept} * block_threads) return false;
        auto const needed = std::bit_ceil(static_cast<std::uint64_t>(ceiling(length, Kept)));
        int const along = std::max(warp_threads, static_cast<int>(needed));
        lanes const l{block_threads / along, along, true};
        launch(run_kept_softmax<Kept, Parts, T>,
               blocks_for(ceiling(lines, l.lines)),
               lines,
               static_cast<int>(length),
               l,
               out,
               x);
        return true;
    }

    template <class Parts, class T>
    static void softmax(axis_shape const& s, T* out, T const* x) {
        constexpr int few = 4; // elements per thread
        constexpr int many = 32;
        std::int64_t const lines = s.outer * s.inner;
        if (lines == 0 || s.length == 0) return;
        if (s.inner == 1 && s.length <= warp_threads * few) {
            (void)keeps<few, Parts>(lines, s.length, out, x);
            return;
        }
        if (s.inner == 1 && keeps<many, Parts>(lines, s.length, out, x)) return;
        lanes const l = lanes_for(lines, s.length, s.inner == 1);
        launch(run_softmax<Parts, T>, blocks_for(ceiling(lines, l.lines)), s, l, out, x);
    }
};

} // namespace

void add_softmax(launches& to) { to.softmax = launch_softmax<softmax_launcher>; }

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
