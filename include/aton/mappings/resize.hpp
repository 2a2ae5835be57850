// SPDX-License-Identifier: MIT
// ATen's upsampling as ONNX's Resize where both sample at the same positions, otherwise as tables of indices and weights.
// Public header.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/interpolation.hpp>
#include <aton/mappings/detail/resize_factors.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

using scale_factor = std::optional<double>;

/// The target of a resize: the sizes of the spatial dimensions, and the scale factors of the call.
struct resize_target {
    safe_vector<sym_int> out;
    safe_vector<scale_factor> scales;
    bool has_size = true; ///< false: the size follows from the factors

    [[nodiscard]] bool has_scale() const {
        return std::any_of(scales.begin(), scales.end(), [](scale_factor const& s) { return s && *s > 0; });
    }
};

/// The spatial axes if all sizes are static; otherwise empty.
inline safe_vector<resized_axis> static_axes(value x, resize_target const& t) {
    safe_vector<resized_axis> axes;
    for (std::size_t i = 0; i != t.out.size(); ++i) {
        dim const& d = x.size(static_cast<std::int64_t>(i) + 2);
        if (!t.has_size || !d.is_static() || !t.out[i].is_constant()) return {};
        axes.push_back({d.size(), t.out[i].constant(), t.scales[i], t.out.size() == 2});
    }
    return axes;
}

inline tensor row_of_one(double factor) {
    tensor out{dtype::float32, {1}, {}};
    out.append(factor);
    return out;
}

/// The factors for computed sizes. Along an axis whose size does not grow, or only to its double, ATen ignores the
/// factor and takes 1, or 2 if it reads nearest elements of images. Cubic filters without antialiasing and
/// nearest-exact never ignore it.
inline value factors_for_sizes(graph<11> g, value x, safe_span<double const> factors, interpolation const& mode) {
    bool const nearest = mode.kind == filter::nearest && factors.size() == 2;
    bool const may_ignore = nearest || mode.kind == filter::linear || mode.antialias;
    value const one = g.constant(row_of_one(1));
    safe_vector<value> parts{one, one};
    bool computed = false;
    for (std::size_t i = 0; i != factors.size(); ++i) {
        value const factor = g.constant(row_of_one(factors[i]));
        int const multiple = nearest && factors[i] > 2 ? 2 : 1;
        std::int64_t const end = sizes_before_growth(factors[i], multiple);
        parts.push_back(factor);
        if (!may_ignore || mode.align_corners || end <= 2)
            continue; // an axis of one element is the same with any factor
        value const size = g.to_value(g.size(x, static_cast<std::int64_t>(i) + 2));
        parts.back() = g.op<"Where">(is_less(g, size, end), g.constant(row_of_one(multiple)), factor);
        computed = true;
    }
    if (computed) return g.op<"Concat">(parts, attr::axis_i(0));
    tensor all{dtype::float32, {static_cast<std::int64_t>(factors.size()) + 2}, {}};
    for (int i = 0; i != 2; ++i) all.append(1.0);
    for (double const f : factors) all.append(f);
    return g.constant(std::move(all));
}

/// (1, 1, factors...) if Resize needs the factors, absent if it needs only sizes.
inline optional_value resize_scales(graph<11> g, value x, resize_target const& t, interpolation const& mode) {
    safe_vector<resized_axis> const axes = static_axes(x, t);
    if (!axes.empty()) {
        bool const own = !mode.align_corners && std::any_of(axes.begin(), axes.end(), has_own_scale);
        // The ratio of the sizes, where the list of all sizes would have to be computed.
        bool const by_ratio = !(x.size(0).is_static() && x.size(1).is_static()) &&
                              std::all_of(axes.begin(), axes.end(), size_follows_from_ratio);
        if (!own && !by_ratio) return absent;
        tensor factors{dtype::float32, {static_cast<std::int64_t>(t.out.size()) + 2}, {}};
        for (int i = 0; i != 2; ++i) factors.append(1.0);
        for (resized_axis const& a : axes) factors.append(own ? resize_factor(a) : ratio_of(a));
        return g.constant(std::move(factors));
    }
    if (t.has_size && (mode.align_corners || !t.has_scale())) return absent;
    safe_vector<double> numbers;
    for (std::size_t i = 0; i != t.out.size(); ++i) {
        bool const fixed =
            t.has_size && t.out[i].is_constant() && !x.size(static_cast<std::int64_t>(i) + 2).is_static();
        auto const& scale = t.scales[i];
        if (!scale || !(*scale > 0) || fixed)
            throw unsupported_error("a scale factor together with a size that does not follow from it");
        numbers.push_back(*scale);
    }
    return factors_for_sizes(g, x, numbers, mode);
}

