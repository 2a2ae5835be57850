// SPDX-License-Identifier: MIT
// Helpers of linear algebra kernels.
#pragma once

#include <string>
#include <string_view>

#include "runtime/compute/factorization.hpp"
#include <aton/core/error.hpp>

#include "axes.hpp"
#include "call.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// Converts results that were computed on the host in a wide dtype to the dtype and device of an operand.
class like_operand {
public:
    explicit like_operand(tensor const& x) : type_(x.dtype()), where_(x.where()) {}

    [[nodiscard]] tensor operator()(tensor const& t) const {
        return to_device(is_complex(type_) && !is_complex(t.dtype()) ? real(t) : cast(t, type_), where_);
    }
    [[nodiscard]] dtype real_type() const { return is_wide() ? dtype::float64 : dtype::float32; }
    /// For real results of complex operands.
    [[nodiscard]] tensor real(tensor const& t) const { return to_device(cast(t, real_type()), where_); }
    [[nodiscard]] tensor complex(tensor const& t) const {
        return to_device(cast(t, is_wide() ? dtype::complex128 : dtype::complex64), where_);
    }
    /// For integers.
    [[nodiscard]] tensor as_is(tensor const& t) const { return to_device(t, where_); }
    /// An empty tensor, for a result that is not requested.
    [[nodiscard]] tensor none() const { return none(type_); }
    [[nodiscard]] tensor none(dtype t) const { return to_device(tensor::empty(t, {0}), where_); }

private:
    [[nodiscard]] bool is_wide() const { return type_ == dtype::float64 || type_ == dtype::complex128; }

    dtype type_;
    device where_;
};

/// Throws aton::error if the decomposition of a matrix failed.
void check_info(tensor const& info, std::string const& problem);

/// Throws aton::error for dtypes that LAPACK does not have.
void require_lapack(tensor const& x);

/// The elements on and above a diagonal, or on and below it; 0 elsewhere.
[[nodiscard]] tensor upper_part(tensor const& x, std::int64_t diagonal = 0);
[[nodiscard]] tensor lower_part(tensor const& x, std::int64_t diagonal = 0);
/// The identity matrix [n, n].
[[nodiscard]] tensor identity(std::int64_t n, dtype type, device where);

/// The solution of A X = B in the wide dtype, and the factors of A.
struct solution {
    tensor x;
    lu_factors factors;
};
[[nodiscard]] solution solve(tensor const& a, tensor const& b);
/// A^-1 and the factors of A.
[[nodiscard]] solution inverse_of(tensor const& a);
/// Solves A X = B, or A^H X = B if `is_adjoint`, from the factors of A.
[[nodiscard]] tensor solve_factored(tensor const& lu, tensor const& pivots, tensor const& b, bool is_adjoint);

/// The norm of matrices in the last two axes: "fro", "nuc", or of an order.
[[nodiscard]] term norm_of_matrices(tensor const& x, std::string_view name);
[[nodiscard]] term norm_of_matrices(tensor const& x, double order);

/// Tolerances of singular values: those above max(absolute, relative * maximum) count. float64 on the host, 0-d or one
/// per matrix.
struct tolerances {
    tensor absolute;
    tensor relative;
};
[[nodiscard]] tolerances tolerances_of(call const& c, tensor const& x);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
