// SPDX-License-Identifier: MIT
// Gather, scatter and nonzero.
#include <aton/runtime/compute.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

namespace {

/// Resolves negative indices, which count from the end. Throws aton::error for indices out of range.
tensor from_front(tensor const& indices, std::int64_t size, std::size_t axis) {
    if (indices.count() == 0) return indices;
    tensor const at = where(less(indices, 0), indices + scalar(static_cast<long long>(size)), indices);
    auto const extreme = [&](reduce_op op) { return to_host(reduce(op, at, all_axes(at))).item().to<std::int64_t>(); };
    std::int64_t const lowest = extreme(reduce_op::min);
    std::int64_t const highest = extreme(reduce_op::max);
    if (lowest < 0 || highest >= size)
        throw error("an index into axis " + std::to_string(axis) + " of size " + std::to_string(size) +
                    " is out of range: " + std::to_string(lowest < 0 ? lowest - size : highest));
    return at;
}

/// 0, stride, 2 * stride, ... along one of `rank` axes; the others have size 1.
tensor steps(std::int64_t size, std::int64_t stride, std::size_t axis, std::size_t rank, device where) {
    sizes to(rank, 1);
    to[axis] = size;
    return reshape(range(size, 0, stride, where), to);
}

tensor as_int64(tensor const& indices) {
    if (!is_integral(indices.dtype())) throw error(std::string(name(indices.dtype())) + " is not a dtype of indices");
    return indices.dtype() == dtype::int64 ? indices : cast(indices, dtype::int64);
}

} // namespace

tensor take(tensor const& x, tensor const& positions) {
    return kernels_of(x.where()).take(contiguous(x), to_device(positions, x.where())); // strings are on the CPU
}

tensor put(tensor const& x, tensor const& positions, tensor const& values, put_op op) {
    if (op != put_op::assign && is_complex(x.dtype())) {
        if (op != put_op::add) throw error("complex numbers support no reduction except addition");
        tensor const pairs = (positions * scalar(2)).unsqueezed(positions.rank()) + range(2, 0, 1, positions.where());
        return put(contiguous(x).as_pairs(), pairs, contiguous(values.expanded(positions.sizes())).as_pairs(), op)
            .from_pairs();
    }
    tensor out = clone(x);
    if (positions.count() != 0)
        kernels_of(x.where()).put(out, to_device(positions, x.where()), values.expanded(positions.sizes()), op);
    return out;
}

tensor positions(sizes const& of, std::span<tensor const> indices) {
    if (indices.size() > of.size()) throw error("there are more indices than dimensions");
    if (indices.empty()) throw error("at least one index is required");
    device const here = indices[0].where();
    std::vector<std::int64_t> const strides = contiguous_strides(of);
    tensor out;
    for (std::size_t i = 0; i != indices.size(); ++i) {
        tensor const at = from_front(as_int64(indices[i]), of[i], i) * scalar(static_cast<long long>(strides[i]));
        out = out ? out + at : at;
    }
    std::size_t const rest = of.size() - indices.size();
    for (std::size_t i = 0; i != rest; ++i) out = out.unsqueezed(out.rank());
    for (std::size_t i = 0; i != rest; ++i) {
        std::size_t const axis = indices.size() + i;
        out = out + steps(of[axis], strides[axis], i, rest, here);
    }
    return out;
}

tensor positions_along(sizes const& of, tensor const& indices, std::int64_t axis) {
    std::size_t const at = axis_at(axis, of.size());
    if (of.empty()) return from_front(as_int64(indices), 1, 0);
    if (indices.rank() != of.size()) throw error("indices along an axis must have the rank of the data");
    std::vector<std::int64_t> const strides = contiguous_strides(of);
    tensor out = from_front(as_int64(indices), of[at], at) * scalar(static_cast<long long>(strides[at]));
    for (std::size_t i = 0; i != of.size(); ++i) {
        if (i == at) continue;
        if (indices.size(i) > of[i]) throw error("indices are larger than the data along axis " + std::to_string(i));
        out = out + steps(indices.size(i), strides[i], i, of.size(), indices.where());
    }
    return out;
}

tensor index_select(tensor const& x, std::int64_t axis, tensor const& indices) {
    std::size_t const at = axis_at(axis, x.rank());
    std::int64_t const size = x.rank() == 0 ? 1 : x.size(at);
    sizes to(x.sizes().begin(), x.sizes().begin() + static_cast<std::ptrdiff_t>(at));
    to.insert(to.end(), indices.sizes().begin(), indices.sizes().end());
    if (x.rank() != 0) to.insert(to.end(), x.sizes().begin() + static_cast<std::ptrdiff_t>(at) + 1, x.sizes().end());
    tensor const from = from_front(as_int64(indices), size, at);
    if (from.count() == 1 && x.rank() != 0) { // a view
        auto const only = to_host(from).item().to<std::int64_t>();
        tensor one = x.sliced(at, only, 1).squeezed(at);
        for (std::size_t i = 0; i != indices.rank(); ++i) one = one.unsqueezed(at);
        return one;
    }
    if (count_of(to) == 0) return tensor::empty(x.dtype(), to, kernels_of(x.where()).memory());
    std::int64_t inner = 1;
    for (std::size_t i = at + 1; i < x.rank(); ++i) inner *= x.size(i);
    std::int64_t outer = 1;
    for (std::size_t i = 0; i < at; ++i) outer *= x.size(i);
    tensor const rows = flatten(from) * scalar(static_cast<long long>(inner));
    tensor const places = steps(outer, size * inner, 0, 3, from.where()) + reshape(rows, {1, rows.count(), 1}) +
                          steps(inner, 1, 2, 3, from.where());
    return reshape(take(x, places), to);
}

tensor take_along(tensor const& x, tensor const& indices, std::int64_t axis) {
    return take(x, positions_along(x.sizes(), indices, axis));
}

tensor nonzero(tensor const& x) {
    if (x.is_strings()) throw error("strings cannot be compared with 0");
    tensor const truth = x.dtype() == dtype::bool_ ? x : is_complex(x.dtype()) ? unequal(x, 0) : cast(x, dtype::bool_);
    tensor left = kernels_of(x.where()).nonzero(truth);
    std::vector<tensor> indices;
    for (std::size_t axis = 0; axis != x.rank(); ++axis) {
        std::int64_t stride = 1;
        for (std::size_t i = axis + 1; i != x.rank(); ++i) stride *= x.size(i);
        tensor const at = left / scalar(static_cast<long long>(stride));
        indices.push_back(at);
        left = left - at * scalar(static_cast<long long>(stride));
    }
    if (indices.empty()) return tensor::empty(dtype::int64, {0, left.count()}, kernels_of(x.where()).memory()); // 0-d
    return stack(indices, 0);
}

} // namespace ATON_NAMESPACE::runtime
