// SPDX-License-Identifier: MIT
// Reads the attributes of window operators: kernel_shape, strides, dilations, pads and auto_pad.
#pragma once

#include "runtime/compute/spatial.hpp"

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

/// The window without auto_pad, checked; `kernel` is the default of kernel_shape.
[[nodiscard]] window bare_window_of(call const& c, std::size_t axes, sizes const& kernel = {});
/// The window with the padding of pads or auto_pad for `x`.
[[nodiscard]] window window_of(call const& c, tensor const& x, sizes const& kernel = {});

/// The sizes after N and C.
[[nodiscard]] sizes spatial_sizes(tensor const& x);

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
