// SPDX-License-Identifier: MIT
// ATen operators: parts of a tensor by position. Copies are views too, since neither is written to.
#include "axes.hpp"

#include <utility>

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

results sliced(call const& c) { return slice_of(c, c.t("self")); }
results select(call const& c) { return selection_of(c, c.t("self")); }

results narrowed(call const& c) {
    tensor const x = c.t("self");
    std::size_t const axis = axis_in(c, x);
    std::int64_t const size = x.size(axis);
    std::int64_t start = c.i("start"); // may be a tensor
    std::int64_t const length = c.i("length");
    if (start < 0) start += size;
    if (start < 0 || start > size || length < 0 || length > size - start)
        throw error("length " + std::to_string(length) + " at start " + std::to_string(start) +
                    " is out of range for a dimension of size " + std::to_string(size));
    return x.sliced(axis, start, length);
}

results unfolded(call const& c) {
    tensor const x = c.t("self");
    std::size_t const axis = axis_of(c, x, "dimension");
    std::int64_t const size = c.i("size");
    std::int64_t const step = c.i("step");
    std::int64_t const all = x.rank() == 0 ? 1 : x.size(axis);
    if (size < 0 || size > all || step <= 0)
        throw error("windows of size " + std::to_string(size) + " with step " + std::to_string(step) +
                    " do not fit a dimension of size " + std::to_string(all));
    sizes to = x.sizes();
    ints strides = x.strides();
    to.push_back(size);
    strides.push_back(x.rank() == 0 ? 1 : strides[axis]);
    if (x.rank() != 0) {
        to[axis] = (all - size) / step + 1;
        if (to[axis] > 1) strides[axis] *= step;
    }
    return x.viewed(std::move(to), std::move(strides));
}

results as_strided(call const& c) {
    return strided(c.t("self"), c.ints("size"), c.ints("stride"), c.maybe_i("storage_offset"));
}

} // namespace

rows slicing() {
    static constexpr row all[] = {
        {"slice.Tensor", sliced},
        {"slice_copy.Tensor", sliced},
        {"select.int", select},
        {"select_copy.int", select},
        {"narrow", narrowed},
        {"narrow.Tensor", narrowed},
        {"narrow_copy", narrowed},
        {"unfold", unfolded},
        {"unfold_copy", unfolded},
        {"as_strided", as_strided},
        {"as_strided_copy", as_strided},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
