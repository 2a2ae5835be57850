// SPDX-License-Identifier: MIT
// Reduces a line of elements in lanes, which the compiler vectorizes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/reduce.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

/// Reduces `n` elements; `index` is that of the first.
template <class Functor>
struct line_reduction {
    using accumulator = typename Functor::accumulator;

    template <class T>
    static accumulator of(T const* x, std::int64_t n, std::int64_t stride, std::int64_t index) {
        accumulator result = Functor::identity();
        std::int64_t i = 0;
        if (constexpr int lanes = static_cast<int>(256 / sizeof(accumulator)); stride == 1 && n >= lanes) {
            accumulator lane[lanes];
            for (int l = 0; l != lanes; ++l) lane[l] = result;
            for (; i + lanes <= n; i += lanes)
                for (int l = 0; l != lanes; ++l) lane[l] = Functor::combine(lane[l], Functor::load(x[i + l], index));
            for (int l = 0; l != lanes; ++l) result = Functor::combine(result, lane[l]);
        }
        for (; i != n; ++i) result = Functor::combine(result, Functor::load(x[i * stride], index + i));
        return result;
    }
};

/// Finds the best element of a block in lanes, and its position only if it is better than the best so far.
template <bool Most, bool Last, class T>
struct line_reduction<arg_reduction<Most, Last, T>> {
    using functor = arg_reduction<Most, Last, T>;
    using accumulator = typename functor::accumulator;
    using best = line_reduction<reduction<Most ? reduce_op::max : reduce_op::min, T, T>>;

    static accumulator of(T const* x, std::int64_t n, std::int64_t stride, std::int64_t index) {
        constexpr std::int64_t max_together = 1024;
        accumulator result = functor::identity();
        for (std::int64_t first = 0; first < n; first += max_together) {
            std::int64_t const last = std::min(n, first + max_together) - 1;
            T const value = best::of(x + first * stride, last - first + 1, stride, 0);
            bool const better = functor::is_before(value, result.value);
            bool const equal = !better && !functor::is_before(result.value, value);
            if (result.index >= 0 && !better && !(Last && equal)) continue;
            std::int64_t at = Last ? last : first;
            while (functor::is_before(value, x[at * stride])) at += Last ? -1 : 1;
            result = functor::load(value, index + at);
        }
        return result;
    }
};

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
