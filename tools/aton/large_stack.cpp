// SPDX-License-Identifier: MIT
#include "large_stack.hpp"

#include <csignal>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <pthread.h>

#include <aton/core/error.hpp>

namespace aton::tool {

namespace {

/// Twice what the first thread of a program has. Pages that are not used cost nothing.
constexpr std::size_t stack_bytes = std::size_t{16} << 20U;

extern "C" {

static void* run_work(void* work) {
    (*static_cast<std::function<void()>*>(work))();
    return nullptr;
}

} // extern "C"

} // namespace

large_stack_thread::large_stack_thread(std::function<void()> work) : work_(std::move(work)) {
    auto thread = std::make_unique<::pthread_t>();
    ::pthread_attr_t attributes;
    ::sigset_t all;
    ::sigset_t before;
    ::sigfillset(&all);
    for (int const fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
        ::sigdelset(&all, fault); // of this thread
    int reason = ::pthread_attr_init(&attributes);
    if (reason == 0) {
        (void)::pthread_attr_setstacksize(&attributes, stack_bytes);
        ::pthread_sigmask(SIG_BLOCK, &all, &before);
        reason = ::pthread_create(thread.get(), &attributes, &run_work, &work_);
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        ::pthread_attr_destroy(&attributes);
    }
    if (reason != 0) throw error("no thread can be started: " + std::string(std::strerror(reason)));
    thread_ = thread.release();
}

large_stack_thread::~large_stack_thread() {
    std::unique_ptr<::pthread_t> const thread(static_cast<::pthread_t*>(thread_));
    ::pthread_join(*thread, nullptr);
}

} // namespace aton::tool
