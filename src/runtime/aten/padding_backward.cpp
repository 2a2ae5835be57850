// SPDX-License-Identifier: MIT
// ATen operators: the gradients of reflection and replication padding. Each element gets the sum over its copies.
#include <algorithm>
#include <string>

#include <aton/core/error.hpp>

#include "axes.hpp"
#include "borders.hpp"
#include "positions.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

template <border Indices>
results padding_gradient(call const& c) {
    tensor const x = c.t("self");
    tensor grad = c.t("grad_output");
    ints const by = c.ints("padding");
    if (!is_floating(x.dtype()) || grad.dtype() != x.dtype())
        throw error("the gradient of a padding needs one floating-point dtype");
    std::size_t const spatial = by.size() / 2;
    if (grad.rank() != x.rank() || (x.rank() != spatial + 1 && x.rank() != spatial + 2))
        throw error("a padding of " + std::to_string(by.size()) + " numbers does not fit shape " +
                    to_string(x.sizes()));
    grad = cast(grad, compute_type(x.dtype()));
    for (std::size_t k = 0; k != spatial; ++k) {
        std::size_t const axis = x.rank() - 1 - k;
        std::int64_t const n = x.size(axis);
        std::int64_t const before = by[2 * k];
        std::int64_t const after = by[2 * k + 1];
        constexpr std::int64_t limit = std::int64_t{1} << 40; // sums do not overflow
        bool const fits = n != 0 && std::max(before, after) <= limit && std::min(before, after) >= -n &&
                          grad.size(axis) == n + before + after;
        tensor const at = fits ? Indices(n, before, after, grad.where()) : tensor();
        if (!at)
            throw error("a gradient of shape " + to_string(grad.sizes()) + " does not fit padding " + to_string(by));
        sizes of = grad.sizes();
        of[axis] = n;
        tensor const none = full(0, grad.dtype(), of, grad.where());
        grad = put(none, slice_positions(of, axis, at), grad, put_op::add);
    }
    for (std::size_t k = 0; k != x.rank(); ++k)
        if (grad.size(k) != x.size(k)) throw error("grad_output and self have different batches");
    return cast(grad, x.dtype());
}

} // namespace

rows padding_backward() {
    static constexpr row all[] = {
        {"reflection_pad1d_backward", padding_gradient<reflected>},
        {"reflection_pad2d_backward", padding_gradient<reflected>},
        {"reflection_pad3d_backward", padding_gradient<reflected>},
        {"replication_pad1d_backward", padding_gradient<replicated>},
        {"replication_pad2d_backward", padding_gradient<replicated>},
        {"replication_pad3d_backward", padding_gradient<replicated>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
