// SPDX-License-Identifier: MIT
// Adds the kernels that are worth compiling again for wider vectors.
#include "cpu.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

void add_vectors(launches& to) {
    add_cast(to);
    add_matmul(to);
    add_softmax(to);
    add_unary(to);
#if !defined(__AVX512F__) // not faster with AVX-512 than with AVX2
    add_binary(to);
    add_reduce(to);
    add_windows(to);
#endif
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
