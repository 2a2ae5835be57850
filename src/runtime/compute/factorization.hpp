// SPDX-License-Identifier: MIT
// Decompositions of matrices [..., M, N] of floats or complex numbers. They are computed on the host in float64 or
// complex128, whatever the device of the operands; results stay on the host, in these dtypes.
#pragma once

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// complex128 for complex dtypes, otherwise float64.
[[nodiscard]] dtype widest(dtype t);

/// P L U = A: `lu` has L below its diagonal and U from the diagonal on.
struct lu_factors {
    tensor lu;
    tensor pivots; ///< int32 [..., min(M, N)]: the row that each row was swapped with, counted from 1
    tensor info;   ///< int32 [...]: 0, or the first diagonal element of U that is 0, counted from 1
};
[[nodiscard]] lu_factors lu_factor(tensor const& a, bool exchanges = true);
/// Applies the row swaps of the pivots to `b`, or undoes them if `back`.
[[nodiscard]] tensor exchange_rows(tensor const& b, tensor const& pivots, bool back);

/// Solves A X = B. The other triangle is not read, nor the diagonal if `unit`.
[[nodiscard]] tensor solve_triangle(tensor const& a, tensor const& b, bool upper, bool unit);

/// L L^H = A; only the lower triangle of A is read.
struct cholesky_factor {
    tensor lower;
    tensor info; ///< int32 [...]: 0, or the order of the first minor that is not positive
};
[[nodiscard]] cholesky_factor cholesky(tensor const& a);

/// Q R = A in LAPACK's form: `packed` has R from the diagonal on, and below it the vectors of the reflectors I - tau v
/// v^H.
struct reflections {
    tensor packed;
    tensor tau;
};
[[nodiscard]] reflections householder(tensor const& a);
/// The first `columns` columns of the product of the reflectors.
[[nodiscard]] tensor reflected(reflections const& from, std::int64_t columns);

/// U diag(S) V^H = A. `full`: U and V are square. S is real and descending.
struct singular_values {
    tensor u;
    tensor s;
    tensor vh;
};
[[nodiscard]] singular_values svd(tensor const& a, bool full);

/// V diag(w) V^-1 = A. For a Hermitian matrix, of which only the lower triangle is read, w is real and ascending. For
/// other matrices both are complex.
struct eigenvalues {
    tensor values;
    tensor vectors;
};
[[nodiscard]] eigenvalues eigh(tensor const& a);
[[nodiscard]] eigenvalues eig(tensor const& a);

/// L D L^T = A for a symmetric matrix, of which only the lower triangle is read, with the pivots of LAPACK's sytrf.
[[nodiscard]] lu_factors ldl_factor(tensor const& a);
[[nodiscard]] tensor ldl_solve(tensor const& ld, tensor const& pivots, tensor const& b);

} // namespace ATON_NAMESPACE::runtime
