// SPDX-License-Identifier: MIT
// Top k elements, and distinct elements.
#include "runtime/compute/sorting.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

namespace {

/// int64 numbers that have the order of the strings; on the host.
tensor ranks_of_strings(tensor const& x) {
    tensor const dense = x.contiguous();
    std::map<std::string_view, std::int64_t> ranks;
    for (std::string const& s : dense.strings()) ranks.emplace(s, 0);
    std::int64_t next = 0;
    for (auto& [text, rank] : ranks) rank = next++;
    tensor const out = tensor::empty(dtype::int64, x.sizes());
    auto* to = out.data<std::int64_t>();
    for (std::string const& s : dense.strings()) *to++ = ranks.find(s)->second;
    return out;
}

tensor axis_first(tensor const& x, std::size_t axis) {
    std::vector<std::size_t> axes = {axis};
    for (std::size_t i = 0; i != x.rank(); ++i)
        if (i != axis) axes.push_back(i);
    return x.permuted(axes);
}

/// [n, m]: one row of sortable numbers per element or slice.
tensor keys_of(tensor const& x, std::optional<std::int64_t> axis) {
    tensor numbers = x;
    if (x.is_strings()) numbers = ranks_of_strings(x);
    tensor rows = axis ? axis_first(numbers, axis_at(*axis, x.rank())) : flatten(numbers);
    if (is_complex(rows.dtype())) rows = rows.as_pairs();
    return reshape(rows, {rows.size(0), count_of(std::span(rows.sizes()).subspan(1))});
}

/// The order that sorts the rows of [n, m]; stable.
tensor order_of_rows(tensor const& keys) {
    tensor order = range(keys.size(0), 0, 1, keys.where());
    for (std::int64_t column = keys.size(1); column-- != 0;) {
        tensor const key = keys.sliced(1, column, 1).squeezed(1);
        order = take(order, order_of(take(key, order)));
    }
    return order;
}

/// [n]: whether a row of [n, m] is unequal to the row before it; true for the first.
tensor starts_of(tensor const& rows) {
    std::int64_t const n = rows.size(0);
    tensor const first = full(true, dtype::bool_, {std::min<std::int64_t>(n, 1)}, rows.where());
    if (n <= 1) return contiguous(first);
    tensor const before = rows.sliced(0, 0, n - 1);
    tensor const after = rows.sliced(0, 1, n - 1);
    tensor differs = unequal(after, before);
    if (is_floating(rows.dtype()))
        differs = logical_and(differs, logical_not(logical_and(isnan(before), isnan(after))));
    std::vector<tensor> const both = {first, reduce(reduce_op::any, differs, {1})};
    return concat(both, 0);
}

} // namespace

tensor order_of(tensor const& keys) { return sort(keys, 0).indices; }

sorted top(tensor const& x, std::int64_t count, std::int64_t axis, bool largest) {
    std::size_t const at = axis_at(axis, x.rank());
    std::int64_t const size = x.rank() == 0 ? 1 : x.size(at);
    if (count < 0 || count > size)
        throw error("k is " + std::to_string(count) + " for an axis of size " + std::to_string(size));
    sorted all = sort(x, axis, largest);
    if (x.rank() == 0) {
        if (count == 0) throw error("k cannot be 0 for a 0-d tensor");
        return all;
    }
    return {all.values.sliced(at, 0, count), all.indices.sliced(at, 0, count)};
}

distinct distinct_of(tensor const& x, std::optional<std::int64_t> axis, distinct_order order) {
    if (axis && x.rank() == 0) throw error("a 0-d tensor has no axis");
    tensor const keys = keys_of(x, axis);
    device const here = keys.where();
    tensor const by_value = order_of_rows(keys);
    tensor const starts = starts_of(index_select(keys, 0, by_value));
    tensor const group = scan(scan_op::sum, cast(starts, dtype::int64), 0) - scalar(1);
    auto const zeros = [&](std::int64_t n) { return full(0, dtype::int64, {n}, here); };
    distinct out;
    out.first = take(by_value, flatten(nonzero(starts)));
    out.inverse = put(zeros(by_value.count()), by_value, group);
    out.counts = put(zeros(out.first.count()), group, full(1, dtype::int64, {}, here), put_op::add);
    if (order == distinct_order::ascending) return out;
    tensor const reordered = order_of(out.first);
    tensor const rank = put(zeros(reordered.count()), reordered, range(reordered.count(), 0, 1, here));
    return {take(out.first, reordered), take(rank, out.inverse), take(out.counts, reordered)};
}

} // namespace ATON_NAMESPACE::runtime
