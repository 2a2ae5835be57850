// SPDX-License-Identifier: MIT
// ATen operators: elements by index where a mask is true.
#include <algorithm>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

#include "positions.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

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

} // namespace

rows masked_indexing() {
    static constexpr row all[] = {
        {"_unsafe_masked_index", masked_index},
        {"_unsafe_masked_index_put_accumulate", masked_index_put_accumulate},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
