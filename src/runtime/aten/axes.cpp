// SPDX-License-Identifier: MIT
// Dimension arguments, and views that several operators use.
#include "axes.hpp"

#include <algorithm>
#include <limits>

namespace ATON_NAMESPACE::runtime::aten_kernels {

std::vector<std::size_t> distinct_axes(ints const& axes, std::size_t rank) {
    std::vector<std::size_t> out;
    for (std::int64_t const axis : axes) {
        std::size_t const at = axis_at(axis, rank);
        if (std::find(out.begin(), out.end(), at) != out.end())
            throw error("dimension " + std::to_string(axis) + " is given twice");
        out.push_back(at);
    }
    return out;
}

sizes completed(sizes to, std::int64_t count) {
    auto const open = std::find(to.begin(), to.end(), -1);
    if (open == to.end()) return to;
    *open = 1;
    std::int64_t const others = count_of(to);
    if (others == 0 || count % others != 0)
        throw error(std::to_string(count) + " elements cannot be viewed as sizes with the product " +
                    std::to_string(others) + " and one inferred size");
    *open = count / others;
    return to;
}

tensor python_slice(tensor const& x, std::size_t axis, std::int64_t start, std::int64_t end, std::int64_t step) {
    if (step <= 0) throw error("the step of a slice must be positive, not " + std::to_string(step));
    std::int64_t const size = x.size(axis);
    auto const inside = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
    std::int64_t const first = inside(start);
    std::int64_t const length = std::max<std::int64_t>(inside(end) - first, 0);
    return x.sliced(axis, first, length / step + (length % step != 0 ? 1 : 0), step);
}

tensor selected(tensor const& x, std::size_t axis, std::int64_t index) {
    std::int64_t const size = x.size(axis);
    if (index < -size || index >= size)
        throw error("index " + std::to_string(index) + " is out of range for a dimension of size " +
                    std::to_string(size));
    return x.sliced(axis, index < 0 ? index + size : index, 1).squeezed(axis);
}

tensor slice_of(call const& c, tensor const& x) {
    return python_slice(x,
                        axis_in(c, x),
                        c.maybe_i("start").value_or(0),
                        c.maybe_i("end").value_or(std::numeric_limits<std::int64_t>::max()),
                        c.i("step"));
}

tensor selection_of(call const& c, tensor const& x) { return selected(x, axis_in(c, x), c.i("index")); }

tensor diagonal_of(tensor const& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
    if (x.rank() < 2) throw error("a diagonal requires at least 2 dimensions");
    std::vector<std::size_t> const both = distinct_axes({dim1, dim2}, x.rank());
    std::int64_t const n = x.size(both[0]);
    std::int64_t const m = x.size(both[1]);
    bool const right = offset >= 0;
    bool const misses = right ? offset >= m : offset <= -n;
    std::int64_t const length = misses ? 0 : right ? std::min(n, m - offset) : std::min(n + offset, m);
    sizes to;
    ints strides;
    for (std::size_t i = 0; i != x.rank(); ++i) {
        if (i == both[0] || i == both[1]) continue;
        to.push_back(x.size(i));
        strides.push_back(x.strides()[i]);
    }
    to.push_back(length);
    strides.push_back(x.strides()[both[0]] + x.strides()[both[1]]);
    std::int64_t const start = length == 0 ? 0 : right ? offset * x.strides()[both[1]] : -offset * x.strides()[both[0]];
    return x.viewed(std::move(to), std::move(strides), start);
}

tensor strided(tensor const& x, sizes const& to, ints const& strides, std::optional<std::int64_t> offset) {
    if (to.size() != strides.size()) throw error("the numbers of strides and of sizes must be equal");
    if (x.is_strings()) throw error("strings do not support strided views");
    std::int64_t const start = offset.value_or(x.storage_offset());
    if (start < 0) throw error("a storage offset must not be negative");
    if (count_of(to) == 0) return x.viewed(to, contiguous_strides(to)); // strides of any size
    std::int64_t const storage = x.storage_count();
    std::int64_t last = start;
    for (std::size_t i = 0; last < storage && i != to.size(); ++i) {
        if (strides[i] < 0 || strides[i] > max_elements) // views add up and multiply strides
            throw error("a stride is " + std::to_string(strides[i]));
        bool const beyond = strides[i] != 0 && to[i] - 1 > storage / strides[i];
        last += beyond ? storage : (to[i] - 1) * strides[i];
    }
    if (last >= storage)
        throw error("sizes " + to_string(to) + " with strides " + to_string(strides) + " and offset " +
                    std::to_string(start) + " reach past a storage of " + std::to_string(storage) + " elements");
    return x.viewed(to, strides, start - x.storage_offset());
}

tensor permuted_by(tensor const& x, ints const& order) {
    if (order.size() != x.rank())
        throw error("dims has " + std::to_string(order.size()) + " entries for shape " + to_string(x.sizes()));
    return x.permuted(distinct_axes(order, x.rank()));
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
