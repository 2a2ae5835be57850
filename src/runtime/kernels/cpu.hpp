// SPDX-License-Identifier: MIT
// The kernels of the CPU. Each file adds what it compiles, for the set of instructions that it is compiled for.
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

/// How many are true, and how many are so before each chunk, of which there are `chunks_of(count)`.
std::int64_t count_true(std::int64_t count, bool const* x, std::int64_t* before);
void list_true(std::int64_t count, bool const* x, std::int64_t const* before, std::int64_t* out);

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT

namespace ATON_NAMESPACE::runtime::kernels {

/// Those for the best instructions that this CPU has; the environment variable ATON_CPU_VARIANT names others: baseline, avx2, avx512.
/// Throws aton::error where this build or this CPU has them not.
[[nodiscard]] launches const& cpu_launches();

} // namespace ATON_NAMESPACE::runtime::kernels
