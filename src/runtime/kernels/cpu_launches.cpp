// SPDX-License-Identifier: MIT
// Selects the kernels for the instruction set of the CPU.
#include <cstdlib>
#include <string>
#include <string_view>

#include <aton/core/error.hpp>

#include "cpu.hpp"

namespace ATON_NAMESPACE::runtime::kernels {

#if defined(ATON_KERNEL_VARIANTS)
namespace avx2 {
void add_vectors(launches& to);
}
namespace avx512 {
void add_vectors(launches& to);
}
#endif

namespace {

launches chosen() {
    launches l;
    add_binary(l);
    add_cast(l);
    add_indexing(l);
    add_matmul(l);
    add_move(l);
    add_reduce(l);
    add_scan(l);
    add_softmax(l);
    add_sort(l);
    add_special(l);
    add_unary(l);
    add_windows(l);
    char const* const named = std::getenv("ATON_CPU_VARIANT");
    std::string_view const wanted = named == nullptr ? "" : named;
    if (wanted == "baseline") return l;
    std::string known = "baseline";
#if defined(ATON_KERNEL_VARIANTS)
    if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
        avx2::add_vectors(l);
        if (wanted == "avx2") return l;
        known += ", avx2";
        if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
            __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0) {
            avx512::add_vectors(l);
            if (wanted == "avx512") return l;
            known += ", avx512";
        }
    }
#endif
    if (!wanted.empty()) throw error("ATON_CPU_VARIANT is '" + std::string(wanted) + "', not one of " + known);
    return l;
}

} // namespace

launches const& cpu_launches() {
    static launches const only = chosen();
    return only;
}

} // namespace ATON_NAMESPACE::runtime::kernels
