// SPDX-License-Identifier: MIT
// Copies on the CPU.
#include "runtime/kernels/elementwise.hpp"

#include <algorithm>

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

/// If each operand is contiguous in another dimension, copies in square tiles, which stay in the cache.
template <class T>
void transpose(std::int64_t rows, std::int64_t columns, T* out, std::int64_t to, T const* x, std::int64_t from) {
    constexpr std::int64_t side = 16;
    for (std::int64_t i = 0; i < rows; i += side)
        for (std::int64_t j = 0; j < columns; j += side)
            for (std::int64_t r = i; r != std::min(rows, i + side); ++r)
                for (std::int64_t c = j; c != std::min(columns, j + side); ++c) out[r * to + c] = x[r + c * from];
}

struct copy_launcher : cpu_launcher {
    template <class T>
    static void run(loop<2> const& l, T* out, copied const& f, T const* x) {
        int const inner = l.rank - 1;
        int side_by_side = inner;
        while (side_by_side >= 0 && l.strides[1][side_by_side] != 1) --side_by_side;
        if (side_by_side < 0 || side_by_side == inner || l.strides[0][inner] != 1)
            return cpu_launcher::run(l, out, f, x);
        loop<2> rest; // over all other dimensions
        rest.count = 1;
        for (int k = 0; k != inner; ++k) {
            if (k == side_by_side) continue;
            rest.sizes[rest.rank] = l.sizes[k];
            for (int j = 0; j != 2; ++j) rest.strides[j][rest.rank] = l.strides[j][k];
            rest.count *= l.sizes[k];
            ++rest.rank;
        }
        // Bands of rows of all outer elements, as many as are enough work for a thread.
        constexpr std::int64_t band = 64;
        std::int64_t const rows = l.sizes[side_by_side];
        std::int64_t const columns = l.sizes[inner];
        std::int64_t const bands = (rows + band - 1) / band;
        std::int64_t const work = std::min(rows, band) * columns;
        in_parts(rest.count * bands, units_for_a_thread(work), [&](std::int64_t first, std::int64_t last) {
            for (; first != last; ++first) {
                std::int64_t const row = first % bands * band;
                std::int64_t const outer = first / bands;
                transpose(std::min(band, rows - row),
                          columns,
                          out + offset_of(rest, 0, outer) + row * l.strides[0][side_by_side],
                          l.strides[0][side_by_side],
                          x + offset_of(rest, 1, outer) + row,
                          l.strides[1][inner]);
            }
        });
    }
};

} // namespace

void add_move(launches& to) {
    to.copy = launch_copy<copy_launcher>;
    to.select = launch_select<cpu_launcher>;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
