// SPDX-License-Identifier: MIT
// Reductions on the GPU. A small number of results of many elements is computed in two steps: segments of the elements
// first, then the partial results. Segment boundaries depend on sizes alone, so results are the same on every GPU.
#include "runtime/kernels/reduce.hpp"
#include "runtime/kernels/sort.hpp"

#include "kernels.hpp"
#include "lanes.cuh"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

constexpr int unrolled = 4;

/// The elements of a segment: their indices.
struct segment {
    std::int64_t first;
    std::int64_t last;
    std::int64_t step; ///< threads
    int lane;          ///< of this thread
};

template <class Functor, class T>
__device__ typename Functor::accumulator reduced(segment const& s, T const* x, device_loop<1> const& reduced_dims) {
    using accumulator = typename Functor::accumulator;
    constexpr int reads = 8; // in flight
    accumulator sums[unrolled];
#pragma unroll
    for (accumulator& sum : sums) sum = Functor::identity();
    std::int64_t i = s.first + s.lane;
    std::int64_t const stride = reduced_dims.plain.strides[0][0];
    constexpr int width = vector_width<T>;
    if (reduced_dims.plain.rank == 1 && stride == 1 && width > 1 && are_aligned(width, x + s.first)) {
        constexpr int vectors = 4; // in flight
        auto const* const from = reinterpret_cast<vector_of<width, T> const*>(x + s.first);
        std::int64_t const count = (s.last - s.first) / width;
        std::int64_t v = s.lane;
        for (; v + (vectors - 1) * s.step < count; v += vectors * s.step) {
            vector_of<width, T> read[vectors];
#pragma unroll
            for (int u = 0; u != vectors; ++u) read[u] = from[v + u * s.step];
#pragma unroll
            for (int u = 0; u != vectors; ++u)
#pragma unroll
                for (int e = 0; e != width; ++e) {
                    accumulator& sum = sums[(u * width + e) % unrolled];
                    sum = Functor::combine(sum, Functor::load(read[u].at[e], s.first + (v + u * s.step) * width + e));
                }
        }
#pragma unroll 1
        for (; v < count; v += s.step) {
            vector_of<width, T> const read = from[v];
#pragma unroll
            for (int e = 0; e != width; ++e)
                sums[e % unrolled] =
                    Functor::combine(sums[e % unrolled], Functor::load(read.at[e], s.first + v * width + e));
        }
#pragma unroll
        for (int u = 1; u != unrolled; ++u) sums[0] = Functor::combine(sums[0], sums[u]);
        i = s.first + count * width + s.lane;
    } else if (reduced_dims.plain.rank == 1) {
        for (; i + (reads - 1) * s.step < s.last; i += reads * s.step) {
            T read[reads]; // all loads are issued before the first is used
#pragma unroll
            for (int u = 0; u != reads; ++u) read[u] = x[(i + u * s.step) * stride];
#pragma unroll
            for (int u = 0; u != reads; ++u)
                sums[u % unrolled] = Functor::combine(sums[u % unrolled], Functor::load(read[u], i + u * s.step));
        }
#pragma unroll
        for (int u = 1; u != unrolled; ++u) sums[0] = Functor::combine(sums[0], sums[u]);
    }
#pragma unroll 1
    for (; i < s.last; i += s.step) sums[0] = Functor::combine(sums[0], Functor::load(x[reduced_dims.of(i).at[0]], i));
    return sums[0];
}

/// arg_reduction of elements of up to 32 bits at indices below max_packed: one comparison of value and index at once.
template <bool Most, bool Last, class T>
struct packed_arg_reduction {
    using accumulator = std::uint64_t; ///< the order of the value, and below it that of the index; 0: zero elements

    ATON_HD static constexpr accumulator identity() { return 0; }
    ATON_HD static accumulator load(T x, std::int64_t index) {
        std::uint32_t const key = sort_key(x);
        constexpr std::uint32_t greatest = 0xffffffff;
        bool const is_first = is_nan(static_cast<computed<T>>(x)); // NaN is, either way
        std::uint32_t const order = is_first ? greatest : Most ? key : greatest - (is_real<T> ? 1 : 0) - key;
        auto const place = static_cast<std::uint32_t>(index);
        return std::uint64_t{order} << 32U | (Last ? place + 1 : ~place);
    }
    ATON_HD static accumulator combine(accumulator x, accumulator y) { return x > y ? x : y; }
    ATON_HD static std::int64_t finish(accumulator x) {
        if (x == 0) return -1;
        auto const place = static_cast<std::uint32_t>(x);
        return Last ? std::int64_t{place} - 1 : std::int64_t{~place};
    }
};
constexpr std::int64_t max_packed = 0xffffffff;

template <class Functor>
struct packed {};
template <bool Most, bool Last, class T>
    requires(sizeof(T) <= 4)
