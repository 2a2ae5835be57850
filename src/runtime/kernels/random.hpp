// SPDX-License-Identifier: MIT
// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC 2011), and ranges.
#pragma once

#include <cstdint>

#include <aton/runtime/platform.hpp>

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

struct philox_block {
    std::uint32_t numbers[4];
};

ATON_HD constexpr philox_block philox(philox_block counter, std::uint32_t key_low, std::uint32_t key_high) {
    constexpr std::uint64_t even = 0xd2511f53U;
    constexpr std::uint64_t odd = 0xcd9e8d57U;
    auto& c = counter.numbers;
    for (int round = 0; round != 10; ++round) {
        std::uint64_t const x = even * c[0];
        std::uint64_t const y = odd * c[2];
        counter = {{static_cast<std::uint32_t>(y >> 32U) ^ c[1] ^ key_low,
                    static_cast<std::uint32_t>(y),
                    static_cast<std::uint32_t>(x >> 32U) ^ c[3] ^ key_high,
                    static_cast<std::uint32_t>(x)}};
        key_low += 0x9e3779b9U;  // the golden ratio
        key_high += 0xbb67ae85U; // the square root of 3, minus 1
    }
    return counter;
}

/// Writes the four numbers of a block, or fewer at the end.
struct random_block {
    std::uint32_t* out;
    std::int64_t count;
    std::uint64_t seed;
    ATON_HD void operator()(std::int64_t block) const {
        auto const at = static_cast<std::uint64_t>(block);
        philox_block const b = philox({{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at >> 32U), 0, 0}},
                                      static_cast<std::uint32_t>(seed),
                                      static_cast<std::uint32_t>(seed >> 32U));
        std::int64_t const first = block * 4;
        for (int i = 0; i != 4; ++i)
            if (first + i < count) out[first + i] = b.numbers[i];
    }
};

struct own_index {
    std::int64_t* out;
    ATON_HD void operator()(std::int64_t i) const { out[i] = i; }
};

/// Runs `Launcher::for_each(count, function)`, which calls function(0), ..., function(count - 1).
template <class Launcher>
void launch_random_bits(std::int64_t count, std::uint64_t seed, std::uint32_t* out) {
    Launcher::for_each((count + 3) / 4, random_block{out, count, seed});
}
template <class Launcher>
void launch_range(std::int64_t count, std::int64_t* out) {
    Launcher::for_each(count, own_index{out});
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
