// SPDX-License-Identifier: MIT
// The order of a reduction on the CPU. One line of elements is reduced at a time; if the remaining elements are
// adjacent instead, many lines are reduced together. Long reductions are split into chunks that do not depend on the
// number of threads, so results do not either.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/launches.hpp"

namespace ATON_NAMESPACE::runtime::kernels {

/// `count` lines of `n` elements; `index` is that of the first element of each.
struct line_block {
    std::int64_t count;
    std::int64_t stride; ///< from line to line
    std::int64_t n;
    std::int64_t step; ///< from element to element
    std::int64_t index;
};

/// A reduction as functions of memory; accumulators are adjacent.
struct reducer {
    std::size_t element_bytes;
    std::size_t accumulator_bytes; ///< at most 16
    std::size_t result_bytes;
    void (*start)(void* sums, std::int64_t count);
    void (*add_lines)(void* sums, void const* x, line_block const& b);
    void (*add_columns)(void* sums, void const* x, line_block const& b); ///< requires a `stride` of 1
    void (*merge)(void* sums, void const* others, std::int64_t count);
    void (*finish)(void* out, void const* sums, std::int64_t count);
};

void run_reducer(reducer const& by, reduce_shape const& s, void* out, void const* x);

} // namespace ATON_NAMESPACE::runtime::kernels