struct packed<arg_reduction<Most, Last, T>> {
    using type = packed_arg_reduction<Most, Last, T>;
};

struct reduce_plan {
    lanes threads;
    std::int64_t tiles;    ///< of results, one per block
    std::int64_t segments; ///< per result
    std::int64_t segment_length;
};

reduce_plan plan_for(reduce_shape const& s) {
    constexpr std::int64_t enough_blocks = 4096;
    auto const innermost = [](loop<1> const& l) {
        return l.strides[0][l.rank - 1] < 0 ? -l.strides[0][l.rank - 1] : l.strides[0][l.rank - 1];
    };
    bool const elements_first = s.kept.count == 1 || innermost(s.reduced_dims) <= innermost(s.kept);
    reduce_plan p{lanes_for(s.kept.count, s.reduced_dims.count, elements_first), 0, 1, s.reduced_dims.count};
    p.tiles = ceiling(s.kept.count, p.threads.lines);
    std::int64_t const min_segment = std::int64_t{p.threads.along} * unrolled * 2;
    std::int64_t const wanted = std::min(ceiling(enough_blocks, p.tiles), s.reduced_dims.count / min_segment);
    if (wanted <= 1) return p;
    p.segment_length = ceiling(ceiling(s.reduced_dims.count, wanted), widest) * widest;
    p.segments = ceiling(s.reduced_dims.count, p.segment_length);
    return p;
}

/// Writes an accumulator per segment and result to `parts` if it is not null, otherwise results.
template <class Functor, class Out, class T>
__global__ void __launch_bounds__(block_threads)
    run_reduce(reduce_plan p, device_loop<1> kept, device_loop<1> reduced_dims, Out* out,
               typename Functor::accumulator* parts, T const* __restrict__ x) {
    __shared__ typename Functor::accumulator shared[block_threads];
    int const lane = p.threads.lane(static_cast<int>(threadIdx.x));
    for (auto [tile, step] = own_tiles(); tile < p.tiles * p.segments; tile += step) {
        std::int64_t const part = tile % p.segments;
        std::int64_t const result = tile / p.segments * p.threads.lines + p.threads.line(static_cast<int>(threadIdx.x));
        bool const is_one = result < kept.plain.count;
        auto own = Functor::identity();
        if (is_one) {
            std::int64_t const first = part * p.segment_length;
            std::int64_t const last = first + p.segment_length < reduced_dims.plain.count ? first + p.segment_length
                                                                                          : reduced_dims.plain.count;
            own = reduced<Functor>({first, last, p.threads.along, lane}, x + kept.of(result).at[0], reduced_dims);
        }
        auto const whole = combined<Functor>(p.threads, own, shared);
        if (!is_one || lane != 0) continue;
        if (parts != nullptr) parts[part * kept.plain.count + result] = whole;
        else out[result] = Functor::finish(whole);
    }
}

/// Each block combines the partial results of one output.
template <class Functor, class Out>
__global__ void __launch_bounds__(block_threads)
    run_merge(std::int64_t results, std::int64_t segments, Out* out, typename Functor::accumulator const* parts) {
    __shared__ typename Functor::accumulator shared[block_threads];
    for (auto [result, step] = own_tiles(); result < results; result += step) {
        auto own = Functor::identity();
#pragma unroll 1
        for (std::int64_t part = threadIdx.x; part < segments; part += block_threads)
            own = Functor::combine(own, parts[part * results + result]);
        auto const whole = combined<Functor>(lanes(), own, shared);
        if (threadIdx.x == 0) out[result] = Functor::finish(whole);
    }
}

struct reduce_launcher : cuda_launcher {
    template <class Functor, class Out, class T>
    static void reduce(reduce_shape const& s, Out* out, T const* x) {
        using accumulator = typename Functor::accumulator;
        if (s.kept.count == 0) return;
        if constexpr (requires { typename packed<Functor>::type; })
            if (s.reduced_dims.count < max_packed) return reduce<typename packed<Functor>::type>(s, out, x);
        reduce_plan const p = plan_for(s);
        unsigned const blocks = blocks_for(p.tiles * p.segments);
        auto const run = [&](accumulator* parts) {
            launch(run_reduce<Functor, Out, T>,
                   blocks,
                   p,
                   device_loop<1>(s.kept),
                   device_loop<1>(s.reduced_dims),
                   out,
                   parts,
                   x);
        };
        if (p.segments == 1) return run(nullptr);
        gpu::scratch<accumulator> const parts(static_cast<std::size_t>(p.segments * s.kept.count));
        run(parts.data());
        launch(run_merge<Functor, Out>,
               blocks_for(s.kept.count),
               s.kept.count,
               p.segments,
               out,
               static_cast<accumulator const*>(parts.data()));
    }
};

} // namespace

void add_reduce(launches& to) {
    to.reduce = launch_reduce<reduce_launcher>;
    to.arg_reduce = launch_arg_reduce<reduce_launcher>;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
