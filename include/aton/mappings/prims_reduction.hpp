// SPDX-License-Identifier: MIT
// Reductions and Fourier transforms of prims, which torch's decompositions leave: sum, prod, amax, amin, var; fft_c2c,
// fft_r2c, fft_c2r.
// Public header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include <aton/mappings/reduction.hpp>
#include <aton/mappings/statistics.hpp>
#include <aton/mappings/transforms.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// As in ATen, an empty list names all dimensions.
inline constexpr auto sum_prim = symbolic<"prims::sum(inp, dims)">([](graph<11> g, value inp, int_list_or_none dims) {
                                     return sum(g, inp, axes_or_all(dims, inp), false);
                                 }).by_parts<"inp">();

/// Here an empty list names none.
inline constexpr auto prod_prim =
    symbolic<"prims::prod(inp, dims)">([](graph<11> g, value inp, int_list_or_none dims) -> value {
        if (!dims) return prod(g, inp, std::nullopt);
        if (dims->empty() || inp.rank() == 0) return dims->empty() ? inp : prod(g, inp, std::nullopt);
        dtype const out = to_accumulating(inp.dtype());
        safe_vector<std::int64_t> const axes = normalize_axes(*dims, inp.rank());
        return g.cast(reduce<"ReduceProd">(g, g.cast(g.cast(inp, out), reducible(out)), axes, false), out);
    }).for_complex([](graph<11> g, complex_value inp, int_list_or_none dims) -> complex_value {
        if (!dims) return complex_prod(g, inp, std::nullopt);
        safe_vector<std::int64_t> axes = normalize_axes(*dims, inp.rank());
        std::sort(axes.begin(), axes.end(), std::greater<>());
        complex_value z = inp;
        for (std::int64_t const axis : axes) z = complex_prod_dim(g, z, axis, false, std::nullopt);
        return z;
    });

template <fixed_string Reduce>
inline constexpr auto extreme_prim = [](graph<11> g, value inp, int_list_or_none dims) {
    return extreme<Reduce>(g, inp, axes_or_all(dims, inp), false);
};

inline constexpr auto var_prim =
    symbolic<"prims::var(inp, dims, correction)">([](graph<11> g, value inp, int_list_or_none dims,
                                                     std::optional<double> correction) {
        return spread<false, false>(g, inp, dims, correction.value_or(1), false);
    }).for_complex([](graph<11> g, complex_value inp, int_list_or_none dims, std::optional<double> correction) {
        return complex_spread<false, false>(g, inp, dims, correction.value_or(1), false);
    });

/// Transforms without normalization.
inline constexpr auto fft_c2c_prim = symbolic<"prims::fft_c2c(self, dim, forward)">(
    [](graph<11> g, complex_value self, axis_list dim, bool forward) { return fft_c2c(g, self, dim, 0, forward); });
inline constexpr auto fft_r2c_prim = symbolic<"prims::fft_r2c(self, dim, onesided)">(
    [](graph<11> g, value self, axis_list dim, bool onesided) { return fft_r2c(g, self, dim, 0, onesided); });
inline constexpr auto fft_c2r_prim = symbolic<"prims::fft_c2r(self, dim, last_dim_size)">(
    [](graph<11> g, complex_value self, axis_list dim, sym_int size) { return fft_c2r(g, self, dim, 0, size); });

} // namespace detail

inline constexpr auto prims_reduction =
    table(detail::sum_prim, detail::prod_prim, symbolic<"prims::amax(inp, dims)">(detail::extreme_prim<"ReduceMax">),
          symbolic<"prims::amin(inp, dims)">(detail::extreme_prim<"ReduceMin">), detail::var_prim, detail::fft_c2c_prim,
          detail::fft_r2c_prim, detail::fft_c2r_prim);

} // namespace ATON_NAMESPACE::mappings