inline value call_resize(graph<11> g, value x, resize_target const& t, interpolation const& mode) {
    optional_value const scales = resize_scales(g, x, t, mode);
    optional_value sizes;
    std::optional<safe_vector<std::int64_t>> axes; // of `sizes`; absent: all
    if (!scales) {
        bool const computed = !(x.size(0).is_static() && x.size(1).is_static());
        safe_vector<sym_int> all;
        if (g.opset() >= 18 && computed) axes.emplace();
        else all = {g.size(x, 0), g.size(x, 1)};
        for (std::size_t i = 0; i != t.out.size(); ++i) {
            all.push_back(t.out[i]);
            if (axes) axes->push_back(static_cast<std::int64_t>(i) + 2);
        }
        sizes = g.ints(all);
    }
    std::string_view const at = mode.kind == filter::nearest ? "asymmetric"
                                : mode.align_corners         ? "align_corners"
                                                             : "half_pixel";
    std::string_view const name = mode.is_nearest() ? "nearest" : mode.kind == filter::linear ? "linear" : "cubic";
    auto const call = [&](auto h, auto roi, auto factors, auto... more) -> value {
        if (!mode.is_nearest())
            return h.template op<"Resize">(
                x, roi, factors, sizes, attr::mode_s(name), attr::coordinate_transformation_mode_s(at), more...);
        return h.template op<"Resize">(
            x,
            roi,
            factors,
            sizes,
            attr::mode_s(name),
            attr::coordinate_transformation_mode_s(at),
            attr::nearest_mode_s(mode.kind == filter::nearest ? "floor" : "round_prefer_ceil"),
            more...);
    };
    if (g.opset() < 13) { // roi and scales are required: without elements, they are not used
        value const none = g.constant(tensor{dtype::float32, {0}, {}});
        return call(g.within<11, 12>(), none, scales ? *scales : none);
    }
    if (g.opset() < 18) return call(g.within<13, 17>(), absent, scales);
    if (!mode.antialias) return call(g.within<18>(), absent, scales, attr::axes_i(axes));
    // In ATen, antialiasing windows end at the edges, and the cubic coefficient is -0.5.
    return g.within<18>().op<"Resize">(x,
                                       absent,
                                       scales,
                                       sizes,
                                       attr::mode_s(name),
                                       attr::coordinate_transformation_mode_s(at),
                                       attr::antialias_i(1),
                                       attr::exclude_outside_i(1),
                                       attr::cubic_coeff_a_f(-0.5),
                                       attr::axes_i(axes));
}

/// Resizes one axis after the other, from the last to the first, as in ATen.
inline value resize_by_taps(graph<7> g, value x, safe_span<resized_axis const> axes, interpolation const& mode) {
    bool const whole = x.dtype() == dtype::uint8 && !mode.is_nearest();
    value y = whole ? g.cast(x, dtype::int32) : x;
    for (std::size_t i = axes.size(); i-- != 0;) {
        auto const axis = static_cast<std::int64_t>(i) + 2;
        if (whole) {
            if (axes[i].in != axes[i].out) y = apply_taps_uint8(g, y, axis, taps_of(axes[i], mode));
        } else if (axes[i].in != axes[i].out || (has_own_scale(axes[i]) && !mode.antialias)) {
            y = apply_taps(g, y, axis, taps_of(axes[i], mode));
        }
    }
    return g.cast(y, x.dtype());
}

