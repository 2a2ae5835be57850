// SPDX-License-Identifier: MIT
// ONNX operators: gather, scatter, and operators that compute indices.
#include "call.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/compute/sorting.hpp"
#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// 0, 1, ..., size - 1 along one of `rank` axes.
tensor counted(std::int64_t size, std::size_t axis, std::size_t rank, device where) {
    sizes to(rank, 1);
    to[axis] = size;
    return reshape(range(size, 0, 1, where), to);
}

/// Splits the index tuples of the last dimension into separate indices, after those of the batch.
std::vector<tensor> tuples(tensor const& indices, std::size_t batch, tensor const& into) {
    if (indices.rank() == 0) throw error("indices must have at least rank 1");
    std::size_t const last = indices.rank() - 1;
    auto const depth = static_cast<std::size_t>(indices.size(last));
    if (batch > last || depth == 0 || batch + depth > into.rank())
        throw error("indices of shape " + to_string(indices.sizes()) + " do not fit shape " + to_string(into.sizes()));
    std::vector<tensor> out;
    for (std::size_t axis = 0; axis != batch; ++axis) {
        if (indices.size(axis) != into.size(axis))
            throw error("the batches " + to_string(indices.sizes()) + " and " + to_string(into.sizes()) + " differ");
        out.push_back(counted(into.size(axis), axis, last, indices.where()));
    }
    for (std::size_t i = 0; i != depth; ++i)
        out.push_back(indices.sliced(last, static_cast<std::int64_t>(i), 1).squeezed(last));
    return out;
}

results gather(call const& c) {
    tensor const& x = c.in(0);
    std::int64_t const axis = c.i("axis", 0);
    (void)axis_in(x, axis);
    return index_select(x, axis, c.in(1));
}

results gather_elements(call const& c) {
    (void)axis_in(c.in(0), c.i("axis", 0));
    return take_along(c.in(0), c.in(1), c.i("axis", 0));
}

results gather_nd(call const& c) {
    std::int64_t const batch = c.i("batch_dims", 0);
    if (batch < 0) throw error("'batch_dims' is " + std::to_string(batch));
    return take(c.in(0), positions(c.in(0).sizes(), tuples(c.in(1), static_cast<std::size_t>(batch), c.in(0))));
}

put_op reduction_of(call const& c) {
    std::string const name = c.s("reduction", "none");
    if (name == "none") return put_op::assign;
    if (name == "add") return put_op::add;
    if (name == "mul") return put_op::mul;
    if (name == "max") return put_op::max;
    if (name == "min") return put_op::min;
    throw error("unknown reduction '" + name + "'");
}

tensor put_updates(call const& c, tensor const& at) {
    tensor const& updates = c.in(2);
    if (updates.sizes() != at.sizes())
        throw error("updates have shape " + to_string(updates.sizes()) + ", expected " + to_string(at.sizes()));
    put_op const how = reduction_of(c);
    bool const extreme = how == put_op::max || how == put_op::min;
    return put(c.in(0), at, extreme ? without_nan(updates, how == put_op::max) : updates, how);
}

results scatter_elements(call const& c) {
    (void)axis_in(c.in(0), c.i("axis", 0));
    return put_updates(c, positions_along(c.in(0).sizes(), c.in(1), c.i("axis", 0)));
}

results scatter_nd(call const& c) { return put_updates(c, positions(c.in(0).sizes(), tuples(c.in(1), 0, c.in(0)))); }

