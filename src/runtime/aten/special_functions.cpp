// SPDX-License-Identifier: MIT
// ATen operators: special functions.
#include <cmath>
#include <string>

#include <aton/core/error.hpp>

#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// The normal distribution function by erf, rounded after each step as in ATen.
results normal_distribution(call const& c) {
    tensor const x = c.t("self");
    tensor const v = cast(x, to_real(x.dtype())) * scalar(0.70710678118654752440);
    return (unary(unary_op::erf, v) + scalar(1)) * scalar(0.5);
}

/// log of pi^(p (p - 1) / 4) times the product of gamma(x - i / 2), i = 0, ..., p - 1.
results log_of_multivariate_gamma(call const& c) {
    std::int64_t const p = c.i("p");
    tensor const x = c.t("self");
    if (p < 1 || p > 1 << 16) throw error("p is " + std::to_string(p));
    // Arguments and terms are rounded to the dtype of the result.
    dtype const type = to_real(x.dtype());
    dtype const in = compute_type(type);
    auto const rounded = [&](tensor const& v) { return cast(cast(v, type), in); };
    tensor const v = rounded(x);
    tensor all = full_like(v, 0);
    for (std::int64_t i = p; i-- != 0;)
        all = all + rounded(unary(unary_op::lgamma, rounded(v - scalar(static_cast<double>(i) / 2))));
    auto const d = static_cast<double>(p);
    return cast(rounded(all) + scalar(d * (d - 1) / 4 * std::log(3.14159265358979323846)), type);
}

} // namespace

rows special_functions() {
    static constexpr row all[] = {
        {"digamma", real_function<unary_op::digamma>},
        {"erfc", real_function<unary_op::erfc>},
        {"erfinv", real_function<unary_op::erfinv>},
        {"i0", real_function<unary_op::i0>},
        {"lgamma", real_function<unary_op::lgamma>},
        {"mvlgamma", log_of_multivariate_gamma},
        {"special_digamma", real_function<unary_op::digamma>},
        {"special_erfc", real_function<unary_op::erfc>},
        {"special_erfcx", real_function<unary_op::erfcx>},
        {"special_erfinv", real_function<unary_op::erfinv>},
        {"special_gammaln", real_function<unary_op::lgamma>},
        {"special_i0", real_function<unary_op::i0>},
        {"special_i0e", real_function<unary_op::i0e>},
        {"special_i1", real_function<unary_op::i1>},
        {"special_i1e", real_function<unary_op::i1e>},
        {"special_log_ndtr", real_function<unary_op::log_ndtr>},
        {"special_modified_bessel_i0", real_function<unary_op::i0>},
        {"special_modified_bessel_i1", real_function<unary_op::i1>},
        {"special_multigammaln", log_of_multivariate_gamma},
        {"special_ndtr", normal_distribution},
        {"special_ndtri", real_function<unary_op::ndtri>},
        {"special_psi", real_function<unary_op::digamma>},
        {"special_spherical_bessel_j0", real_function<unary_op::spherical_bessel_j0>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
