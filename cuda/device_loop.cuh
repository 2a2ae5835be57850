// SPDX-License-Identifier: MIT
// Iteration order of a kernel on a GPU: maps an element's index to its offsets without integer division.
#pragma once

#include <cstdint>

#include "runtime/kernels/loop.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

/// n / divisor for n < 2^31 by multiplication (Granlund, Montgomery: Division by Invariant Integers using
/// Multiplication; PLDI 1994).
struct divider {
    std::uint32_t multiplier = 1;
    std::uint32_t shift = 0;

    divider() = default;
    explicit divider(std::uint32_t divisor) {
        while ((std::uint64_t{1} << shift) < divisor) ++shift;
        std::uint64_t const rest = (std::uint64_t{1} << shift) - divisor;
        multiplier = static_cast<std::uint32_t>((rest << 32U) / divisor + 1);
    }
    [[nodiscard]] ATON_HD std::uint32_t operator()(std::uint32_t n) const {
        auto const high = static_cast<std::uint32_t>(std::uint64_t{n} * multiplier >> 32U);
        return (high + n) >> shift;
    }
};

template <int Operands>
struct offsets {
    std::int64_t at[Operands];
};

template <int Operands>
struct device_loop {
    loop<Operands> plain;
    divider by[max_dims];
    bool is_small = false; ///< indices of elements are below 2^31

    explicit device_loop(loop<Operands> const& l) : plain(l), is_small(l.count < (std::int64_t{1} << 31U)) {
        for (int k = 0; is_small && k != l.rank; ++k) by[k] = divider(static_cast<std::uint32_t>(l.sizes[k]));
    }

    [[nodiscard]] ATON_HD offsets<Operands> of(std::int64_t element) const {
        offsets<Operands> out{};
        for (int k = plain.rank - 1; k > 0; --k) {
            std::int64_t const next =
                is_small ? std::int64_t{by[k](static_cast<std::uint32_t>(element))} : element / plain.sizes[k];
            std::int64_t const digit = element - next * plain.sizes[k];
            for (int j = 0; j != Operands; ++j) out.at[j] += digit * plain.strides[j][k];
            element = next;
        }
        for (int j = 0; j != Operands; ++j) out.at[j] += element * plain.strides[j][0];
        return out;
    }
};

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
