// SPDX-License-Identifier: MIT
// ATen operators: repetition and reordering of elements.
#include "axes.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

tensor repeated(tensor x, ints const& times) {
    if (times.size() < x.rank())
        throw error(std::to_string(times.size()) + " repeats do not fit shape " + to_string(x.sizes()));
    while (x.rank() < times.size()) x = x.unsqueezed(0);
    sizes wide;
    ints strides;
    sizes to;
    for (std::size_t i = 0; i != times.size(); ++i) {
        wide.insert(wide.end(), {times[i], x.size(i)});
        strides.insert(strides.end(), {0, x.strides()[i]});
    }
    (void)count_of(wide); // throws for negative or too large sizes
    for (std::size_t i = 0; i != times.size(); ++i) to.push_back(times[i] * x.size(i));
    return reshape(x.viewed(wide, strides), to);
}

results repeat(call const& c) { return repeated(c.t("self"), c.ints("repeats")); }

results tile(call const& c) {
    tensor const x = c.t("self");
    ints times = c.ints("dims");
    if (times.size() < x.rank()) times.insert(times.begin(), x.rank() - times.size(), 1);
    return repeated(x, times);
}

/// Index i, repeated repeats[i] times.
tensor repeated_indices(tensor const& repeats) {
    if (repeats.rank() != 1) throw error("repeats must be a vector, not of shape " + to_string(repeats.sizes()));
    if (repeats.dtype() != dtype::int64 && repeats.dtype() != dtype::int32)
        throw error("repeats must be int32 or int64");
    tensor times = cast(repeats, dtype::int64);
    if (times.count() == 0) return times;
    if (to_host(min(times, {0})).item().to<std::int64_t>() < 0) throw error("repeats must not be negative");
    if (to_host(max(times, {0})).item().to<std::int64_t>() > max_elements / times.count())
        throw error("more repeats than a tensor can have elements");
    tensor const ends = scan(scan_op::sum, times, 0);
    std::int64_t const total = to_host(ends.sliced(0, ends.count() - 1, 1)).item().to<std::int64_t>();
    // 1 at the start of each index, with one extra place for indices that never start; the scan does not count the
    // first.
    tensor const none = full(0, dtype::int64, {total + 1}, times.where());
    tensor const begins =
        put(none, ends.sliced(0, 0, ends.count() - 1), full(1, dtype::int64, {}, times.where()), put_op::add);
    return scan(scan_op::sum, begins, 0).sliced(0, 0, total);
}

results indices_repeated(call const& c) {
    tensor const repeats = c.t("repeats");
    return cast(repeated_indices(repeats), repeats.dtype());
}

results repeat_interleave(call const& c) {
    tensor const x = c.given("dim") ? c.t("self") : flatten(c.t("self"));
    std::size_t const axis = c.given("dim") ? axis_in(c, x) : 0;
    bool const number = c.argument("repeats").kind == aten::argument_kind::number;
    tensor const given = number ? constant(c, c.number("repeats"), dtype::int64) : c.t("repeats");
    if (given.rank() > 1 || (given.count() != 1 && given.count() != x.size(axis)))
        throw error("repeats of shape " + to_string(given.sizes()) + " do not fit a dimension of size " +
                    std::to_string(x.size(axis)));
    tensor const repeats = reshape(given, {given.count()}).expanded({x.size(axis)});
    return index_select(x, static_cast<std::int64_t>(axis), repeated_indices(repeats));
}

tensor rolled_by(tensor const& x, std::size_t axis, std::int64_t by) {
    std::int64_t const size = x.size(axis);
    std::int64_t const start = (size - by % size) % size;
    std::vector<tensor> const both = {x.sliced(axis, start, size - start), x.sliced(axis, 0, start)};
    return concat(both, static_cast<std::int64_t>(axis));
}

results roll(call const& c) {
    tensor x = c.t("self");
    ints const by = c.ints("shifts");
    ints const dims = c.ints("dims");
    if (x.count() == 0) return x;
    if (dims.empty() && by.size() == 1) return reshape(rolled_by(flatten(x), 0, by[0]), x.sizes());
    if (by.empty() || by.size() != dims.size()) throw error("shifts and dims must have the same length");
    for (std::size_t i = 0; i != dims.size(); ++i) {
        if (x.rank() == 0) throw error("a 0-d tensor has no dimensions");
        x = rolled_by(x, axis_at(dims[i], x.rank()), by[i]);
    }
    return x;
}

tensor flipped(tensor x, ints const& dims) {
    for (std::size_t const axis : distinct_axes(dims, x.rank()))
        if (axis < x.rank() && x.size(axis) != 0) x = x.sliced(axis, x.size(axis) - 1, x.size(axis), -1);
    return contiguous(x);
}

results flip(call const& c) { return flipped(c.t("self"), c.ints("dims")); }

results fliplr(call const& c) { return flipped(c.t("self"), {1}); }

results flipud(call const& c) {
    if (c.t("self").rank() == 0) throw error("a 0-d tensor has no dimensions");
    return flipped(c.t("self"), {0});
}

results rot90(call const& c) {
    tensor const x = c.t("self");
    ints const dims = c.ints("dims");
    if (dims.size() != 2) throw error("rot90 requires two dimensions that are not the same");
    (void)distinct_axes(dims, x.rank());
    switch ((c.i("k") % 4 + 4) % 4) {
    case 1: return transpose(flipped(x, {dims[1]}), dims[0], dims[1]);
    case 2: return flipped(x, dims);
    case 3: return transpose(flipped(x, {dims[0]}), dims[0], dims[1]);
    default: return x;
    }
}

} // namespace

rows repeating() {
    static constexpr row all[] = {
        {"repeat", repeat},
        {"tile", tile},
        {"repeat_interleave.Tensor", indices_repeated},
        {"repeat_interleave.self_int", repeat_interleave},
        {"repeat_interleave.self_Tensor", repeat_interleave},
        {"roll", roll},
        {"flip", flip},
        {"fliplr", fliplr},
        {"flipud", flipud},
        {"rot90", rot90},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
