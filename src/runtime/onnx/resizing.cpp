// SPDX-License-Identifier: MIT
// ONNX operators: resizing, and sampling on grids.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/compute/sampling.hpp"
#include <aton/core/error.hpp>

#include "call.hpp"
#include "runtime/check_allocation.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// The attributes of Resize, which all axes share.
struct resize_rules {
    interpolation mode = interpolation::nearest;
    std::string coordinates = "asymmetric";
    std::string nearest = "floor";
    double coefficient = -0.75;
    bool exclude_outside = false;
    bool antialias = false;
    double extrapolation = 0;
};

/// The resizing of one axis.
struct resized_axis {
    std::int64_t in = 0;
    std::int64_t out = 0;
    double scale = 1;
    double start = 0; ///< of the region of interest
    double end = 1;
};

interpolation mode_of(std::string const& name) {
    if (name == "nearest") return interpolation::nearest;
    if (name == "linear" || name == "bilinear") return interpolation::linear;
    if (name == "cubic" || name == "bicubic") return interpolation::cubic;
    throw error("mode is '" + name + "'");
}

/// The input coordinate of result element `i`.
double origin(resize_rules const& r, resized_axis const& a, std::int64_t i) {
    auto const x = static_cast<double>(i);
    auto const in = static_cast<double>(a.in);
    auto const out = static_cast<double>(a.out);
    double const target = a.scale * in; // not rounded to an integer
    if (r.coordinates == "half_pixel") return (x + 0.5) / a.scale - 0.5;
    if (r.coordinates == "pytorch_half_pixel") return a.out > 1 ? (x + 0.5) / a.scale - 0.5 : 0;
    if (r.coordinates == "asymmetric") return x / a.scale;
    if (r.coordinates == "align_corners") return target == 1 ? 0 : x * (in - 1) / (target - 1);
    if (r.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / a.scale;
    if (r.coordinates == "half_pixel_symmetric") return in / 2 * (1 - out / target) + (x + 0.5) / a.scale - 0.5;
    if (r.coordinates == "tf_crop_and_resize")
        return a.out > 1 ? a.start * (in - 1) + x * (a.end - a.start) * (in - 1) / (out - 1)
                         : 0.5 * (a.start + a.end) * (in - 1);
    throw error("coordinate_transformation_mode is '" + r.coordinates + "'");
}

std::int64_t nearest_to(double x, std::string const& how) {
    double const below = std::floor(x);
    double const beyond = x - below;
    bool up = false;
    if (how == "round_prefer_floor") up = beyond > 0.5;
    else if (how == "round_prefer_ceil") up = beyond >= 0.5;
    else if (how == "ceil") up = beyond > 0;
    else if (how != "floor") throw error("nearest_mode is '" + how + "'");
    return static_cast<std::int64_t>(below) + (up ? 1 : 0);
}

double filter(resize_rules const& r, double x) {
    double const d = std::abs(x);
    if (r.mode == interpolation::linear) return std::max(0.0, 1 - d);
    if (d <= 1) return cubic_weights_at(d, r.coefficient).of[1];
    return d < 2 ? cubic_weights_at(d - 1, r.coefficient).of[0] : 0;
}

axis_taps taps_of(resize_rules const& r, resized_axis const& a) {
    axis_taps t;
    auto const inside = [&](std::int64_t i) { return std::clamp<std::int64_t>(i, 0, a.in - 1); };
    auto const origin_of = [&](std::int64_t i) { // clamps coordinates far outside
        double const limit = 4e15;
        double const x = origin(r, a, i);
        return std::isnan(x) ? 0.0 : std::clamp(x, -limit, limit);
    };
    if (r.mode == interpolation::nearest) {
        for (std::int64_t i = 0; i != a.out; ++i) t.indices.push_back(inside(nearest_to(origin_of(i), r.nearest)));
        return t;
    }
    double const shrink = r.antialias ? std::min(a.scale, 1.0) : 1.0;
    double const reach = r.mode == interpolation::linear ? 1 : 2;
    constexpr double limit = 1 << 28; // a scale may be any number
    if (!(reach / shrink < limit)) throw error("an axis cannot be scaled by " + std::to_string(a.scale));
    auto const first = static_cast<std::int64_t>(std::floor(-reach / shrink)) + 1;
    t.taps = 2 - 2 * first;
    check_fits_in_memory({a.out, t.taps}, dtype::float64);
    for (std::int64_t i = 0; i != a.out; ++i) {
        double const x = origin_of(i);
        auto const left = static_cast<std::int64_t>(std::ceil(x)) - 1; // strictly below, even for integers
        double const beyond = x - static_cast<double>(left);
        std::size_t const start = t.weights.size();
        double total = 0;
        for (std::int64_t k = first; k != first + t.taps; ++k) {
            std::int64_t const at = left + k;
            double w = filter(r, (static_cast<double>(k) - beyond) * shrink);
            if (r.exclude_outside && at != inside(at)) w = 0;
            total += w;
            t.indices.push_back(inside(at));
            t.weights.push_back(w);
        }
        if ((r.exclude_outside || r.antialias) && total != 0)
            for (std::size_t k = start; k != t.weights.size(); ++k) t.weights[k] /= total;
    }
    return t;
}

/// Rounds and clamps floats to the range of an integer dtype.
tensor rounded_into(tensor const& x, dtype to) {
    if (!is_integral(to)) return cast(x, to);
    double const unit = std::ldexp(1.0, static_cast<int>(bits(to)) - (is_signed_integral(to) ? 1 : 0));
    return cast(clamp(round(x), is_signed_integral(to) ? -unit : 0, unit - 1), to);
}

tensor resize(tensor const& x, resize_rules const& r, std::vector<resized_axis> const& axes) {
    constexpr std::int64_t limit = std::int64_t{1} << 28; // maximum size of an axis
    sizes to;
    for (resized_axis const& a : axes) {
        if (a.out < 0 || a.out > limit)
            throw error("an axis cannot be resized to " + std::to_string(a.out) + " elements");
        if (a.out != 0 && a.in == 0)
            throw error("an empty axis cannot be resized to " + std::to_string(a.out) + " elements");
        to.push_back(a.out);
    }
    if (count_of(to) == 0) return tensor::empty(x.dtype(), to, kernels_of(x.where()).memory());
    bool const exact = r.mode == interpolation::nearest;
    bool const wide = x.dtype() == dtype::float32 || x.dtype() == dtype::float64;
    bool const narrow = is_floating(x.dtype()) && !wide;
    bool const crops = r.coordinates == "tf_crop_and_resize";
    tensor y = exact || wide ? x : cast(x, narrow ? dtype::float32 : dtype::float64);
    tensor outside; // bool: elements with the extrapolation value
    for (std::size_t i = 0; i != axes.size(); ++i) {
        resized_axis const& a = axes[i];
        bool const whole = !crops || (a.start == 0 && a.end == 1);
        if (a.in == a.out && a.scale == 1 && whole) continue;
        y = resample(y, static_cast<std::int64_t>(i), taps_of(r, a));
        if (!crops) continue;
        sizes along(x.rank(), 1);
        along[i] = a.out;
        tensor beyond = tensor::empty(dtype::bool_, along);
        for (std::int64_t k = 0; k != a.out; ++k) {
            double const at = origin(r, a, k);
            beyond.data<bool>()[k] = at < 0 || at > static_cast<double>(a.in - 1);
        }
        beyond = to_device(beyond, x.where());
        outside = outside ? logical_or(outside, beyond) : beyond;
    }
    if (outside) y = where(outside, scalar(r.extrapolation), y);
    return exact || wide ? y : rounded_into(y, x.dtype());
}

std::vector<double> numbers(tensor const& x) {
    tensor const host = contiguous(cast(to_host(x), dtype::float64));
    return {host.data<double>(), host.data<double>() + host.count()};
}

std::vector<resized_axis> all_axes_of(tensor const& x) {
    std::vector<resized_axis> axes;
    for (std::size_t i = 0; i != x.rank(); ++i) axes.push_back({x.size(i), x.size(i), 1, 0, 1});
    return axes;
}

std::int64_t scaled(std::int64_t size, double scale) {
    double const out = std::floor(static_cast<double>(size) * scale);
    if (!(scale > 0) || !(out < 1e12)) throw error("an axis cannot be scaled by " + std::to_string(scale));
    return static_cast<std::int64_t>(out);
}

/// The axes to which lists of sizes or scales refer.
std::vector<std::size_t> chosen_axes(call const& c, tensor const& x) {
    std::vector<std::size_t> out;
    if (!c.has_attribute("axes"))
        for (std::size_t i = 0; i != x.rank(); ++i) out.push_back(i);
    for (std::int64_t const axis : c.ints("axes")) {
        out.push_back(axis_at(axis, x.rank()));
        if (x.rank() == 0) throw error("a 0-d tensor has no axes");
    }
    return out;
}

void require_count(std::size_t given, std::size_t expected, char const* what) {
    if (given != expected)
        throw error(std::to_string(given) + " " + what + " for " + std::to_string(expected) + " axes");
}

void set_sizes(call const& c, std::vector<resized_axis>& axes, std::vector<std::size_t> const& chosen,
               std::vector<std::int64_t> const& to) {
    require_count(to.size(), chosen.size(), "sizes");
    std::string const policy = c.s("keep_aspect_ratio_policy", "stretch");
    bool const smaller = policy == "not_larger";
    if (!smaller && policy != "not_smaller" && policy != "stretch")
        throw error("keep_aspect_ratio_policy is '" + policy + "'");
    double common = smaller ? std::numeric_limits<double>::infinity() : 0;
    for (std::size_t i = 0; i != chosen.size(); ++i) {
        resized_axis& a = axes[chosen[i]];
        a.out = to[i];
        a.scale = a.in == 0 ? 1 : static_cast<double>(a.out) / static_cast<double>(a.in);
        common = smaller ? std::min(common, a.scale) : std::max(common, a.scale);
    }
    if (policy == "stretch") return;
    for (std::size_t const i : chosen) {
        axes[i].scale = common;
        axes[i].out = scalar(std::floor(common * static_cast<double>(axes[i].in) + 0.5)).to_saturated<std::int64_t>();
    }
}

results resize_10(call const& c, std::vector<double> const& scales) {
    tensor const& x = c.in(0);
    resize_rules r;
    r.mode = mode_of(c.s("mode", "nearest"));
    std::vector<resized_axis> axes = all_axes_of(x);
    require_count(scales.size(), axes.size(), "scales");
    for (std::size_t i = 0; i != axes.size(); ++i) {
        axes[i].scale = scales[i];
        axes[i].out = scaled(axes[i].in, scales[i]);
    }
    return resize(x, r, axes);
}

results upsample(call const& c) {
    if (c.opset() >= 9) return resize_10(c, numbers(c.in(1)));
    if (c.opset() == 1) return resize_10(c, {1, 1, c.f("height_scale"), c.f("width_scale")});
    std::vector<float> const scales = c.floats("scales");
    return resize_10(c, {scales.begin(), scales.end()});
}

results resize(call const& c) {
    if (c.opset() == 10) return resize_10(c, numbers(c.in(1)));
    tensor const& x = c.in(0);
    resize_rules r;
    r.mode = mode_of(c.s("mode", "nearest"));
    r.coordinates = c.s("coordinate_transformation_mode", "half_pixel");
    r.nearest = c.s("nearest_mode", "round_prefer_floor");
    r.coefficient = c.f("cubic_coeff_a", -0.75);
    r.exclude_outside = c.i("exclude_outside", 0) != 0;
    r.antialias = c.i("antialias", 0) != 0;
    r.extrapolation = c.f("extrapolation_value", 0);
    if (r.antialias && r.mode == interpolation::nearest) throw error("antialias does not support the mode 'nearest'");
    std::vector<std::size_t> const chosen = chosen_axes(c, x);
    std::vector<resized_axis> axes = all_axes_of(x);
    if (r.coordinates == "tf_crop_and_resize") {
        std::vector<double> const roi = numbers(c.in(1));
        require_count(roi.size(), 2 * chosen.size(), "bounds of a region");
        for (std::size_t i = 0; i != chosen.size(); ++i) {
            axes[chosen[i]].start = roi[i];
            axes[chosen[i]].end = roi[chosen.size() + i];
        }
    }
    bool const by_scales = c.has(2) && c.in(2).count() != 0;
    if (by_scales == (c.has(3) && c.in(3).count() != 0) && !chosen.empty() && x.rank() != 0)
        throw error("exactly one of scales and sizes is expected");
    if (!by_scales) {
        set_sizes(c, axes, chosen, c.has(3) ? c.integers(3) : std::vector<std::int64_t>());
        return resize(x, r, axes);
    }
    std::vector<double> const scales = numbers(c.in(2));
    require_count(scales.size(), chosen.size(), "scales");
    for (std::size_t i = 0; i != chosen.size(); ++i) {
        resized_axis& a = axes[chosen[i]];
        a.scale = scales[i];
        a.out = scaled(a.in, a.scale * (a.end - a.start));
    }
    return resize(x, r, axes);
}

results grid_sample(call const& c) {
    sampling how;
    how.mode = mode_of(c.s("mode", c.opset() < 20 ? "bilinear" : "linear"));
    std::string const padding = c.s("padding_mode", "zeros");
    if (padding == "border") how.padding = outside::border;
    else if (padding == "reflection") how.padding = outside::reflection;
    else if (padding != "zeros") throw error("padding_mode is '" + padding + "'");
    how.corners = c.i("align_corners", 0) != 0;
    return runtime::grid_sample(c.in(0), c.in(1), how);
}

results affine_grid(call const& c) {
    sizes const to = c.integers(1);
    if (to.size() < 3) throw error("[N, C, D1, ...] is expected as size, not " + to_string(to));
    if (c.in(0).rank() != 3 || c.in(0).size(0) != to[0]) throw error("one affine matrix per image is expected");
    return runtime::affine_grid(c.in(0), {to.begin() + 2, to.end()}, c.i("align_corners", 0) != 0);
}

} // namespace

rows resizing() {
    static constexpr row all[] = {
        {"AffineGrid", affine_grid},
        {"GridSample", grid_sample},
        {"Resize", resize},
        {"Upsample", upsample},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
