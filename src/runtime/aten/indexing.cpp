// SPDX-License-Identifier: MIT
// ATen operators: elements by index and by mask.
#include "positions.hpp"

#include <algorithm>
#include <utility>

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

tensor indexed(tensor const& x, std::vector<tensor> const& given) {
    std::vector<tensor> const indices = integer_indices(x, given);
    if (std::none_of(indices.begin(), indices.end(), [](tensor const& i) { return static_cast<bool>(i); })) return x;
    return take(x, indexed_positions(x.sizes(), indices));
}

results index(call const& c) { return indexed(c.t("self"), c.tensors("indices")); }

/// Indices that stay inside, for elements that a mask leaves out anyway.
std::vector<tensor> clamped(tensor const& x, std::vector<tensor> const& given) {
    std::vector<tensor> out = given;
    if (out.size() > x.rank()) throw error("more indices than the sizes " + to_string(x.sizes()) + " have");
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
    if (x.count() == 0) { // nothing to read: a 1 in place of each dimension that is indexed
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
    if (index.rank() > 1) throw error("an index is a vector, not of the sizes " + to_string(index.sizes()));
    if (x.rank() == 0) {
        if (index.count() != 1) throw error("one index is expected for a 0-d tensor");
        return reshape(take(x, slice_positions({}, 0, index)), {});
    }
    return index_select(x, c.i("dim"), flatten(index));
}

/// Elements along a dimension; a 0-d tensor counts as a vector of one.
tensor gathered(tensor const& x, std::int64_t dim, tensor const& index) {
    tensor const wide = at_least_1d(x);
    tensor const at = at_least_1d(index);
    std::size_t const axis = axis_at(dim, wide.rank());
    if (index.count() == 0) return tensor::empty(x.dtype(), index.sizes(), kernels_of(x.where()).memory());
    if (at.rank() != wide.rank())
        throw error("an index of the sizes " + to_string(index.sizes()) + " for the sizes " + to_string(x.sizes()));
    return reshape(take_along(wide, at, static_cast<std::int64_t>(axis)), index.sizes());
}

results gather(call const& c) { return gathered(c.t("self"), c.i("dim"), c.t("index")); }

results take_along_dim(call const& c) {
    tensor x = c.t("self");
    tensor index = c.t("indices");
    if (!c.given("dim")) return gathered(flatten(x), 0, flatten(index));
    if (x.rank() != index.rank())
        throw error("an index of the sizes " + to_string(index.sizes()) + " for the sizes " + to_string(x.sizes()));
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
    if (x.count() == 0 && index.count() != 0) throw error("nothing can be taken of an empty tensor");
    return reshape(take(x, positions({x.count()}, std::vector<tensor>{flatten(index)})), index.sizes());
}

results masked_select(call const& c) {
    tensor const x = c.t("self");
    tensor const mask = c.t("mask");
    sizes const to = broadcast(x.sizes(), mask.sizes());
    return take(x.expanded(to), true_positions(mask.expanded(to)));
}

tensor checked_mask(call const& c) {
    tensor const mask = c.t("mask");
    if (mask.dtype() != dtype::bool_) throw error("a mask is of bool, not of " + std::string(name(mask.dtype())));
    return mask;
}

results masked_fill(call const& c) {
    tensor const x = c.t("self");
    if (c.argument("value").is == aten_argument::kind::tensor && c.t("value").rank() != 0)
        throw error("the value of masked_fill is a 0-d tensor");
    return contiguous(where(checked_mask(c), operand(c, "value", x.dtype()), x));
}

results masked_scatter(call const& c) {
    tensor const mask = checked_mask(c);
    sizes const to = broadcast(c.t("self").sizes(), mask.sizes());
    tensor const source = flatten(c.t("source"));
    if (source.dtype() != c.t("self").dtype()) throw error("source has another dtype than self");
    tensor const at = true_positions(mask.expanded(to));
    if (at.count() > source.count()) throw error("source has fewer elements than the mask has true ones");
    return put(c.t("self").expanded(to), at, source.sliced(0, 0, at.count()));
}

results where_of(call const& c) {
    dtype const type = result_type(c, {"self", "other"});
    tensor const condition = c.t("condition");
    if (condition.dtype() != dtype::bool_ && condition.dtype() != dtype::uint8)
        throw error("a condition is of bool, not of " + std::string(name(condition.dtype())));
    return where(cast(condition, dtype::bool_), operand(c, "self", type), operand(c, "other", type));
}

results nonzero_rows(call const& c) { return contiguous(transpose(nonzero(c.t("self")), 0, 1)); }

/// One vector for each dimension.
results nonzero_columns(call const& c) {
    tensor const found = nonzero(at_least_1d(c.t(c.has_argument("condition") ? "condition" : "self")));
    std::vector<tensor> out;
    for (std::int64_t i = 0; i != found.size(0); ++i) out.push_back(selected(found, 0, i));
    return value(std::move(out));
}

results nonzero_static(call const& c) {
    tensor const rows = transpose(nonzero(c.t("self")), 0, 1);
    std::int64_t const size = c.i("size");
    if (size < 0) throw error("a size is not negative");
    return pad(rows, {0, 0}, {size - rows.size(0), 0}, c.number("fill_value"));
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
        {"masked_select", masked_select},
        {"masked_fill.Scalar", masked_fill},
        {"masked_fill.Tensor", masked_fill},
        {"masked_scatter", masked_scatter},
        {"where.self", where_of},
        {"where.Scalar", where_of},
        {"where.ScalarOther", where_of},
        {"where.ScalarSelf", where_of},
        {"where", nonzero_columns},
        {"nonzero", nonzero_rows},
        {"argwhere", nonzero_rows},
        {"nonzero_numpy", nonzero_columns},
        {"nonzero_static", nonzero_static},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
