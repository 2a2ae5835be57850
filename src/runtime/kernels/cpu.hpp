// SPDX-License-Identifier: MIT
// The kernels of the CPU; each is compiled in a file of its own.
#pragma once

#include <cstdint>

#include <aton/runtime/kernels/launches.hpp>

namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT {

bool cpu_unary(unary_op op, dtype t, loop<2> const& l, void* out, void const* x, unary_parameters const& p);
bool cpu_binary(binary_op op, dtype t, loop<3> const& l, void* out, void const* x, void const* y);
void cpu_select(std::size_t width, loop<4> const& l, void* out, bool const* condition, void const* yes, void const* no);
void cpu_copy(std::size_t width, loop<2> const& l, void* out, void const* x);
bool cpu_cast(dtype from, dtype to, loop<2> const& l, void* out, void const* x, bool saturate);
bool cpu_reduce(reduce_op op, dtype t, reduce_shape const& s, void* out, void const* x);
bool cpu_arg_reduce(reduce_op op, bool last, dtype t, reduce_shape const& s, std::int64_t* out, void const* x);
bool cpu_scan(scan_op op, dtype t, line_shape const& s, void* out, void const* x);
bool cpu_sort(dtype t, sort_shape const& s, void* values, std::int64_t* indices, void const* x);
bool cpu_softmax(bool logarithm, dtype t, axis_shape const& s, void* out, void const* x);
bool cpu_matmul(dtype t, matmul_shape const& s, void* out, void const* a, void const* b);
void cpu_take(std::size_t width, loop<2> const& l, void* out, std::int64_t const* positions, loop<1> const& at,
              void const* x);
bool cpu_put(put_op op, dtype t, loop<2> const& l, void* into, std::int64_t const* positions, void const* values);
void cpu_random_bits(std::int64_t count, std::uint64_t seed, std::uint32_t* out);
void cpu_range(std::int64_t count, std::int64_t* out);

/// How many are true, and how many are so before each chunk, of which there are `chunks_of(count)`.
std::int64_t cpu_count_true(std::int64_t count, bool const* x, std::int64_t* before);
void cpu_list_true(std::int64_t count, bool const* x, std::int64_t const* before, std::int64_t* out);

} // namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT
