// SPDX-License-Identifier: MIT
// The scaling of losses in automatic mixed precision: the division of gradients by the scale, and its update.
// Public header.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>

#include <aton/mappings/detail/common.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline void expect_one_element(value x, dtype type, std::string_view argument) {
    if (x.dtype() != type) throw unsupported_error(std::string(argument) + " of " + std::string(name(x.dtype())));
    for (std::int64_t i = 0; i != x.rank(); ++i)
        if (x.size(i).is_static() && x.size(i).size() != 1)
            throw unsupported_error(std::string(argument) + " that does not have one element");
}
/// The element of a tensor that has one, without dimensions.
inline value without_dimensions(graph<7> g, value x) {
    return x.rank() == 0 ? x : reshape(g, x, safe_vector<sym_int>{});
}

/// Gradients times inv_scale, and found_inf, which becomes 1 if a gradient is NaN or infinite.
inline constexpr auto unscale = symbolic<"aten::_amp_foreach_non_finite_check_and_unscale(self, found_inf, inv_scale)">(
    [](graph<9> g, safe_span<value const> self, value found_inf,
       value inv_scale) -> std::tuple<safe_vector<value>, value> {
        expect_one_element(inv_scale, dtype::float32, "inv_scale");
        expect_one_element(found_inf, dtype::float32, "found_inf");
        value const factor = without_dimensions(g, inv_scale);
        safe_vector<value> scaled;
        optional_value any;
        for (value const x : self) {
            if (!is_floating(x.dtype())) return g.unsupported("gradients that are not floating-point");
            value const wide = g.cast(x, opmath_type(x.dtype()));
            scaled.push_back(g.cast(g.op<"Mul">(wide, g.cast(factor, wide.dtype())), x.dtype()));
            value const bad = g.op<"Or">(is_nan(g, wide), is_infinite(g, wide));
            value const here = reduce_sum(g, g.cast(bad, dtype::float32), iota(x.rank()), false);
            any = any ? value(g.op<"Add">(*any, here)) : here;
        }
        if (!any) return {scaled, found_inf};
        return {scaled, g.op<"Where">(is_greater(g, *any, 0), g.scalar(1, dtype::float32), found_inf)};
    });

/// The scale shrinks where found_inf is not 0, and grows after growth_interval steps in which it was 0. ATen multiplies
/// in float64.
inline constexpr auto update_scale =
    symbolic<"aten::_amp_update_scale(self, growth_tracker, found_inf, scale_growth_factor, scale_backoff_factor, "
             "growth_interval)">([](graph<9> g, value self, value growth_tracker, value found_inf, double growth,
                                    double backoff, std::int64_t interval) -> std::tuple<value, value> {
        expect_one_element(growth_tracker, dtype::int32, "growth_tracker");
        if (interval != static_cast<std::int32_t>(interval)) return g.unsupported("a growth_interval beyond int32");
        expect_one_element(self, dtype::float32, "self");
        expect_one_element(found_inf, dtype::float32, "found_inf");
        value const found = g.op<"Not">(is_equal(g, without_dimensions(g, found_inf), 0));
        auto const times = [&](double factor) {
            value const wide = g.cast(self, dtype::float64);
            return g.cast(g.op<"Mul">(wide, g.scalar(factor, dtype::float64)), dtype::float32);
        };
        value const next = g.op<"Add">(growth_tracker, 1);
        value const is_due = is_equal(g, next, interval);
        value const grown = times(growth);
        value const is_finite =
            is_at_most(g, g.op<"Abs">(grown), static_cast<double>(std::numeric_limits<float>::max()));
        value const without = g.op<"Where">(g.op<"And">(without_dimensions(g, is_due), is_finite), grown, self);
        value const zero = g.scalar(0, dtype::int32);
        return {g.op<"Where">(found, times(backoff), without), g.op<"Where">(g.op<"Or">(found, is_due), zero, next)};
    });

} // namespace detail

inline constexpr auto loss_scaling = table(detail::unscale, detail::update_scale);

} // namespace ATON_NAMESPACE::mappings
