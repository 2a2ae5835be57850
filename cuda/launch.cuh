// SPDX-License-Identifier: MIT
// Runs functors on the GPU. Contiguous elements are read and written in vectors of 16 bytes, several of them in flight
// per thread; others one by one, neighbors by neighboring threads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <cuda_runtime.h>

#include "runtime/kernels/indexing.hpp"
#include "runtime/kernels/sort.hpp"

#include "device_loop.cuh"
#include "stream.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

inline constexpr int block_threads = 256;
/// Vectors that a thread reads before it writes. With as many threads as a GPU holds, more are not faster, but take
/// longer to compile.
inline constexpr int in_flight = 2;
inline constexpr int widest = 4; ///< maximum elements per vector

constexpr std::int64_t ceiling(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }
/// The number of blocks for `tiles`; blocks iterate over tiles in grid-size strides.
inline unsigned blocks_for(std::int64_t tiles) {
    return static_cast<unsigned>(std::clamp<std::int64_t>(tiles, 1, std::int64_t{1} << 20U));
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), unsigned blocks, Arguments const&... arguments) {
    cudaLaunchConfig_t how{};
    how.gridDim = dim3(blocks);
    how.blockDim = dim3(block_threads);
    how.stream = gpu::stream();
    gpu::check(cudaLaunchKernelEx(&how, kernel, static_cast<Parameters>(arguments)...), "a kernel");
}

/// The index of a block's first tile, and the distance to its next.
struct grid_position {
    std::int64_t tile;
    std::int64_t step;
};
__device__ inline grid_position own_tiles() {
    return {static_cast<std::int64_t>(blockIdx.x), static_cast<std::int64_t>(gridDim.x)};
}

template <int Width, class T>
struct alignas(sizeof(T) * Width) vector_of {
    T at[Width];
};

/// The elements of a vector, such that the largest of these types fills at most 16 bytes.
template <class... T>
inline constexpr int vector_width = std::min(widest, static_cast<int>(16 / std::max({sizeof(T)...})));

/// Whether operands are aligned to vectors of `width` elements.
template <class... T>
ATON_HD bool are_aligned(int width, T const*... operands) {
    return ((reinterpret_cast<std::uintptr_t>(operands) % (sizeof(T) * static_cast<std::size_t>(width)) == 0) && ...);
}

template <class Out, int Width, class Function, class... In>
__device__ vector_of<Width, Out> applied(Function const& f, vector_of<Width, In> const&... x) {
    vector_of<Width, Out> out;
#pragma unroll
    for (int i = 0; i != Width; ++i) out.at[i] = f(x.at[i]...);
    return out;
}

/// `count` elements that are contiguous in all operands, which are aligned to their vectors.
template <int Width, class Out, class Function, class... In>
__global__ void __launch_bounds__(block_threads) run_dense(std::int64_t count, Out* out, Function f, In const*... in) {
    constexpr std::int64_t tile_vectors = std::int64_t{block_threads} * in_flight;
    std::int64_t const vectors = count / Width;
    for (auto [tile, step] = own_tiles(); tile * tile_vectors < vectors; tile += step) {
        std::int64_t at[in_flight]; // threads of the last tile without a vector of their own write the last one as well
        vector_of<Width, Out> results[in_flight];
#pragma unroll
        for (int r = 0; r != in_flight; ++r) {
            std::int64_t const v = tile * tile_vectors + r * block_threads + threadIdx.x;
            at[r] = v < vectors ? v : vectors - 1;
            results[r] = applied<Out, Width>(f, reinterpret_cast<vector_of<Width, In> const*>(in)[at[r]]...);
        }
#pragma unroll
        for (int r = 0; r != in_flight; ++r) reinterpret_cast<vector_of<Width, Out>*>(out)[at[r]] = results[r];
    }
    std::int64_t const last = vectors * Width + threadIdx.x;
    if (blockIdx.x == 0 && last < count) out[last] = f(in[last]...);
}

