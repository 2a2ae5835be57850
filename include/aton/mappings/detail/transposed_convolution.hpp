// SPDX-License-Identifier: MIT
// ConvTranspose with a result of given sizes: what the gradients of convolutions and average pools share.
// Internal header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/windows.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// Adds each element of x [N, C, windows...], times the weight, to the elements of its window; windows start at
/// -padding. The result has the spatial sizes `to`: elements behind the last window are 0. Where a size is dynamic, the
/// result is cut from a larger one.
inline value transposed_to(graph<7> g, value x, value weight, safe_span<sym_int const> to, ints const& stride,
                           ints const& padding, ints const& dilation, std::int64_t groups) {
    ints before;
    ints after;
    ints extra;
    safe_vector<std::size_t> cut;
    for (std::size_t i = 0; i != to.size(); ++i) {
        auto const axis = static_cast<std::int64_t>(i) + 2;
        dim const& windows = x.size(axis);
        dim const& kernel = weight.size(axis);
        if (to[i].is_constant() && windows.is_static() && kernel.is_static()) {
            std::int64_t const surplus = (checked_int(windows.size()) - 1) * stride[i] +
                                         checked_int(dilation[i]) * (checked_int(kernel.size()) - 1) + 1 - padding[i] -
                                         to[i].constant();
            before.push_back(padding[i]);
            after.push_back(std::max<std::int64_t>(surplus, 0));
            extra.push_back(std::max<std::int64_t>(checked_int(0) - surplus, 0));
            if (extra.back() >= stride[i]) throw unsupported_error("sizes that do not fit the windows");
        } else {
            before.push_back(0);
            after.push_back(0);
            extra.push_back(checked_int(stride[i]) - 1);
            cut.push_back(i);
        }
    }
    ints pads = before;
    pads.insert(pads.end(), after.begin(), after.end());
    value y = g.op<"ConvTranspose">(x,
                                    weight,
                                    attr::dilations_i(dilation),
                                    attr::group_i(groups),
                                    attr::output_padding_i(extra),
                                    attr::pads_i(pads),
                                    attr::strides_i(stride));
    for (std::size_t const i : cut) y = slice(g, y, static_cast<std::int64_t>(i) + 2, padding[i], to[i] + padding[i]);
    return y;
}

} // namespace ATON_NAMESPACE::mappings::detail
