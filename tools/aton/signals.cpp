// SPDX-License-Identifier: MIT
// A thread waits for the signals, so that what it does is not limited to the functions that a signal handler may call.
#include "signals.hpp"

#include <csignal>
#include <system_error>
#include <thread>

#include <pthread.h>
#include <unistd.h>

#include <aton/model_io/model_io.hpp>

#include "progress.hpp"

namespace aton::tool {

namespace {

::sigset_t at_start;
void (*size_limit_at_start)(int) = SIG_DFL;
bool has_postponed_pipes = false;

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

} // namespace

void handle_signals() {
    size_limit_at_start =
        std::signal(SIGXFSZ, SIG_IGN); // writing fails instead: the message says that the file is too large
    ::sigset_t const signals = awaited();
    ::pthread_sigmask(SIG_BLOCK, &signals, &at_start);
    try {
        std::thread([signals] {
            int signal = 0;
            if (::sigwait(&signals, &signal) == 0) end_by(signal);
        }).detach();
    } catch (std::system_error const&) { // no thread can be started: the signals end the process at once
        ::pthread_sigmask(SIG_SETMASK, &at_start, nullptr);
    }
}

void restore_signals() {
    ::pthread_sigmask(SIG_SETMASK, &at_start, nullptr);
    std::signal(SIGXFSZ, size_limit_at_start);
}

void postpone_closed_pipes() { has_postponed_pipes = std::signal(SIGPIPE, SIG_IGN) != SIG_IGN; }

void end_by_closed_pipe() {
    if (has_postponed_pipes) end_by(SIGPIPE);
}

void end_by(int signal) {
    progress::abandon();
    abandon_writes();
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

} // namespace aton::tool
