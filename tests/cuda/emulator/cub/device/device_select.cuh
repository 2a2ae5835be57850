// SPDX-License-Identifier: MIT
// Emulates CUB's selection with the same results.
#pragma once

#include <cub/device/device_radix_sort.cuh>

namespace cub {

struct DeviceSelect {
    template <class Numbers, class Flag, class Value>
    static cudaError_t Flagged(void* temporary, std::size_t& bytes, Numbers const& numbers, Flag const* flags,
                               Value* out, Value* found, std::int64_t count, cudaStream_t /*s*/) {
        if (emulated::has_temporary_memory(temporary, bytes))
            with_emulated_memory([&] {
                *found = 0;
                for (std::int64_t i = 0; i != count; ++i)
                    if (flags[i]) out[(*found)++] = numbers[i];
            });
        return cudaSuccess;
    }
};

} // namespace cub
