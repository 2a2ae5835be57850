// SPDX-License-Identifier: MIT
// The kernels of the GPU. Each source file adds those that it compiles.
#pragma once

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

/// Writes the indices of the true elements to `out`, which must have space for `count`, and returns how many there are.
std::int64_t list_true(std::int64_t count, bool const* x, std::int64_t* out);

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
