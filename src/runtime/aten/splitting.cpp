// SPDX-License-Identifier: MIT
// ATen operators: splitting tensors.
#include "axes.hpp"

#include <algorithm>
#include <limits>

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

constexpr std::int64_t max_parts = std::int64_t{1} << 20;

void check_count(std::int64_t parts) {
    if (parts > max_parts) throw error(std::to_string(parts) + " parts are too many");
}

value split_into(tensor const& x, std::size_t axis, ints const& lengths) {
    std::vector<tensor> out;
    std::int64_t start = 0;
    for (std::int64_t const length : lengths) {
        if (length < 0 || length > x.size(axis) - start)
            throw error("split sizes " + to_string(lengths) + " do not fit a dimension of size " +
                        std::to_string(x.size(axis)));
        out.push_back(x.sliced(axis, start, length));
        start += length;
    }
    if (start != x.size(axis))
        throw error("split sizes " + to_string(lengths) + " do not fit a dimension of size " +
                    std::to_string(x.size(axis)));
    return out;
}

/// Parts of `each` elements; the last may be smaller.
value parts_of_size(tensor const& x, std::size_t axis, std::int64_t each) {
    std::int64_t const size = x.size(axis);
    if (each < 0 || (each == 0 && size != 0)) throw error("the split size is " + std::to_string(each));
    if (size == 0) return std::vector<tensor>{x};
    check_count(size / each);
    ints lengths(static_cast<std::size_t>(size / each), each);
    if (size % each != 0) lengths.push_back(size % each);
    return split_into(x, axis, lengths);
}

results split(call const& c) {
    tensor const x = c.t("self");
    return parts_of_size(x, axis_in(c, x), c.i("split_size"));
}

results split_with_sizes(call const& c) {
    tensor const x = c.t("self");
    return split_into(x, axis_in(c, x), c.ints(c.has_argument("split_size") ? "split_size" : "split_sizes"));
}

results chunk(call const& c) {
    tensor const x = c.t("self");
    std::size_t const axis = axis_in(c, x);
    std::int64_t const n = c.i("chunks");
    if (n <= 0) throw error("chunks is " + std::to_string(n));
    if (x.size(axis) != 0) return parts_of_size(x, axis, x.size(axis) / n + (x.size(axis) % n != 0 ? 1 : 0));
    check_count(n);
    return split_into(x, axis, ints(static_cast<std::size_t>(n), 0)); // `n` empty chunks
}

/// `n` sections; if the size is not a multiple of n, the first ones have one more element.
value sections_of(tensor const& x, std::size_t axis, std::int64_t n) {
    if (n <= 0) throw error("sections is " + std::to_string(n));
    check_count(n);
    ints lengths(static_cast<std::size_t>(n), x.size(axis) / n);
    for (std::int64_t i = 0; i != x.size(axis) % n; ++i) ++lengths[static_cast<std::size_t>(i)];
    return split_into(x, axis, lengths);
}

value parts_between(tensor const& x, std::size_t axis, ints const& ends) {
    std::vector<tensor> out;
    std::int64_t start = 0;
    for (std::int64_t const end : ends) {
        out.push_back(python_slice(x, axis, start, end));
        start = end;
    }
    out.push_back(python_slice(x, axis, start, std::numeric_limits<std::int64_t>::max()));
    return out;
}

results tensor_split(call const& c) {
    tensor const x = c.t("self");
    std::size_t const axis = axis_in(c, x);
    if (c.has_argument("sections")) return sections_of(x, axis, c.i("sections"));
    if (c.has_argument("indices")) return parts_between(x, axis, c.ints("indices"));
    tensor const either = to_host(c.t("tensor_indices_or_sections"));
    if (either.rank() == 0) return sections_of(x, axis, either.item().to<std::int64_t>());
    return parts_between(x, axis, either.integers());
}

/// hsplit, vsplit and dsplit: sections must be equal.
results split_along(call const& c, tensor const& x, std::size_t axis) {
    if (axis >= x.rank()) throw error("a tensor of shape " + to_string(x.sizes()) + " has too few dimensions");
    if (!c.has_argument("sections")) return parts_between(x, axis, c.ints("indices"));
    std::int64_t const n = c.i("sections");
    if (n <= 0 || x.size(axis) % n != 0)
        throw error("cannot split into " + std::to_string(n) + " equal sections a dimension of size " +
                    std::to_string(x.size(axis)));
    return sections_of(x, axis, n);
}
results hsplit(call const& c) {
    tensor const x = c.t("self");
    return split_along(c, x, x.rank() == 1 ? 0 : 1);
}
results vsplit(call const& c) {
    tensor const x = c.t("self");
    if (x.rank() < 2) throw error("a matrix is expected, not " + to_string(x.sizes()));
    return split_along(c, x, 0);
}
results dsplit(call const& c) { return split_along(c, c.t("self"), 2); }

results unbind(call const& c) {
    tensor const x = c.t("self");
    std::size_t const axis = axis_in(c, x);
    check_count(x.size(axis));
    std::vector<tensor> out;
    for (std::int64_t i = 0; i != x.size(axis); ++i) out.push_back(selected(x, axis, i));
    return value(std::move(out));
}

/// Splits each tensor into chunks, flattens and zero-pads them to one length, and concatenates them.
results chunk_cat(call const& c) {
    std::vector<tensor> const& parts = c.tensors("tensors");
    std::int64_t const n = c.i("num_chunks");
    if (parts.empty() || n <= 0) throw error("at least one tensor and one chunk are required");
    std::vector<tensor> flat;
    std::size_t const axis = axis_at(c.i("dim"), parts[0].rank());
    dtype const type = result_type(c, {"tensors"});
    for (tensor const& x : parts) {
        if (axis >= x.rank()) throw error("a tensor of shape " + to_string(x.sizes()) + " has too few dimensions");
        std::int64_t const each = x.size(axis) / n + (x.size(axis) % n != 0 ? 1 : 0);
        sizes after(x.rank(), 0);
        after[axis] = each * n - x.size(axis);
        tensor const whole = pad(cast(x, type), sizes(x.rank(), 0), after, 0);
        sizes to(x.sizes().begin(), x.sizes().begin() + static_cast<std::ptrdiff_t>(axis));
        to.push_back(n);
        std::int64_t const rows = count_of(to);
        if (rows == 0) throw error("_chunk_cat does not support empty tensors");
        to.push_back(whole.count() / rows);
        flat.push_back(reshape(whole, to));
    }
    return concat(flat, static_cast<std::int64_t>(axis) + 1);
}

} // namespace

rows splitting() {
    static constexpr row all[] = {
        {"split.Tensor", split},
        {"split_copy.Tensor", split},
        {"unsafe_split.Tensor", split},
        {"split.sizes", split_with_sizes},
        {"split_with_sizes", split_with_sizes},
        {"split_with_sizes_copy", split_with_sizes},
        {"unsafe_split_with_sizes", split_with_sizes},
        {"chunk", chunk},
        {"unsafe_chunk", chunk},
        {"tensor_split.sections", tensor_split},
        {"tensor_split.indices", tensor_split},
        {"tensor_split.tensor_indices_or_sections", tensor_split},
        {"hsplit.int", hsplit},
        {"hsplit.array", hsplit},
        {"vsplit.int", vsplit},
        {"vsplit.array", vsplit},
        {"dsplit.int", dsplit},
        {"dsplit.array", dsplit},
        {"unbind.int", unbind},
        {"unbind_copy.int", unbind},
        {"_chunk_cat", chunk_cat},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
