// SPDX-License-Identifier: MIT
// Elementwise functions of tensors, and tensors without operands.
#include <aton/runtime/compute.hpp>

#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "complex.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

/// A 0-d tensor. Numbers are cast if constants do not support the dtype; for strings it is an empty string.
tensor number_as(scalar const& number, dtype type) {
    if (type == dtype::string) return tensor::of_strings({""}, {});
    if (aton::tensor::can_hold(type)) return tensor::of_scalar(number, type);
    return cast(tensor::of_scalar(number, is_integral(type) ? dtype::int64 : dtype::float32), type);
}

/// A number as a 0-d tensor with the dtype and device of `x`.
tensor beside(tensor const& x, scalar const& number) { return to_device(number_as(number, x.dtype()), x.where()); }

} // namespace

tensor unary(unary_op op, tensor const& x, unary_parameters const& p) {
    if (is_complex(x.dtype())) return complex_unary(op, x);
    return kernels_of(x.where()).unary(op, x, p);
}

tensor binary(binary_op op, tensor const& x, tensor const& y) {
    if (is_complex(x.dtype()) && x.dtype() == y.dtype()) return complex_binary(op, x, y);
    return kernels_of(x.where()).binary(op, x, y);
}

tensor binary(binary_op op, tensor const& x, scalar const& y) { return binary(op, x, beside(x, y)); }
tensor binary(binary_op op, scalar const& x, tensor const& y) { return binary(op, beside(y, x), y); }

tensor where(tensor const& condition, tensor const& yes, tensor const& no) {
    return kernels_of(yes.where()).select(to_device(condition, yes.where()), yes, no); // strings are always on the CPU
}
tensor where(tensor const& condition, tensor const& yes, scalar const& no) {
    return where(condition, yes, beside(yes, no));
}
tensor where(tensor const& condition, scalar const& yes, tensor const& no) {
    return where(condition, beside(no, yes), no);
}

tensor cast(tensor const& x, dtype to, bool saturate) {
    if (is_complex(x.dtype()) && to == dtype::bool_) return logical_not(logical_not(x)); // from both parts
    return kernels_of(x.where()).cast(x, to, saturate);
}

tensor clamp(tensor const& x, double low, double high) { return unary(unary_op::clamp, x, {low, high, 0}); }

tensor full(scalar const& value, dtype type, sizes const& of, device where) {
    return to_device(number_as(value, type), where).expanded(of);
}

tensor range(std::int64_t count, std::int64_t start, std::int64_t step, device where) {
    tensor numbers = kernels_of(where).range(count);
    if (start == 0 && step == 1) return numbers;
    return numbers * scalar(static_cast<long long>(step)) + scalar(static_cast<long long>(start));
}

namespace {

/// float32 in [0, 1) with 24 random bits, 1-d.
tensor fractions(std::int64_t count, std::uint64_t seed, device where) {
    tensor const bits = kernels_of(where).random_bits(count, seed);
    tensor const kept = binary(binary_op::shift_right, cast(bits, dtype::int64), scalar(8));
    return cast(kept, dtype::float32) * scalar(0x1p-24F);
}

} // namespace

tensor uniform(sizes const& of, std::uint64_t seed, device where) {
    return reshape(fractions(count_of(of), seed, where), of);
}

tensor normal(sizes const& of, std::uint64_t seed, device where) {
    std::int64_t const count = count_of(of);
    tensor const both = fractions(2 * count, seed, where);
    tensor const radius = sqrt(log(1.0F - both.sliced(0, 0, count)) * scalar(-2.0F)); // Box-Muller transform
    tensor const angle = both.sliced(0, count, count) * scalar(6.283185307179586F);
    return reshape(radius * cos(angle), of);
}

tensor random_integers(sizes const& of, std::uint64_t seed, device where) {
    std::int64_t const n = count_of(of);
    tensor const bits = cast(kernels_of(where).random_bits(2 * n, seed), dtype::int64);
    tensor const high = binary(binary_op::shift_right, bits.sliced(0, 0, n), scalar(1));
    return reshape(high * scalar(std::int64_t{1} << 32U) + bits.sliced(0, n, n), of);
}

tensor uniform(sizes const& of, dtype type, std::uint64_t seed, device where) {
    if (type != dtype::float64) return uniform(of, seed, where);
    tensor const bits = binary(binary_op::shift_right, random_integers(of, seed, where), scalar(10));
    return cast(bits, type) * scalar(0x1p-53);
}

} // namespace ATON_NAMESPACE::runtime
