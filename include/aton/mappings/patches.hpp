// SPDX-License-Identifier: MIT
// Patches of images as columns: aten's im2col and col2im.
// Public header.
#pragma once

#include <algorithm>
#include <cstdint>

#include <aton/mappings/slicing.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// aten::im2col, by gathering rows and columns of the padded image.
inline constexpr auto image_to_columns = [](graph<7> g, value image, axis_list kernel, axis_list dilation,
                                            axis_list padding, axis_list stride) -> value {
    value x = image.rank() == 3 ? unsqueeze(g, image, 0) : image;
    if (padding[0] < 0 || padding[1] < 0) throw unsupported_error("negative padding");
    if (padding[0] != 0 || padding[1] != 0) {
        safe_vector<std::int64_t> const pads{0, 0, padding[0], padding[1], 0, 0, padding[0], padding[1]};
        x = pad(g, x, pads, 0);
    }
    safe_vector<sym_int> const sizes = g.sizes(x);
    value const rows = window_positions(g, sizes[2], kernel[0], stride[0], dilation[0]);
    value const columns = window_positions(g, sizes[3], kernel[1], stride[1], dilation[1]);
    value const patches = gather(g, gather(g, x, rows, 2), columns, 4); // N, C, rows, kernel, columns, kernel
    value const sorted = permute(g, patches, safe_vector<std::int64_t>{0, 1, 3, 5, 2, 4});
    sym_int const area = g.size(rows, 0) * g.size(columns, 0);
    value const y = reshape(g, sorted, {sizes[0], sizes[1] * (kernel[0] * kernel[1]), area});
    return image.rank() == 3 ? squeeze(g, y, 0) : y;
};

/// Col2Im was added in opset 18.
inline constexpr auto col2im = [](graph<18> g, value self, size_list output_size, axis_list kernel, axis_list dilation,
                                  axis_list around, axis_list stride) {
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
};

} // namespace detail

// clang-format off: one row per line
inline constexpr auto patches = table(
    symbolic<"aten::im2col(self, kernel_size, dilation, padding, stride)">(detail::image_to_columns).by_parts<"self">(),
    symbolic<"aten::col2im(self, output_size, kernel_size, dilation, padding, stride)">(detail::col2im).by_parts<"self">());
// clang-format on

} // namespace ATON_NAMESPACE::mappings
