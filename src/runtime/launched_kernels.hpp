// SPDX-License-Identifier: MIT
// The part of a device that is the same for all: checks, results and views around the launches of its kernels.
#pragma once

#include "runtime/kernels/launches.hpp"
#include <aton/runtime/kernels.hpp>

namespace ATON_NAMESPACE::runtime {

/// Base class of devices, which add their memory, copies from and to the host, and `nonzero`.
class launched_kernels : public device_kernels {
public:
    /// `by` must outlive this object.
    explicit launched_kernels(kernels::launches const& by) : by_(by) {}

    [[nodiscard]] tensor unary(unary_op op, tensor const& x, unary_parameters const& p) const override;
    [[nodiscard]] tensor binary(binary_op op, tensor const& x, tensor const& y) const override;
    [[nodiscard]] tensor select(tensor const& condition, tensor const& yes, tensor const& no) const override;
    [[nodiscard]] tensor cast(tensor const& x, dtype to, bool saturate) const override;
    [[nodiscard]] tensor contiguous(tensor const& x) const override;
    void copy(tensor const& from, tensor const& to) const override;
    [[nodiscard]] tensor reduce(reduce_op op, tensor const& x, std::span<std::size_t const> axes) const override;
    [[nodiscard]] tensor arg_reduce(reduce_op op, tensor const& x, std::size_t axis, bool last) const override;
    [[nodiscard]] tensor scan(scan_op op, tensor const& x, std::size_t axis) const override;
    [[nodiscard]] sorted sort(tensor const& x, std::size_t axis, bool descending) const override;
    [[nodiscard]] tensor softmax(tensor const& x, std::size_t axis, bool logarithm) const override;
    [[nodiscard]] tensor matmul(tensor const& a, tensor const& b) const override;
    [[nodiscard]] tensor sum_of_products(tensor const& x, tensor const& y, std::size_t kept) const override;
    [[nodiscard]] largest first_largest(tensor const& x, tensor const& numbers, std::size_t kept) const override;
    [[nodiscard]] tensor take(tensor const& x, tensor const& positions) const override;
    void put(tensor const& into, tensor const& positions, tensor const& values, put_op op) const override;
    [[nodiscard]] tensor range(std::int64_t count) const override;
    [[nodiscard]] tensor random_bits(std::int64_t count, std::uint64_t seed) const override;

protected:
    /// Throws aton::error for positions that are not int64 or are out of range.
    void check_positions(tensor const& positions, std::int64_t count) const;
    void check_put(tensor const& into, tensor const& positions, tensor const& values) const;

private:
    /// Throws aton::error for operands on another device: a kernel would read arbitrary addresses.
    template <class... T>
    void expect_on_device(T const&... x) const {
        (expect_one_on_device(x), ...);
    }
    void expect_one_on_device(tensor const& x) const;
    /// Whether kernels support the dtype only as float32.
    [[nodiscard]] bool widens(dtype t) const;
    [[nodiscard]] tensor wide(tensor const& x) const { return cast(x, dtype::float32, true); }
    [[nodiscard]] tensor made(dtype t, sizes of) const { return tensor::empty(t, std::move(of), memory()); }
    [[nodiscard]] tensor converted(tensor const& x, dtype to, bool saturate) const;

    kernels::launches const& by_;
};

} // namespace ATON_NAMESPACE::runtime
