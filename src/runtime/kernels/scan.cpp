// SPDX-License-Identifier: MIT
// Scans on the CPU: each line in order, adjacent lines together.
#include "runtime/kernels/scan.hpp"

#include <algorithm>

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

struct scan_launcher : cpu_launcher {
    template <class Functor, class T>
    static void scan(line_shape const& s, T* out, T const* x) {
        std::int64_t const inner = s.starts.rank - 1;
        bool const side_by_side = s.starts.strides[0][inner] == 1 && s.starts.strides[1][inner] == 1;
        in_parts(s.starts.count, units_for_a_thread(s.length), [&](std::int64_t first, std::int64_t last) {
            row_cursor<2> at(s.starts, first);
            while (first != last) {
                T* const to = out + at.offset(0);
                T const* const from = x + at.offset(1);
                std::int64_t const left = std::min(last - first, at.left());
                std::int64_t const n = side_by_side ? std::min(left, max_columns) : left >= lines ? lines : 1;
                if (side_by_side) scan_columns<Functor>(s, to, from, n);
                else if (n == lines) scan_lines<Functor, lines>(s, to, from);
                else scan_lines<Functor, 1>(s, to, from);
                first += n;
                at.advance(n);
            }
        });
    }

private:
    static constexpr std::int64_t max_columns = 256;
    static constexpr int lines = 8; // hides the latency of dependent additions

    /// Scans `n` lines whose elements are adjacent.
    template <class Functor, class T>
    static void scan_columns(line_shape const& s, T* out, T const* x, std::int64_t n) {
        typename Functor::accumulator sums[max_columns];
        for (std::int64_t j = 0; j != n; ++j) sums[j] = Functor::identity();
        for (std::int64_t i = 0; i != s.length; ++i, out += s.strides[0], x += s.strides[1])
            for (std::int64_t j = 0; j != n; ++j) {
                sums[j] = Functor::combine(sums[j], Functor::load(x[j]));
                out[j] = Functor::finish(sums[j]);
            }
    }

    template <class Functor, int Lines, class T>
    static void scan_lines(line_shape const& s, T* out, T const* x) {
        std::int64_t const to = s.starts.strides[0][s.starts.rank - 1];
        std::int64_t const from = s.starts.strides[1][s.starts.rank - 1];
        typename Functor::accumulator sums[Lines];
        for (int j = 0; j != Lines; ++j) sums[j] = Functor::identity();
        for (std::int64_t i = 0; i != s.length; ++i, out += s.strides[0], x += s.strides[1])
            for (int j = 0; j != Lines; ++j) {
                sums[j] = Functor::combine(sums[j], Functor::load(x[j * from]));
                out[j * to] = Functor::finish(sums[j]);
            }
    }
};

} // namespace

void add_scan(launches& to) { to.scan = launch_scan<scan_launcher>; }

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
