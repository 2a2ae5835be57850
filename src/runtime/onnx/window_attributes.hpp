// SPDX-License-Identifier: MIT
// kernel_shape, strides, dilations, pads and auto_pad, as operators with windows have them.
#pragma once

#include "runtime/compute/spatial.hpp"

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

/// The attributes but for padding; `kernel` is that of kernel_shape where the attribute is there. Checked.
[[nodiscard]] window bare_window_of(call const& c, std::size_t axes, sizes const& kernel = {});
/// With the padding of pads or auto_pad for `x`.
[[nodiscard]] window window_of(call const& c, tensor const& x, sizes const& kernel = {});

/// The sizes after N and C.
[[nodiscard]] sizes spatial_sizes(tensor const& x);

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
