// SPDX-License-Identifier: MIT
// Gather, scatter and ranges on the CPU.
#include "runtime/kernels/indexing.hpp"

#include <algorithm>
#include <utility>

#include "runtime/kernels/random.hpp"

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

std::int64_t count_true(std::int64_t count, bool const* x, std::int64_t* before) {
    std::int64_t const chunks = chunks_of(count);
    in_parts(chunks, 1, [&](std::int64_t chunk, std::int64_t last) {
        for (; chunk != last; ++chunk) {
            std::int64_t const end = std::min(count, (chunk + 1) * work_for_a_thread);
            std::int64_t n = 0;
            for (std::int64_t i = chunk * work_for_a_thread; i != end; ++i) n += x[i] ? 1 : 0;
            before[chunk] = n;
        }
    });
    std::int64_t total = 0;
    for (std::int64_t c = 0; c != chunks; ++c) total += std::exchange(before[c], total);
    return total;
}

void list_true(std::int64_t count, bool const* x, std::int64_t const* before, std::int64_t* out) {
    in_parts(chunks_of(count), 1, [&](std::int64_t chunk, std::int64_t last) {
        for (; chunk != last; ++chunk) {
            std::int64_t const end = std::min(count, (chunk + 1) * work_for_a_thread);
            std::int64_t* to = out + before[chunk];
            for (std::int64_t i = chunk * work_for_a_thread; i != end; ++i)
                if (x[i]) *to++ = i;
        }
    });
}

void add_indexing(launches& to) {
    to.take = launch_take<cpu_launcher>;
    to.put = launch_put<cpu_launcher>;
    to.range = launch_range<cpu_launcher>;
    to.random_bits = launch_random_bits<cpu_launcher>;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
