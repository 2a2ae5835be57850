// SPDX-License-Identifier: MIT
// ATen operators: elements by index.
#include "positions.hpp"

#include <algorithm>

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

results index(call const& c) { return indexed(c.t("self"), c.tensors("indices")); }

results select_by_index(call const& c) {
    tensor const x = c.t("self");
    tensor const index = c.t("index");
    if (index.rank() > 1) throw error("an index must be a vector, not of shape " + to_string(index.sizes()));
    if (x.rank() == 0) {
        if (index.count() != 1) throw error("a 0-d tensor requires exactly one index");
        return reshape(take(x, slice_positions({}, 0, index)), {});
    }
    return index_select(x, c.i("dim"), flatten(index));
}

/// Gathers along a dimension; a 0-d tensor counts as 1-d.
tensor gathered_along(tensor const& x, std::int64_t dim, tensor const& index) {
    tensor const wide = at_least_1d(x);
    tensor const at = at_least_1d(index);
    std::size_t const axis = axis_at(dim, wide.rank());
    if (index.count() == 0) return tensor::empty(x.dtype(), index.sizes(), kernels_of(x.where()).memory());
    if (at.rank() != wide.rank())
        throw error("an index of shape " + to_string(index.sizes()) + " does not fit shape " + to_string(x.sizes()));
    return reshape(take_along(wide, at, static_cast<std::int64_t>(axis)), index.sizes());
}

results gather(call const& c) { return gathered_along(c.t("self"), c.i("dim"), c.t("index")); }

results take_along_dim(call const& c) {
    tensor x = c.t("self");
    tensor index = c.t("indices");
    if (!c.given("dim")) return gathered_along(flatten(x), 0, flatten(index));
    if (x.rank() != index.rank())
        throw error("an index of shape " + to_string(index.sizes()) + " does not fit shape " + to_string(x.sizes()));
    if (x.rank() == 0) return gathered_along(x, c.i("dim"), index);
    std::size_t const axis = axis_of(c, x);
    sizes of_x = x.sizes();
    sizes of_index = index.sizes();
    of_x[axis] = of_index[axis] = 1;
    of_x = of_index = broadcast(of_x, of_index);
    of_x[axis] = x.size(axis);
    of_index[axis] = index.size(axis);
    return gathered_along(x.expanded(of_x), c.i("dim"), index.expanded(of_index));
}

results take_flat(call const& c) {
    tensor const x = c.t("self");
    tensor const index = c.t("index");
    if (x.count() == 0 && index.count() != 0) throw error("cannot take elements of an empty tensor");
    return reshape(take(x, positions({x.count()}, std::vector<tensor>{flatten(index)})), index.sizes());
}

} // namespace

rows indexing() {
    static constexpr row all[] = {
        {"index.Tensor", index},
        {"_unsafe_index.Tensor", index},
        {"index_select", select_by_index},
        {"gather", gather},
        {"take_along_dim", take_along_dim},
        {"take", take_flat},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
