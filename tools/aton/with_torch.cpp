// SPDX-License-Identifier: MIT
// aton-verify-torch.
#include <csetjmp>
#include <csignal>

#include <ATen/Parallel.h>

#include <aton/core/error.hpp>
#include <aton/verify/torch_reference.hpp>

#include "torch_truth.hpp"

namespace aton::tool {

namespace {

/// Some kernels divide integers by zero, such as that of aten::lcm for two zeros, which ends the process. The signal reaches the thread that
/// divides; the call then counts as rejected. What the kernel holds is lost.
thread_local sigjmp_buf before_call;
thread_local bool is_calling = false;

void leave_call(int number) {
    if (is_calling) siglongjmp(before_call, 1);
    std::signal(number, SIG_DFL);
    (void)std::raise(number);
}

runtime::aten_results call_guarded(verify::sample const& s) {
    if (sigsetjmp(before_call, 1) != 0) {
        is_calling = false;
        throw error(s.overload + ": torch divides an integer by zero");
    }
    is_calling = true;
    try {
        runtime::aten_results out = verify::call_torch(s);
        is_calling = false;
        return out;
    } catch (...) {
        is_calling = false;
        throw;
    }
}

} // namespace

void become_torch(char** argv) { (void)argv; }

void use_torch(verify::check_options& options) {
    at::set_num_threads(1); // rows are checked in threads
    (void)std::signal(SIGFPE, leave_call);
    options.truth = call_guarded;
    options.registered_schema = verify::torch_schema;
}

} // namespace aton::tool
