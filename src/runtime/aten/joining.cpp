// SPDX-License-Identifier: MIT
// ATen operators: tensors made of several, beside, above and along each other.
#include "axes.hpp"

#include <algorithm>
#include <utility>

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

std::vector<tensor> promoted_all(call const& c) {
    std::vector<tensor> out;
    dtype const type = result_type(c, {"tensors"});
    for (tensor const& x : c.tensors("tensors")) out.push_back(cast(x, type));
    return out;
}

/// Vectors of no elements join everything.
tensor joined(std::vector<tensor> parts, std::int64_t axis) {
    if (parts.empty()) throw error("a list of tensors is needed");
    auto const nothing = [](tensor const& x) { return x.rank() == 1 && x.count() == 0; };
    tensor first = parts[0];
    std::erase_if(parts, nothing);
    if (parts.empty()) return first;
    return concat(parts, axis);
}

results cat(call const& c) { return joined(promoted_all(c), c.i("dim")); }
results stacked(call const& c) { return stack(promoted_all(c), c.i("dim")); }

template <tensor (*Widen)(tensor const&)>
std::vector<tensor> widened(call const& c) {
    std::vector<tensor> out = promoted_all(c);
    for (tensor& x : out) x = Widen(x);
    return out;
}

results hstack(call const& c) {
    std::vector<tensor> const parts = widened<at_least_1d>(c);
    return joined(parts, !parts.empty() && parts[0].rank() == 1 ? 0 : 1);
}
results vstack(call const& c) { return joined(widened<at_least_2d>(c), 0); }
results dstack(call const& c) { return joined(widened<at_least_3d>(c), 2); }

tensor as_column(tensor const& x) { return x.rank() <= 1 ? reshape(x, {x.count(), 1}) : x; }
results column_stack(call const& c) { return joined(widened<as_column>(c), 1); }

results block_diag(call const& c) {
    std::vector<tensor> const parts = widened<at_least_2d>(c);
    if (parts.empty()) return to_device(tensor::empty(dtype::float32, {1, 0}), c.where());
    sizes to = {0, 0};
    for (tensor const& x : parts) {
        if (x.rank() != 2) throw error("blocks are matrices, not of the sizes " + to_string(x.sizes()));
        to[0] += x.size(0);
        to[1] += x.size(1);
    }
    tensor const& first = parts[0];
    tensor out = clone(full(0, first.dtype(), to, first.where()));
    sizes at = {0, 0};
    for (tensor const& x : parts) {
        if (x.count() != 0) kernels_of(x.where()).copy(x, out.sliced(0, at[0], x.size(0)).sliced(1, at[1], x.size(1)));
        at[0] += x.size(0);
        at[1] += x.size(1);
    }
    return out;
}

/// Vector i varies along dimension i.
std::vector<tensor> grid_of(std::vector<tensor> const& vectors) {
    sizes to;
    for (tensor const& x : vectors) {
        if (x.rank() > 1) throw error("a grid is made of vectors, not of the sizes " + to_string(x.sizes()));
        if (x.dtype() != vectors[0].dtype()) throw error("a grid is made of vectors of one dtype");
        to.push_back(x.count());
    }
    std::vector<tensor> out;
    for (std::size_t i = 0; i != vectors.size(); ++i) {
        sizes along(vectors.size(), 1);
        along[i] = vectors[i].count();
        out.push_back(reshape(vectors[i], along).expanded(to));
    }
    return out;
}

results meshgrid(call const& c) {
    std::vector<tensor> vectors = c.tensors("tensors");
    if (vectors.empty()) throw error("a list of tensors is needed");
    std::string_view const indexing = c.has_argument("indexing") ? c.text("indexing") : "ij";
    if (indexing != "ij" && indexing != "xy") throw error("indexing is ij or xy");
    bool const swaps = indexing == "xy" && vectors.size() >= 2;
    if (swaps) std::swap(vectors[0], vectors[1]);
    std::vector<tensor> out = grid_of(vectors);
    if (swaps) std::swap(out[0], out[1]);
    return value(std::move(out));
}

results cartesian_prod(call const& c) {
    std::vector<tensor> const& vectors = c.tensors("tensors");
    if (vectors.empty()) throw error("a list of tensors is needed");
    for (tensor const& x : vectors)
        if (x.rank() != 1) throw error("vectors are expected, not the sizes " + to_string(x.sizes()));
    if (vectors.size() == 1) return vectors[0];
    std::vector<tensor> columns;
    for (tensor const& x : grid_of(vectors)) columns.push_back(flatten(x));
    return stack(columns, 1);
}

