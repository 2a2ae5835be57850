// SPDX-License-Identifier: MIT
// Sorting: maps numbers to unsigned integers of the same order.
#pragma once

#include <bit>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/elementwise.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

template <std::size_t Bytes>
using unsigned_of = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t, std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

/// Equal numbers have equal keys, and greater numbers greater ones; NaN has the greatest.
template <class T>
ATON_HD auto sort_key(T x) {
    using key = unsigned_of<sizeof(T)>;
    constexpr key sign = static_cast<key>(key{1} << (sizeof(T) * CHAR_BIT - 1));
    if constexpr (std::is_same_v<T, bool>) return static_cast<key>(x);
    else if constexpr (std::is_integral_v<T>)
        return static_cast<key>(std::is_signed_v<T> ? static_cast<key>(x) ^ sign : static_cast<key>(x));
    else {
        if (is_nan(static_cast<computed<T>>(x))) return static_cast<key>(~key{0});
        auto const code = std::bit_cast<key>(x);
        if (code == sign) return sign; // -0 equals 0
        return static_cast<key>((code & sign) != 0 ? ~code : code | sign);
    }
}

/// Runs `Launcher::sort(shape, values, indices, x)` and returns true if the dtype is ordered.
template <class Launcher>
bool launch_sort(dtype t, sort_shape const& s, void* values, std::int64_t* indices, void const* x) {
    bool known = false;
    visit(t, [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (computes<Launcher, T>) {
            Launcher::sort(s, static_cast<T*>(values), indices, static_cast<T const*>(x));
            known = true;
        }
    });
    return known;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
