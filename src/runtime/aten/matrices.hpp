// SPDX-License-Identifier: MIT
// What kernels of linear algebra share.
#pragma once

#include <string>

#include "runtime/compute/factorization.hpp"
#include <aton/core/error.hpp>

#include "axes.hpp"
#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// Brings what was computed on the host in a wide dtype back to the dtype and the device of an operand.
class home {
public:
    explicit home(tensor const& x) : type_(x.dtype()), where_(x.where()) {}

    [[nodiscard]] tensor operator()(tensor const& t) const {
        return to_device(is_complex(type_) && !is_complex(t.dtype()) ? real(t) : cast(t, type_), where_);
    }
    /// Of the parts of complex numbers.
    [[nodiscard]] tensor real(tensor const& t) const {
        bool const wide = type_ == dtype::float64 || type_ == dtype::complex128;
        return to_device(cast(t, wide ? dtype::float64 : dtype::float32), where_);
    }
    [[nodiscard]] tensor complex(tensor const& t) const {
        bool const wide = type_ == dtype::float64 || type_ == dtype::complex128;
        return to_device(cast(t, wide ? dtype::complex128 : dtype::complex64), where_);
    }
    /// Of integers.
    [[nodiscard]] tensor as_is(tensor const& t) const { return to_device(t, where_); }
    /// A tensor without elements, for a result that is not asked for.
    [[nodiscard]] tensor none() const { return none(type_); }
    [[nodiscard]] tensor none(dtype t) const { return to_device(tensor::empty(t, {0}), where_); }

private:
    dtype type_;
    device where_;
};

/// Throws aton::error where a matrix did not decompose.
void check_info(tensor const& info, std::string const& problem);

/// The elements from a diagonal on up, or down to it; 0 elsewhere.
[[nodiscard]] tensor upper_part(tensor const& x, std::int64_t diagonal = 0);
[[nodiscard]] tensor lower_part(tensor const& x, std::int64_t diagonal = 0);
/// [..., n, n], of ones on the diagonal.
[[nodiscard]] tensor identity(std::int64_t n, dtype type, device where);

/// A X = B, in the wide dtype, and the factors of A.
struct solution {
    tensor x;
    lu_factors factors;
};
[[nodiscard]] solution solve(tensor const& a, tensor const& b);
/// A^-1, likewise.
[[nodiscard]] solution inverse_of(tensor const& a);
/// From the factors of A; `is_adjoint`: A^H X = B.
[[nodiscard]] tensor solve_factored(tensor const& lu, tensor const& pivots, tensor const& b, bool is_adjoint);

/// Which singular values count: those above max(absolute, relative * the largest). float64 on the host, 0-d or one for each matrix.
struct tolerances {
    tensor absolute;
    tensor relative;
};
[[nodiscard]] tolerances tolerances_of(call const& c, tensor const& x);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