/// `Width` elements from `at` on, or the same element for each of them.
template <int Width, class T>
__device__ vector_of<Width, T> read_vector(T const* at, bool is_one) {
    if (!is_one) return *reinterpret_cast<vector_of<Width, T> const*>(at);
    vector_of<Width, T> out;
    T const x = *at;
#pragma unroll
    for (int i = 0; i != Width; ++i) out.at[i] = x;
    return out;
}

/// Bit j: operand j has the same element along the innermost dimension.
using repeated_operands = unsigned;

template <int Width, int Operands, class Out, class Function, class... In, std::size_t... I>
__device__ vector_of<Width, Out> row_vector(offsets<Operands> const& at, std::index_sequence<I...> /*operands*/,
                                            repeated_operands repeated, Function const& f, In const*... in) {
    return applied<Out, Width>(f, read_vector<Width>(in + at.at[I + 1], (repeated >> (I + 1) & 1U) != 0)...);
}

/// Elements that are contiguous along the innermost dimension, or repeated along it: `l` has the offsets of vectors.
template <int Width, int Operands, class Out, class Function, class... In>
__global__ void __launch_bounds__(block_threads)
    run_rows(device_loop<Operands> l, repeated_operands repeated, Out* out, Function f, In const*... in) {
    constexpr std::int64_t tile_vectors = std::int64_t{block_threads} * in_flight;
    std::int64_t const vectors = l.plain.count;
    for (auto [tile, step] = own_tiles(); tile * tile_vectors < vectors; tile += step) {
        std::int64_t to[in_flight]; // as in run_dense
        vector_of<Width, Out> results[in_flight];
#pragma unroll
        for (int r = 0; r != in_flight; ++r) {
            std::int64_t const v = tile * tile_vectors + r * block_threads + threadIdx.x;
            offsets<Operands> const at = l.of(v < vectors ? v : vectors - 1);
            to[r] = at.at[0];
            results[r] = row_vector<Width, Operands, Out>(at, std::index_sequence_for<In...>(), repeated, f, in...);
        }
#pragma unroll
        for (int r = 0; r != in_flight; ++r) *reinterpret_cast<vector_of<Width, Out>*>(out + to[r]) = results[r];
    }
}

template <int Operands, class Out, class Function, class... In, std::size_t... I>
__device__ void run_element(offsets<Operands> const& at, std::index_sequence<I...> /*operands*/, Out* out,
                            Function const& f, In const*... in) {
    out[at.at[0]] = f(in[at.at[I + 1]]...);
}

template <int Operands, class Out, class Function, class... In>
__global__ void __launch_bounds__(block_threads)
    run_strided(device_loop<Operands> l, Out* out, Function f, In const*... in) {
    for (auto [tile, step] = own_tiles(); tile * block_threads < l.plain.count; tile += step) {
        std::int64_t const i = tile * block_threads + threadIdx.x;
        if (i < l.plain.count) run_element(l.of(i), std::index_sequence_for<In...>(), out, f, in...);
    }
}

template <class Function>
__global__ void __launch_bounds__(block_threads) run_each(std::int64_t count, Function f) {
    for (auto [tile, step] = own_tiles(); tile * block_threads < count; tile += step) {
        std::int64_t const i = tile * block_threads + threadIdx.x;
        if (i < count) f(i);
    }
}

/// Atomically *at = f(*at, value).
template <class T, class Function>
__device__ void update(T* at, Function const& f, T value) {
    using code = unsigned_of<sizeof(T)>;
    using word =
        std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>; // the widths that compare-and-swap supports
    auto const address = reinterpret_cast<std::uintptr_t>(at);
    auto* const there = reinterpret_cast<word*>(address / sizeof(word) * sizeof(word));
    auto const shift = static_cast<unsigned>(address % sizeof(word)) * 8U;
    word const mask = static_cast<word>(static_cast<code>(~code{0})) << shift;
    for (word seen = *there;;) {
        T const next = f(std::bit_cast<T>(static_cast<code>(seen >> shift)), value);
        word const wanted = (seen & ~mask) | static_cast<word>(std::bit_cast<code>(next)) << shift;
        word const before = atomicCAS(there, seen, wanted);
        if (before == seen) return;
        seen = before;
    }
}

