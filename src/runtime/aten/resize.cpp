// SPDX-License-Identifier: MIT
// ATen operators: resizing. Coordinates are computed in float32 for all dtypes except float64, as in ATen, since the
// choice of the nearest element depends on it.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "runtime/compute/sampling.hpp"
#include <aton/core/error.hpp>

#include "pooling.hpp"
#include "resizing.hpp"
#include "runtime/check_allocation.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

struct triangle_filter {
    static constexpr int size = 2;
    static double at(double x) { return std::max(0.0, 1 - std::abs(x)); }
};
struct cubic_filter {
    static constexpr int size = 4;
    static constexpr double coefficient = -0.5;
    static double at(double x) {
        double const d = std::abs(x);
        if (d < 1) return cubic_weights_at(d, coefficient).of[1];
        return d < 2 ? cubic_weights_at(d - 1, coefficient).of[0] : 0;
    }
};
struct lanczos {
    static constexpr int size = 6;
    static double sinc(double x) { return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x); }
    static double at(double x) { return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0; }
};

/// A filter that is widened when the axis shrinks.
template <class Filter, class T>
axis_taps antialiased(resized_axis const& r) {
    T const step = r.step<T>();
    T const widening = std::max(step, T(1));
    T const support = T(Filter::size) / T(2) * widening;
    axis_taps t;
    t.taps = std::min(index_of(std::ceil(support)) * 2 + 1, r.in); // a scale may be any number
    check_fits_in_memory({r.out, t.taps}, dtype::float64);
    for (std::int64_t i = 0; i != r.out; ++i) {
        T const center = step * (static_cast<T>(i) + T(0.5));
        auto const first = std::max<std::int64_t>(index_of(center - support + T(0.5)), 0);
        auto const end = std::min(index_of(center + support + T(0.5)), r.in);
        std::vector<double> weights;
        double total = 0;
        for (std::int64_t k = first; k < end; ++k) {
            T const x = (static_cast<T>(k) - center + T(0.5)) / widening;
            weights.push_back(Filter::at(static_cast<double>(x)));
            total += weights.back();
        }
        for (std::int64_t k = 0; k != t.taps; ++k) {
            bool const counts = k < static_cast<std::int64_t>(weights.size());
            t.indices.push_back(r.inside(first + k));
            t.weights.push_back(counts && total != 0 ? weights[static_cast<std::size_t>(k)] / total : 0);
        }
    }
    return t;
}

/// The functions that resize an axis: in float64, and in other dtypes.
struct resizing_mode {
    taps_function in_double = nullptr;
    taps_function in_float = nullptr;
    bool takes_integers = false; ///< only moves elements
    bool is_cubic = false;
    bool antialiases = false;
};

/// The axes from the arguments of an overload with sizes, or of one with sizes or factors (".vec").
std::vector<resized_axis> resized_axes(call const& c, tensor const& x, std::size_t axes) {
    static constexpr std::string_view of_three[] = {"scales_d", "scales_h", "scales_w"};
    std::vector<resized_axis> out;
    bool const factors = c.has_argument("scale_factors");
    std::vector<double> const given = factors ? c.floats("scale_factors") : std::vector<double>{};
    sizes const to = c.given("output_size") ? for_each_axis(c, "output_size", axes, {}) : sizes{};
    if (to.empty() && given.size() != axes) throw error("sizes or one factor per axis is required");
    if (!to.empty() && !given.empty()) throw error("sizes and factors cannot be combined");
    for (std::size_t i = 0; i != axes; ++i) {
        std::string_view const single = of_three[3 - axes + i];
        std::string_view const name = c.has_argument(single) ? single : "scales";
        resized_axis r{x.size(i + 2), to.empty() ? 0 : to[i], std::nullopt};
        if (!given.empty()) {
            r.scale = given[i];
            double const size = static_cast<double>(r.in) * given[i];
            constexpr double limit = 1 << 28;
            if (!(size >= 0 && size < limit)) throw error("the scale factor of an axis is out of range");
            r.out = static_cast<std::int64_t>(size);
        } else if (!factors) {
            r.scale = c.maybe_f(name);
        }
        if (r.in < 1 || r.out < 1) throw error("an axis of the input or of the result has size 0");
        if (c.has_argument("align_corners")) r.corners = c.b("align_corners");
        r.copies = axes == 2; // but not in ATen's kernels of one and three axes
        out.push_back(r);
    }
    return out;
}

/// Converts weights to fixed point, as large as 16 bits allow, and returns the exponent.
int to_fixed_point(axis_taps& t) {
    auto const taps = static_cast<std::size_t>(t.taps);
    double largest = 0;
    for (std::size_t i = 0; i != t.weights.size(); ++i) {
        for (std::size_t k = i / taps * taps; k != i; ++k) // an element that occurs twice
            if (t.indices[k] == t.indices[i]) {
                t.weights[k] += t.weights[i];
                t.weights[i] = 0;
                break;
            }
    }
    for (double const w : t.weights) largest = std::max(largest, w);
    int exponent = 0;
    constexpr int max_exponent = 22;
    while (exponent != max_exponent && 0.5 + std::ldexp(largest, exponent + 1) < 32768) ++exponent;
    for (double& w : t.weights) w = std::trunc(std::ldexp(w, exponent) + (w < 0 ? -0.5 : 0.5));
    return exponent;
}

