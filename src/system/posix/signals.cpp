// SPDX-License-Identifier: MIT
// A thread waits for the requests to stop, so that what it does is not limited to the functions that a handler of signals may call.
#include "system/signals.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <system_error>
#include <thread>

#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

#include <aton/core/crash_signals.hpp>

namespace ATON_NAMESPACE::system {

namespace {

::sigset_t at_start;
void (*size_limit_at_start)(int) = SIG_DFL;
void (*report_of_crash)(int) = nullptr;
void (*tick_of_time)() = nullptr;

/// The signals that end a program and are not ignored, as they are for programs started by nohup.
::sigset_t awaited() {
    ::sigset_t all;
    ::sigemptyset(&all);
    for (int const signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct ::sigaction now{};
        if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) ::sigaddset(&all, signal);
    }
    return all;
}

extern "C" {

static void report_and_raise(int signal) {
    report_of_crash(signal);
    (void)std::raise(signal); // as without a handler, which SA_RESETHAND has removed
}

static void report_time(int) {
    int const error = errno;
    tick_of_time();
    errno = error;
}

} // extern "C"

} // namespace

void await_requests_to_stop(void (*end)(int signal)) {
    size_limit_at_start =
        std::signal(SIGXFSZ, SIG_IGN); // writing fails instead: the message says that the file is too large
    ::sigset_t const signals = awaited();
    ::pthread_sigmask(SIG_BLOCK, &signals, &at_start);
    try {
        std::thread([signals, end] {
            int signal = 0;
            if (::sigwait(&signals, &signal) == 0) end(signal);
        }).detach();
    } catch (std::system_error const&) { // no thread can be started: the signals end the process at once
        ::pthread_sigmask(SIG_SETMASK, &at_start, nullptr);
    }
}

void forget_requests_to_stop() noexcept {
    ::pthread_sigmask(SIG_SETMASK, &at_start, nullptr);
    std::signal(SIGXFSZ, size_limit_at_start);
}

bool ignore_closed_pipes() noexcept { return std::signal(SIGPIPE, SIG_IGN) != SIG_IGN; }

int closed_pipe_signal() noexcept { return SIGPIPE; }

void end_by_signal(int signal) noexcept {
    struct ::sigaction by_default{};
    by_default.sa_handler = SIG_DFL;
    ::sigaction(signal, &by_default, nullptr);
    ::sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    (void)std::raise(signal);
    ::_exit(128 + signal);
}

void on_crash(void (*report)(int signal)) {
    static std::byte stack[1U << 16U]; // for code that uses up the stack
    report_of_crash = report;
    ::stack_t other{};
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    (void)::sigaltstack(&other, nullptr);
    for (int const signal : detail::crash_signals) {
        struct ::sigaction now{};
        bool const is_free = ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL; // no sanitizer's
        if (!is_free) continue;
        struct ::sigaction reporting{};
        reporting.sa_handler = &report_and_raise;
        reporting.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
        (void)::sigaction(signal, &reporting, nullptr);
    }
}

void on_processor_time(void (*tick)()) {
    struct ::sigaction now{};
    if (::sigaction(SIGPROF, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return; // a profiler's
    tick_of_time = tick;
    struct ::sigaction reporting{};
    reporting.sa_handler = &report_time;
    reporting.sa_flags = SA_ONSTACK | SA_RESTART;
    ::itimerval const each_second{{1, 0}, {1, 0}};
    if (::sigaction(SIGPROF, &reporting, nullptr) == 0) (void)::setitimer(ITIMER_PROF, &each_second, nullptr);
}

void end_soon() noexcept { ::alarm(5); }

} // namespace ATON_NAMESPACE::system
