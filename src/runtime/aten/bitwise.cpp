// SPDX-License-Identifier: MIT
// ATen operators: bitwise functions of integers.
#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

rows bitwise() {
    using enum binary_op;
    static constexpr row all[] = {
        {"__and__.Scalar", common_type<bitwise_and>},
        {"__and__.Tensor", common_type<bitwise_and>},
        {"__lshift__.Scalar", common_type<shift_left>},
        {"__lshift__.Tensor", common_type<shift_left>},
        {"__or__.Scalar", common_type<bitwise_or>},
        {"__or__.Tensor", common_type<bitwise_or>},
        {"__rshift__.Scalar", common_type<shift_right>},
        {"__rshift__.Tensor", common_type<shift_right>},
        {"__xor__.Scalar", common_type<bitwise_xor>},
        {"__xor__.Tensor", common_type<bitwise_xor>},
        {"bitwise_and.Scalar", common_type<bitwise_and>},
        {"bitwise_and.Scalar_Tensor", common_type<bitwise_and>},
        {"bitwise_and.Tensor", common_type<bitwise_and>},
        {"bitwise_left_shift.Scalar_Tensor", common_type<shift_left>},
        {"bitwise_left_shift.Tensor", common_type<shift_left>},
        {"bitwise_left_shift.Tensor_Scalar", common_type<shift_left>},
        {"bitwise_or.Scalar", common_type<bitwise_or>},
        {"bitwise_or.Scalar_Tensor", common_type<bitwise_or>},
        {"bitwise_or.Tensor", common_type<bitwise_or>},
        {"bitwise_right_shift.Scalar_Tensor", common_type<shift_right>},
        {"bitwise_right_shift.Tensor", common_type<shift_right>},
        {"bitwise_right_shift.Tensor_Scalar", common_type<shift_right>},
        {"bitwise_xor.Scalar", common_type<bitwise_xor>},
        {"bitwise_xor.Scalar_Tensor", common_type<bitwise_xor>},
        {"bitwise_xor.Tensor", common_type<bitwise_xor>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
