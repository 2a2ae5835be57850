// SPDX-License-Identifier: MIT
// torchvision's deform_conv2d as DeformConv; below opset 19, as products of weights with pixels that are gathered.
// Public header.
#pragma once

#include <cstdint>
#include <string>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/shaping.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

struct deformation {
    std::int64_t stride[2];
    std::int64_t pad[2];
    std::int64_t dilation[2];
    std::int64_t groups;
    std::int64_t offset_groups;
};
inline deformation deformation_of(value input, sym_int stride_h, sym_int stride_w, sym_int pad_h, sym_int pad_w,
                                  sym_int dilation_h, sym_int dilation_w, sym_int groups, sym_int offset_groups) {
    if (input.dtype() != dtype::float32 && input.dtype() != dtype::float64)
        throw unsupported_error("a deformable convolution of " + std::string(name(input.dtype())));
    return {{stride_h.constant(), stride_w.constant()},
            {pad_h.constant(), pad_w.constant()},
            {dilation_h.constant(), dilation_w.constant()},
            groups.constant(),
            offset_groups.constant()};
}

inline constexpr auto deform_conv2d =
    symbolic<"torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt "
             "stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt "
             "groups, SymInt offset_groups, bool use_mask) -> Tensor">(
        [](graph<19> g, value input, value weight, value offset, value mask, value bias, sym_int stride_h,
           sym_int stride_w, sym_int pad_h, sym_int pad_w, sym_int dilation_h, sym_int dilation_w, sym_int groups,
           sym_int offset_groups, bool use_mask) -> value {
            deformation const d =
                deformation_of(input, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups, offset_groups);
            return g.op<"DeformConv">(input,
                                      weight,
                                      offset,
                                      bias,
                                      use_mask ? optional_value(mask) : absent,
                                      attr::strides_i(d.stride),
                                      attr::pads_i({d.pad[0], d.pad[1], d.pad[0], d.pad[1]}),
                                      attr::dilations_i(d.dilation),
                                      attr::group_i(d.groups),
                                      attr::offset_group_i(d.offset_groups));
        });

/// Where the taps of a kernel are along one axis, [taps, 1, 1, outputs] or [1, taps, outputs, 1], without their offsets.
inline value tap_places(graph<11> g, std::int64_t taps, sym_int outputs, std::int64_t stride, std::int64_t pad,
                        std::int64_t dilation, bool across, dtype type) {
    value const tap = g.cast(arithmetic_sequence(g, -pad, taps, dilation), type);
    value const output = g.cast(arithmetic_sequence(g, 0, outputs, stride), type);
    safe_vector<std::int64_t> const tap_axes =
        across ? safe_vector<std::int64_t>{0, 2, 3} : safe_vector<std::int64_t>{1, 2, 3};
    safe_vector<std::int64_t> const output_axes =
        across ? safe_vector<std::int64_t>{0, 1, 2} : safe_vector<std::int64_t>{0, 1, 3};
    return g.op<"Add">(unsqueeze(g, tap, tap_axes), unsqueeze(g, output, output_axes));
}

/// The pixels at the corners of fractional positions along one axis, and their weights.
struct axis_corners {
    value place[2]; ///< int64, within the image
    value weight[2];
    value inside[2]; ///< bool
};
inline axis_corners corners_along(graph<11> g, value at, sym_int extent) {
    dtype const type = at.dtype();
    value const low = g.op<"Floor">(at);
    value const rest = g.op<"Sub">(at, low);
    value const last = g.op<"Sub">(g.cast(g.to_value(extent), type), 1);
    axis_corners out{{}, {g.op<"Sub">(g.scalar(1, type), rest), rest}, {}};
    for (int i = 0; i != 2; ++i) {
        value const corner = i == 0 ? low : value(g.op<"Add">(low, 1));
        value const zero = g.scalar(0, type);
        out.inside[i] = g.op<"And">(is_at_least(g, corner, zero), is_at_most(g, corner, last));
        out.place[i] = g.cast(g.op<"Where">(out.inside[i], corner, zero), dtype::int64);
    }
    return out;
}

