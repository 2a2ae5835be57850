// SPDX-License-Identifier: MIT
// The gradients of ATen's upsampling, with tables of the outputs that read each element.
// Public header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <aton/mappings/detail/interpolation.hpp>
#include <aton/mappings/detail/unary.hpp>
#include <aton/mappings/resize.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The sum, for each element of an axis, of the gradients y of the outputs that read it, times the weights that they
/// read it with.
inline value gradient_along(graph<7> g, value y, std::int64_t axis, std::int64_t in, tap_table const& t) {
    budget::expect("a table of weights", in);
    safe_vector<safe_vector<std::pair<std::int64_t, double>>> readers(static_cast<std::size_t>(in));
    std::size_t longest = 1;
    for (std::size_t i = 0; i != t.index.size(); ++i) {
        auto& of_element = readers[static_cast<std::size_t>(t.index[i])];
        of_element.emplace_back(static_cast<std::int64_t>(i) / t.taps, t.weight.empty() ? 1.0 : t.weight[i]);
        longest = std::max(longest, of_element.size());
    }
    tap_table back{in, static_cast<std::int64_t>(longest), {}, {}};
    budget::expect("a table of weights", checked_int(in) * back.taps);
    bool partial = false;
    for (auto& of_element : readers) {
        partial = partial || of_element.size() != longest;
        of_element.resize(longest, {t.out, 0.0}); // reads a zero behind the last output
        for (auto const& [output, weight] : of_element) {
            back.index.push_back(output);
            back.weight.push_back(weight);
        }
    }
    if (partial) {
        safe_vector<std::int64_t> widths(2 * static_cast<std::size_t>(y.rank()), 0);
        widths[static_cast<std::size_t>(y.rank() + axis)] = 1;
        y = pad(g, y, widths, 0);
    }
    if (!t.weight.empty()) return apply_taps(g, y, axis, back);
    back.weight.clear();
    if (longest == 1) return gather_taps(g, y, axis, back);
    tensor index = int64_tensor(back.index);
    index.sizes = {in, back.taps};
    return reduce_sum(
        g, gather_of(g, y, g.constant(std::move(index)), axis), safe_vector<std::int64_t>{axis + 1}, false);
}

/// The spatial axes of an interpolation of `in` to the sizes of grad.
inline safe_vector<resized_axis> axes_of_gradient(value grad, out_sizes out, out_sizes in,
                                                  safe_span<scale_factor const> scales) {
    std::size_t const n = scales.size();
    if (out.size() != n || in.size() != n + 2 || grad.rank() != static_cast<std::int64_t>(n) + 2)
        throw unsupported_error("a gradient of rank " + std::to_string(grad.rank()));
    auto const differs = [](dim const& d, sym_int const& size) {
        return d.is_static() && size.is_constant() && !size.is(d.size());
    };
    safe_vector<resized_axis> axes;
    for (std::size_t i = 0; i != n + 2; ++i) {
        dim const& d = grad.size(static_cast<std::int64_t>(i));
        if (differs(d, i < 2 ? in[i] : out[i - 2]))
            throw unsupported_error("a gradient whose sizes are not those of the result");
        if (i < 2) continue;
        bool const known = d.is_static() || out[i - 2].is_constant();
        if (!known || !in[i].is_constant())
            throw unsupported_error("the gradient of an interpolation over a dynamic height or width");
        // Here ATen ignores the factor of a nearest interpolation that copies or doubles, whatever the number of axes.
        axes.push_back({in[i].constant(), d.is_static() ? d.size() : out[i - 2].constant(), scales[i - 2], true});
    }
    return axes;
}

inline value resize_gradient(graph<7> g, value grad, out_sizes out, out_sizes in, safe_vector<scale_factor> scales,
                             interpolation const& mode) {
    safe_vector<resized_axis> const axes = axes_of_gradient(grad, out, in, scales);
    if (!is_floating(grad.dtype())) return g.unsupported("the gradient of an interpolation of integers");
    auto const keeps_size = [](resized_axis const& a) { return a.in == a.out; };
    if (!mode.is_nearest() && std::all_of(axes.begin(), axes.end(), keeps_size)) return grad;
    return in_opmath(g, grad, [&](value y) {
        for (std::size_t i = axes.size(); i-- != 0;) {
            resized_axis const& a = axes[i];
            bool const ignores_factor = mode.kind == filter::nearest || mode.kind == filter::linear;
            if (a.in == a.out && (ignores_factor || !has_own_scale(a))) continue;
            y = gradient_along(g, y, static_cast<std::int64_t>(i) + 2, a.in, taps_of(a, mode));
        }
        return y;
    });
}

