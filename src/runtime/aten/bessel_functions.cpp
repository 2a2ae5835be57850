// SPDX-License-Identifier: MIT
// ATen operators: Bessel and Airy functions.
#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

rows bessel_functions() {
    static constexpr row all[] = {
        {"special_airy_ai", real_function<unary_op::airy_ai>},
        {"special_bessel_j0", real_function<unary_op::bessel_j0>},
        {"special_bessel_j1", real_function<unary_op::bessel_j1>},
        {"special_bessel_y0", real_function<unary_op::bessel_y0>},
        {"special_bessel_y1", real_function<unary_op::bessel_y1>},
        {"special_modified_bessel_k0", real_function<unary_op::modified_bessel_k0>},
        {"special_modified_bessel_k1", real_function<unary_op::modified_bessel_k1>},
        {"special_scaled_modified_bessel_k0", real_function<unary_op::scaled_modified_bessel_k0>},
        {"special_scaled_modified_bessel_k1", real_function<unary_op::scaled_modified_bessel_k1>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
