// SPDX-License-Identifier: MIT
// ATen operators: concatenation, stacking, grids, repetition, and reordering.
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

/// Concatenates; empty vectors fit every shape.
tensor joined(std::vector<tensor> parts, std::int64_t axis) {
    if (parts.empty()) throw error("at least one tensor is required");
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

results padded_sequences(call const& c) {
    std::vector<tensor> const& sequences = c.tensors("sequences");
    if (sequences.empty()) throw error("at least one sequence is required");
    tensor const& first = sequences[0];
    std::string_view const side = c.has_argument("padding_side") ? c.text("padding_side") : "right";
    if (side != "right" && side != "left") throw error("padding_side must be 'right' or 'left'");
    std::int64_t longest = 0;
    for (tensor const& x : sequences) {
        if (x.rank() == 0 || x.rank() != first.rank()) throw error("sequences must have the same rank, at least 1");
        for (std::size_t i = 1; i != x.rank(); ++i)
            if (x.size(i) != first.size(i)) throw error("sequences must have the same sizes after the first");
        longest = std::max(longest, x.size(0));
    }
    std::vector<tensor> parts;
    for (tensor const& x : sequences) {
        sizes rest(x.sizes().begin(), x.sizes().end());
        rest[0] = longest - x.size(0);
        tensor const filler = full(c.f("padding_value"), first.dtype(), rest, first.where());
        tensor const own = cast(x, first.dtype());
        parts.push_back(side == "left" ? concat(std::vector{filler, own}, 0) : concat(std::vector{own, filler}, 0));
    }
    return stack(parts, c.b("batch_first") ? 0 : 1);
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
        if (x.rank() != 2) throw error("blocks must be matrices, not of shape " + to_string(x.sizes()));
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

/// Grids in which vector i varies along dimension i.
std::vector<tensor> grid_of(std::vector<tensor> const& vectors) {
    sizes to;
    for (tensor const& x : vectors) {
        if (x.rank() > 1) throw error("meshgrid requires vectors, not shape " + to_string(x.sizes()));
        if (x.dtype() != vectors[0].dtype()) throw error("meshgrid requires vectors of the same dtype");
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
    if (vectors.empty()) throw error("at least one tensor is required");
    std::string_view const indexing = c.has_argument("indexing") ? c.text("indexing") : "ij";
    if (indexing != "ij" && indexing != "xy") throw error("indexing must be 'ij' or 'xy'");
    bool const swaps = indexing == "xy" && vectors.size() >= 2;
    if (swaps) std::swap(vectors[0], vectors[1]);
    std::vector<tensor> out = grid_of(vectors);
    if (swaps) std::swap(out[0], out[1]);
    return value(std::move(out));
}

results cartesian_prod(call const& c) {
    std::vector<tensor> const& vectors = c.tensors("tensors");
    if (vectors.empty()) throw error("at least one tensor is required");
    for (tensor const& x : vectors)
        if (x.rank() != 1) throw error("vectors are expected, not shape " + to_string(x.sizes()));
    if (vectors.size() == 1) return vectors[0];
    std::vector<tensor> columns;
    for (tensor const& x : grid_of(vectors)) columns.push_back(flatten(x));
    return stack(columns, 1);
}

/// The combinations of elements: rows of a grid of indices that are ascending.
results combinations(call const& c) {
    tensor const x = c.t("self");
    std::int64_t const r = c.i("r");
    if (x.rank() != 1) throw error("a vector is expected, not shape " + to_string(x.sizes()));
    if (r < 0) throw error("combinations of " + std::to_string(r) + " elements do not exist");
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

results broadcast_all(call const& c) {
    sizes to;
    for (tensor const& x : c.tensors("tensors")) to = broadcast(to, x.sizes());
    std::vector<tensor> out;
    for (tensor const& x : c.tensors("tensors")) out.push_back(x.expanded(to));
    return value(std::move(out));
}

} // namespace

rows joining() {
    static constexpr row all[] = {
        {"pad_sequence", padded_sequences},
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
        {"broadcast_tensors", broadcast_all},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