template <filter Kind>
inline constexpr auto nearest1d_gradient = [](graph<7> g, value grad, out_sizes out, out_sizes in, scale_factor w) {
    return resize_gradient(g, grad, out, in, {w}, {Kind});
};
template <filter Kind>
inline constexpr auto nearest2d_gradient =
    [](graph<7> g, value grad, out_sizes out, out_sizes in, scale_factor h, scale_factor w) {
        return resize_gradient(g, grad, out, in, {h, w}, {Kind});
    };
template <filter Kind>
inline constexpr auto nearest3d_gradient =
    [](graph<7> g, value grad, out_sizes out, out_sizes in, scale_factor d, scale_factor h, scale_factor w) {
        return resize_gradient(g, grad, out, in, {d, h, w}, {Kind});
    };

inline constexpr auto linear1d_gradient =
    symbolic<"aten::upsample_linear1d_backward(grad_output, output_size, input_size, align_corners, scales)">(
        [](graph<7> g, value grad, out_sizes out, out_sizes in, bool align_corners, scale_factor w) {
            return resize_gradient(g, grad, out, in, {w}, {filter::linear, align_corners});
        });
template <filter Kind>
inline constexpr auto corners2d_gradient =
    [](graph<7> g, value grad, out_sizes out, out_sizes in, bool align_corners, scale_factor h, scale_factor w) {
        return resize_gradient(g, grad, out, in, {h, w}, {Kind, align_corners});
    };
inline constexpr auto trilinear3d_gradient = symbolic<"aten::upsample_trilinear3d_backward(grad_output, output_size, "
                                                      "input_size, align_corners, scales_d, scales_h, scales_w)">(
    [](graph<7> g, value grad, out_sizes out, out_sizes in, bool align_corners, scale_factor d, scale_factor h,
       scale_factor w) { return resize_gradient(g, grad, out, in, {d, h, w}, {filter::linear, align_corners}); });

} // namespace detail

inline constexpr auto resize_backward = table(
    symbolic<"aten::upsample_nearest1d_backward(grad_output, output_size, input_size, scales)">(
        detail::nearest1d_gradient<detail::filter::nearest>),
    symbolic<"aten::upsample_nearest2d_backward(grad_output, output_size, input_size, scales_h, scales_w)">(
        detail::nearest2d_gradient<detail::filter::nearest>),
    symbolic<"aten::upsample_nearest3d_backward(grad_output, output_size, input_size, scales_d, scales_h, scales_w)">(
        detail::nearest3d_gradient<detail::filter::nearest>),
    symbolic<"aten::_upsample_nearest_exact1d_backward(grad_output, output_size, input_size, scales)">(
        detail::nearest1d_gradient<detail::filter::nearest_exact>),
    symbolic<"aten::_upsample_nearest_exact2d_backward(grad_output, output_size, input_size, scales_h, scales_w)">(
        detail::nearest2d_gradient<detail::filter::nearest_exact>),
    symbolic<
        "aten::_upsample_nearest_exact3d_backward(grad_output, output_size, input_size, scales_d, scales_h, scales_w)">(
        detail::nearest3d_gradient<detail::filter::nearest_exact>),
    detail::linear1d_gradient,
    symbolic<
        "aten::upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners, scales_h, scales_w)">(
        detail::corners2d_gradient<detail::filter::linear>),
    detail::trilinear3d_gradient,
    symbolic<
        "aten::upsample_bicubic2d_backward(grad_output, output_size, input_size, align_corners, scales_h, scales_w)">(
        detail::corners2d_gradient<detail::filter::cubic>));

} // namespace ATON_NAMESPACE::mappings
