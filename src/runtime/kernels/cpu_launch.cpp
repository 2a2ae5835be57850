// SPDX-License-Identifier: MIT
// Threads of the CPU, and the order of rows.
#include "cpu_launch.hpp"

#include <algorithm>

#if defined(_OPENMP) && __has_include(<omp.h>)
#include <omp.h>
#define ATON_HAS_THREADS
#endif

namespace aton::runtime::kernels {

namespace {

/// The elements from number `first` to `last`, a row at a time.
template <int Operands>
void run_part(loop<Operands> const& l, row<Operands> const& whole, std::size_t const* widths,
              void (*run)(row<Operands> const&), std::int64_t first, std::int64_t last) {
    row_cursor<Operands> at(l, first);
    row<Operands> r = whole;
    for (int j = 0; j != Operands; ++j) r.strides[j] = l.strides[j][l.rank - 1];
    for (std::int64_t left = last - first; left != 0; left -= r.count) {
        r.count = std::min(left, at.left());
        for (int j = 0; j != Operands; ++j)
            r.data[j] = whole.data[j] + at.offset(j) * static_cast<std::int64_t>(widths[j]);
        run(r);
        at.advance(r.count);
    }
}

} // namespace

template <int Operands>
void run_rows(loop<Operands> const& l, row<Operands> first, std::size_t const* widths,
              void (*run)(row<Operands> const&)) {
    if (l.count == 0) return;
#if defined(ATON_HAS_THREADS)
    constexpr std::int64_t elements_for_a_thread = 32768;
    std::int64_t const most = omp_in_parallel() != 0 ? 1 : omp_get_max_threads();
    std::int64_t const parts = std::min(most, (l.count + elements_for_a_thread - 1) / elements_for_a_thread);
    if (parts > 1) {
#pragma omp parallel for schedule(static) num_threads(static_cast<int>(parts))
        for (std::int64_t i = 0; i < parts; ++i) {
            std::int64_t const more = l.count % parts;
            std::int64_t const start = l.count / parts * i + std::min(i, more);
            run_part(l, first, widths, run, start, start + l.count / parts + (i < more ? 1 : 0));
        }
        return;
    }
#endif
    run_part(l, first, widths, run, 0, l.count);
}

template void run_rows<2>(loop<2> const&, row<2>, std::size_t const*, void (*)(row<2> const&));
template void run_rows<3>(loop<3> const&, row<3>, std::size_t const*, void (*)(row<3> const&));
template void run_rows<4>(loop<4> const&, row<4>, std::size_t const*, void (*)(row<4> const&));

} // namespace aton::runtime::kernels
