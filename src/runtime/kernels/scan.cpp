// SPDX-License-Identifier: MIT
// Scans on the CPU: each line in order, lines that lie side by side together.
#include <aton/runtime/kernels/scan.hpp>

#include <algorithm>

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

struct scan_launcher : cpu_launcher {
    template <class Functor, class T>
    static void scan(line_shape const& s, T* out, T const* x) {
        std::int64_t const inner = s.starts.rank - 1;
        bool const together = s.starts.strides[0][inner] == 1 && s.starts.strides[1][inner] == 1;
        in_parts(s.starts.count, units_for_a_thread(s.length), [&](std::int64_t first, std::int64_t last) {
            row_cursor<2> at(s.starts, first);
            while (first != last) {
                std::int64_t const n = together ? std::min({last - first, at.left(), most_columns}) : 1;
                scan_lines<Functor>(s, out + at.offset(0), x + at.offset(1), n);
                first += n;
                at.advance(n);
            }
        });
    }

private:
    static constexpr std::int64_t most_columns = 256;

    /// `n` lines, whose elements lie side by side.
    template <class Functor, class T>
    static void scan_lines(line_shape const& s, T* out, T const* x, std::int64_t n) {
        typename Functor::accumulator sums[most_columns];
        for (std::int64_t j = 0; j != n; ++j) sums[j] = Functor::identity();
        for (std::int64_t i = 0; i != s.length; ++i, out += s.strides[0], x += s.strides[1])
            for (std::int64_t j = 0; j != n; ++j) {
                sums[j] = Functor::combine(sums[j], Functor::load(x[j]));
                out[j] = Functor::finish(sums[j]);
            }
    }
};

} // namespace

bool cpu_scan(scan_op op, dtype t, line_shape const& s, void* out, void const* x) {
    return launch_scan<scan_launcher>(op, t, s, out, x);
}

} // namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT
