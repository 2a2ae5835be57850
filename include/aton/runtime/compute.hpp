// SPDX-License-Identifier: MIT
// Functions of tensors, which run on the device of their operands. The interpreters of ONNX and ATen are written in
// them.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include <aton/core/scalar.hpp>
#include <aton/runtime/kernels.hpp>
#include <aton/runtime/tensor.hpp>

namespace ATON_NAMESPACE::runtime {

// Elementwise functions. Operands have the same dtype, which may be complex; sizes broadcast; a number takes the dtype
// of the other operand.
[[nodiscard]] tensor unary(unary_op op, tensor const& x, unary_parameters const& p = {});
[[nodiscard]] tensor binary(binary_op op, tensor const& x, tensor const& y);
[[nodiscard]] tensor binary(binary_op op, tensor const& x, scalar const& y);
[[nodiscard]] tensor binary(binary_op op, scalar const& x, tensor const& y);
[[nodiscard]] tensor where(tensor const& condition, tensor const& yes, tensor const& no);
[[nodiscard]] tensor where(tensor const& condition, tensor const& yes, scalar const& no);
[[nodiscard]] tensor where(tensor const& condition, scalar const& yes, tensor const& no);
[[nodiscard]] tensor cast(tensor const& x, dtype to, bool saturate = true);
/// Clamps to [low, high]; NaN stays NaN. Pass an infinity for a missing bound.
[[nodiscard]] tensor clamp(tensor const& x, double low, double high);

[[nodiscard]] inline tensor operator-(tensor const& x) { return unary(unary_op::neg, x); }
template <class Y>
[[nodiscard]] tensor operator+(tensor const& x, Y const& y) {
    return binary(binary_op::add, x, y);
}
template <class Y>
[[nodiscard]] tensor operator-(tensor const& x, Y const& y) {
    return binary(binary_op::sub, x, y);
}
template <class Y>
[[nodiscard]] tensor operator*(tensor const& x, Y const& y) {
    return binary(binary_op::mul, x, y);
}
/// Integers round towards zero.
template <class Y>
[[nodiscard]] tensor operator/(tensor const& x, Y const& y) {
    return binary(binary_op::div, x, y);
}
[[nodiscard]] inline tensor operator+(scalar const& x, tensor const& y) { return binary(binary_op::add, x, y); }
[[nodiscard]] inline tensor operator-(scalar const& x, tensor const& y) { return binary(binary_op::sub, x, y); }
[[nodiscard]] inline tensor operator*(scalar const& x, tensor const& y) { return binary(binary_op::mul, x, y); }
[[nodiscard]] inline tensor operator/(scalar const& x, tensor const& y) { return binary(binary_op::div, x, y); }

[[nodiscard]] inline tensor abs(tensor const& x) { return unary(unary_op::abs, x); }
[[nodiscard]] inline tensor ceil(tensor const& x) { return unary(unary_op::ceil, x); }
[[nodiscard]] inline tensor cos(tensor const& x) { return unary(unary_op::cos, x); }
[[nodiscard]] inline tensor exp(tensor const& x) { return unary(unary_op::exp, x); }
[[nodiscard]] inline tensor floor(tensor const& x) { return unary(unary_op::floor, x); }
[[nodiscard]] inline tensor isnan(tensor const& x) { return unary(unary_op::isnan, x); }
[[nodiscard]] inline tensor log(tensor const& x) { return unary(unary_op::log, x); }
[[nodiscard]] inline tensor logical_not(tensor const& x) { return unary(unary_op::logical_not, x); }
[[nodiscard]] inline tensor relu(tensor const& x) { return unary(unary_op::relu, x); }
[[nodiscard]] inline tensor round(tensor const& x) { return unary(unary_op::round, x); }
[[nodiscard]] inline tensor sigmoid(tensor const& x) { return unary(unary_op::sigmoid, x); }
[[nodiscard]] inline tensor sin(tensor const& x) { return unary(unary_op::sin, x); }
[[nodiscard]] inline tensor sqrt(tensor const& x) { return unary(unary_op::sqrt, x); }
[[nodiscard]] inline tensor square(tensor const& x) { return unary(unary_op::square, x); }
[[nodiscard]] inline tensor tanh(tensor const& x) { return unary(unary_op::tanh, x); }
[[nodiscard]] inline tensor trunc(tensor const& x) { return unary(unary_op::trunc, x); }

template <class Y>
[[nodiscard]] tensor equal(tensor const& x, Y const& y) {
    return binary(binary_op::eq, x, y);
}
template <class Y>
[[nodiscard]] tensor unequal(tensor const& x, Y const& y) {
    return binary(binary_op::ne, x, y);
}
template <class Y>
[[nodiscard]] tensor less(tensor const& x, Y const& y) {
    return binary(binary_op::lt, x, y);
}
template <class Y>
[[nodiscard]] tensor less_equal(tensor const& x, Y const& y) {
    return binary(binary_op::le, x, y);
}
template <class Y>
[[nodiscard]] tensor greater(tensor const& x, Y const& y) {
    return binary(binary_op::gt, x, y);
}
template <class Y>
[[nodiscard]] tensor greater_equal(tensor const& x, Y const& y) {
    return binary(binary_op::ge, x, y);
}
template <class Y>
[[nodiscard]] tensor maximum(tensor const& x, Y const& y) {
    return binary(binary_op::maximum, x, y);
}
template <class Y>
[[nodiscard]] tensor minimum(tensor const& x, Y const& y) {
    return binary(binary_op::minimum, x, y);
}
template <class Y>
[[nodiscard]] tensor pow(tensor const& x, Y const& y) {
    return binary(binary_op::pow, x, y);
}
template <class Y>
[[nodiscard]] tensor logical_and(tensor const& x, Y const& y) {
    return binary(binary_op::logical_and, x, y);
}
template <class Y>
[[nodiscard]] tensor logical_or(tensor const& x, Y const& y) {
    return binary(binary_op::logical_or, x, y);
}

// Tensors without operands. `full` is a view of one element, or of an empty string.
[[nodiscard]] tensor full(scalar const& value, dtype type, sizes const& of, device where = {});
/// int64, 1-d: start, start + step, ...
[[nodiscard]] tensor range(std::int64_t count, std::int64_t start = 0, std::int64_t step = 1, device where = {});
/// float32, uniform in [0, 1), and normal with mean 0 and standard deviation 1.
[[nodiscard]] tensor uniform(sizes const& of, std::uint64_t seed, device where = {});
[[nodiscard]] tensor normal(sizes const& of, std::uint64_t seed, device where = {});
/// int64, uniform from 0 to 2^63 - 1.
[[nodiscard]] tensor random_integers(sizes const& of, std::uint64_t seed, device where = {});
/// Uniform in [0, 1): float64 with 53 random bits if `type` is float64, else float32 with 24.
[[nodiscard]] tensor uniform(sizes const& of, dtype type, std::uint64_t seed, device where = {});
/// The seed of one of several draws with one seed.
[[nodiscard]] constexpr std::uint64_t seed_of_draw(std::uint64_t seed, std::uint64_t draw) {
    return seed + draw * 0x9e3779b97f4a7c15U;
}

// Reductions. `axes` may be unsorted and negative; empty reduces nothing. `keep`: reduced axes remain with size 1.
using axis_list = std::vector<std::int64_t>;
/// 0, 1, ..., rank - 1
[[nodiscard]] axis_list all_axes(tensor const& x);
[[nodiscard]] tensor reduce(reduce_op op, tensor const& x, axis_list const& axes, bool keep = false);
[[nodiscard]] inline tensor sum(tensor const& x, axis_list const& axes, bool keep = false) {
    return reduce(reduce_op::sum, x, axes, keep);
}
[[nodiscard]] inline tensor max(tensor const& x, axis_list const& axes, bool keep = false) {
    return reduce(reduce_op::max, x, axes, keep);
}
[[nodiscard]] inline tensor min(tensor const& x, axis_list const& axes, bool keep = false) {
    return reduce(reduce_op::min, x, axes, keep);
}
/// Floats only; NaN for zero elements.
[[nodiscard]] tensor mean(tensor const& x, axis_list const& axes, bool keep = false);
/// sum((x - mean)^2) / (n - correction)
[[nodiscard]] tensor variance(tensor const& x, axis_list const& axes, double correction, bool keep = false);
[[nodiscard]] tensor arg_max(tensor const& x, std::int64_t axis, bool keep = false, bool last = false);
[[nodiscard]] tensor arg_min(tensor const& x, std::int64_t axis, bool keep = false, bool last = false);
/// `exclusive`: without the element itself; `reverse`: from the last element to the first.
[[nodiscard]] tensor scan(scan_op op, tensor const& x, std::int64_t axis, bool exclusive = false, bool reverse = false);
[[nodiscard]] sorted sort(tensor const& x, std::int64_t axis, bool descending = false);
[[nodiscard]] tensor softmax(tensor const& x, std::int64_t axis);
[[nodiscard]] tensor log_softmax(tensor const& x, std::int64_t axis);
/// numpy's matmul: a vector is a row on the left and a column on the right.
[[nodiscard]] tensor matmul(tensor const& a, tensor const& b);

// Layout, for every dtype.
[[nodiscard]] tensor contiguous(tensor const& x);
/// The same elements in another shape; a view if possible, otherwise a copy.
[[nodiscard]] tensor reshape(tensor const& x, sizes const& to);
[[nodiscard]] tensor flatten(tensor const& x); ///< to 1-d
[[nodiscard]] tensor transpose(tensor const& x, std::int64_t a, std::int64_t b);
/// Complex conjugates; real numbers are unchanged.
[[nodiscard]] tensor conjugate(tensor const& x);
/// The conjugate transpose of matrices [..., m, n].
[[nodiscard]] tensor adjoint(tensor const& x);
[[nodiscard]] tensor concat(std::span<tensor const> parts, std::int64_t axis);
[[nodiscard]] tensor stack(std::span<tensor const> parts, std::int64_t axis);
/// A copy.
[[nodiscard]] tensor clone(tensor const& x);
/// Writes `from`, expanded, to the elements of the view `to`, which has the same dtype.
void copy(tensor const& from, tensor const& to);
/// `x` on a device; a copy unless it is already there.
[[nodiscard]] tensor to_device(tensor const& x, device where);
[[nodiscard]] inline tensor to_host(tensor const& x) { return to_device(x, {}); }
/// Adds `before[i]` and `after[i]` elements to axis i; negative numbers remove elements. `value` is 0-d.
[[nodiscard]] tensor pad(tensor const& x, sizes const& before, sizes const& after, tensor const& value);
[[nodiscard]] tensor pad(tensor const& x, sizes const& before, sizes const& after, scalar const& value);
/// The source of padding elements.
enum class pad_mode : std::uint8_t {
    reflect, ///< mirrored at the first and the last element, repeatedly if necessary
    edge,    ///< the nearest element
    wrap     ///< from the opposite end
};
[[nodiscard]] tensor pad(tensor const& x, sizes const& before, sizes const& after, pad_mode mode);

// Gather and scatter.
/// The elements at int64 positions in row-major order.
[[nodiscard]] tensor take(tensor const& x, tensor const& positions);
/// A copy of `x` with `values`, expanded to the shape of `positions`, at these positions.
[[nodiscard]] tensor put(tensor const& x, tensor const& positions, tensor const& values, put_op op = put_op::assign);
/// Positions in a tensor of this shape for an int64 index into each of its leading dimensions, broadcast against each
/// other; negative indices count from the end. The remaining dimensions are taken whole. Throws aton::error for an
/// index out of range.
[[nodiscard]] tensor positions(sizes const& of, std::span<tensor const> indices);
/// Positions in a tensor of this shape: `indices` along `axis`; along every other axis, the coordinate of the index
/// itself.
[[nodiscard]] tensor positions_along(sizes const& of, tensor const& indices, std::int64_t axis);
/// `x` with `axis` replaced by the dimensions of `indices`: numpy's take.
[[nodiscard]] tensor index_select(tensor const& x, std::int64_t axis, tensor const& indices);
[[nodiscard]] tensor take_along(tensor const& x, tensor const& indices, std::int64_t axis);
/// The indices of elements that are true (or nonzero), as [rank, n].
[[nodiscard]] tensor nonzero(tensor const& x);

} // namespace ATON_NAMESPACE::runtime
