// SPDX-License-Identifier: MIT
// Reductions, scans, sorting and matrix products of tensors.
#include <aton/runtime/compute.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

#include "runtime/compute/complex.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

/// Axes in ascending order, counted from the front.
std::vector<std::size_t> axes_of(tensor const& x, axis_list const& axes) {
    std::vector<std::size_t> out;
    for (std::int64_t axis : axes) {
        std::size_t const at = axis_at(axis, x.rank());
        if (x.rank() != 0) out.push_back(at); // a 0-d tensor has no axes
    }
    std::sort(out.begin(), out.end());
    if (std::adjacent_find(out.begin(), out.end()) != out.end()) throw error("an axis is given twice");
    return out;
}

tensor with_axes(tensor x, std::vector<std::size_t> const& axes, bool keep) {
    if (keep)
        for (std::size_t axis : axes) x = x.unsqueezed(axis);
    return x;
}

std::int64_t count_along(tensor const& x, std::vector<std::size_t> const& axes) {
    std::int64_t n = 1;
    for (std::size_t axis : axes) n *= x.size(axis);
    return n;
}

/// A 0-d tensor as 1-d.
tensor at_least_1d(tensor const& x) { return x.rank() == 0 ? x.unsqueezed(0) : x; }

tensor arg_reduce(reduce_op op, tensor const& x, std::int64_t axis, bool keep, bool last) {
    std::size_t const at = axis_at(axis, x.rank());
    tensor const wide = at_least_1d(x);
    if (wide.size(at) == 0) throw error("an axis of size 0 has no maximum or minimum");
    tensor const out = kernels_of(x.where()).arg_reduce(op, wide, at, last);
    return keep && x.rank() != 0 ? out.unsqueezed(at) : out;
}

tensor reversed(tensor const& x, std::size_t axis) { return x.sliced(axis, x.size(axis) - 1, x.size(axis), -1); }

} // namespace

axis_list all_axes(tensor const& x) {
    axis_list out(x.rank());
    std::iota(out.begin(), out.end(), 0);
    return out;
}

tensor reduce(reduce_op op, tensor const& x, axis_list const& axes, bool keep) {
    std::vector<std::size_t> const at = axes_of(x, axes);
    if (is_complex(x.dtype()) && op == reduce_op::sum)
        return with_axes(kernels_of(x.where()).reduce(op, x.as_pairs(), at).from_pairs(), at, keep);
    return with_axes(kernels_of(x.where()).reduce(op, x, at), at, keep);
}

tensor mean(tensor const& x, axis_list const& axes, bool keep) {
    auto const n = static_cast<double>(count_along(x, axes_of(x, axes)));
    if (x.dtype() == dtype::float16 || x.dtype() == dtype::bfloat16) // rounded once
        return cast(mean(cast(x, dtype::float32), axes, keep), x.dtype());
    return sum(x, axes, keep) / scalar(n);
}

tensor variance(tensor const& x, axis_list const& axes, double correction, bool keep) {
    auto const n = static_cast<double>(count_along(x, axes_of(x, axes)));
    if (x.dtype() == dtype::float16 || x.dtype() == dtype::bfloat16)
        return cast(variance(cast(x, dtype::float32), axes, correction, keep), x.dtype());
    tensor const squares = square(x - mean(x, axes, true));
    return sum(squares, axes, keep) / scalar(n == 0 ? 0 : std::max(0.0, n - correction)); // 0 / 0 where there are none
}

tensor arg_max(tensor const& x, std::int64_t axis, bool keep, bool last) {
    return arg_reduce(reduce_op::max, x, axis, keep, last);
}
tensor arg_min(tensor const& x, std::int64_t axis, bool keep, bool last) {
    return arg_reduce(reduce_op::min, x, axis, keep, last);
}

tensor scan(scan_op op, tensor const& x, std::int64_t axis, bool exclusive, bool reverse) {
    std::size_t const at = axis_at(axis, x.rank());
    if (x.rank() == 0) return reshape(scan(op, x.unsqueezed(0), 0, exclusive, reverse), {});
    if (reverse) return contiguous(reversed(scan(op, reversed(x, at), axis, exclusive, false), at));
    if (!exclusive) return kernels_of(x.where()).scan(op, x, at);
    if (op != scan_op::sum && op != scan_op::prod) throw error("an exclusive scan requires a sum or a product");
    if (x.size(at) == 0) return x;
    sizes before(x.rank(), 0);
    sizes after(x.rank(), 0);
    before[at] = 1;
    after[at] = -1;
    return kernels_of(x.where()).scan(op, pad(x, before, after, scalar(op == scan_op::prod ? 1 : 0)), at);
}

sorted sort(tensor const& x, std::int64_t axis, bool descending) {
    std::size_t const at = axis_at(axis, x.rank());
    sorted s = kernels_of(x.where()).sort(at_least_1d(x), at, descending);
    if (x.rank() != 0) return s;
    return {s.values.squeezed(0), s.indices.squeezed(0)};
}

tensor softmax(tensor const& x, std::int64_t axis) {
    std::size_t const at = axis_at(axis, x.rank());
    return reshape(kernels_of(x.where()).softmax(at_least_1d(x), at, false), x.sizes());
}
tensor log_softmax(tensor const& x, std::int64_t axis) {
    std::size_t const at = axis_at(axis, x.rank());
    return reshape(kernels_of(x.where()).softmax(at_least_1d(x), at, true), x.sizes());
}

namespace {

/// The real and imaginary parts are one real product each, of joined matrices: products that cancel are added before they are rounded.
tensor complex_matmul(tensor const& a, tensor const& b) {
    std::int64_t const summed = b.rank() == 1 ? 0 : static_cast<std::int64_t>(b.rank()) - 2;
    auto const joined = [](tensor const& x, tensor const& y, std::int64_t axis) {
        tensor const parts[] = {x, y};
        return concat(parts, axis);
    };
    tensor const real = real_part(a);
    tensor const imaginary = imaginary_part(a);
    return complex_of(
        matmul(joined(real, unary(unary_op::neg, imaginary), -1), joined(real_part(b), imaginary_part(b), summed)),
        matmul(joined(real, imaginary, -1), joined(imaginary_part(b), real_part(b), summed)));
}

} // namespace

tensor matmul(tensor const& a, tensor const& b) {
    if (a.rank() == 0 || b.rank() == 0) throw error("a matrix product does not support 0-d tensors");
    if (a.dtype() != b.dtype()) throw error("the matrices must have the same dtype");
    if (is_complex(a.dtype())) return complex_matmul(a, b);
    tensor const left = a.rank() == 1 ? a.unsqueezed(0) : a;
    tensor const right = b.rank() == 1 ? b.unsqueezed(1) : b;
    tensor out = kernels_of(a.where()).matmul(left, right);
    if (a.rank() == 1) out = out.squeezed(out.rank() - 2);
    if (b.rank() == 1) out = out.squeezed(out.rank() - 1);
    return out;
}

} // namespace ATON_NAMESPACE::runtime
