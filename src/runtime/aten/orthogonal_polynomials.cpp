// SPDX-License-Identifier: MIT
// ATen operators: orthogonal polynomials.
#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// A polynomial of degree n at x.
template <binary_op Op, bool Shifted = false>
results polynomial(call const& c) {
    operand_pair p = promoted_to_real(c, "x", "n");
    if (Shifted) p.x = p.x + p.x - scalar(1);
    return p.finish(binary(Op, p.x, p.y));
}

} // namespace

rows orthogonal_polynomials() {
    static constexpr row all[] = {
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
        {"special_hermite_polynomial_h", polynomial<binary_op::hermite_h>},
        {"special_hermite_polynomial_h.n_scalar", polynomial<binary_op::hermite_h>},
        {"special_hermite_polynomial_h.x_scalar", polynomial<binary_op::hermite_h>},
        {"special_hermite_polynomial_he", polynomial<binary_op::hermite_he>},
        {"special_hermite_polynomial_he.n_scalar", polynomial<binary_op::hermite_he>},
        {"special_hermite_polynomial_he.x_scalar", polynomial<binary_op::hermite_he>},
        {"special_laguerre_polynomial_l", polynomial<binary_op::laguerre_l>},
        {"special_laguerre_polynomial_l.n_scalar", polynomial<binary_op::laguerre_l>},
        {"special_laguerre_polynomial_l.x_scalar", polynomial<binary_op::laguerre_l>},
        {"special_legendre_polynomial_p", polynomial<binary_op::legendre_p>},
        {"special_legendre_polynomial_p.n_scalar", polynomial<binary_op::legendre_p>},
        {"special_legendre_polynomial_p.x_scalar", polynomial<binary_op::legendre_p>},
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
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
