// SPDX-License-Identifier: MIT
// Which elements a resized axis reads, and with which weights: what resizing and its gradient share. Coordinates are computed in
// float32 for all dtypes except float64, as in ATen, since the choice of the nearest element depends on it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "runtime/compute/sampling.hpp"

#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

inline constexpr std::int64_t max_taps = 4; ///< maximum taps without antialiasing

/// The resizing of one axis.
struct resized_axis {
    std::int64_t in;
    std::int64_t out;
    std::optional<double> scale; ///< out / in if the caller gave it
    bool corners = false;
    bool copies =
        false; ///< if the sizes are equal or one is twice the other, nearest elements are copied without a scale
    dtype weights = dtype::undefined; ///< dtype to which weights are rounded; undefined: not rounded

    /// The number of input elements per result element.
    template <class T>
    [[nodiscard]] T step() const {
        if (corners) return out > 1 ? static_cast<T>(in - 1) / static_cast<T>(out - 1) : T(0);
        if (scale && *scale > 0) return static_cast<T>(1.0 / *scale);
        return static_cast<T>(in) / static_cast<T>(out);
    }
    [[nodiscard]] std::int64_t inside(std::int64_t i) const { return std::clamp<std::int64_t>(i, 0, in - 1); }
};

/// An index; numbers beyond every axis become a bound to which neighbors can be added.
template <class T>
[[nodiscard]] std::int64_t index_of(T at) {
    constexpr T bound = T(std::int64_t{1} << 60);
    return std::isnan(at) ? 0 : static_cast<std::int64_t>(std::clamp(at, -bound, bound));
}

using taps_function = axis_taps (*)(resized_axis const&);

template <bool Exact>
[[nodiscard]] axis_taps nearest_taps(resized_axis const& r) {
    auto const step = r.step<float>();
    axis_taps t;
    for (std::int64_t i = 0; i != r.out; ++i) {
        float const at = Exact ? (static_cast<float>(i) + 0.5F) * step : static_cast<float>(i) * step;
        bool const same = !Exact && r.copies && (r.out == r.in || r.out == 2 * r.in);
        t.indices.push_back(same ? i / (r.out == r.in ? 1 : 2) : r.inside(index_of(std::floor(at))));
    }
    return t;
}

/// The input coordinate of a result element.
template <class T>
[[nodiscard]] T origin(resized_axis const& r, T step, std::int64_t i) {
    return r.corners ? step * static_cast<T>(i) : step * (static_cast<T>(i) + T(0.5)) - T(0.5);
}

/// Rounded to a dtype.
[[nodiscard]] inline double rounded(double x, dtype to) {
    return cast(tensor::of_scalar(x, dtype::float32), to).item().to<double>();
}

template <class T>
[[nodiscard]] axis_taps linear_taps(resized_axis const& r) {
    T const step = r.step<T>();
    axis_taps t;
    t.taps = 2;
    for (std::int64_t i = 0; i != r.out; ++i) {
        T const at = std::max(T(0), origin(r, step, i));
        std::int64_t const first = r.out == r.in ? i : std::min(index_of(at), r.in - 1);
        T beyond = r.out == r.in ? T(0) : std::clamp(at - static_cast<T>(first), T(0), T(1));
        if (r.weights != dtype::undefined) beyond = static_cast<T>(rounded(static_cast<double>(beyond), r.weights));
        t.indices.insert(t.indices.end(), {first, r.inside(first + (r.out == r.in ? 0 : 1))});
        auto rest = static_cast<double>(T(1) - beyond);
        if (r.weights != dtype::undefined) rest = rounded(rest, r.weights);
        t.weights.insert(t.weights.end(), {rest, static_cast<double>(beyond)});
    }
    return t;
}

template <class T>
[[nodiscard]] axis_taps cubic_taps(resized_axis const& r) {
    T const step = r.step<T>();
    axis_taps t;
    t.taps = 4;
    constexpr double coefficient = -0.75;
    for (std::int64_t i = 0; i != r.out; ++i) {
        T const at = origin(r, step, i);
        std::int64_t const first = index_of(std::floor(at));
        T const beyond = std::clamp(at - static_cast<T>(first), T(0), T(1));
        cubic_weights const weights = cubic_weights_at(static_cast<double>(beyond), coefficient);
        for (std::int64_t k = 0; k != 4; ++k) {
            t.indices.push_back(r.inside(first + k - 1));
            double const weight = static_cast<double>(static_cast<T>(weights.of[k]));
            t.weights.push_back(r.weights == dtype::undefined ? weight : rounded(weight, r.weights));
        }
    }
    return t;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
