// SPDX-License-Identifier: MIT
// What is worth compiling again for wider vectors.
#include "cpu.hpp"

namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT {

void add_vectors(launches& to) {
    add_binary(to);
    add_cast(to);
    add_matmul(to);
    add_move(to);
    add_reduce(to);
    add_scan(to);
    add_softmax(to);
    add_unary(to);
}

} // namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT
