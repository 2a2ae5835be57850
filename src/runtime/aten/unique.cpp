// SPDX-License-Identifier: MIT
// ATen operators: unique elements and slices. NaN is not equal to anything, including itself.
#include "axes.hpp"

#include <utility>

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// The rows to compare: elements, or slices of a dimension.
tensor rows_of(tensor const& x, std::size_t axis) {
    tensor const front = transpose(x, static_cast<std::int64_t>(axis), 0);
    return reshape(front, {x.size(axis), x.count() / x.size(axis)});
}

/// The order that sorts rows lexicographically: stable sorts, last column first.
tensor row_order(tensor const& rows) {
    tensor order = range(rows.size(0), 0, 1, rows.where());
    for (std::int64_t column = rows.size(1); column-- != 0;) {
        tensor const keys = take(contiguous(rows.sliced(1, column, 1).squeezed(1)), order);
        order = take(order, sort(keys, 0).indices);
    }
    return order;
}

struct unique_rows {
    tensor first; ///< position of the first of each group
    tensor inverse;
    tensor counts;
};

/// Groups equal rows that are adjacent in this order.
unique_rows unique_in(tensor const& rows, tensor const& order) {
    std::int64_t const n = rows.size(0);
    device const here = rows.where();
    tensor const sorted = index_select(rows, 0, order);
    tensor const differs = reduce(reduce_op::any, unequal(sorted.sliced(0, 1, n - 1), sorted.sliced(0, 0, n - 1)), {1});
    std::vector<tensor> const begins = {full(true, dtype::bool_, {1}, here), differs};
    tensor const begin = concat(begins, 0);
    tensor const starts = kernels_of(here).nonzero(begin);
    tensor const kind = scan(scan_op::sum, cast(begin, dtype::int64), 0) - scalar(1);
    std::vector<tensor> const ends = {starts.sliced(0, 1, starts.count() - 1),
                                      full(static_cast<long long>(n), dtype::int64, {1}, here)};
    return {take(order, starts), put(kind, order, kind), concat(ends, 0) - starts};
}

tensor no_indices(call const& c) { return to_device(tensor::empty(dtype::int64, {0}), c.where()); }

/// Unique operators over all elements; results that are not requested are empty.
results unique_elements(call const& c, bool sorts) {
    tensor const x = c.t("self");
    bool const inverse = c.b("return_inverse");
    bool const has_counts = c.has_argument("return_counts");
    std::vector<value> out;
    if (x.count() == 0) {
        tensor const of_x = to_device(tensor::empty(dtype::int64, x.sizes()), c.where());
        out = {flatten(x), inverse ? of_x : no_indices(c)};
        if (has_counts) out.emplace_back(no_indices(c));
        return out;
    }
    tensor const rows = reshape(x, {x.count(), 1});
    unique_rows const u = unique_in(rows, sorts ? row_order(rows) : range(x.count(), 0, 1, x.where()));
    out = {take(x, u.first), inverse ? reshape(u.inverse, x.sizes()) : no_indices(c)};
    if (has_counts) out.emplace_back(c.b("return_counts") ? u.counts : no_indices(c));
    return out;
}

/// Unique slices of a dimension; all results are computed.
results unique_slices(call const& c, bool sorts) {
    tensor const x = c.t("self");
    std::size_t const axis = axis_in(c, x);
    if (x.count() == 0) {
        for (std::size_t i = 0; i != x.rank(); ++i)
            if (i != axis && x.size(i) == 0) throw error("a dimension that is not selected has size 0");
        return {x, no_indices(c), no_indices(c)};
    }
    tensor const rows = rows_of(x, axis);
    unique_rows const u = unique_in(rows, sorts ? row_order(rows) : range(rows.size(0), 0, 1, x.where()));
    return {index_select(x, static_cast<std::int64_t>(axis), u.first), u.inverse, u.counts};
}

results unique_all(call const& c) { return unique_elements(c, true); }
results unique_dim(call const& c) { return unique_slices(c, true); }
results unique_consecutive(call const& c) {
    bool const vector = c.given("dim") && c.i("dim") == 0 && c.t("self").rank() == 1;
    return c.given("dim") && !vector ? unique_slices(c, false) : unique_elements(c, false);
}

} // namespace

rows unique() {
    static constexpr row all[] = {
        {"_unique", unique_all},
        {"_unique2", unique_all},
        {"unique_dim", unique_dim},
        {"unique_consecutive", unique_consecutive},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
