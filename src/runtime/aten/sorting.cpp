// SPDX-License-Identifier: MIT
// ATen operators: sorting and top k. Sorting is stable; NaN is greater than every number.
#include "axes.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

sorted sorted_along(tensor const& x, std::int64_t dim, bool descending) {
    if (is_complex(x.dtype())) throw error("complex numbers cannot be ordered");
    return sort(x, dim, descending);
}

results sort_both(call const& c) {
    sorted const s = sorted_along(c.t("self"), c.i("dim"), c.b("descending"));
    return {s.values, s.indices};
}
results argsort(call const& c) { return sorted_along(c.t("self"), c.i("dim"), c.b("descending")).indices; }
results msort(call const& c) { return sorted_along(c.t("self"), 0, false).values; }

results topk(call const& c) {
    tensor const x = at_least_1d(c.t("self"));
    std::size_t const axis = axis_of(c, x);
    std::int64_t const k = c.i("k");
    if (k < 0 || k > x.size(axis))
        throw error("k is " + std::to_string(k) + " for a dimension of size " + std::to_string(x.size(axis)));
    sorted const s = sorted_along(x, c.i("dim"), c.b("largest"));
    auto const first = [&](tensor const& t) {
        tensor const kept = t.sliced(axis, 0, k);
        return c.t("self").rank() == 0 && k == 1 ? kept.squeezed(0) : kept;
    };
    return {first(s.values), first(s.indices)};
}

results kthvalue(call const& c) {
    tensor const x = at_least_1d(c.t("self"));
    std::size_t const axis = axis_of(c, x);
    std::int64_t const k = c.i("k");
    if (k < 1 || k > x.size(axis))
        throw error("k is " + std::to_string(k) + " for a dimension of size " + std::to_string(x.size(axis)));
    sorted const s = sorted_along(x, c.i("dim"), false);
    bool const keeps = c.b("keepdim") && c.t("self").rank() != 0;
    auto const at_k = [&](tensor const& t) {
        tensor const kept = t.sliced(axis, k - 1, 1);
        return keeps ? kept : kept.squeezed(axis);
    };
    return {at_k(s.values), at_k(s.indices)};
}

} // namespace

rows sorting() {
    static constexpr row all[] = {
        {"sort", sort_both},
        {"sort.stable", sort_both},
        {"argsort", argsort},
        {"argsort.stable", argsort},
        {"msort", msort},
        {"topk", topk},
        {"kthvalue", kthvalue},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