inline bool keeps_all(safe_span<resized_axis const> axes) {
    return !axes.empty() && std::all_of(axes.begin(), axes.end(), [](resized_axis const& a) {
        return a.in == a.out && !has_own_scale(a);
    });
}

/// Resizes the axes of dynamic size that have both a fixed size and a factor, and takes their factors out of `t`;
/// beside an axis of dynamic size without a factor, also those of static size.
inline value resize_to_fixed(graph<9> g, value x, resize_target& t, interpolation const& mode) {
    constexpr std::int64_t endless = std::int64_t{1} << 40;
    auto const has_factor = [&](std::size_t i) { return t.scales[i] && *t.scales[i] > 0; };
    bool all = false;
    for (std::size_t i = 0; i != t.out.size(); ++i)
        all = all || (!has_factor(i) && !x.size(static_cast<std::int64_t>(i) + 2).is_static());
    for (std::size_t i = t.out.size(); i-- != 0;) {
        auto const axis = static_cast<std::int64_t>(i) + 2;
        bool const known = x.size(axis).is_static();
        bool const fixed = t.has_size && t.out[i].is_constant() && (!known || all);
        if (!fixed || mode.align_corners || !has_factor(i)) continue;
        if (mode.antialias || (x.dtype() == dtype::uint8 && !mode.is_nearest()))
            throw unsupported_error("a scale factor together with a size that does not follow from it");
        resized_axis const a{
            known ? x.size(axis).size() : endless, t.out[i].constant(), t.scales[i], t.out.size() == 2};
        x = known ? apply_taps(g, x, axis, taps_of(a, mode)) : apply_unlimited_taps(g, x, axis, a, mode);
        t.scales[i] = std::nullopt;
    }
    return x;
}

inline value interpolate(graph<7> g, value x, resize_target t, interpolation const& mode) {
    if (g.opset() >= 9) x = resize_to_fixed(g.within<9>(), x, t, mode);
    safe_vector<resized_axis> const axes = static_axes(x, t);
    bool const known = !axes.empty();
    bool const uint8 = x.dtype() == dtype::uint8 && !mode.is_nearest();
    if (keeps_all(axes)) return x;
    bool const no_antialias = mode.antialias && (g.opset() < 18 || mode.align_corners);
    bool const by_taps =
        uint8 || no_antialias || mode.kind == filter::lanczos || (known && !resize_agrees(axes, mode, x.dtype()));
    if (!by_taps && g.opset() >= 11) return call_resize(g.within<11>(), x, t, mode);
    if (!known && !by_taps) refuse_below(11, "interpolation over a dynamic height or width");
    if (!known) return g.unsupported("this interpolation over a dynamic height or width");
    return resize_by_taps(g, x, axes, mode);
}

/// Like ATen, interpolates half-precision dtypes in float32.
inline value resize_to(graph<7> g, value x, resize_target const& t, interpolation const& mode) {
    if (x.rank() != static_cast<std::int64_t>(t.out.size()) + 2)
        return g.unsupported("an input of rank " + std::to_string(x.rank()));
    for (sym_int const& n : t.out)
        if (n.is_constant() && n.constant() < 0) return g.unsupported("a size of " + std::to_string(n.constant()));
    bool const narrow = (x.dtype() == dtype::float16 || x.dtype() == dtype::bfloat16) && !mode.is_nearest();
    if (!narrow) return interpolate(g, x, t, mode);
    return g.cast(interpolate(g, g.cast(x, dtype::float32), t, mode), x.dtype());
}

/// The .vec overloads have either sizes or factors, with the size floor(in * factor).
inline value resize_vec(graph<7> g, value x, std::optional<safe_span<sym_int const>> out,
                        std::optional<safe_span<double const>> factors, interpolation const& mode) {
    if (x.rank() < 3) return g.unsupported("an input of rank " + std::to_string(x.rank()));
    auto const n = static_cast<std::size_t>(x.rank() - 2);
    resize_target t{{}, safe_vector<scale_factor>(n)};
    if (out) {
        t.out.assign(out->begin(), out->end());
        return resize_to(g, x, t, mode);
    }
    if (!factors || factors->size() != n) return g.unsupported("neither sizes nor one factor per dimension");
    for (std::size_t i = 0; i != n; ++i) {
        double const factor = (*factors)[i];
        dim const& d = x.size(static_cast<std::int64_t>(i) + 2);
        t.scales[i] = factor;
        t.has_size = t.has_size && d.is_static();
        t.out.emplace_back(d.is_static() ? static_cast<std::int64_t>(static_cast<double>(d.size()) * factor) : 0);
    }
    return resize_to(g, x, t, mode);
}

