// SPDX-License-Identifier: MIT
// ATen operators: incomplete gamma functions.
#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

rows incomplete_gamma() {
    using enum binary_op;
    static constexpr row all[] = {
        {"igamma", common_real<binary_op::igamma>},
        {"igammac", common_real<binary_op::igammac>},
        {"special_gammainc", common_real<binary_op::igamma>},
        {"special_gammaincc", common_real<binary_op::igammac>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
