// SPDX-License-Identifier: MIT
// Matrix products on the GPU for every dtype and layout: tiles of both operands in shared memory, a square of the
// result in the registers of each thread. cuBLAS computes floats with a layout that it supports.
#include "matmul.hpp"

#include <cmath>
#include <type_traits>

#include "runtime/kernels/elementwise.hpp"

#include "kernels.hpp"
#include "launch.cuh"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

constexpr int tile_side = 64; // of a tile of the result
constexpr int tile_depth = 16;
constexpr int own_side = 4; // per thread: block_threads * own_side * own_side is a tile
static_assert(block_threads * own_side * own_side == tile_side * tile_side);

/// The accumulator type: float32 for 16-bit floats, unsigned integers, which wrap around, for integers.
template <class T>
constexpr auto product_of() {
    if constexpr (std::is_integral_v<T>)
        return type_tag<std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>>();
    else return type_tag<computed<T>>();
}

template <class Sum, class T>
ATON_HD Sum widened_to(T x) {
    if constexpr (std::is_integral_v<T>) return static_cast<Sum>(static_cast<std::make_unsigned_t<T>>(x));
    else return static_cast<Sum>(static_cast<computed<T>>(x));
}
template <class Sum>
ATON_HD Sum added(Sum sum, Sum x, Sum y) {
    if constexpr (std::is_integral_v<Sum>) return sum + x * y;
    else return std::fma(x, y, sum);
}

/// Loads one tile of a matrix; elements outside the matrix are 0. Neighboring threads read along `depth` if elements
/// are adjacent along it, otherwise along the other axis.
template <class Sum, class T>
__device__ void read_tile(Sum (*tile)[tile_side + 1], T const* x, std::int64_t sides, std::int64_t depth,
                          std::int64_t side_stride, std::int64_t depth_stride) {
    bool const along_depth = depth_stride == 1;
    for (int e = static_cast<int>(threadIdx.x); e < tile_side * tile_depth; e += block_threads) {
        int const side = along_depth ? e / tile_depth : e % tile_side;
        int const deep = along_depth ? e % tile_depth : e / tile_side;
        tile[deep][side] =
            side < sides && deep < depth ? widened_to<Sum>(x[side * side_stride + deep * depth_stride]) : Sum{0};
    }
}

template <class Sum, class T>
__global__ void __launch_bounds__(block_threads)
    run_matmul(matmul_shape s, device_loop<3> batches, T* out, T const* __restrict__ a, T const* __restrict__ b) {
    __shared__ Sum left[tile_depth][tile_side + 1];
    __shared__ Sum right[tile_depth][tile_side + 1];
    std::int64_t const rows = ceiling(s.m, tile_side);
    std::int64_t const columns = ceiling(s.n, tile_side);
    int const own_row = static_cast<int>(threadIdx.x) / (tile_side / own_side);
    int const own_column = static_cast<int>(threadIdx.x) % (tile_side / own_side);
    for (auto [tile, step] = own_tiles(); tile < batches.plain.count * rows * columns; tile += step) {
        offsets<3> const o = batches.of(tile / (rows * columns));
        std::int64_t const row = tile / columns % rows * tile_side;
        std::int64_t const column = tile % columns * tile_side;
        Sum sums[own_side][own_side] = {};
        for (std::int64_t k = 0; k < s.k; k += tile_depth) {
            __syncthreads(); // all reads of the previous tiles are done
            read_tile(left, a + o.at[1] + row * s.a.row + k * s.a.column, s.m - row, s.k - k, s.a.row, s.a.column);
            read_tile(
                right, b + o.at[2] + k * s.b.row + column * s.b.column, s.n - column, s.k - k, s.b.column, s.b.row);
            __syncthreads();
#pragma unroll
            for (int deep = 0; deep != tile_depth; ++deep) {
                Sum x[own_side];
                Sum y[own_side];
#pragma unroll
                for (int i = 0; i != own_side; ++i) {
                    x[i] = left[deep][own_row + i * (tile_side / own_side)];
                    y[i] = right[deep][own_column + i * (tile_side / own_side)];
                }
#pragma unroll
                for (int i = 0; i != own_side; ++i)
#pragma unroll
                    for (int j = 0; j != own_side; ++j) sums[i][j] = added(sums[i][j], x[i], y[j]);
            }
        }
#pragma unroll
        for (int i = 0; i != own_side; ++i)
#pragma unroll
            for (int j = 0; j != own_side; ++j) {
                std::int64_t const r = row + own_row + i * (tile_side / own_side);
                std::int64_t const c = column + own_column + j * (tile_side / own_side);
                if (r < s.m && c < s.n) out[o.at[0] + r * s.n + c] = static_cast<T>(sums[i][j]);
            }
    }
}

bool launch_matmul(dtype t, matmul_shape const& s, void* out, void const* a, void const* b) {
    if (s.batches.count != 0 && multiply_by_cublas(t, s, out, a, b)) return true;
    bool known = false;
    visit(t, [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (is_number<T> && !std::is_same_v<T, bool>) {
            using sum = typename decltype(product_of<T>())::type;
            std::int64_t const tiles = s.batches.count * ceiling(s.m, tile_side) * ceiling(s.n, tile_side);
            if (tiles != 0)
                launch(run_matmul<sum, T>,
                       blocks_for(tiles),
                       s,
                       device_loop<3>(s.batches),
                       static_cast<T*>(out),
                       static_cast<T const*>(a),
                       static_cast<T const*>(b));
            known = true;
        }
    });
    return known;
}

} // namespace

void add_matmul(launches& to) { to.matmul = launch_matmul; }

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
