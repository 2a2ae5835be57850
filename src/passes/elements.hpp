// SPDX-License-Identifier: MIT
// The elements of a constant as C++ numbers: float16 and bfloat16 as float, all others as their own type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <aton/core/tensor.hpp>

namespace ATON_NAMESPACE::passes {

template <class T>
std::vector<T> load(tensor const& t) {
    auto const n = static_cast<std::size_t>(t.element_count());
    std::vector<T> out(n);
    for (std::size_t i = 0; i != n; ++i) {
        if constexpr (std::is_same_v<T, float>) {
            if (t.type == dtype::float16) {
                out[i] = detail::half_to_float(detail::read_bytes<std::uint16_t>(t.bytes, i));
                continue;
            }
            if (t.type == dtype::bfloat16) {
                out[i] = detail::bfloat16_to_float(detail::read_bytes<std::uint16_t>(t.bytes, i));
                continue;
            }
        }
        out[i] = detail::read_bytes<T>(t.bytes, i);
    }
    return out;
}

template <class T>
tensor store(std::vector<T> const& elements, dtype type, std::vector<std::int64_t> sizes) {
    tensor out{type, std::move(sizes), {}};
    out.bytes.reserve(elements.size() * bits(type) / 8);
    for (T e : elements) {
        if constexpr (std::is_same_v<T, float>) {
            if (type == dtype::float16) {
                detail::append_bytes(out.bytes, detail::float_to_half(e));
                continue;
            }
            if (type == dtype::bfloat16) {
                detail::append_bytes(out.bytes, detail::float_to_bfloat16(e));
                continue;
            }
        }
        detail::append_bytes(out.bytes, e);
    }
    return out;
}

inline tensor store(std::vector<bool> const& elements, std::vector<std::int64_t> sizes) {
    tensor out{dtype::bool_, std::move(sizes), {}};
    for (bool e : elements) out.bytes += static_cast<char>(e ? 1 : 0);
    return out;
}

/// Calls `f(T{})` with the type in which an integral or floating-point dtype is computed. Returns a default value for other dtypes.
template <class Function>
auto with_number_type(dtype t, Function&& f) -> decltype(f(float{})) {
    switch (t) {
    case dtype::float16:
    case dtype::bfloat16:
    case dtype::float32: return f(float{});
    case dtype::float64: return f(double{});
    case dtype::int8: return f(std::int8_t{});
    case dtype::int16: return f(std::int16_t{});
    case dtype::int32: return f(std::int32_t{});
    case dtype::int64: return f(std::int64_t{});
    case dtype::uint8: return f(std::uint8_t{});
    case dtype::uint16: return f(std::uint16_t{});
    case dtype::uint32: return f(std::uint32_t{});
    case dtype::uint64: return f(std::uint64_t{});
    default: return {};
    }
}

} // namespace ATON_NAMESPACE::passes
