// SPDX-License-Identifier: MIT
// ATen operators: adaptive pooling. Windows may overlap and differ in size.
#include <algorithm>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

#include "pooling.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// The windows as a table with one column per element of the largest window; smaller ones repeat their last element.
struct window_table {
    tensor at;     ///< int64 [out, longest]
    tensor counts; ///< bool: whether the entry is not a repetition
    tensor sizes;  ///< float64 [out]
};
window_table table_of(adaptive const& a, device where) {
    if (a.out < 0 || a.out > adaptive::max_windows) throw error("output_size is " + std::to_string(a.out));
    std::int64_t longest = 0;
    for (std::int64_t i = 0; i != a.out; ++i) longest = std::max(longest, a.end(i) - a.start(i));
    tensor const at = tensor::empty(dtype::int64, {a.out, longest});
    tensor const counts = tensor::empty(dtype::bool_, {a.out, longest});
    tensor const counted = tensor::empty(dtype::float64, {a.out});
    for (std::int64_t i = 0; i != a.out; ++i) {
        std::int64_t const size = a.end(i) - a.start(i);
        counted.data<double>()[i] = static_cast<double>(size);
        for (std::int64_t k = 0; k != longest; ++k) {
            at.data<std::int64_t>()[i * longest + k] = a.start(i) + std::min(k, size - 1);
            counts.data<bool>()[i * longest + k] = k < size;
        }
    }
    return {to_device(at, where), to_device(counts, where), to_device(counted, where)};
}

/// Reshapes entries to broadcast against the following axes.
tensor beside(tensor x, std::size_t following) {
    for (std::size_t i = 0; i != following; ++i) x = x.unsqueezed(x.rank());
    return x;
}

tensor average_along(tensor const& x, std::size_t axis, std::int64_t out) {
    if (out == 1 && x.size(axis) != 0) return mean(x, {static_cast<std::int64_t>(axis)}, true);
    window_table const t = table_of({x.size(axis), out}, x.where());
    std::size_t const following = x.rank() - axis - 1;
    tensor const seen = index_select(x, static_cast<std::int64_t>(axis), t.at);
    tensor const counted = where(beside(t.counts, following), seen, scalar(0));
    return sum(counted, {static_cast<std::int64_t>(axis) + 1}) / beside(cast(t.sizes, x.dtype()), following);
}

sizes output_sizes(call const& c, tensor const& x, std::size_t axes) {
    if (x.rank() < axes) throw error("the input has fewer than " + std::to_string(axes) + " dimensions");
    sizes const out = for_each_axis(c, "output_size", axes, {});
    for (std::size_t i = 0; i != axes; ++i)
        if (out[i] < 0) throw error("output_size is negative");
    for (std::size_t i = x.rank() - axes; i != x.rank(); ++i)
        if (x.size(i) == 0) throw error("a pooled axis has size 0");
    return out;
}

/// With three axes ATen adds in the element dtype, one element after the other, and divides by one size after the
/// other.
tensor average_in_steps(tensor const& x, sizes const& out) {
    std::size_t const axes = out.size();
    tensor seen = x; // [N, C, out, window, out, window, ...]
    tensor counts = full(true, dtype::bool_, {}, x.where());
    std::vector<window_table> tables;
    for (std::size_t i = 0; i != axes; ++i) {
        tables.push_back(table_of({x.size(i + 2), out[i]}, x.where()));
        seen = index_select(seen, static_cast<std::int64_t>(2 + 2 * i), tables[i].at);
        counts = logical_and(counts.unsqueezed(counts.rank()).unsqueezed(counts.rank() + 1), tables[i].counts);
    }
    std::vector<std::size_t> of_windows; // all windows, then all their elements
    for (std::size_t const first : {0U, 1U})
        for (std::size_t i = 0; i != axes; ++i) of_windows.push_back(first + 2 * i);
    std::vector<std::size_t> order = {0, 1};
    for (std::size_t const axis : of_windows) order.push_back(axis + 2);
    sizes to = {x.size(0), x.size(1)};
    to.insert(to.end(), out.begin(), out.end());
    sizes of_counts = to;
    of_counts[0] = of_counts[1] = 1;
    seen = seen.permuted(order);
    std::int64_t const places = count_of(std::span(seen.sizes()).subspan(2 + axes));
    to.push_back(places);
    of_counts.push_back(places);
    seen = reshape(seen, to);
    counts = reshape(counts.permuted(of_windows), of_counts);
    to.pop_back();
    term sum = full(0, x.dtype(), to, x.where());
    for (std::int64_t i = 0; i != places; ++i) {
        auto const place = [&](tensor const& t) { return t.sliced(2 + axes, i, 1).squeezed(2 + axes); };
        sum = where(place(counts), *(sum + term(place(seen))), *sum);
    }
    for (std::size_t i = 0; i != axes; ++i)
        sum = cast(
            *(term(cast(*sum, dtype::float32)) / term(beside(cast(tables[i].sizes, dtype::float32), axes - 1 - i))),
            x.dtype());
    return *sum;
}

