// SPDX-License-Identifier: MIT
// What a device computes. The interpreters of ONNX and ATen are made of these, and of views; each is written once, as functors in
// src/runtime/kernels/, which the launcher of a device runs. <aton/runtime/compute.hpp> has them as functions of tensors.
// Internal header.
#pragma once

#include <cstdint>
#include <span>

#include <aton/runtime/functions.hpp>
#include <aton/runtime/tensor.hpp>

namespace ATON_NAMESPACE::runtime {

/// How many elements become one. `max` and `min` are NaN where any element is.
enum class reduce_op : std::uint8_t {
    sum,
    prod,
    max, // of none: the least number of the dtype
    min,
    any, // of bools
    all,
    count_
};

/// What stands at an element: all up to and with it.
enum class scan_op : std::uint8_t { sum, prod, max, min, log_add_exp, count_ };

/// What happens where a value meets the element that is there.
enum class put_op : std::uint8_t { assign, add, mul, max, min, count_ };

struct sorted {
    tensor values;
    tensor indices; ///< int64
};

struct largest {
    tensor values;
    tensor numbers; ///< int64: what was given beside the values
};

/// The kernels of one device. Results are new tensors, contiguous; operands may be any views on that device. Sizes broadcast where
/// tensors meet. Throws aton::error for dtypes that a function does not take and for sizes that do not fit.
class device_kernels {
public:
    device_kernels() = default;
    device_kernels(device_kernels const&) = delete;
    device_kernels& operator=(device_kernels const&) = delete;
    virtual ~device_kernels() = default;

    [[nodiscard]] virtual allocator& memory() const = 0;
    /// A tensor of the CPU on this device, and back; contiguous.
    [[nodiscard]] virtual tensor from_host(tensor const& x) const = 0;
    [[nodiscard]] virtual tensor to_host(tensor const& x) const = 0;

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

    /// Over these axes, in ascending order, which the result does not have. The dtype stays; sums of float16 and bfloat16 are made in
    /// float32, integers wrap around.
    [[nodiscard]] virtual tensor reduce(reduce_op op, tensor const& x, std::span<std::size_t const> axes) const = 0;
    /// The int64 index of the first (`last`: the last) largest or smallest element of an axis, which the result does not have. NaN is
    /// both. `op`: max or min.
    [[nodiscard]] virtual tensor arg_reduce(reduce_op op, tensor const& x, std::size_t axis, bool last) const = 0;
    [[nodiscard]] virtual tensor scan(scan_op op, tensor const& x, std::size_t axis) const = 0;
    /// Stable. NaN is larger than every number.
    [[nodiscard]] virtual sorted sort(tensor const& x, std::size_t axis, bool descending) const = 0;
    /// exp(x) / sum(exp(x)) along an axis, of floats, or its logarithm.
    [[nodiscard]] virtual tensor softmax(tensor const& x, std::size_t axis, bool logarithm) const = 0;

    /// [..., m, k] times [..., k, n], of one dtype; what is in front broadcasts. float16 and bfloat16 are summed in float32, integers
    /// wrap around.
    [[nodiscard]] virtual tensor matmul(tensor const& a, tensor const& b) const = 0;

    /// Over the axes of `x` from number `kept` on, few elements each time, as of windows: the sum of products with `y`, and the first
    /// largest element with the int64 number that `numbers` has there. Both broadcast to the sizes of `x`. No tensor where a device has
    /// no kernel for it, or none for the dtype: other kernels make the same.
    [[nodiscard]] virtual tensor sum_of_products(tensor const& /*x*/, tensor const& /*y*/, std::size_t /*kept*/) const {
        return {};
    }
    [[nodiscard]] virtual largest first_largest(tensor const& /*x*/, tensor const& /*numbers*/,
                                                std::size_t /*kept*/) const {
        return {};
    }

    /// The elements of `x` at these int64 positions, which count its elements in row-major order; as large as `positions`. Throws
    /// aton::error for a position outside.
    [[nodiscard]] virtual tensor take(tensor const& x, tensor const& positions) const = 0;
    /// Puts `values` to these positions of `into`, a contiguous tensor; on the CPU in order, so that the last one stays.
    virtual void put(tensor const& into, tensor const& positions, tensor const& values, put_op op) const = 0;
    /// The positions, int64 and 1-d, of true elements of a bool.
    [[nodiscard]] virtual tensor nonzero(tensor const& x) const = 0;
    /// 0, 1, 2, ...: int64, 1-d.
    [[nodiscard]] virtual tensor range(std::int64_t count) const = 0;
    /// Random 32-bit numbers (Philox 4x32-10) as uint32, 1-d: the same for a seed on every device.
    [[nodiscard]] virtual tensor random_bits(std::int64_t count, std::uint64_t seed) const = 0;
};

[[nodiscard]] device_kernels const& cpu_kernels();

/// Those of the device. Throws aton::error where this build, or this machine, has none.
[[nodiscard]] device_kernels const& kernels_of(device d);
/// Makes the kernels of a device of another kind known.
void register_kernels(device_kernels const& kernels);

} // namespace ATON_NAMESPACE::runtime
