// SPDX-License-Identifier: MIT
// Emulates CUB's segmented sort with the same results.
#pragma once

#include <cub/device/device_radix_sort.cuh>

namespace cub {

struct DeviceSegmentedSort {
    template <class Key, class Value, class Offset>
    static cudaError_t StableSortPairs(void* temporary, std::size_t& bytes, Key const* keys, Key* sorted_keys,
                                       Value const* values, Value* sorted_values, std::int64_t /*count*/,
                                       std::int64_t segments, Offset const* first, Offset const* last,
                                       cudaStream_t /*s*/) {
        if (emulated::has_temporary_memory(temporary, bytes))
            with_emulated_memory([&] {
                for (std::int64_t i = 0; i != segments; ++i)
                    emulated::sort_pairs(keys, sorted_keys, values, sorted_values, first[i], last[i]);
            });
        return cudaSuccess;
    }
};

} // namespace cub
