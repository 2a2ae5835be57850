// SPDX-License-Identifier: MIT
// The kernels of the CPU. Each source file adds those that it compiles, for the instruction set that it is compiled
// for.
#pragma once

#include <cstdint>

#include "runtime/kernels/launches.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

void add_binary(launches& to);
void add_cast(launches& to);
void add_indexing(launches& to);
void add_matmul(launches& to);
void add_move(launches& to);
void add_reduce(launches& to);
void add_scan(launches& to);
void add_softmax(launches& to);
void add_sort(launches& to);
void add_special(launches& to);
void add_unary(launches& to);
void add_windows(launches& to);

/// Counts true elements, and those before each of the `chunks_of(count)` chunks.
std::int64_t count_true(std::int64_t count, bool const* x, std::int64_t* before);
void list_true(std::int64_t count, bool const* x, std::int64_t const* before, std::int64_t* out);

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT

namespace ATON_NAMESPACE::runtime::kernels {

/// The kernels for the best instruction set of this CPU, or for the one in the environment variable ATON_CPU_VARIANT:
/// baseline, avx2 or avx512. Throws aton::error if this build or this CPU does not support it.
[[nodiscard]] launches const& cpu_launches();

} // namespace ATON_NAMESPACE::runtime::kernels
