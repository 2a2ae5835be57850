// SPDX-License-Identifier: MIT
// Softmax on the CPU: one line, or several adjacent lines, stay in the cache for all passes.
#include "runtime/kernels/scan.hpp"

#include <algorithm>

#include "cpu.hpp"
#include "cpu_launch.hpp"
#include "reduce_line.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

struct softmax_launcher : cpu_launcher {
    template <class Parts, class T>
    static void softmax(axis_shape const& s, T* out, T const* x) {
        if (s.inner == 1) {
            in_parts(s.outer, units_for_a_thread(s.length), [&](std::int64_t first, std::int64_t last) {
                for (; first != last; ++first) line<Parts>(s.length, out + first * s.length, x + first * s.length);
            });
            return;
        }
        std::int64_t const blocks = (s.inner + max_columns - 1) / max_columns;
        std::int64_t const work = s.length * std::min(s.inner, max_columns);
        in_parts(s.outer * blocks, units_for_a_thread(work), [&](std::int64_t first, std::int64_t last) {
            for (; first != last; ++first) {
                std::int64_t const column = first % blocks * max_columns;
                std::int64_t const at = first / blocks * s.length * s.inner + column;
                columns<Parts>(s, std::min(max_columns, s.inner - column), out + at, x + at);
            }
        });
    }

private:
    static constexpr std::int64_t max_columns = 64;

    template <class Parts, class T>
    static void line(std::int64_t n, T* out, T const* x) {
        T const peak = line_reduction<reduction<reduce_op::max, T, double>>::of(x, n, 1, 0);
        for (std::int64_t i = 0; i != n; ++i) out[i] = Parts::term(x[i], peak);
        double const sum = line_reduction<reduction<reduce_op::sum, T, double>>::of(out, n, 1, 0);
        T const whole = Parts::line(peak, static_cast<T>(sum));
        for (std::int64_t i = 0; i != n; ++i) out[i] = Parts::finish(x[i], out[i], whole);
    }

    template <class Parts, class T>
    static void columns(axis_shape const& s, std::int64_t n, T* out, T const* x) {
        using largest = reduction<reduce_op::max, T, double>;
        T peak[max_columns];
        T whole[max_columns];
        double sums[max_columns];
        for (std::int64_t j = 0; j != n; ++j) peak[j] = largest::identity();
        for (std::int64_t j = 0; j != n; ++j) sums[j] = 0;
        std::int64_t const end = s.length * s.inner;
        for (std::int64_t i = 0; i != end; i += s.inner)
            for (std::int64_t j = 0; j != n; ++j) peak[j] = largest::combine(peak[j], x[i + j]);
        for (std::int64_t i = 0; i != end; i += s.inner)
            for (std::int64_t j = 0; j != n; ++j) sums[j] += out[i + j] = Parts::term(x[i + j], peak[j]);
        for (std::int64_t j = 0; j != n; ++j) whole[j] = Parts::line(peak[j], static_cast<T>(sums[j]));
        for (std::int64_t i = 0; i != end; i += s.inner)
            for (std::int64_t j = 0; j != n; ++j) out[i + j] = Parts::finish(x[i + j], out[i + j], whole[j]);
    }
};

} // namespace

void add_softmax(launches& to) { to.softmax = launch_softmax<softmax_launcher>; }

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
