// SPDX-License-Identifier: MIT
// The kernels of a device, of which the interpreters of ONNX and ATen are composed. Each is written once, as functors
// in src/runtime/kernels/, which the launcher of a device runs. <aton/runtime/compute.hpp> wraps them as functions
// of tensors.
// Internal header.
#pragma once

#include <cstdint>
#include <span>

#include <aton/runtime/functions.hpp>
#include <aton/runtime/tensor.hpp>

namespace ATON_NAMESPACE::runtime {

/// Reductions. `max` and `min` return NaN if any element is NaN.
enum class reduce_op : std::uint8_t {
    sum,
    prod,
    max, // for zero elements, the minimum of the dtype
    min,
    any, // for bools
    all,
    count_
};

/// Scans: each element becomes the reduction of all elements up to and including it.
enum class scan_op : std::uint8_t { sum, prod, max, min, log_add_exp, count_ };

/// How a value is combined with the element at its position.
enum class put_op : std::uint8_t { assign, add, mul, max, min, count_ };

struct sorted {
    tensor values;
    tensor indices; ///< int64
};

struct largest {
    tensor values;
    tensor numbers; ///< int64: the numbers of the maxima
};

/// The kernels of one device. Results are new contiguous tensors; operands may be any views on that device. Sizes
/// broadcast if a function takes several tensors. Throws aton::error for unsupported dtypes and for sizes that do not
/// fit.
class device_kernels {
public:
    device_kernels() = default;
    device_kernels(device_kernels const&) = delete;
    device_kernels& operator=(device_kernels const&) = delete;
    virtual ~device_kernels() = default;

    [[nodiscard]] virtual allocator& memory() const = 0;
    /// Copies a tensor from the CPU to this device, and back; contiguous.
    [[nodiscard]] virtual tensor from_host(tensor const& x) const = 0;
    [[nodiscard]] virtual tensor to_host(tensor const& x) const = 0;

    [[nodiscard]] virtual tensor unary(unary_op op, tensor const& x, unary_parameters const& p = {}) const = 0;
    /// Both operands must have the same dtype.
    [[nodiscard]] virtual tensor binary(binary_op op, tensor const& x, tensor const& y) const = 0;
    /// `yes` where `condition` is true, otherwise `no`; both have the same dtype.
    [[nodiscard]] virtual tensor select(tensor const& condition, tensor const& yes, tensor const& no) const = 0;
    /// Converts to another dtype, rounding to nearest even, from floats to integers towards zero. Floats of at most 8
    /// bits saturate unless `saturate` is false.
    [[nodiscard]] virtual tensor cast(tensor const& x, dtype to, bool saturate = true) const = 0;
    [[nodiscard]] virtual tensor contiguous(tensor const& x) const = 0;
    /// Writes `from`, expanded, to the elements of the view `to`, which has the same dtype.
    virtual void copy(tensor const& from, tensor const& to) const = 0;

    /// Reduces and removes these axes, which must be ascending. The dtype stays; sums of float16 and bfloat16 are
    /// computed in float32, integers wrap around.
    [[nodiscard]] virtual tensor reduce(reduce_op op, tensor const& x, std::span<std::size_t const> axes) const = 0;
    /// The int64 index of the first (`last`: the last) maximum or minimum along an axis, which is removed. NaN counts
    /// as both. `op` is max or min.
    [[nodiscard]] virtual tensor arg_reduce(reduce_op op, tensor const& x, std::size_t axis, bool last) const = 0;
    [[nodiscard]] virtual tensor scan(scan_op op, tensor const& x, std::size_t axis) const = 0;
    /// A stable sort; NaN is greater than every number.
    [[nodiscard]] virtual sorted sort(tensor const& x, std::size_t axis, bool descending) const = 0;
    /// exp(x) / sum(exp(x)) along an axis, or its logarithm. Floats only.
    [[nodiscard]] virtual tensor softmax(tensor const& x, std::size_t axis, bool logarithm) const = 0;

    /// The product of [..., m, k] and [..., k, n] of the same dtype; leading dimensions broadcast. float16 and bfloat16
    /// are summed in float32, integers wrap around.
    [[nodiscard]] virtual tensor matmul(tensor const& a, tensor const& b) const = 0;

    /// Optional kernels for windows: over the axes of `x` from `kept` on, which have few elements, the sum of products
    /// with `y`, and the first maximum with the int64 number that `numbers` has at its position. Both operands
    /// broadcast to `x`. Returns an empty tensor if the device does not have a kernel for it or for the dtype; other
    /// kernels then compute the same.
    [[nodiscard]] virtual tensor sum_of_products(tensor const& /*x*/, tensor const& /*y*/, std::size_t /*kept*/) const {
        return {};
    }
    [[nodiscard]] virtual largest first_largest(tensor const& /*x*/, tensor const& /*numbers*/,
                                                std::size_t /*kept*/) const {
        return {};
    }

    /// The elements of `x` at these int64 positions in row-major order, in the shape of `positions`. Throws aton::error
    /// for a position out of range.
    [[nodiscard]] virtual tensor take(tensor const& x, tensor const& positions) const = 0;
    /// Writes `values` to these positions of `into`, which must be contiguous; on the CPU in order, so that the last
    /// one remains.
    virtual void put(tensor const& into, tensor const& positions, tensor const& values, put_op op) const = 0;
    /// The positions of true elements, int64 and 1-d.
    [[nodiscard]] virtual tensor nonzero(tensor const& x) const = 0;
    /// 0, 1, 2, ...: int64, 1-d.
    [[nodiscard]] virtual tensor range(std::int64_t count) const = 0;
    /// Random 32-bit numbers (Philox 4x32-10) as uint32, 1-d: the same for a seed on every device.
    [[nodiscard]] virtual tensor random_bits(std::int64_t count, std::uint64_t seed) const = 0;
};

[[nodiscard]] device_kernels const& cpu_kernels();

/// The kernels of a device. Throws aton::error if this build or this machine does not have it.
[[nodiscard]] device_kernels const& kernels_of(device d);
/// Registers the kernels of another device with kernels_of().
void register_kernels(device_kernels const& kernels);

} // namespace ATON_NAMESPACE::runtime
