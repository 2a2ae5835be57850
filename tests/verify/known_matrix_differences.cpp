// SPDX-License-Identifier: MIT
// Where torch's results of linear algebra differ, and why the runtime does not imitate them.
#include <cmath>
#include <cstdint>
#include <string_view>

#include <aton/core/dtype.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/verify/comparison.hpp>

#include "runtime/compute/factorization.hpp"

#include "known_torch_differences.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using runtime::tensor;

tensor matrices_of(sample const& s) {
    for (std::string_view const name : {"A", "self"})
        if (tensor const x = argument_of(s, name)) return x;
    return {};
}

/// Elements differ by no more than the rounding of the dtype times the condition number of their matrix, relative to the largest element of
/// the result for this matrix. A matrix that is singular in this dtype has any result.
bool is_accurate_to_the_condition(different_call const& d) {
    tensor const x = matrices_of(d.call);
    if (!x || x.rank() < 2 || x.count() == 0) return false;
    bool const is_wide = x.dtype() == dtype::float64 || x.dtype() == dtype::complex128;
    std::size_t const batch = x.rank() - 2;
    if (d.expected.rank() < batch) return false;
    tensor const s = runtime::svd(x, false).s;
    tensor error = runtime::max(s, {-1}) / runtime::min(s, {-1}) *
                   scalar((is_wide ? 0x1p-53 : 0x1p-24) * 4 * static_cast<double>(x.sizes().back()));
    auto const wide = [](tensor const& t) { return runtime::cast(t, runtime::widest(t.dtype())); };
    tensor const got = wide(d.got);
    tensor const expected = wide(d.expected);
    tensor largest = runtime::abs(expected);
    for (std::size_t axis = batch; axis != d.expected.rank(); ++axis) {
        error = error.unsqueezed(axis);
        largest = runtime::max(largest, {static_cast<std::int64_t>(axis)}, true);
    }
    tensor const near = runtime::less_equal(runtime::abs(got - expected), largest * error);
    tensor const is_singular = runtime::greater_equal(error, 0.1);
    return compare(runtime::where(runtime::logical_or(near, is_singular), d.expected, d.got), d.expected, 16).same();
}

/// A Cholesky factor has a real diagonal; this one does not.
bool has_no_real_diagonal(different_call const& d) {
    tensor const x = argument_of(d.call, "self");
    if (!is_complex(x.dtype())) return false;
    tensor const parts = parts_of(x);
    std::size_t const row = x.rank() - 2;
    for (std::int64_t i = 0; i != x.size(row); ++i) {
        tensor const element = parts.sliced(row, i, 1).sliced(row + 1, i, 1).sliced(row + 2, 1, 1);
        tensor const is_complex_there = runtime::unequal(element, 0);
        if (runtime::reduce(runtime::reduce_op::any, is_complex_there, runtime::all_axes(element)).item().to<bool>())
            return true;
    }
    return false;
}

/// Elements are equal except where torch's are NaN or infinite, and the runtime's finite.
bool is_finite_where_torch_is_not(different_call const& d) {
    auto const is_finite = [](tensor const& x) { return runtime::unary(runtime::unary_op::isfinite, x); };
    tensor const only_here = runtime::logical_and(is_finite(d.got), runtime::logical_not(is_finite(d.expected)));
    return compare(runtime::where(only_here, d.expected, d.got), d.expected, 16).same();
}

} // namespace

std::span<known_torch_difference const> known_matrix_differences() {
    static constexpr known_torch_difference all[] = {
        {"lu_solve linalg_lu_solve linalg_solve_triangular triangular_solve cholesky_solve",
         "complex64 ties|special",
         0,
         differs_beside_no_number,
         "a diagonal element is 0: LAPACK's quotient of complex numbers is NaN, where the runtime's is infinite"},
        {"cholesky_inverse",
         "complex64",
         0,
         has_no_real_diagonal,
         "LAPACK reads only the real part of the diagonal of the inverted factor in some blocks: that of a Cholesky "
         "factor "
         "is real"},
        {"linalg_inv_ex linalg_solve_ex _linalg_solve_ex _linalg_det _linalg_slogdet linalg_cond linalg_pinv",
         "",
         -1,
         is_accurate_to_the_condition,
         "LAPACK computes in the dtype of the matrix, the runtime in float64: they differ by rounding times the "
         "condition number"},
        {"_trilinear",
         "special",
         0,
         differs_beside_no_number,
         "torch multiplies all three before it adds: infinity beside a sum that is 0"},
        {"einsum cross linalg_cross addr",
         "special float32|bfloat16",
         0,
         differs_beside_no_number,
         "torch fuses products and sums, and its library adds products in another order: intermediate results "
         "overflow"},
        {"lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell lstm.input lstm.data gru.input gru.data rnn_tanh.input "
         "rnn_tanh.data rnn_relu.input rnn_relu.data",
         "special complex64",
         -1,
         has_huge_numbers,
         "products of infinite complex numbers depend on the order in which their parts are multiplied and added"},
        {"matrix_exp linalg_matrix_exp",
         "float16|bfloat16",
         0,
         is_finite_where_torch_is_not,
         "torch's Taylor polynomials give NaN and infinities for small matrices of these dtypes"},
    };
    return all;
}

} // namespace ATON_NAMESPACE::verify