/// uint8 in fixed point, rounded after each axis. An axis that keeps its size is not resampled, whatever its scale.
tensor resized_bytes(tensor const& x, std::vector<resized_axis> const& all, resizing_mode const& mode) {
    tensor y = cast(x, dtype::int64);
    for (std::size_t i = all.size(); i-- != 0;) {
        if (all[i].in == all[i].out) continue;
        axis_taps t = mode.in_double(all[i]);
        int const exponent = to_fixed_point(t);
        tensor const sum = resample(y, static_cast<std::int64_t>(i) + 2, t) + scalar(std::int64_t{1} << (exponent - 1));
        y = clamp(binary(binary_op::shift_right, sum, scalar(exponent)), 0, 255);
    }
    return cast(y, dtype::uint8);
}

/// Sum of height and width up to which ATen's bilinear CPU kernel does not round weights.
constexpr std::int64_t max_vectorized = 128;

tensor resize(call const& c, std::size_t axes, resizing_mode const& mode) {
    tensor const x = c.t(c.has_argument("input") ? "input" : "self");
    if (x.rank() != axes + 2) throw error("the input must have " + std::to_string(axes + 2) + " dimensions");
    dtype const type = x.dtype();
    std::vector<resized_axis> all = resized_axes(c, x, axes);
    for (resized_axis const& r : all) check_fits_in_memory({r.out, max_taps}, dtype::float64);
    bool const floats = is_floating(type);
    if (!floats && !mode.takes_integers && (type != dtype::uint8 || axes != 2))
        throw error("interpolation does not support integers");
    if (mode.antialiases && floats && compute_type(type) != type)
        throw error("antialiasing does not support " + std::string(name(type)));
    if (type == dtype::uint8 && axes == 2 && !mode.takes_integers) return resized_bytes(x, all, mode);
    if (floats && compute_type(type) != type && !mode.antialiases &&
        (mode.is_cubic || axes != 2 || all[0].out + all[1].out > max_vectorized))
        for (resized_axis& r : all) r.weights = type;
    tensor y = mode.takes_integers ? x : cast(x, floats ? compute_type(type) : dtype::float32);
    for (std::size_t i = axes; i-- != 0;) {
        if (mode.antialiases && all[i].in == all[i].out) continue; // whatever its scale
        y = resample(
            y, static_cast<std::int64_t>(i) + 2, (type == dtype::float64 ? mode.in_double : mode.in_float)(all[i]));
    }
    return cast(y, type);
}

constexpr resizing_mode nearest_mode = {nearest_taps<false>, nearest_taps<false>, true};
constexpr resizing_mode nearest_exact_mode = {nearest_taps<true>, nearest_taps<true>, true};
constexpr resizing_mode linear_mode = {linear_taps<double>, linear_taps<float>};
constexpr resizing_mode cubic_mode = {cubic_taps<double>, cubic_taps<float>, false, true};
template <class Filter>
constexpr resizing_mode antialiased_mode = {
    antialiased<Filter, double>, antialiased<Filter, float>, false, false, true};

template <std::size_t Axes, resizing_mode const& Mode>
results upsample(call const& c) {
    return resize(c, Axes, Mode);
}

} // namespace

rows resize() {
    static constexpr resizing_mode const& bilinear_aa = antialiased_mode<triangle_filter>;
    static constexpr resizing_mode const& bicubic_aa = antialiased_mode<cubic_filter>;
    static constexpr resizing_mode const& lanczos_aa = antialiased_mode<lanczos>;
    static constexpr row all[] = {
        {"upsample_nearest1d", upsample<1, nearest_mode>},
        {"upsample_nearest1d.vec", upsample<1, nearest_mode>},
        {"upsample_nearest2d", upsample<2, nearest_mode>},
        {"upsample_nearest2d.vec", upsample<2, nearest_mode>},
        {"upsample_nearest3d", upsample<3, nearest_mode>},
        {"upsample_nearest3d.vec", upsample<3, nearest_mode>},
        {"_upsample_nearest_exact1d", upsample<1, nearest_exact_mode>},
        {"_upsample_nearest_exact1d.vec", upsample<1, nearest_exact_mode>},
        {"_upsample_nearest_exact2d", upsample<2, nearest_exact_mode>},
        {"_upsample_nearest_exact2d.vec", upsample<2, nearest_exact_mode>},
        {"_upsample_nearest_exact3d", upsample<3, nearest_exact_mode>},
        {"_upsample_nearest_exact3d.vec", upsample<3, nearest_exact_mode>},
        {"upsample_linear1d", upsample<1, linear_mode>},
        {"upsample_linear1d.vec", upsample<1, linear_mode>},
        {"upsample_bilinear2d", upsample<2, linear_mode>},
        {"upsample_bilinear2d.vec", upsample<2, linear_mode>},
        {"upsample_trilinear3d", upsample<3, linear_mode>},
        {"upsample_trilinear3d.vec", upsample<3, linear_mode>},
        {"upsample_bicubic2d", upsample<2, cubic_mode>},
        {"upsample_bicubic2d.vec", upsample<2, cubic_mode>},
        {"_upsample_bilinear2d_aa", upsample<2, bilinear_aa>},
        {"_upsample_bilinear2d_aa.vec", upsample<2, bilinear_aa>},
        {"_upsample_bicubic2d_aa", upsample<2, bicubic_aa>},
        {"_upsample_bicubic2d_aa.vec", upsample<2, bicubic_aa>},
        {"_upsample_lanczos2d_aa", upsample<2, lanczos_aa>},
        {"_upsample_lanczos2d_aa.vec", upsample<2, lanczos_aa>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