/// The rows of a grid of indices whose numbers ascend.
results combinations(call const& c) {
    tensor const x = c.t("self");
    std::int64_t const r = c.i("r");
    if (x.rank() != 1) throw error("a vector is expected, not the sizes " + to_string(x.sizes()));
    if (r < 0) throw error("combinations of " + std::to_string(r) + " elements");
    if (r == 0) return x.sliced(0, 0, 0);
    if (r > 32) throw error("combinations of " + std::to_string(r) + " elements are too many");
    std::vector<tensor> const grid =
        grid_of(std::vector<tensor>(static_cast<std::size_t>(r), range(x.count(), 0, 1, x.where())));
    tensor kept = full(true, dtype::bool_, grid[0].sizes(), x.where());
    for (std::size_t i = 0; i + 1 != grid.size(); ++i)
        kept =
            logical_and(kept, c.b("with_replacement") ? less_equal(grid[i], grid[i + 1]) : less(grid[i], grid[i + 1]));
    tensor const places = kernels_of(x.where()).nonzero(kept);
    std::vector<tensor> columns;
    for (tensor const& each : grid) columns.push_back(take(x, take(each, places)));
    return stack(columns, 1);
}

// The same tensor several times.

tensor repeated(tensor x, ints const& times) {
    if (times.size() < x.rank())
        throw error(std::to_string(times.size()) + " numbers of repeats for the sizes " + to_string(x.sizes()));
    while (x.rank() < times.size()) x = x.unsqueezed(0);
    sizes wide;
    ints strides;
    sizes to;
    for (std::size_t i = 0; i != times.size(); ++i) {
        wide.insert(wide.end(), {times[i], x.size(i)});
        strides.insert(strides.end(), {0, x.strides()[i]});
    }
    (void)count_of(wide); // refuses what is negative or too much
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

/// Index i as often as repeats[i] says.
tensor repeated_indices(tensor const& repeats) {
    if (repeats.rank() != 1) throw error("repeats are a vector, not of the sizes " + to_string(repeats.sizes()));
    if (repeats.dtype() != dtype::int64 && repeats.dtype() != dtype::int32) throw error("repeats are int32 or int64");
    tensor times = cast(repeats, dtype::int64);
    if (times.count() == 0) return times;
    if (to_host(min(times, {0})).item().to<std::int64_t>() < 0) throw error("repeats are not negative");
    if (to_host(max(times, {0})).item().to<std::int64_t>() > most_elements / times.count())
        throw error("more repeats than a tensor has elements");
    tensor const ends = scan(scan_op::sum, times, 0);
    std::int64_t const total = to_host(ends.sliced(0, ends.count() - 1, 1)).item().to<std::int64_t>();
    // A 1 where an index begins; one more place for those that never do. What the first begins with is not counted.
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
    bool const number = c.argument("repeats").is == aten_argument::kind::number;
    tensor const given = number ? constant(c, c.number("repeats"), dtype::int64) : c.t("repeats");
    if (given.rank() > 1 || (given.count() != 1 && given.count() != x.size(axis)))
        throw error("repeats of the sizes " + to_string(given.sizes()) + " for a dimension of size " +
                    std::to_string(x.size(axis)));
    tensor const repeats = reshape(given, {given.count()}).expanded({x.size(axis)});
    return index_select(x, static_cast<std::int64_t>(axis), repeated_indices(repeats));
}

// The same elements in another order.

tensor rolled(tensor const& x, std::size_t axis, std::int64_t by) {
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
    if (dims.empty() && by.size() == 1) return reshape(rolled(flatten(x), 0, by[0]), x.sizes());
    if (by.empty() || by.size() != dims.size()) throw error("there are as many shifts as dimensions");
    for (std::size_t i = 0; i != dims.size(); ++i) {
        if (x.rank() == 0) throw error("a 0-d tensor has no dimension");
        x = rolled(x, axis_at(dims[i], x.rank()), by[i]);
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
    if (c.t("self").rank() == 0) throw error("a 0-d tensor has no dimension");
    return flipped(c.t("self"), {0});
}

results rot90(call const& c) {
    tensor const x = c.t("self");
    ints const dims = c.ints("dims");
    if (dims.size() != 2) throw error("rot90 turns from one dimension to another");
    (void)distinct_axes(dims, x.rank());
    switch ((c.i("k") % 4 + 4) % 4) {
    case 1: return transpose(flipped(x, {dims[1]}), dims[0], dims[1]);
    case 2: return flipped(x, dims);
    case 3: return transpose(flipped(x, {dims[0]}), dims[0], dims[1]);
    default: return x;
    }
}

} // namespace

rows joining() {
    static constexpr row all[] = {
        {"cat", cat},
        {"concat", cat},
        {"concatenate", cat},
        {"stack", stacked},
        {"hstack", hstack},
        {"vstack", vstack},
        {"row_stack", vstack},
        {"dstack", dstack},
        {"column_stack", column_stack},
        {"block_diag", block_diag},
        {"meshgrid", meshgrid},
        {"meshgrid.indexing", meshgrid},
        {"cartesian_prod", cartesian_prod},
        {"combinations", combinations},
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
