// SPDX-License-Identifier: MIT
// Scans on the GPU: one thread per line if lines are short or adjacent, one warp per line if there are many or they are
// contiguous and fit, otherwise blocks for segments of a line, after the prefix of each segment is computed.
#include "runtime/kernels/scan.hpp"

#include <cub/block/block_scan.cuh>

#include "kernels.hpp"
#include "lanes.cuh"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

template <class Functor, class T>
struct scan_line {
    device_loop<2> starts;
    std::int64_t length;
    std::int64_t to;
    std::int64_t from;
    T* out;
    T const* x;

    ATON_HD void operator()(std::int64_t line) const {
        offsets<2> const o = starts.of(line);
        auto sum = Functor::identity();
        for (std::int64_t i = 0; i != length; ++i) {
            sum = Functor::combine(sum, Functor::load(x[o.at[1] + i * from]));
            out[o.at[0] + i * to] = Functor::finish(sum);
        }
    }
};

constexpr int own_elements = 4; // per thread and round

/// Elements from `first` on; those from `last` on are not read.
template <class T>
__device__ vector_of<own_elements, T> read_elements(T const* x, std::int64_t stride, std::int64_t first,
                                                    std::int64_t last, bool is_vector) {
    if (is_vector && first + own_elements <= last)
        return *reinterpret_cast<vector_of<own_elements, T> const*>(x + first);
    vector_of<own_elements, T> out{};
#pragma unroll
    for (int e = 0; e != own_elements; ++e)
        if (first + e < last) out.at[e] = x[(first + e) * stride];
    return out;
}
template <class T>
__device__ void write_elements(vector_of<own_elements, T> const& values, T* out, std::int64_t stride,
                               std::int64_t first, std::int64_t last, bool is_vector) {
    if (is_vector && first + own_elements <= last) {
        *reinterpret_cast<vector_of<own_elements, T>*>(out + first) = values;
        return;
    }
#pragma unroll
    for (int e = 0; e != own_elements; ++e)
        if (first + e < last) out[(first + e) * stride] = values.at[e];
}

/// Whether own_elements elements can be read or written at once.
template <class T>
ATON_HD bool are_vectors(T const* x, std::int64_t stride) {
    return sizeof(T) * own_elements <= 16 && stride == 1 && are_aligned(own_elements, x);
}

constexpr int warp_rounds = 4; ///< whose elements a warp reads before it combines them
constexpr std::int64_t warp_elements = std::int64_t{warp_threads} * own_elements * warp_rounds;

/// A warp per line.
template <class Functor, class T>
__global__ void __launch_bounds__(block_threads)
    run_warp_scan(device_loop<2> starts, std::int64_t length, T* out, T const* __restrict__ x) {
    using accumulator = typename Functor::accumulator;
    constexpr int warps = block_threads / warp_threads;
    constexpr std::int64_t round = std::int64_t{warp_threads} * own_elements;
    int const lane = static_cast<int>(threadIdx.x) % warp_threads;
    for (auto [tile, step] = own_tiles(); tile * warps < starts.plain.count; tile += step) {
        std::int64_t const line = tile * warps + static_cast<int>(threadIdx.x) / warp_threads;
        bool const is_one = line < starts.plain.count;
        offsets<2> const o = starts.of(is_one ? line : 0);
        std::int64_t const last = is_one ? length : 0;
        bool const reads_vectors = are_vectors(x + o.at[1], 1);
        bool const writes_vectors = are_vectors(out + o.at[0], 1);
        accumulator before = Functor::identity();
        for (std::int64_t first = 0; first < length; first += warp_elements) {
            std::int64_t const at = first + std::int64_t{lane} * own_elements;
            vector_of<own_elements, T> values[warp_rounds];
#pragma unroll
            for (int r = 0; r != warp_rounds; ++r)
                values[r] = read_elements(x + o.at[1], 1, at + r * round, last, reads_vectors);
            accumulator sums[warp_rounds]; // of own elements, then of those of all lanes up to this one
#pragma unroll
            for (int r = 0; r != warp_rounds; ++r) {
                sums[r] = Functor::identity();
#pragma unroll
                for (int e = 0; e != own_elements; ++e)
                    if (at + r * round + e < last) sums[r] = Functor::combine(sums[r], Functor::load(values[r].at[e]));
            }
#pragma unroll
            for (int distance = 1; distance != warp_threads; distance *= 2)
#pragma unroll
                for (accumulator& sum : sums) {
                    accumulator const other = of_lane(sum, lane < distance ? lane : lane - distance);
                    if (lane >= distance) sum = Functor::combine(other, sum);
                }
#pragma unroll
            for (int r = 0; r != warp_rounds; ++r) {
                accumulator const left = of_lane(sums[r], lane == 0 ? 0 : lane - 1);
                accumulator sum = lane == 0 ? before : Functor::combine(before, left);
                before = Functor::combine(before, of_lane(sums[r], warp_threads - 1));
#pragma unroll
                for (int e = 0; e != own_elements; ++e) {
                    sum = Functor::combine(sum, Functor::load(values[r].at[e]));
                    values[r].at[e] = Functor::finish(sum);
                }
                write_elements(values[r], out + o.at[0], 1, at + r * round, last, writes_vectors);
            }
        }
    }
}

