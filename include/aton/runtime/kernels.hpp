// SPDX-License-Identifier: MIT
// What a device computes. The interpreters of ONNX and ATen are made of these, and of views; each is written once, as functors in
// <aton/runtime/kernels/>, which the launcher of a device runs.
#pragma once

#include <aton/runtime/kernels/binary.hpp>
#include <aton/runtime/kernels/unary.hpp>
#include <aton/runtime/tensor.hpp>

namespace aton::runtime {

/// The kernels of one device. Results are new tensors, contiguous; operands may be any views on that device. Sizes broadcast where
/// tensors meet. Throws aton::error for dtypes that a function does not take and for sizes that do not fit.
class device_kernels {
public:
    device_kernels() = default;
    device_kernels(device_kernels const&) = delete;
    device_kernels& operator=(device_kernels const&) = delete;
    virtual ~device_kernels() = default;

    [[nodiscard]] virtual allocator& memory() const = 0;

    [[nodiscard]] virtual tensor unary(unary_op op, tensor const& x, unary_parameters const& p = {}) const = 0;
    /// Both of one dtype.
    [[nodiscard]] virtual tensor binary(binary_op op, tensor const& x, tensor const& y) const = 0;
    /// `yes` where the bool is true, else `no`, of one dtype.
    [[nodiscard]] virtual tensor select(tensor const& condition, tensor const& yes, tensor const& no) const = 0;
    /// The same numbers in another dtype, rounded to nearest even; from floats to integers towards zero. Floats of 8 bits and fewer
    /// saturate unless told otherwise.
    [[nodiscard]] virtual tensor cast(tensor const& x, dtype to, bool saturate = true) const = 0;
    [[nodiscard]] virtual tensor contiguous(tensor const& x) const = 0;
    /// Writes `from`, expanded, into the elements that `to` views. The same dtype.
    virtual void copy(tensor const& from, tensor const& to) const = 0;
};

[[nodiscard]] device_kernels const& cpu_kernels();

} // namespace aton::runtime
