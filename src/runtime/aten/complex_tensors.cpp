// SPDX-License-Identifier: MIT
// ATen operators: complex tensors from their parts, and their parts.
#include <aton/core/error.hpp>

#include "elementwise.hpp"
#include "runtime/compute/complex.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

results of_parts(call const& c) {
    tensor const re = c.t("real");
    tensor const im = c.t("imag");
    if (re.dtype() != im.dtype() || !is_floating(re.dtype()))
        throw error("both parts must have the same floating-point dtype");
    return complex_of(re, im);
}

results of_angle(call const& c) {
    tensor const length = c.t("abs");
    tensor const angle = c.t("angle");
    if (length.dtype() != angle.dtype() || !is_floating(length.dtype()))
        throw error("both parts must have the same floating-point dtype");
    return complex_of(length * cos(angle), length * sin(angle));
}

results imaginary(call const& c) {
    tensor const x = c.t("self");
    if (!is_complex(x.dtype())) throw error("imag requires a complex tensor");
    return imaginary_part(x);
}

results as_real(call const& c) { return c.t("self").as_pairs(); }
results as_complex(call const& c) { return contiguous(c.t("self")).from_pairs(); }

} // namespace

rows complex_tensors() {
    static constexpr row all[] = {
        {"complex", of_parts},
        {"imag", imaginary},
        {"polar", of_angle},
        {"view_as_complex", as_complex},
        {"view_as_complex_copy", as_complex},
        {"view_as_real", as_real},
        {"view_as_real_copy", as_real},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
