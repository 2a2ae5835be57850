// SPDX-License-Identifier: MIT
// Operands that are hard for kernels, and the comparison of what the GPU and the CPU make of them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernels/elementwise.hpp"
#include <aton/runtime/cuda.hpp>

#include "../faults.hpp"
#include "../runtime/layouts.hpp"

namespace ATON_NAMESPACE::runtime {

inline device_kernels const& gpu() { return cuda_kernels(); }
inline device_kernels const& cpu() { return cpu_kernels(); }

inline constexpr std::array numbers = {dtype::bool_,
                                       dtype::uint8,
                                       dtype::int8,
                                       dtype::uint16,
                                       dtype::int16,
                                       dtype::uint32,
                                       dtype::int32,
                                       dtype::uint64,
                                       dtype::int64,
                                       dtype::float16,
                                       dtype::bfloat16,
                                       dtype::float32,
                                       dtype::float64};

/// The same view on the GPU, with the same strides over the same memory.
inline tensor there(tensor const& x) {
    tensor const whole = x.viewed({x.storage_count()}, {1}, -x.storage_offset());
    return gpu().from_host(whole).viewed(x.sizes(), x.strides(), x.storage_offset());
}

/// Special values that the dtype has: infinities, NaN, both zeros, minimum and maximum, ties, negative and subnormal
/// numbers.
inline tensor hostile(dtype t, sizes of, std::uint64_t seed = 1) {
    tensor x = tensor::empty(t, std::move(of));
    visit(t, [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (kernels::is_number<T>) {
            for (std::int64_t i = 0; i != x.count(); ++i) {
                seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
                auto const draw = static_cast<std::int64_t>(seed >> 33U);
                T& to = x.data<T>()[i];
                if constexpr (std::is_same_v<T, bool>) to = draw % 3 == 0;
                else if constexpr (std::is_integral_v<T>) {
                    using limits = std::numeric_limits<T>;
                    T const some[] = {0, limits::lowest(), limits::max(), 1, static_cast<T>(-1)};
                    to = draw % 4 == 0 ? some[draw / 4 % 5] : static_cast<T>(draw % 23 - 11);
                } else {
                    float const inf = std::numeric_limits<float>::infinity();
                    float const some[] = {
                        inf, -inf, std::numeric_limits<float>::quiet_NaN(), 0.0F, -0.0F, 1e-40F, 60000.0F, -0.5F};
                    float const number = static_cast<float>(draw % 4001 - 2000) / 271.0F;
                    to = static_cast<T>(draw % 8 == 0 ? some[draw / 8 % 8] : number);
                }
            }
        }
    });
    return x;
}

/// Numbers whose sums stay small and exact: 1 to 5, and negative ones if the dtype has them.
inline tensor small(dtype t, sizes of, std::int64_t seed = 1) {
    tensor x = tensor::empty(t, std::move(of));
    visit(t, [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (kernels::is_number<T>)
            for (std::int64_t i = 0; i != x.count(); ++i) {
                std::int64_t const v =
                    (i * 7919 + seed * 104729) % 11 - (is_floating(t) || is_signed_integral(t) ? 5 : 0);
                x.data<T>()[i] = static_cast<T>(static_cast<float>(v));
            }
    });
    return x;
}

/// The tolerance, relative to the larger of the result and 1, by which mathematical functions of the devices may be
/// off.
inline double error_of(dtype t) {
    switch (t) {
    case dtype::float16: return 1e-3;
    case dtype::bfloat16: return 8e-3;
    case dtype::float32: return 4e-6;
    default: return 1e-13;
    }
}

/// Why a tensor of the GPU is not equal to that of the CPU; empty if it is.
inline std::string difference(tensor const& got, tensor const& expected, double error) {
    if (got.where() != gpu().memory().where()) return "not on the GPU";
    if (got.dtype() != expected.dtype() || got.sizes() != expected.sizes()) return "other sizes or dtype";
    tensor const here = gpu().to_host(got);
    std::string out;
    visit(expected.dtype(), [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (kernels::is_number<T>) {
            std::vector<T> const x = tests::elements<T>(here);
            std::vector<T> const y = tests::elements<T>(expected);
            for (std::size_t i = 0; i != x.size() && out.empty(); ++i) {
                bool same = false;
                if constexpr (std::is_integral_v<T>) same = x[i] == y[i];
                else {
                    auto const a = static_cast<double>(x[i]);
                    auto const b = static_cast<double>(y[i]);
                    same = a == b || (std::isnan(a) && std::isnan(b)) ||
                           std::abs(a - b) <= error * std::max(1.0, std::abs(b));
                }
                if (!same)
                    out = "element " + std::to_string(i) + " is " + std::to_string(static_cast<double>(x[i])) +
                          ", not " + std::to_string(static_cast<double>(y[i]));
            }
        } else {
            for (std::int64_t i = 0; i != expected.count() && out.empty(); ++i) {
                std::size_t const bytes = element_bytes(expected.dtype());
                std::byte const* const a = here.bytes() + static_cast<std::size_t>(i) * bytes;
                std::byte const* const b = expected.contiguous().bytes() + static_cast<std::size_t>(i) * bytes;
                if (!std::equal(a, a + bytes, b)) out = "element " + std::to_string(i) + " differs";
            }
        }
    });
    return out;
}

/// Checks that both devices return the same or both refuse.
template <class Function, class... T>
std::string compared(Function const& f, double error, T const&... x) {
    tensor expected;
    tensor got;
    std::string fault;
    try {
        expected = f(cpu(), x...);
    } catch (aton::error const& e) {
        fault = e.what();
    }
    try {
        got = f(gpu(), there(x)...);
    } catch (aton::error const& e) {
        return fault.empty() ? std::string("the GPU refuses: ") + e.what() : "";
    }
    return fault.empty() ? difference(got, expected, error) : "the GPU does not refuse: " + fault;
}

} // namespace ATON_NAMESPACE::runtime
