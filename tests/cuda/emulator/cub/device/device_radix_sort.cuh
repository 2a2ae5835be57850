// SPDX-License-Identifier: MIT
// Emulates CUB's radix sort with the same results.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime.h>

namespace cub {

namespace emulated {

template <class Key, class Value>
void sort_pairs(Key const* keys, Key* sorted_keys, Value const* values, Value* sorted_values, std::int64_t first,
                std::int64_t last) {
    std::vector<std::int64_t> order;
    for (std::int64_t i = first; i != last; ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return keys[a] < keys[b]; });
    for (std::int64_t const from : order) {
        sorted_keys[first] = keys[from];
        sorted_values[first++] = values[from];
    }
}

/// The size query that comes first; returns true if temporary memory is given.
inline bool has_temporary_memory(void* temporary, std::size_t& bytes) {
    if (temporary == nullptr) bytes = 1;
    return temporary != nullptr;
}

} // namespace emulated

struct DeviceRadixSort {
    template <class Key, class Value>
    static cudaError_t SortPairs(void* temporary, std::size_t& bytes, Key const* keys, Key* sorted_keys,
                                 Value const* values, Value* sorted_values, std::int64_t count, int first_bit,
                                 int last_bit, cudaStream_t /*s*/) {
        if (first_bit != 0 || last_bit != static_cast<int>(sizeof(Key) * 8)) return cudaErrorInvalidValue;
        if (emulated::has_temporary_memory(temporary, bytes))
            with_emulated_memory([&] { emulated::sort_pairs(keys, sorted_keys, values, sorted_values, 0, count); });
        return cudaSuccess;
    }
};

} // namespace cub