using out_sizes = safe_span<sym_int const>;
using vec_sizes = std::optional<safe_span<sym_int const>>;
using vec_scales = std::optional<safe_span<double const>>;

template <filter Kind, bool Antialias = false>
inline constexpr auto resize_corners_vec =
    [](graph<7> g, value x, vec_sizes out, bool align_corners, vec_scales factors) {
        return resize_vec(g, x, out, factors, {Kind, align_corners, Antialias});
    };
template <filter Kind>
inline constexpr auto resize_nearest_vec =
    [](graph<7> g, value x, vec_sizes out, vec_scales factors) { return resize_vec(g, x, out, factors, {Kind}); };
template <filter Kind>
inline constexpr auto resize_nearest1d = [](graph<7> g, value x, out_sizes out, scale_factor w) {
    return resize_to(g, x, {{out.begin(), out.end()}, {w}}, {Kind});
};
template <filter Kind>
inline constexpr auto resize_nearest2d = [](graph<7> g, value x, out_sizes out, scale_factor h, scale_factor w) {
    return resize_to(g, x, {{out.begin(), out.end()}, {h, w}}, {Kind});
};
template <filter Kind>
inline constexpr auto resize_nearest3d =
    [](graph<7> g, value x, out_sizes out, scale_factor d, scale_factor h, scale_factor w) {
        return resize_to(g, x, {{out.begin(), out.end()}, {d, h, w}}, {Kind});
    };
template <filter Kind, bool Antialias = false>
inline constexpr auto resize_corners2d =
    [](graph<7> g, value x, out_sizes out, bool align_corners, scale_factor h, scale_factor w) {
        return resize_to(g, x, {{out.begin(), out.end()}, {h, w}}, {Kind, align_corners, Antialias});
    };

inline constexpr auto linear1d = symbolic<"aten::upsample_linear1d(self, output_size, align_corners, scales)">(
    [](graph<7> g, value x, out_sizes out, bool align_corners, scale_factor w) {
        return resize_to(g, x, {{out.begin(), out.end()}, {w}}, {filter::linear, align_corners});
    });

inline constexpr auto trilinear3d =
    symbolic<"aten::upsample_trilinear3d(self, output_size, align_corners, scales_d, scales_h, scales_w)">(
        [](graph<7> g, value x, out_sizes out, bool align_corners, scale_factor d, scale_factor h, scale_factor w) {
            return resize_to(g, x, {{out.begin(), out.end()}, {d, h, w}}, {filter::linear, align_corners});
        });

inline constexpr auto nearest1d = resize_nearest1d<filter::nearest>;
inline constexpr auto nearest2d = resize_nearest2d<filter::nearest>;
inline constexpr auto nearest3d = resize_nearest3d<filter::nearest>;
inline constexpr auto nearest_vec = resize_nearest_vec<filter::nearest>;
inline constexpr auto nearest_exact1d = resize_nearest1d<filter::nearest_exact>;
inline constexpr auto nearest_exact2d = resize_nearest2d<filter::nearest_exact>;
inline constexpr auto nearest_exact3d = resize_nearest3d<filter::nearest_exact>;
inline constexpr auto nearest_exact_vec = resize_nearest_vec<filter::nearest_exact>;
inline constexpr auto bilinear2d = resize_corners2d<filter::linear>;
inline constexpr auto bicubic2d = resize_corners2d<filter::cubic>;
inline constexpr auto linear_vec = resize_corners_vec<filter::linear>;
inline constexpr auto bicubic_vec = resize_corners_vec<filter::cubic>;
inline constexpr auto bilinear2d_aa = resize_corners2d<filter::linear, true>;
inline constexpr auto bicubic2d_aa = resize_corners2d<filter::cubic, true>;
inline constexpr auto lanczos2d_aa = resize_corners2d<filter::lanczos, true>;
inline constexpr auto bilinear_vec_aa = resize_corners_vec<filter::linear, true>;
inline constexpr auto bicubic_vec_aa = resize_corners_vec<filter::cubic, true>;
inline constexpr auto lanczos_vec_aa = resize_corners_vec<filter::lanczos, true>;

} // namespace detail

