// SPDX-License-Identifier: MIT
// Decompositions of matrices [..., M, N], of floats and complex numbers. They are computed on the host, wherever the tensors lie, in
// float64 or complex128; results stay there, in these dtypes.
#pragma once

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// float64, or complex128 for complex numbers.
[[nodiscard]] dtype widest(dtype t);
/// The complex conjugate, and that of the transpose.
[[nodiscard]] tensor conjugate(tensor const& x);
[[nodiscard]] tensor adjoint(tensor const& x);

/// P L U = A: L below the diagonal of `lu`, U from it on.
struct lu_factors {
    tensor lu;
    tensor pivots; ///< int32 [..., min(M, N)]: with which row each one was exchanged, counted from 1
    tensor info;   ///< int32 [...]: 0, or which element of U's diagonal is the first that is 0, counted from 1
};
[[nodiscard]] lu_factors lu_factor(tensor const& a, bool exchanges = true);
/// The rows of `b` as the pivots exchanged them, or put back.
[[nodiscard]] tensor exchange_rows(tensor const& b, tensor const& pivots, bool back);

/// Solves A X = B; the other triangle is not read, nor the diagonal where it is `unit`.
[[nodiscard]] tensor solve_triangle(tensor const& a, tensor const& b, bool upper, bool unit);

/// L L^H = A, from the lower triangle.
struct cholesky_factor {
    tensor lower;
    tensor info; ///< int32 [...]: 0, or the order of the first minor that is not positive
};
[[nodiscard]] cholesky_factor cholesky(tensor const& a);

/// Q R = A as LAPACK has it: R from the diagonal of `packed` on, below it the vectors of the reflections I - tau v v^H.
struct reflections {
    tensor packed;
    tensor tau;
};
[[nodiscard]] reflections householder(tensor const& a);
/// The first columns of the product of reflections.
[[nodiscard]] tensor reflected(reflections const& from, std::int64_t columns);

/// U diag(S) V^H = A. `full`: U and V are square. S is real and falls.
struct singular_values {
    tensor u;
    tensor s;
    tensor vh;
};
[[nodiscard]] singular_values svd(tensor const& a, bool full);

/// V diag(w) V^-1 = A. Of a Hermitian matrix, whose lower triangle is read: w is real and rises. Of any other both are complex.
struct eigenvalues {
    tensor values;
    tensor vectors;
};
[[nodiscard]] eigenvalues eigh(tensor const& a);
[[nodiscard]] eigenvalues eig(tensor const& a);

/// L D L^T = A of a symmetric matrix, from the lower triangle, with the pivots of LAPACK's sytrf.
[[nodiscard]] lu_factors ldl_factor(tensor const& a);
[[nodiscard]] tensor ldl_solve(tensor const& ld, tensor const& pivots, tensor const& b);

} // namespace ATON_NAMESPACE::runtime
