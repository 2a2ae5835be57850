// SPDX-License-Identifier: MIT
// Patches of images as columns: aten's im2col and col2im.
// Public header.
#pragma once

#include <algorithm>
#include <cstdint>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/slicing.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// aten::im2col, by gathering rows and columns of the padded image.
inline constexpr auto image_to_columns =
    symbolic<"aten::im2col(self, kernel_size, dilation, padding, stride)">([](graph<7> g, value image, axis_list kernel,
                                                                              axis_list dilation, axis_list padding,
                                                                              axis_list stride) -> value {
        value x = image.rank() == 3 ? unsqueeze(g, image, 0) : image;
        if (padding[0] < 0 || padding[1] < 0) throw unsupported_error("negative padding");
        if (padding[0] != 0 || padding[1] != 0) {
            safe_vector<sym_int> const around{0, 0, padding[0], padding[1], 0, 0, padding[0], padding[1]};
            if (g.opset() >= 13) {
                value const pads = g.ints(around);
                x = g.within<13>().op<"Pad">(x, pads, g.scalar_like(0, x));
            } else {
                x = pad(g, x, around, g.scalar_like(0, x));
            }
        }
        safe_vector<sym_int> const sizes = g.sizes(x);
        value const rows = window_positions(g, sizes[2], kernel[0], stride[0], dilation[0]);
        value const columns = window_positions(g, sizes[3], kernel[1], stride[1], dilation[1]);
        value const patches = gather_of(g, gather_of(g, x, rows, 2), columns, 4); // N, C, rows, kernel, columns, kernel
        value const sorted = permute(g, patches, safe_vector<std::int64_t>{0, 1, 3, 5, 2, 4});
        sym_int const area = g.size(rows, 0) * g.size(columns, 0);
        value const y = reshape(g, sorted, {sizes[0], sizes[1] * (kernel[0] * kernel[1]), area});
        return image.rank() == 3 ? squeeze(g, y, 0) : y;
    }).by_parts<"self">();

/// Col2Im was added in opset 18.
inline constexpr auto col2im =
    symbolic<"aten::col2im(self, output_size, kernel_size, dilation, padding, stride)">([](graph<18> g, value self,
                                                                                           size_list output_size,
                                                                                           axis_list kernel,
                                                                                           axis_list dilation,
                                                                                           axis_list around,
                                                                                           axis_list stride) {
        if (std::any_of(kernel.begin(), kernel.end(), [](std::int64_t n) { return n < 1; }))
            throw unsupported_error("a kernel_size below 1");
        value const x = self.rank() == 2 ? unsqueeze(g, self, 0) : self;
        safe_vector<std::int64_t> const pads{around[0], around[1], around[0], around[1]};
        value const y = g.op<"Col2Im">(x,
                                       g.ints(output_size),
                                       g.ints(kernel),
                                       attr::dilations_i(dilation),
                                       attr::pads_i(pads),
                                       attr::strides_i(stride));
        return self.rank() == 2 ? squeeze(g, y, 0) : y;
    }).by_parts<"self">();

/// x with stride - 1 zeros after each element along an axis, `before` zeros in front of them, and `length` elements in all.
inline value with_gaps(graph<9> g, value x, std::int64_t axis, std::int64_t stride, std::int64_t before,
                       std::int64_t length) {
    std::int64_t const n = x.size(axis).size();
    safe_vector<sym_int> sizes = g.sizes(x);
    auto const rank = static_cast<std::size_t>(x.rank());
    if (stride != 1) {
        safe_vector<std::int64_t> gaps(2 * (rank + 1), 0);
        gaps[rank + 1 + static_cast<std::size_t>(axis) + 1] = stride - 1;
        x = pad(g, unsqueeze(g, x, axis + 1), gaps, 0);
        sizes[static_cast<std::size_t>(axis)] = n * stride;
        x = reshape(g, x, sizes);
    }
    safe_vector<std::int64_t> around(2 * rank, 0);
    around[static_cast<std::size_t>(axis)] = before;
    around[rank + static_cast<std::size_t>(axis)] = length - before - n * stride;
    return pad(g, x, around, 0);
}

/// Before opset 18: the sum of one image for each element of the kernel, in which it is alone.
inline constexpr auto col2im_until_17 =
    symbolic<"aten::col2im(self, output_size, kernel_size, dilation, padding, stride)">([](graph<9, 17> g, value self,
                                                                                           size_list output_size,
                                                                                           axis_list kernel,
                                                                                           axis_list dilation,
                                                                                           axis_list around,
                                                                                           axis_list stride) -> value {
        if (!all_constant(output_size)) refuse_below(18, "col2im to a computed size");
        value const x = self.rank() == 2 ? unsqueeze(g, self, 0) : self;
        safe_vector<std::int64_t> const to = constants(output_size);
        std::int64_t blocks[2];
        std::int64_t canvas[2];
        for (std::size_t i = 0; i != 2; ++i) {
            if (kernel[i] < 1 || stride[i] < 1 || dilation[i] < 1 || around[i] < 0)
                throw unsupported_error("a kernel_size, stride or dilation below 1, or a negative padding");
            checked_int const reach = checked_int(dilation[i]) * (kernel[i] - 1);
            checked_int const room = checked_int(to[i]) + checked_int(2) * around[i] - reach - 1;
            if (room < 0) throw unsupported_error("a kernel that is larger than the image");
            blocks[i] = static_cast<std::int64_t>(room) / stride[i] + 1;
            canvas[i] =
                std::max<std::int64_t>(reach + checked_int(blocks[i]) * stride[i], checked_int(to[i]) + around[i]);
        }
        std::int64_t const area = checked_int(kernel[0]) * kernel[1];
        budget::expect("images", area, static_cast<std::int64_t>(budget::max_nodes / 8));
        dtype const type = x.dtype() == dtype::bool_ ? dtype::int32 : arithmetic_type(x.dtype());
        value const all = reshape(g, g.cast(x, type), {g.size(x, 0), g.size(x, 1) / area, area, blocks[0], blocks[1]});
        value sum;
        for (std::int64_t i = 0; i != area; ++i) {
            value const rows = with_gaps(g, select(g, all, 2, i), 2, stride[0], i / kernel[1] * dilation[0], canvas[0]);
            value const image = with_gaps(g, rows, 3, stride[1], i % kernel[1] * dilation[1], canvas[1]);
            sum = i == 0 ? image : value(g.op<"Add">(sum, image));
        }
        value const inner = slice(g, slice(g, sum, 2, around[0], around[0] + to[0]), 3, around[1], around[1] + to[1]);
        value const y = g.cast(inner, x.dtype());
        return self.rank() == 2 ? squeeze(g, y, 0) : y;
    }).by_parts<"self">();

} // namespace detail

inline constexpr auto patches = table(detail::image_to_columns, detail::col2im, detail::col2im_until_17);

} // namespace ATON_NAMESPACE::mappings