results tensor_scatter(call const& c) {
    tensor const& cache = c.in(0);
    tensor const& update = c.in(1);
    std::size_t const axis = axis_in(cache, c.i("axis", -2));
    if (axis == 0) throw error("axis 0 is the batch axis");
    std::string const mode = c.s("mode", "linear");
    if (mode != "linear" && mode != "circular") throw error("unknown mode '" + mode + "'");
    std::size_t const rank = axis + 1;
    std::vector<tensor> indices;
    for (std::size_t i = 0; i != axis; ++i) indices.push_back(counted(cache.size(i), i, rank, cache.where()));
    if (update.rank() != cache.rank()) throw error("cache and update have different ranks");
    tensor at = counted(update.size(axis), axis, rank, cache.where());
    if (c.has(2)) {
        if (c.in(2).sizes() != sizes{cache.size(0)}) throw error("write_indices must have one index per batch entry");
        sizes along(rank, 1);
        along[0] = cache.size(0);
        tensor const start = reshape(c.in(2), along);
        if (mode == "linear" && start.count() != 0 &&
            to_host(min(start, all_axes(start))).item().to<std::int64_t>() < 0)
            throw error("write_indices must not be negative");
        at = at + start;
    }
    if (mode == "circular") at = binary(binary_op::remainder, at, scalar(cache.size(axis)));
    indices.push_back(at);
    tensor const where = positions(cache.sizes(), indices);
    sizes expected = cache.sizes();
    expected[axis] = update.size(axis);
    if (update.sizes() != expected)
        throw error("an update of shape " + to_string(update.sizes()) + " does not fit a cache of shape " +
                    to_string(cache.sizes()));
    return put(cache, where.expanded(expected), update);
}

results non_zero(call const& c) {
    tensor const& x = c.in(0);
    if (!x.is_strings()) return nonzero(x);
    tensor const dense = x.contiguous(); // on the host; only non-empty strings
    tensor const truth = tensor::empty(dtype::bool_, x.sizes());
    for (std::size_t i = 0; i != dense.strings().size(); ++i) truth.data<bool>()[i] = !dense.strings()[i].empty();
    return nonzero(to_device(truth, c.where()));
}

results compress(call const& c) {
    bool const along = c.has_attribute("axis");
    tensor const x = along ? c.in(0) : flatten(c.in(0));
    std::int64_t const axis = along ? c.i("axis") : 0;
    (void)axis_in(x, axis);
    if (c.in(1).rank() != 1 || c.in(1).dtype() != dtype::bool_) throw error("the condition must be bool and 1-d");
    return index_select(x, axis, flatten(nonzero(c.in(1))));
}

results top_k(call const& c) {
    tensor const& x = c.in(0);
    std::int64_t const k = c.opset() < 10 ? c.i("k") : c.number(1).to<std::int64_t>();
    std::int64_t const axis = c.i("axis", -1);
    (void)axis_in(x, axis);
    bool const largest = c.opset() < 11 || c.i("largest", 1) != 0;
    sorted const s = top(x, k, axis, largest);
    if (c.opset() < 11 || c.i("sorted", 1) != 0) return {s.values, s.indices};
    // ONNX leaves the order open. It is not the one that a mapping may hope for, so that verify shows what relies on it.
    tensor const backwards = range(k, k - 1, -1, c.where());
    return {index_select(s.values, axis, backwards), index_select(s.indices, axis, backwards)};
}

results unique(call const& c) {
    tensor const& x = c.in(0);
    std::optional<std::int64_t> axis;
    if (c.has_attribute("axis")) axis = c.i("axis");
    bool const is_sorted = c.i("sorted", 1) != 0;
    distinct const d = distinct_of(x, axis, is_sorted ? distinct_order::ascending : distinct_order::occurrence);
    tensor const values = axis ? index_select(x, *axis, d.first) : take(x, d.first);
    auto const here = [&](tensor const& t) { return to_device(t, c.where()); };
    return {values, here(d.first), here(d.inverse), here(d.counts)};
}

} // namespace

rows indexing() {
    static constexpr row all[] = {
        {"Compress", compress},
        {"Gather", gather},
        {"GatherElements", gather_elements},
        {"GatherND", gather_nd},
        {"NonZero", non_zero},
        {"Scatter", scatter_elements},
        {"ScatterElements", scatter_elements},
        {"ScatterND", scatter_nd},
        {"TensorScatter", tensor_scatter},
        {"TopK", top_k},
        {"Unique", unique},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