struct scan_segments {
    std::int64_t of_line;
    std::int64_t length;
};

template <class Functor>
struct combine_by {
    using accumulator = typename Functor::accumulator;
    ATON_HD accumulator operator()(accumulator x, accumulator y) const { return Functor::combine(x, y); }
};

/// With `totals`, writes only the total of each segment; with `before`, starts each segment from its prefix; with
/// neither, each line is one segment.
template <class Functor, class T>
__global__ void __launch_bounds__(block_threads)
    run_scan(device_loop<2> starts, std::int64_t length, scan_segments s, std::int64_t to, std::int64_t from, T* out,
             T const* __restrict__ x, typename Functor::accumulator* totals,
             typename Functor::accumulator const* before) {
    using accumulator = typename Functor::accumulator;
    using block_scan = cub::BlockScan<accumulator, block_threads>;
    constexpr std::int64_t round = std::int64_t{block_threads} * own_elements;
    __shared__ typename block_scan::TempStorage shared;
    for (auto [tile, step] = own_tiles(); tile < starts.plain.count * s.of_line; tile += step) {
        offsets<2> const o = starts.of(tile / s.of_line);
        std::int64_t const first = tile % s.of_line * s.length;
        std::int64_t const last = first + s.length < length ? first + s.length : length;
        accumulator sum = before == nullptr ? Functor::identity() : before[tile];
        bool const reads_vectors = are_vectors(x + o.at[1] + first, from);
        bool const writes_vectors = are_vectors(out + o.at[0] + first, to);
        for (std::int64_t i = first; i < last; i += round) {
            std::int64_t const at = i + std::int64_t{threadIdx.x} * own_elements;
            vector_of<own_elements, T> values = read_elements(x + o.at[1], from, at, last, reads_vectors);
            accumulator own[own_elements];
#pragma unroll
            for (int e = 0; e != own_elements; ++e)
                own[e] = at + e < last ? Functor::load(values.at[e]) : Functor::identity();
            accumulator up_to[own_elements];
            accumulator all;
            __syncthreads();
            block_scan(shared).InclusiveScan(own, up_to, combine_by<Functor>(), all);
            if (totals == nullptr) {
#pragma unroll
                for (int e = 0; e != own_elements; ++e) values.at[e] = Functor::finish(Functor::combine(sum, up_to[e]));
                write_elements(values, out + o.at[0], to, at, last, writes_vectors);
            }
            sum = Functor::combine(sum, all);
        }
        if (totals != nullptr && threadIdx.x == 0) totals[tile] = sum;
    }
}

/// Replaces the totals of the segments of a line by their exclusive prefixes.
template <class Functor>
struct add_up {
    typename Functor::accumulator* totals;
    std::int64_t segments;
    ATON_HD void operator()(std::int64_t line) const {
        auto sum = Functor::identity();
        for (std::int64_t i = line * segments; i != (line + 1) * segments; ++i) {
            auto const next = Functor::combine(sum, totals[i]);
            totals[i] = sum;
            sum = next;
        }
    }
};

struct scan_launcher : cuda_launcher {
    template <class Functor, class T>
    static void scan(line_shape const& lines, T* out, T const* x) {
        using accumulator = typename Functor::accumulator;
        constexpr std::int64_t many = 4096;
        constexpr std::int64_t short_line = 64;
        constexpr std::int64_t segment = std::int64_t{block_threads} * 16;
        std::int64_t const count = lines.starts.count;
        if (count == 0 || lines.length == 0) return;
        device_loop<2> const starts(lines.starts);
        int const inner = lines.starts.rank - 1;
        bool const side_by_side = lines.starts.strides[1][inner] == 1 && lines.starts.sizes[inner] > 1;
        if (lines.length <= short_line || (count >= many && side_by_side))
            return for_each(count,
                            scan_line<Functor, T>{starts, lines.length, lines.strides[0], lines.strides[1], out, x});
        bool const contiguous = lines.strides[0] == 1 && lines.strides[1] == 1;
        if (contiguous && (count >= many || lines.length <= warp_elements)) {
            constexpr std::int64_t warps = block_threads / warp_threads;
            return launch(run_warp_scan<Functor, T>, blocks_for(ceiling(count, warps)), starts, lines.length, out, x);
        }
        scan_segments s{1, lines.length};
        if (count < many) s = {ceiling(lines.length, segment), segment};
        unsigned const blocks = blocks_for(count * s.of_line);
        auto const run = [&](accumulator* totals, accumulator const* before) {
            launch(run_scan<Functor, T>,
                   blocks,
                   starts,
                   lines.length,
                   s,
                   lines.strides[0],
                   lines.strides[1],
                   out,
                   x,
                   totals,
                   before);
        };
        if (s.of_line == 1) return run(nullptr, nullptr);
        gpu::scratch<accumulator> const totals(static_cast<std::size_t>(count * s.of_line));
        run(totals.data(), nullptr);
        for_each(count, add_up<Functor>{totals.data(), s.of_line});
        run(nullptr, totals.data());
    }
};

} // namespace

void add_scan(launches& to) { to.scan = launch_scan<scan_launcher>; }

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
