// SPDX-License-Identifier: MIT
// The gradient of the weight of a padded convolution over time, as one product for each element of the kernel.
// Internal header.
#pragma once

#include <algorithm>
#include <cstdint>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/shaping.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// x without its first and last times, as a matrix; nothing if no time is left.
inline optional_value times_as_rows(graph<7> g, value x, std::int64_t first, std::int64_t last) {
    if (x.size(0).is_static() && x.size(0).size() <= checked_int(first) + last) return {};
    value const part = slice(g, x, 0, first, last == 0 ? to_the_end : -last);
    return reshape(g, part, {-1, g.size(x, 2)});
}

/// x is (time, batch, in), its results have the gradient d (time, batch, out), and the weight is (kernel, in, out). A
/// convolution would multiply the zeros of the padding by infinite gradients, which gives NaN; ATen leaves these
/// products out.
inline value time_weight_gradient(graph<7> g, value x, value d, value weight, std::int64_t pad) {
    if (is_empty(x) || is_empty(d)) return filled(g, g.sizes(weight), 0, x.dtype());
    if (!weight.size(0).is_static()) return g.unsupported("a padded convolution with a kernel of unknown size");
    std::int64_t const kernel = weight.size(0).size();
    safe_vector<value> parts;
    for (std::int64_t k = 0; k != kernel; ++k) {
        std::int64_t const before = checked_int(k) - pad; // the times of x that never meet this element of the kernel
        std::int64_t const after = checked_int(kernel) - 1 - k - pad;
        auto const rows = [&](value v, int sign) {
            return times_as_rows(
                g, v, std::max<std::int64_t>(sign * before, 0), std::max<std::int64_t>(sign * after, 0));
        };
        optional_value const seen = rows(x, 1);
        optional_value const met = rows(d, -1);
        sym_int const sizes[] = {1, g.size(x, 2), g.size(d, 2)};
        parts.push_back(seen && met ? unsqueeze(g, g.op<"MatMul">(swap_axes(g, *seen, 0, 1), *met), 0)
                                    : filled(g, sizes, 0, x.dtype()));
    }
    return kernel == 1 ? parts[0] : value(g.op<"Concat">(parts, attr::axis_i(0)));
}

} // namespace ATON_NAMESPACE::mappings::detail