/// Bilinear samples of planes [N, G, C, H * W] at positions [N, G, P]: [N, G, C, P].
inline value sampled_planes(graph<11> g, value planes, axis_corners const& y, axis_corners const& x, sym_int width,
                            safe_vector<sym_int> const& to) {
    optional_value sum;
    for (int i = 0; i != 2; ++i)
        for (int k = 0; k != 2; ++k) {
            value const place = g.op<"Add">(g.op<"Mul">(y.place[i], g.to_value(width)), x.place[k]);
            value const pixels = g.op<"GatherElements">(planes, expand(g, unsqueeze(g, place, 2), to), attr::axis_i(3));
            value const inside = unsqueeze(g, g.op<"And">(y.inside[i], x.inside[k]), 2);
            value const weight = unsqueeze(g, g.op<"Mul">(y.weight[i], x.weight[k]), 2);
            value const part = g.op<"Mul">(g.op<"Where">(inside, pixels, g.scalar_like(0, planes)), weight);
            sum = sum ? value(g.op<"Add">(*sum, part)) : part;
        }
    return *sum;
}

inline constexpr auto deform_conv2d_until_18 =
    symbolic<"torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt "
             "stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt "
             "groups, SymInt offset_groups, bool use_mask) -> Tensor">(
        [](graph<11, 18> g, value input, value weight, value offset, value mask, value bias, sym_int stride_h,
           sym_int stride_w, sym_int pad_h, sym_int pad_w, sym_int dilation_h, sym_int dilation_w, sym_int groups,
           sym_int offset_groups, bool use_mask) -> value {
            deformation const d =
                deformation_of(input, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups, offset_groups);
            safe_vector<sym_int> const in = g.sizes(input);
            safe_vector<sym_int> const out = g.sizes(offset); // [N, offset_groups * taps * 2, rows, columns]
            std::int64_t const kernel[] = {g.size(weight, 2).constant(), g.size(weight, 3).constant()};
            std::int64_t const taps = kernel[0] * kernel[1];
            if (d.groups < 1 || d.offset_groups < 1) return g.unsupported("a number of groups below 1");
            value const moves = reshape(g, offset, {in[0], d.offset_groups, kernel[0], kernel[1], 2, out[2], out[3]});
            auto const along = [&](std::int64_t axis) -> value {
                value const places = tap_places(g,
                                                kernel[axis],
                                                out[static_cast<std::size_t>(axis) + 2],
                                                d.stride[axis],
                                                d.pad[axis],
                                                d.dilation[axis],
                                                axis == 1,
                                                input.dtype());
                value const at =
                    g.op<"Add">(g.op<"Gather">(moves, g.scalar(axis, dtype::int64), attr::axis_i(4)), places);
                return reshape(g, at, {in[0], d.offset_groups, -1});
            };
            axis_corners const y = corners_along(g, along(0), in[2]);
            axis_corners const x = corners_along(g, along(1), in[3]);
            sym_int const channels = in[1] / d.offset_groups;
            sym_int const positions = sym_int(taps) * out[2] * out[3];
            value const planes = reshape(g, input, {in[0], d.offset_groups, channels, in[2] * in[3]});
            value samples = sampled_planes(g, planes, y, x, in[3], {in[0], d.offset_groups, channels, positions});
            if (use_mask) samples = g.op<"Mul">(samples, reshape(g, mask, {in[0], d.offset_groups, 1, positions}));
            value const columns = reshape(g, samples, {in[0], d.groups, in[1] / d.groups * taps, out[2] * out[3]});
            value const kernels = reshape(g, weight, {d.groups, g.size(weight, 0) / d.groups, in[1] / d.groups * taps});
            value const y_out =
                reshape(g, g.op<"MatMul">(kernels, columns), {in[0], g.size(weight, 0), out[2], out[3]});
            return g.op<"Add">(y_out, unsqueeze(g, bias, safe_vector<std::int64_t>{1, 2}));
        });

} // namespace detail

inline constexpr auto deformable_convolution = table(detail::deform_conv2d, detail::deform_conv2d_until_18);

} // namespace ATON_NAMESPACE::mappings
