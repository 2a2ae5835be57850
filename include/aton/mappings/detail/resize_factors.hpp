// SPDX-License-Identifier: MIT
// The factors of Resize, which are float32, and whether it samples with them where ATen does.
// Internal header.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <aton/core/budget.hpp>
#include <aton/mappings/detail/interpolation.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// The scale of Resize, which is float32.
inline float resize_factor(resized_axis const& a) {
    return static_cast<float>(a.scale && *a.scale > 0 ? *a.scale : 1.0 / a.step());
}

inline bool size_follows_from_factor(resized_axis const& a) {
    auto const wide = static_cast<double>(resize_factor(a)) * static_cast<double>(a.in);
    return static_cast<std::int64_t>(wide) == a.out &&
           static_cast<std::int64_t>(resize_factor(a) * static_cast<float>(a.in)) == a.out;
}

/// The factor that Resize derives from sizes, and whether the size follows from it.
inline float ratio_of(resized_axis const& a) { return static_cast<float>(a.out) / static_cast<float>(a.in); }
inline bool size_follows_from_ratio(resized_axis const& a) {
    float const wide = ratio_of(a);
    return a.in > 0 && static_cast<std::int64_t>(wide * static_cast<float>(a.in)) == a.out &&
           static_cast<std::int64_t>(static_cast<double>(wide) * static_cast<double>(a.in)) == a.out;
}

inline bool has_own_scale(resized_axis const& a) {
    return a.scale && *a.scale > 0 &&
           !exactly_equal(static_cast<float>(*a.scale), static_cast<float>(a.out) / static_cast<float>(a.in));
}

/// Whether Resize reads the same nearest elements as ATen, in float32 and in float64 arithmetic.
inline bool same_nearest(resized_axis const& a, filter kind) {
    auto const take = [&](auto factor, std::int64_t o) {
        using number = decltype(factor);
        auto const at = kind == filter::nearest
                            ? std::floor(static_cast<number>(o) / factor)
                            : std::floor((static_cast<number>(o) + number(0.5)) / factor - number(0.5) + number(0.5));
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0, a.in - 1);
    };
    float const narrow = resize_factor(a);
    double const wide = a.scale && *a.scale > 0 ? *a.scale : 1.0 / a.step();
    if (a.out > budget::max_elements) return false;
    for (std::int64_t o = 0; o < a.out; ++o) {
        std::int64_t const expected = nearest_index(a, o, kind);
        if (take(narrow, o) != expected || take(wide, o) != expected ||
            take(static_cast<double>(narrow), o) != expected)
            return false;
    }
    return true;
}

/// Whether Resize samples at the same positions as ATen.
inline bool resize_agrees(safe_span<resized_axis const> axes, interpolation const& mode, dtype type) {
    bool own_scale = false;
    bool exact = true;
    for (resized_axis const& a : axes) {
        if (a.in == 0 || a.out == 0) return false;
        own_scale = own_scale || (!mode.align_corners && has_own_scale(a));
        double const factor = a.scale && *a.scale > 0 ? *a.scale : 1.0 / a.step();
        exact = exact && exactly_equal(static_cast<double>(resize_factor(a)), factor);
        if (mode.is_nearest() && !same_nearest(a, mode.kind)) return false;
        // Here ATen ignores the factor and copies.
        if ((mode.kind == filter::linear || mode.antialias) && a.in == a.out && has_own_scale(a)) return false;
    }
    if (own_scale && type == dtype::float64 && !mode.is_nearest() && !exact) return false; // Resize has float32 scales
    return !own_scale || std::all_of(axes.begin(), axes.end(), size_follows_from_factor);
}

} // namespace ATON_NAMESPACE::mappings::detail
