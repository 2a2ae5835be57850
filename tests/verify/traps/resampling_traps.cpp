// SPDX-License-Identifier: MIT
// Rows with wrong Resize, GridSample and pooling.
#include <aton/mappings/adaptive_pooling.hpp>
#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/pooling.hpp>
#include <aton/mappings/resize.hpp>
#include <aton/mappings/sampling.hpp>

#include "planted.hpp"

namespace ATON_NAMESPACE::verify::traps {

namespace {

using namespace mappings;
namespace real = mappings::detail;
using real::filter;
using real::out_sizes;
using real::scale_factor;
using real::vec_scales;
using real::vec_sizes;

value batch_and(graph<13> g, value x, out_sizes out) {
    std::vector<sym_int> all{g.size(x, 0), g.size(x, 1)};
    all.insert(all.end(), out.begin(), out.end());
    return g.ints(all);
}

/// Computes half types in float32, as the real rows do.
template <class Body>
value in_float32(graph<13> g, value x, Body body) {
    return g.cast(body(g.cast(x, real::opmath_type(x.dtype()))), x.dtype());
}

constexpr auto one_pixel = table(symbolic<"aten::upsample_linear1d(self, output_size, align_corners, scales)">(
    [](graph<13> g, value x, out_sizes out, bool align_corners, scale_factor scale) -> value {
        if (align_corners) return real::resize_to(g, x, {{out.begin(), out.end()}, {scale}}, {filter::linear, true});
        return in_float32(g, x, [&](value v) -> value {
            return g.op<"Resize">(v,
                                  absent,
                                  absent,
                                  batch_and(g, x, out),
                                  attr::mode_s("linear"),
                                  attr::coordinate_transformation_mode_s("pytorch_half_pixel"));
        });
    }));

value antialiased(graph<18> g, value x, out_sizes out, bool align_corners, std::string_view mode, bool exclude,
                  double sharpness) {
    return in_float32(g, x, [&](value v) -> value {
        return g.op<"Resize">(v,
                              absent,
                              absent,
                              batch_and(g, x, out),
                              attr::mode_s(mode),
                              attr::coordinate_transformation_mode_s(align_corners ? "align_corners" : "half_pixel"),
                              attr::antialias_i(1),
                              attr::exclude_outside_i(exclude),
                              attr::cubic_coeff_a_f(sharpness));
    });
}

constexpr auto outside_counts =
    table(symbolic<"aten::_upsample_bicubic2d_aa(self, output_size, align_corners, scales_h, scales_w)">(
        [](graph<18> g, value x, out_sizes out, bool align_corners, scale_factor h, scale_factor w) -> value {
            if (align_corners) return real::resize_corners2d<filter::cubic, true>(g, x, out, align_corners, h, w);
            return antialiased(g, x, out, false, "cubic", false, -0.5);
        }));
constexpr auto sharp_antialias =
    table(symbolic<"aten::_upsample_bicubic2d_aa(self, output_size, align_corners, scales_h, scales_w)">(
        [](graph<18> g, value x, out_sizes out, bool align_corners, scale_factor h, scale_factor w) -> value {
            if (align_corners) return real::resize_corners2d<filter::cubic, true>(g, x, out, align_corners, h, w);
            return antialiased(g, x, out, false, "cubic", true, -0.75);
        }));
constexpr auto soft_cubic =
    table(symbolic<"aten::upsample_bicubic2d(self, output_size, align_corners, scales_h, scales_w)">(
        [](graph<13> g, value x, out_sizes out, bool align_corners, scale_factor, scale_factor) -> value {
            return in_float32(g, x, [&](value v) -> value {
                return g.op<"Resize">(
                    v,
                    absent,
                    absent,
                    batch_and(g, x, out),
                    attr::mode_s("cubic"),
                    attr::coordinate_transformation_mode_s(align_corners ? "align_corners" : "half_pixel"),
                    attr::cubic_coeff_a_f(-0.5));
            });
        }));
constexpr auto antialiased_corners =
    table(symbolic<"aten::_upsample_bilinear2d_aa(self, output_size, align_corners, scales_h, scales_w)">(
        [](graph<18> g, value x, out_sizes out, bool align_corners, scale_factor, scale_factor) -> value {
            return antialiased(g, x, out, align_corners, "linear", true, -0.5);
        }));
constexpr auto antialias_without_scales =
    table(symbolic<"aten::_upsample_bilinear2d_aa.vec(input, output_size, align_corners, scale_factors)">(
        [](graph<18> g, value x, vec_sizes out, bool align_corners, vec_scales factors) -> value {
            std::vector<sym_int> size;
            for (std::size_t i = 0; factors && i != factors->size(); ++i)
                size.emplace_back(static_cast<std::int64_t>(
                    static_cast<double>(x.size(static_cast<std::int64_t>(i) + 2).size()) * (*factors)[i]));
            return real::resize_corners_vec<filter::linear, true>(
                g, x, out ? *out : vec_sizes::value_type(size), align_corners, std::nullopt);
        }));
constexpr auto nearest_by_size = table(symbolic<"aten::upsample_nearest2d.vec(input, output_size, scale_factors)">(
    [](graph<13> g, value x, vec_sizes out, vec_scales factors) -> value {
        std::vector<sym_int> size;
        for (std::size_t i = 0; factors && i != factors->size(); ++i)
            size.emplace_back(static_cast<std::int64_t>(
                static_cast<double>(x.size(static_cast<std::int64_t>(i) + 2).size()) * (*factors)[i]));
        return real::resize_nearest_vec<filter::nearest>(g, x, out ? *out : vec_sizes::value_type(size), std::nullopt);
    }));
constexpr auto inexact_nearest = table(
    symbolic<"aten::_upsample_nearest_exact1d(self, output_size, scales)">(real::resize_nearest1d<filter::nearest>));
constexpr auto scales_ignored = table(symbolic<"aten::upsample_nearest2d(self, output_size, scales_h, scales_w)">(
    [](graph<13> g, value x, out_sizes out, scale_factor, scale_factor) -> value {
        return real::resize_nearest2d<filter::nearest>(g, x, out, std::nullopt, std::nullopt);
    }));

constexpr auto grid_corners =
    table(symbolic<"aten::grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)">(
        [](graph<20> g, value x, value grid, std::int64_t mode, std::int64_t padding, bool align_corners) -> value {
            return real::grid_sampler<graph<20>>(g, x, grid, mode, padding, align_corners && mode != 2);
        }));
constexpr auto grid_reflection =
    table(symbolic<"aten::grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)">(
        [](graph<20> g, value x, value grid, std::int64_t mode, std::int64_t padding, bool align_corners) -> value {
            return real::grid_sampler<graph<20>>(g, x, grid, mode, padding == 2 ? 1 : padding, align_corners);
        }));
constexpr auto grid_depth_first =
    table(symbolic<"aten::grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners)">(
        [](graph<20> g, value x, value grid, std::int64_t mode, std::int64_t padding, bool align_corners) -> value {
            value const reversed = gather_of(g, grid, g.ints({2, 1, 0}), 4);
            return real::grid_sampler<graph<20>>(g, x, reversed, mode, padding, align_corners);
        }));

/// AveragePool without the correction of divisors for windows that extend beyond the padding.
constexpr auto whole_windows = table(
    symbolic<"aten::avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)">(
        [](graph<13> g, value self, int_list kernel, int_list stride, int_list padding, bool ceil_mode, bool include,
           std::optional<std::int64_t> divisor) -> value {
            real::pool_windows const p(2, kernel, stride, padding, {}, ceil_mode);
            if (divisor || !include || !is_floating(self.dtype()))
                return real::avg_pool<2>(g, self, kernel, stride, padding, ceil_mode, include, divisor);
            return real::widened(g, self, [&](value x) -> value {
                return g.op<"AveragePool">(x,
                                           attr::count_include_pad_i(1),
                                           attr::kernel_shape_i(p.kernel),
                                           attr::pads_i(real::pool_pads(x, p)),
                                           attr::strides_i(p.stride));
            });
        }));
/// ceil_mode computed as (in + 2 * padding - extent + stride - 1) / stride + 1, without dropping a window.
constexpr auto window_in_padding =
    table(symbolic<"aten::max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode)">(
        [](graph<13> g, value self, int_list kernel, int_list stride, int_list padding, int_list dilation,
           bool ceil_mode) -> value {
            real::pool_windows p(2, kernel, stride, padding, dilation, ceil_mode);
            if (!is_floating(self.dtype()))
                return real::max_pool<2>(g, self, kernel, stride, padding, dilation, ceil_mode);
            real::ints pads = p.padding;
            for (std::size_t i = 0; i != 2; ++i) pads.push_back(p.padding[i] + (ceil_mode ? p.stride[i] - 1 : 0));
            return real::widened(g, self, [&](value x) -> value {
                return g.op<"MaxPool">(x,
                                       attr::dilations_i(p.dilation),
                                       attr::kernel_shape_i(p.kernel),
                                       attr::pads_i(pads),
                                       attr::strides_i(p.stride));
            });
        }));
constexpr auto divisor_ignored = table(
    symbolic<"aten::avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)">(
        [](graph<13> g, value self, int_list kernel, int_list stride, int_list padding, bool ceil_mode, bool include,
           std::optional<std::int64_t>) -> value {
            return real::avg_pool<2>(g, self, kernel, stride, padding, ceil_mode, include, std::nullopt);
        }));
constexpr auto padding_not_counted =
    table(symbolic<"aten::avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad)">(
        [](graph<13> g, value self, int_list kernel, int_list stride, int_list padding, bool ceil_mode, bool) -> value {
            return real::avg_pool<1>(g, self, kernel, stride, padding, ceil_mode, false, std::nullopt);
        }));

/// Consecutive windows of in / out elements.
constexpr auto equal_windows = table(symbolic<"aten::adaptive_avg_pool2d(self, output_size)">(
    [](graph<13> g, value self, std::span<size const> out) -> value {
        real::ints kernel;
        for (std::size_t i = 0; i != 2; ++i) {
            std::int64_t const in = self.size(static_cast<std::int64_t>(i) + 2).size();
            kernel.push_back(in / std::max<std::int64_t>(1, out[i].constant()));
        }
        real::ints const wide = {self.size(2).size(), self.size(3).size()};
        if (kernel[0] == 0 || kernel[1] == 0) return real::adaptive_avg_pool<2>(g, self, out);
        value const y = real::avg_pool<2>(g, self, kernel, kernel, real::ints{0, 0}, false, true, std::nullopt);
        return slice(g, slice(g, y, 2, 0, out[0]), 3, 0, out[1]);
    }));
/// Keeps ONNX's indices, which are relative to the whole tensor.
constexpr auto flat_indices =
    table(symbolic<"aten::max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)">(
        [](graph<13> g, value self, int_list kernel, int_list stride, int_list padding, int_list dilation,
           bool ceil_mode) -> std::tuple<value, optional_value> {
            real::pool_windows const p(2, kernel, stride, padding, dilation, ceil_mode);
            if (!is_floating(self.dtype()) || self.dtype() == dtype::bfloat16)
                return real::max_pool_with_indices<2>(g, self, kernel, stride, padding, dilation, ceil_mode);
            auto const [y, index] = g.op<"MaxPool">(self,
                                                    outputs<2>,
                                                    attr::dilations_i(p.dilation),
                                                    attr::kernel_shape_i(p.kernel),
                                                    attr::pads_i(real::pool_pads(self, p)),
                                                    attr::strides_i(p.stride));
            return {y, index};
        }));

constexpr planted resampling_rows[] = {
    {1, "half_pixel where the output size is 1", one_pixel},
    {2, "antialias without exclude_outside", outside_counts},
    {3, "antialiased bicubic with a = -0.75", sharp_antialias},
    {3, "bicubic with a = -0.5", soft_cubic},
    {4, "antialias with align_corners", antialiased_corners},
    {4, "antialias with explicit scales", antialias_without_scales},
    {5, "nearest by sizes in place of scales", nearest_by_size},
    {5, "nearest in place of nearest-exact", inexact_nearest},
    {5, "scales next to a size ignored", scales_ignored},
    {6, "grid_sampler bicubic with align_corners", grid_corners},
    {6, "grid_sampler reflection as border", grid_reflection},
    {6, "grid_sampler 5-D with z first", grid_depth_first},
    {7, "ceil_mode with count_include_pad divides by the whole window", whole_windows},
    {8, "ceil_mode keeps a last window that starts in the padding", window_in_padding},
    {9, "divisor_override ignored", divisor_ignored},
    {9, "count_include_pad ignored", padding_not_counted},
    {9, "adaptive pools with sizes that do not divide", equal_windows},
    {9, "max_pool indices through the whole tensor", flat_indices},
};

} // namespace

std::span<planted const> resampling_traps() { return resampling_rows; }

} // namespace ATON_NAMESPACE::verify::traps
