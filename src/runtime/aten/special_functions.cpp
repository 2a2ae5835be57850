// SPDX-License-Identifier: MIT
// ATen operators: special functions.
#include <cmath>
#include <string>
#include <string_view>

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

/// A polynomial of degree n at x.
template <binary_op Op, bool Shifted = false>
results polynomial(call const& c) {
    operand_pair p = promoted_to_real(c, "x", "n");
    if (Shifted) p.x = p.x + p.x - scalar(1);
    return p.finish(binary(Op, p.x, p.y));
}

} // namespace

rows special_functions() {
    static constexpr row all[] = {
        {"digamma", real_function<unary_op::digamma>},
        {"erfc", real_function<unary_op::erfc>},
        {"erfinv", real_function<unary_op::erfinv>},
        {"i0", real_function<unary_op::i0>},
        {"igamma", common_real<binary_op::igamma>},
        {"igammac", common_real<binary_op::igammac>},
        {"lgamma", real_function<unary_op::lgamma>},
        {"mvlgamma", log_of_multivariate_gamma},
        {"polygamma", derived_digamma},
        {"special_airy_ai", real_function<unary_op::airy_ai>},
        {"special_bessel_j0", real_function<unary_op::bessel_j0>},
        {"special_bessel_j1", real_function<unary_op::bessel_j1>},
        {"special_bessel_y0", real_function<unary_op::bessel_y0>},
        {"special_bessel_y1", real_function<unary_op::bessel_y1>},
        {"special_chebyshev_polynomial_t", polynomial<binary_op::chebyshev_t>},
        {"special_chebyshev_polynomial_t.n_scalar", polynomial<binary_op::chebyshev_t>},
        {"special_chebyshev_polynomial_t.x_scalar", polynomial<binary_op::chebyshev_t>},
        {"special_chebyshev_polynomial_u", polynomial<binary_op::chebyshev_u>},
        {"special_chebyshev_polynomial_u.n_scalar", polynomial<binary_op::chebyshev_u>},
        {"special_chebyshev_polynomial_u.x_scalar", polynomial<binary_op::chebyshev_u>},
        {"special_chebyshev_polynomial_v", polynomial<binary_op::chebyshev_v>},
        {"special_chebyshev_polynomial_v.n_scalar", polynomial<binary_op::chebyshev_v>},
        {"special_chebyshev_polynomial_v.x_scalar", polynomial<binary_op::chebyshev_v>},
        {"special_chebyshev_polynomial_w", polynomial<binary_op::chebyshev_w>},
        {"special_chebyshev_polynomial_w.n_scalar", polynomial<binary_op::chebyshev_w>},
        {"special_chebyshev_polynomial_w.x_scalar", polynomial<binary_op::chebyshev_w>},
        {"special_digamma", real_function<unary_op::digamma>},
        {"special_erfc", real_function<unary_op::erfc>},
        {"special_erfcx", real_function<unary_op::erfcx>},
        {"special_erfinv", real_function<unary_op::erfinv>},
        {"special_gammainc", common_real<binary_op::igamma>},
        {"special_gammaincc", common_real<binary_op::igammac>},
        {"special_gammaln", real_function<unary_op::lgamma>},
        {"special_hermite_polynomial_h", polynomial<binary_op::hermite_h>},
        {"special_hermite_polynomial_h.n_scalar", polynomial<binary_op::hermite_h>},
        {"special_hermite_polynomial_h.x_scalar", polynomial<binary_op::hermite_h>},
        {"special_hermite_polynomial_he", polynomial<binary_op::hermite_he>},
        {"special_hermite_polynomial_he.n_scalar", polynomial<binary_op::hermite_he>},
        {"special_hermite_polynomial_he.x_scalar", polynomial<binary_op::hermite_he>},
        {"special_i0", real_function<unary_op::i0>},
        {"special_i0e", real_function<unary_op::i0e>},
        {"special_i1", real_function<unary_op::i1>},
        {"special_i1e", real_function<unary_op::i1e>},
        {"special_laguerre_polynomial_l", polynomial<binary_op::laguerre_l>},
        {"special_laguerre_polynomial_l.n_scalar", polynomial<binary_op::laguerre_l>},
        {"special_laguerre_polynomial_l.x_scalar", polynomial<binary_op::laguerre_l>},
        {"special_legendre_polynomial_p", polynomial<binary_op::legendre_p>},
        {"special_legendre_polynomial_p.n_scalar", polynomial<binary_op::legendre_p>},
        {"special_legendre_polynomial_p.x_scalar", polynomial<binary_op::legendre_p>},
        {"special_log_ndtr", real_function<unary_op::log_ndtr>},
        {"special_modified_bessel_i0", real_function<unary_op::i0>},
        {"special_modified_bessel_i1", real_function<unary_op::i1>},
        {"special_modified_bessel_k0", real_function<unary_op::modified_bessel_k0>},
        {"special_modified_bessel_k1", real_function<unary_op::modified_bessel_k1>},
        {"special_multigammaln", log_of_multivariate_gamma},
        {"special_ndtr", normal_distribution},
        {"special_ndtri", real_function<unary_op::ndtri>},
        {"special_polygamma", derived_digamma},
        {"special_psi", real_function<unary_op::digamma>},
        {"special_scaled_modified_bessel_k0", real_function<unary_op::scaled_modified_bessel_k0>},
        {"special_scaled_modified_bessel_k1", real_function<unary_op::scaled_modified_bessel_k1>},
        {"special_shifted_chebyshev_polynomial_t", polynomial<binary_op::chebyshev_t, true>},
        {"special_shifted_chebyshev_polynomial_t.n_scalar", polynomial<binary_op::chebyshev_t, true>},
        {"special_shifted_chebyshev_polynomial_t.x_scalar", polynomial<binary_op::chebyshev_t, true>},
        {"special_shifted_chebyshev_polynomial_u", polynomial<binary_op::chebyshev_u, true>},
        {"special_shifted_chebyshev_polynomial_u.n_scalar", polynomial<binary_op::chebyshev_u, true>},
        {"special_shifted_chebyshev_polynomial_u.x_scalar", polynomial<binary_op::chebyshev_u, true>},
        {"special_shifted_chebyshev_polynomial_v", polynomial<binary_op::chebyshev_v, true>},
        {"special_shifted_chebyshev_polynomial_v.n_scalar", polynomial<binary_op::chebyshev_v, true>},
        {"special_shifted_chebyshev_polynomial_v.x_scalar", polynomial<binary_op::chebyshev_v, true>},
        {"special_shifted_chebyshev_polynomial_w", polynomial<binary_op::chebyshev_w, true>},
        {"special_shifted_chebyshev_polynomial_w.n_scalar", polynomial<binary_op::chebyshev_w, true>},
        {"special_shifted_chebyshev_polynomial_w.x_scalar", polynomial<binary_op::chebyshev_w, true>},
        {"special_spherical_bessel_j0", real_function<unary_op::spherical_bessel_j0>},
        {"special_zeta", common_real<binary_op::zeta>},
        {"special_zeta.other_scalar", common_real<binary_op::zeta>},
        {"special_zeta.self_scalar", common_real<binary_op::zeta>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
