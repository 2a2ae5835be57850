// SPDX-License-Identifier: MIT
// Distributes the rows of a loop over threads.
#include "cpu_launch.hpp"

#include <algorithm>

namespace ATON_NAMESPACE::runtime::kernels {

template <int Operands>
void run_rows(loop<Operands> const& l, row<Operands> first, std::size_t const* widths,
              void (*run)(row<Operands> const&)) {
    in_parts(l.count, work_for_a_thread, [&](std::int64_t start, std::int64_t end) {
        row_cursor<Operands> at(l, start);
        row<Operands> r = first;
        for (int j = 0; j != Operands; ++j) r.strides[j] = l.strides[j][l.rank - 1];
        for (std::int64_t left = end - start; left != 0; left -= r.count) {
            r.count = std::min(left, at.left());
            for (int j = 0; j != Operands; ++j)
                r.data[j] = first.data[j] + at.offset(j) * static_cast<std::int64_t>(widths[j]);
            run(r);
            at.advance(r.count);
        }
    });
}

template void run_rows<2>(loop<2> const&, row<2>, std::size_t const*, void (*)(row<2> const&));
template void run_rows<3>(loop<3> const&, row<3>, std::size_t const*, void (*)(row<3> const&));
template void run_rows<4>(loop<4> const&, row<4>, std::size_t const*, void (*)(row<4> const&));

} // namespace ATON_NAMESPACE::runtime::kernels
