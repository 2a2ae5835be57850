// SPDX-License-Identifier: MIT
// ATen operators: the Hurwitz zeta function and the derivatives of digamma.
#include <cmath>

#include <aton/core/error.hpp>

#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// Derivatives of digamma: (-1)^(n + 1) n! zeta(n + 1, x).
results derived_digamma(call const& c) {
    std::int64_t const n = c.i("n");
    tensor const x = c.t("self");
    dtype const type = to_real(x.dtype());
    if (n < 0) throw error("n must not be negative");
    if (n <= 1) return unary(n == 0 ? unary_op::digamma : unary_op::trigamma, cast(x, type));
    double const factor = std::tgamma(static_cast<double>(n) + 1) * (n % 2 == 0 ? -1 : 1);
    return computed_in(type, x, [&](tensor const& v) {
        tensor const wide = cast(v, dtype::float64);
        return binary(binary_op::zeta, scalar(static_cast<double>(n) + 1), wide) * scalar(factor);
    });
}

} // namespace

rows zeta_functions() {
    static constexpr row all[] = {
        {"polygamma", derived_digamma},
        {"special_polygamma", derived_digamma},
        {"special_zeta", common_real<binary_op::zeta>},
        {"special_zeta.other_scalar", common_real<binary_op::zeta>},
        {"special_zeta.self_scalar", common_real<binary_op::zeta>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
