// SPDX-License-Identifier: MIT
// Copies on the GPU. Transposes pass through tiles in shared memory, so that both sides are read and written along
// their contiguous dimensions.
#include "runtime/kernels/elementwise.hpp"

#include "kernels.hpp"
#include "launch.cuh"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

constexpr int side = 32; // of a tile

/// Matrices that are contiguous along the columns of the result and along the rows of the operand.
struct transposed_shape {
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t to;   ///< from one row of the result to the next
    std::int64_t from; ///< from one column of the operand to the next
};

template <class T>
__global__ void __launch_bounds__(block_threads)
    run_transposed(transposed_shape s, device_loop<2> matrices, T* out, T const* __restrict__ x) {
    __shared__ T shared[side][side + 1];
    int const along = static_cast<int>(threadIdx.x) % side;
    int const across = static_cast<int>(threadIdx.x) / side;
    std::int64_t const rows = ceiling(s.rows, side);
    std::int64_t const columns = ceiling(s.columns, side);
    for (auto [tile, step] = own_tiles(); tile < matrices.plain.count * rows * columns; tile += step) {
        offsets<2> const o = matrices.of(tile / (rows * columns));
        std::int64_t const row = tile / columns % rows * side;
        std::int64_t const column = tile % columns * side;
        __syncthreads(); // all reads of the previous tile are done
#pragma unroll
        for (int i = across; i < side; i += block_threads / side)
            if (row + along < s.rows && column + i < s.columns)
                shared[i][along] = x[o.at[1] + row + along + (column + i) * s.from];
        __syncthreads();
#pragma unroll
        for (int i = across; i < side; i += block_threads / side)
            if (row + i < s.rows && column + along < s.columns)
                out[o.at[0] + (row + i) * s.to + column + along] = shared[along][i];
    }
}

struct move_launcher : cuda_launcher {
    using cuda_launcher::run;

    template <class T>
    static void run(loop<2> const& l, T* out, copied const& f, T const* x) {
        int const rows = rows_of(l);
        if (rows < 0) return cuda_launcher::run(l, out, f, x);
        int const inner = l.rank - 1;
        loop<2> matrices;
        matrices.count = l.count / l.sizes[rows] / l.sizes[inner];
        for (int k = 0; k != inner; ++k) {
            if (k == rows) continue;
            matrices.sizes[matrices.rank] = l.sizes[k];
            for (int j = 0; j != 2; ++j) matrices.strides[j][matrices.rank] = l.strides[j][k];
            ++matrices.rank;
        }
        if (matrices.rank == 0) {
            matrices.rank = 1;
            matrices.sizes[0] = 1;
        }
        transposed_shape const s{l.sizes[rows], l.sizes[inner], l.strides[0][rows], l.strides[1][inner]};
        launch(run_transposed<T>,
               blocks_for(matrices.count * ceiling(s.rows, side) * ceiling(s.columns, side)),
               s,
               device_loop<2>(matrices),
               out,
               x);
    }

private:
    /// The dimension that is contiguous in the operand, if the innermost one is not and tiles are worth it; otherwise
    /// -1.
    static int rows_of(loop<2> const& l) {
        constexpr std::int64_t few = 8;
        int const inner = l.rank - 1;
        if (l.count == 0 || l.strides[0][inner] != 1 || l.sizes[inner] < few) return -1;
        if (l.strides[1][inner] == 0 || l.strides[1][inner] == 1) return -1;
        for (int k = 0; k != inner; ++k)
            if (l.strides[1][k] == 1 && l.sizes[k] >= few) return k;
        return -1;
    }
};

} // namespace

void add_move(launches& to) {
    to.copy = launch_copy<move_launcher>;
    to.select = launch_select<cuda_launcher>;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