template <std::size_t Axes>
results adaptive_avg_pool(call const& c) {
    tensor const x = c.t("self");
    sizes const out = output_sizes(c, x, Axes);
    bool const whole = !c.overload().starts_with("aten::_") && out == sizes(Axes, 1);
    if (Axes == 3 && compute_type(x.dtype()) != x.dtype() && !whole && x.count() != 0)
        return as_given(average_in_steps(batched(x, Axes), out), x);
    tensor y = cast(batched(x, Axes), compute_type(x.dtype()));
    if (!is_floating(y.dtype())) throw error("a mean requires a floating-point dtype");
    for (std::size_t i = Axes; i-- != 0;) y = average_along(y, i + 2, out[i]);
    return as_given(cast(y, x.dtype()), x);
}

/// The index of the first maximum along the axis; for NaN, which is greater than numbers, the last.
tensor place_of_largest(tensor const& x, std::int64_t axis) {
    tensor first = arg_max(x, axis, true);
    if (!is_floating(x.dtype())) return first;
    tensor const unknown = isnan(x);
    return where(
        reduce(reduce_op::any, unknown, {axis}, true), arg_max(cast(unknown, dtype::uint8), axis, true, true), first);
}

/// The maxima and their positions in the plane.
template <std::size_t Axes>
results adaptive_max_pool(call const& c) {
    tensor const x = c.t("self");
    sizes const out = output_sizes(c, x, Axes);
    tensor values = batched(x, Axes);
    sizes plane = values.sizes();
    plane[0] = plane[1] = 1;
    tensor indices = reshape(range(count_of(plane), 0, 1, x.where()), plane).expanded(values.sizes());
    for (std::size_t i = Axes + 2; i-- != 2;) {
        auto const axis = static_cast<std::int64_t>(i);
        tensor const at = table_of({x.size(x.rank() + i - Axes - 2), out[i - 2]}, x.where()).at;
        tensor const seen = index_select(values, axis, at);
        if (seen.count() == 0) {
            sizes to = seen.sizes();
            to.erase(to.begin() + axis + 1);
            values = full(0, values.dtype(), to, x.where());
            indices = full(0, dtype::int64, to, x.where());
            continue;
        }
        tensor const best = place_of_largest(seen, axis + 1);
        values = take_along(seen, best, axis + 1).squeezed(i + 1);
        indices = take_along(index_select(indices, axis, at), best, axis + 1).squeezed(i + 1);
    }
    return {as_given(contiguous(values), x), as_given(contiguous(indices), x)};
}

} // namespace

rows adaptive_pooling() {
    static constexpr row all[] = {
        {"adaptive_avg_pool1d", adaptive_avg_pool<1>},
        {"adaptive_avg_pool2d", adaptive_avg_pool<2>},
        {"adaptive_avg_pool3d", adaptive_avg_pool<3>},
        {"_adaptive_avg_pool2d", adaptive_avg_pool<2>},
        {"_adaptive_avg_pool3d", adaptive_avg_pool<3>},
        {"adaptive_max_pool1d", adaptive_max_pool<1>},
        {"adaptive_max_pool2d", adaptive_max_pool<2>},
        {"adaptive_max_pool3d", adaptive_max_pool<3>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
