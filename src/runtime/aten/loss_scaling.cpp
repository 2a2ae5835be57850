// SPDX-License-Identifier: MIT
// ATen operators: the scaling of losses in automatic mixed precision.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

tensor one_element(call const& c, std::string_view name, dtype type) {
    tensor const x = c.t(name);
    if (x.count() != 1) throw error(std::string(name) + " must have one element");
    if (x.dtype() != type) throw error(std::string(name) + " has the wrong dtype");
    return x;
}

tensor filled_like(tensor const& x, scalar const& n) { return full(n, x.dtype(), x.sizes(), x.where()); }

results unscale(call const& c) {
    double const factor = number_of(one_element(c, "inv_scale", dtype::float32));
    tensor found = one_element(c, "found_inf", dtype::float32);
    std::vector<tensor> scaled;
    for (tensor const& x : c.tensors("self")) {
        if (!is_floating(x.dtype())) throw error("a gradient must be floating-point");
        tensor const finite = unary(unary_op::isfinite, x);
        if (number_of(reduce(reduce_op::all, finite, all_axes(finite))) == 0) found = filled_like(found, 1);
        scaled.push_back(cast(cast(x, compute_type(x.dtype())) * scalar(factor), x.dtype()));
    }
    return {value(std::move(scaled)), found};
}

results update_scale(call const& c) {
    tensor const scale = one_element(c, "self", dtype::float32);
    tensor const tracker = one_element(c, "growth_tracker", dtype::int32);
    double const now = number_of(scale);
    if (number_of(one_element(c, "found_inf", dtype::float32)) != 0)
        return {filled_like(scale, static_cast<double>(static_cast<float>(now * c.f("scale_backoff_factor")))),
                filled_like(tracker, 0)};
    auto const before = static_cast<std::uint32_t>(to_host(tracker).item().to<std::int64_t>());
    auto const steps = static_cast<std::int32_t>(before + 1); // wraps around, as in ATen
    if (steps != c.i("growth_interval")) return {scale, filled_like(tracker, std::int64_t{steps})};
    auto const grown = static_cast<float>(now * c.f("scale_growth_factor"));
    return {std::isfinite(grown) ? filled_like(scale, static_cast<double>(grown)) : scale, filled_like(tracker, 0)};
}

} // namespace

rows loss_scaling() {
    static constexpr row all[] = {
        {"_amp_foreach_non_finite_check_and_unscale", unscale},
        {"_amp_update_scale", update_scale},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
