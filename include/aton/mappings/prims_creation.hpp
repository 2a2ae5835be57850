// SPDX-License-Identifier: MIT
// New tensors of prims, which torch's decompositions leave: empty, full, iota, scalar_tensor, normal, uniform, the
// limits of a dtype.
// Public header.
#pragma once

#include <limits>

#include <aton/mappings/conversion.hpp>
#include <aton/mappings/creation.hpp>
#include <aton/mappings/elementwise_binary.hpp>
#include <aton/mappings/elementwise_unary.hpp>
#include <aton/mappings/random.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

// requires_grad does not change what a graph computes.
inline constexpr auto empty_prim = symbolic<"prims::empty(shape, dtype, requires_grad)">(
    [](graph<11> g, size_list shape, dtype type, bool) { return filled(g, shape, 0, type); });
inline constexpr auto empty_strided_prim = symbolic<"prims::empty_strided(shape, strides, dtype, requires_grad)">(
    [](graph<11> g, size_list shape, size_list, dtype type, bool) { return filled(g, shape, 0, type); });
inline constexpr auto empty_permuted_prim =
    symbolic<"prims::empty_permuted(shape, physical_layout, dtype, requires_grad)">(
        [](graph<11> g, size_list shape, axis_list, dtype type, bool) { return filled(g, shape, 0, type); });
inline constexpr auto full_prim =
    symbolic<"prims::full(shape, fill_value, dtype, requires_grad)">([](graph<11> g, size_list shape, number n,
                                                                        dtype type, bool) {
        return filled(g, shape, n, type);
    }).by_parts<"fill_value">();
inline constexpr auto full_like_prim =
    symbolic<"prims::full_like(a, fill_value, dtype, requires_grad)">([](graph<11> g, value a, number n, dtype type,
                                                                         bool) {
        return filled(g, g.sizes(a), n, type);
    }).by_parts<"a", "fill_value">();

/// start + i * step; in a narrow dtype, the numbers wrap around.
inline constexpr auto iota_prim = symbolic<"prims::iota(length, start, step, dtype, requires_grad)">(
    [](graph<11> g, sym_int length, sym_int start, sym_int step, dtype type, bool) -> value {
        if (!is_integral(type)) return g.unsupported("iota of " + std::string(name(type)));
        if (step.is(0)) return g.unsupported("a step of 0");
        return g.cast(arithmetic_sequence(g, start, length, step), type);
    });

inline constexpr auto normal_prim = symbolic<"prims::normal(shape, mean, std, dtype, requires_grad)">(
    [](graph<11> g, size_list shape, number mean, number std, dtype type, bool) {
        return scaled_normal(g, shape, mean, std, type);
    });
inline constexpr auto uniform_prim = symbolic<"prims::uniform(shape, low, high, dtype, stride)">(
    [](graph<11> g, size_list shape, number low, number high, dtype type, size_list) -> value {
        if (low.is_constant() && high.is_constant() && !(low.constant<double>() <= high.constant<double>()))
            throw unsupported_error("the range is empty");
        value const u = fractions(g, shape, type);
        return g.op<"Add">(g.op<"Mul">(u, high - low), low);
    });

/// A limit of a dtype as a Python number: float64, int64 or bool. Complex dtypes have the limits of their parts.
template <bool Largest>
inline constexpr auto limit_of_dtype = [](graph<11> g, dtype type) -> value {
    if (type == dtype::bool_) return g.scalar(Largest, dtype::bool_);
    dtype const real = is_complex(type) ? part_type(type) : type;
    if (is_floating(real)) return g.scalar(Largest ? largest_number(real) : -largest_number(real), dtype::float64);
    if (!is_integral(real) || real == dtype::uint64) return g.unsupported("the limit of " + std::string(name(type)));
    auto const width = static_cast<int>(bits(real)) - (is_signed_integral(real) ? 1 : 0);
    std::int64_t const largest = std::numeric_limits<std::int64_t>::max() >> (63 - width);
    return g.scalar(Largest ? largest : is_signed_integral(real) ? -largest - 1 : 0, dtype::int64);
};

} // namespace detail

inline constexpr auto prims_creation =
    table(detail::empty_prim, detail::empty_strided_prim, detail::empty_permuted_prim, detail::full_prim,
          detail::full_like_prim, symbolic<"prims::scalar_tensor(s, dtype)">(detail::scalar_tensor_row).by_parts<"s">(),
          detail::iota_prim, detail::normal_prim, detail::uniform_prim,
          symbolic<"prims::maximum_value(dtype)">(detail::limit_of_dtype<true>),
          symbolic<"prims::minimum_value(dtype)">(detail::limit_of_dtype<false>));

} // namespace ATON_NAMESPACE::mappings
