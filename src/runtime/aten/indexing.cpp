// SPDX-License-Identifier: MIT
// ATen operators: elements by index.
#include "positions.hpp"

#include <algorithm>

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

tensor indexed(tensor const& x, std::vector<tensor> const& given) {
    std::vector<tensor> const indices = integer_indices(x, given);
    if (std::none_of(indices.begin(), indices.end(), [](tensor const& i) { return static_cast<bool>(i); })) return x;
    return take(x, indexed_positions(x.sizes(), indices));
}

results index(call const& c) { return indexed(c.t("self"), c.tensors("indices")); }

/// Clamps indices, for elements that a mask ignores anyway.
std::vector<tensor> clamped(tensor const& x, std::vector<tensor> const& given) {
    std::vector<tensor> out = given;
    if (out.size() > x.rank()) throw error("there are more indices than dimensions in shape " + to_string(x.sizes()));
    for (std::size_t i = 0; i != out.size(); ++i)
        if (out[i])
            out[i] = maximum(minimum(cast(out[i], dtype::int64), scalar(static_cast<long long>(x.size(i) - 1))),
                             scalar(static_cast<long long>(-x.size(i))));
    return out;
}

results masked_index(call const& c) {
    tensor x = c.t("self");
    std::vector<tensor> const& given = c.tensors("indices");
    tensor const fill = constant(c, c.number("fill"), x.dtype());
    if (x.count() == 0) { // nothing to read: size 1 in place of each indexed dimension
        sizes to = x.sizes();
        for (std::size_t i = 0; i < std::min(given.size(), to.size()); ++i)
            if (given[i]) to[i] = 1;
        x = fill.expanded(to);
    }
    return where(c.t("mask"), indexed(x, clamped(x, given)), fill);
}

results masked_index_put_accumulate(call const& c) {
    tensor const x = c.t("self");
    if (x.count() == 0) return x;
    tensor const values = where(c.t("mask"), c.t("values"), 0);
    tensor const at = indexed_positions(x.sizes(), clamped(x, c.tensors("indices")));
    return put(x, at, values.expanded(at.sizes()), put_op::add);
}

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
tensor gathered(tensor const& x, std::int64_t dim, tensor const& index) {
    tensor const wide = at_least_1d(x);
    tensor const at = at_least_1d(index);
    std::size_t const axis = axis_at(dim, wide.rank());
    if (index.count() == 0) return tensor::empty(x.dtype(), index.sizes(), kernels_of(x.where()).memory());
    if (at.rank() != wide.rank())
        throw error("an index of shape " + to_string(index.sizes()) + " does not fit shape " + to_string(x.sizes()));
    return reshape(take_along(wide, at, static_cast<std::int64_t>(axis)), index.sizes());
}

results gather(call const& c) { return gathered(c.t("self"), c.i("dim"), c.t("index")); }

results take_along_dim(call const& c) {
    tensor x = c.t("self");
    tensor index = c.t("indices");
    if (!c.given("dim")) return gathered(flatten(x), 0, flatten(index));
    if (x.rank() != index.rank())
        throw error("an index of shape " + to_string(index.sizes()) + " does not fit shape " + to_string(x.sizes()));
    if (x.rank() == 0) return gathered(x, c.i("dim"), index);
    std::size_t const axis = axis_of(c, x);
    sizes of_x = x.sizes();
    sizes of_index = index.sizes();
    of_x[axis] = of_index[axis] = 1;
    of_x = of_index = broadcast(of_x, of_index);
    of_x[axis] = x.size(axis);
    of_index[axis] = index.size(axis);
    return gathered(x.expanded(of_x), c.i("dim"), index.expanded(of_index));
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
        {"_unsafe_masked_index", masked_index},
        {"_unsafe_masked_index_put_accumulate", masked_index_put_accumulate},
        {"index_select", select_by_index},
        {"gather", gather},
        {"take_along_dim", take_along_dim},
        {"take", take_flat},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