template <bool Assigns, class T, class Function>
__global__ void __launch_bounds__(block_threads)
    run_put(device_loop<2> l, T* into, Function f, std::int64_t const* positions, T const* values) {
    for (auto [tile, step] = own_tiles(); tile * block_threads < l.plain.count; tile += step) {
        std::int64_t const i = tile * block_threads + threadIdx.x;
        if (i >= l.plain.count) continue;
        offsets<2> const o = l.of(i);
        T* const at = into + positions[o.at[0]];
        if constexpr (Assigns) *at = values[o.at[1]];
        else update(at, f, values[o.at[1]]);
    }
}

struct cuda_launcher {
    static constexpr bool takes_halves = true;
    using wide = double; ///< accumulator of float32 sums, as on the CPU

    template <int Operands, class Out, class Function, class... In>
    static void run(loop<Operands> const& l, Out* out, Function const& f, In const*... in) {
        static_assert(Operands == 1 + sizeof...(In));
        if (l.count == 0) return;
        constexpr int width = vector_width<Out, In...>;
        bool side_by_side = l.rank == 1;
        for (int j = 0; j != Operands; ++j) side_by_side = side_by_side && l.strides[j][0] == 1;
        bool const aligned = are_aligned(width, out, in...);
        if (!side_by_side && aligned && width > 1 && has_vectors(l, width)) return run_vectors<width>(l, out, f, in...);
        if (!side_by_side || !aligned) return run_one_by_one(l, out, f, in...);
        launch(run_dense<width, Out, Function, In...>,
               blocks_for(ceiling(l.count / width, std::int64_t{block_threads} * in_flight)),
               l.count,
               out,
               f,
               in...);
    }

    /// Whether `l` consists of rows for run_rows.
    template <int Operands>
    static bool has_vectors(loop<Operands> const& l, int width) {
        int const inner = l.rank - 1;
        if (l.sizes[inner] % width != 0 || l.strides[0][inner] != 1) return false;
        for (int j = 0; j != Operands; ++j) {
            if (l.strides[j][inner] == 0) continue;
            if (l.strides[j][inner] != 1) return false;
            for (int k = 0; k != inner; ++k)
                if (l.strides[j][k] % width != 0) return false;
        }
        return true;
    }

    template <int Width, int Operands, class Out, class Function, class... In>
    static void run_vectors(loop<Operands> l, Out* out, Function const& f, In const*... in) {
        int const inner = l.rank - 1;
        repeated_operands repeated = 0;
        for (int j = 0; j != Operands; ++j) {
            if (l.strides[j][inner] == 0) repeated |= 1U << static_cast<unsigned>(j);
            l.strides[j][inner] *= Width;
        }
        l.sizes[inner] /= Width;
        l.count /= Width;
        launch(run_rows<Width, Operands, Out, Function, In...>,
               blocks_for(ceiling(l.count, std::int64_t{block_threads} * in_flight)),
               device_loop<Operands>(l),
               repeated,
               out,
               f,
               in...);
    }

    template <int Operands, class Out, class Function, class... In>
    static void run_one_by_one(loop<Operands> const& l, Out* out, Function const& f, In const*... in) {
        if (l.count == 0) return;
        launch(run_strided<Operands, Out, Function, In...>,
               blocks_for(ceiling(l.count, block_threads)),
               device_loop<Operands>(l),
               out,
               f,
               in...);
    }

    template <class Function>
    static void for_each(std::int64_t count, Function const& f) {
        if (count != 0) launch(run_each<Function>, blocks_for(ceiling(count, block_threads)), count, f);
    }

    /// In any order: if several values have the same position, one of them remains.
    template <class T, class Function>
    static void put(loop<2> const& l, T* into, Function const& f, std::int64_t const* positions, T const* values) {
        if (l.count == 0) return;
        launch(run_put<std::is_same_v<Function, assigned>, T, Function>,
               blocks_for(ceiling(l.count, block_threads)),
               device_loop<2>(l),
               into,
               f,
               positions,
               values);
    }
};

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