inline constexpr auto resize = table(
    symbolic<"aten::upsample_nearest1d(self, output_size, scales)">(detail::nearest1d),
    symbolic<"aten::upsample_nearest2d(self, output_size, scales_h, scales_w)">(detail::nearest2d),
    symbolic<"aten::upsample_nearest3d(self, output_size, scales_d, scales_h, scales_w)">(detail::nearest3d),
    symbolic<"aten::upsample_nearest1d.vec(input, output_size, scale_factors)">(detail::nearest_vec),
    symbolic<"aten::upsample_nearest2d.vec(input, output_size, scale_factors)">(detail::nearest_vec),
    symbolic<"aten::upsample_nearest3d.vec(input, output_size, scale_factors)">(detail::nearest_vec),
    symbolic<"aten::_upsample_nearest_exact1d(self, output_size, scales)">(detail::nearest_exact1d),
    symbolic<"aten::_upsample_nearest_exact2d(self, output_size, scales_h, scales_w)">(detail::nearest_exact2d),
    symbolic<"aten::_upsample_nearest_exact3d(self, output_size, scales_d, scales_h, scales_w)">(
        detail::nearest_exact3d),
    symbolic<"aten::_upsample_nearest_exact1d.vec(input, output_size, scale_factors)">(detail::nearest_exact_vec),
    symbolic<"aten::_upsample_nearest_exact2d.vec(input, output_size, scale_factors)">(detail::nearest_exact_vec),
    symbolic<"aten::_upsample_nearest_exact3d.vec(input, output_size, scale_factors)">(detail::nearest_exact_vec),
    detail::linear1d,
    symbolic<"aten::upsample_bilinear2d(self, output_size, align_corners, scales_h, scales_w)">(detail::bilinear2d),
    detail::trilinear3d,
    symbolic<"aten::upsample_bicubic2d(self, output_size, align_corners, scales_h, scales_w)">(detail::bicubic2d),
    symbolic<"aten::upsample_linear1d.vec(input, output_size, align_corners, scale_factors)">(detail::linear_vec),
    symbolic<"aten::upsample_bilinear2d.vec(input, output_size, align_corners, scale_factors)">(detail::linear_vec),
    symbolic<"aten::upsample_trilinear3d.vec(input, output_size, align_corners, scale_factors)">(detail::linear_vec),
    symbolic<"aten::upsample_bicubic2d.vec(input, output_size, align_corners, scale_factors)">(detail::bicubic_vec),
    // Below opset 18, which added antialias to Resize, and with align_corners: indices and weights, for static sizes.
    symbolic<"aten::_upsample_bilinear2d_aa(self, output_size, align_corners, scales_h, scales_w)">(
        detail::bilinear2d_aa),
    symbolic<"aten::_upsample_bicubic2d_aa(self, output_size, align_corners, scales_h, scales_w)">(
        detail::bicubic2d_aa),
    symbolic<"aten::_upsample_lanczos2d_aa(self, output_size, align_corners, scales_h, scales_w)">(
        detail::lanczos2d_aa),
    symbolic<"aten::_upsample_bilinear2d_aa.vec(input, output_size, align_corners, scale_factors)">(
        detail::bilinear_vec_aa),
    symbolic<"aten::_upsample_bicubic2d_aa.vec(input, output_size, align_corners, scale_factors)">(
        detail::bicubic_vec_aa),
    symbolic<"aten::_upsample_lanczos2d_aa.vec(input, output_size, align_corners, scale_factors)">(
        detail::lanczos_vec_aa));

} // namespace ATON_NAMESPACE::mappings
