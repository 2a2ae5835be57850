// SPDX-License-Identifier: MIT
// The gradients of reflection and replication padding.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>

#include <aton/mappings/padding.hpp>
#include <aton/mappings/repeating.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The gradient of padding one dimension of n elements: that of the elements themselves plus those of their copies in
/// both borders.
template <bool Reflects>
value border_gradient(graph<7> g, value grad, std::int64_t axis, sym_int n, std::int64_t before, std::int64_t after) {
    value sum = slice(g, grad, axis, before, after == 0 ? to_the_end : -after);
    auto const add = [&](value border, sym_int zeros_before, sym_int zeros_after) {
        axis_pad const zeros{axis, zeros_before, zeros_after};
        sum = g.op<"Add">(sum, pad_with_number(g, border, {&zeros, 1}, 0));
    };
    auto const folded = [&](value border) {
        return Reflects ? flip_axes(g, border, safe_vector{axis}) : reduce_sum(g, border, safe_vector{axis}, true);
    };
    if (before != 0) {
        value const border = folded(slice(g, grad, axis, 0, before));
        Reflects ? add(border, 1, n - 1 - before) : add(border, 0, n - 1);
    }
    if (after != 0) {
        value const border = folded(slice(g, grad, axis, -after, to_the_end));
        Reflects ? add(border, n - 1 - after, 1) : add(border, n - 1, 0);
    }
    return sum;
}

template <bool Reflects>
inline constexpr auto padding_gradient = [](graph<7> g, value grad, value self, size_list padding) -> value {
    if (!is_floating(self.dtype())) return g.unsupported("the gradient of padded integers");
    for (axis_pad const& p : pads_by_axis(self, padding)) {
        if (!p.before.is_constant() || !p.after.is_constant())
            return g.unsupported("the gradient of a padding of dynamic size");
        if (p.before.constant() < 0 || p.after.constant() < 0)
            return g.unsupported("the gradient of a padding that crops");
        grad =
            border_gradient<Reflects>(g, grad, p.axis, g.size(self, p.axis), p.before.constant(), p.after.constant());
    }
    return grad;
};

} // namespace detail

inline constexpr auto padding_backward =
    table(symbolic<"aten::reflection_pad1d_backward(grad_output, self, padding)">(detail::padding_gradient<true>),
          symbolic<"aten::reflection_pad2d_backward(grad_output, self, padding)">(detail::padding_gradient<true>),
          symbolic<"aten::reflection_pad3d_backward(grad_output, self, padding)">(detail::padding_gradient<true>),
          symbolic<"aten::replication_pad1d_backward(grad_output, self, padding)">(detail::padding_gradient<false>),
          symbolic<"aten::replication_pad2d_backward(grad_output, self, padding)">(detail::padding_gradient<false>),
          symbolic<"aten::replication_pad3d_backward(grad_output, self, padding)">(detail::padding_gradient<false>));

} // namespace ATON_NAMESPACE::mappings
