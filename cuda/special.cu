// SPDX-License-Identifier: MIT
// Special functions on the GPU.
#include "runtime/kernels/elementwise.hpp"

#include "kernels.hpp"
#include "launch.cuh"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

/// For functions that take long to compile and are limited by arithmetic, not by memory.
struct special_launcher : cuda_launcher {
    template <int Operands, class Out, class Function, class... In>
    static void run(loop<Operands> const& l, Out* out, Function const& f, In const*... in) {
        run_one_by_one(l, out, f, in...);
    }
};

} // namespace

void add_special(launches& to) {
    to.special_unary = launch_unary<special_launcher, true>;
    to.special_binary = launch_binary<special_launcher, true>;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
