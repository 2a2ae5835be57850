// SPDX-License-Identifier: MIT
// Requests to stop, closed pipes, and crashes.
#pragma once

#include <aton/version.hpp>

namespace ATON_NAMESPACE::system {

/// From now on, SIGINT, SIGTERM and SIGHUP, or Ctrl-C and the end of the console, call `end` in a thread of its own, unless they are ignored;
/// a limit on the size of files is an error and no signal. Call it before any thread is started.
void await_requests_to_stop(void (*end)(int signal));
/// Undoes that, for a program that replaces this one.
void forget_requests_to_stop() noexcept;

/// From now on, writing to a closed pipe is an error and does not end the process. Returns whether it would have.
bool ignore_closed_pipes() noexcept;
/// The signal of a closed pipe; 0 where there is none.
[[nodiscard]] int closed_pipe_signal() noexcept;

/// Ends the process as the signal does, so that the process that waits for it learns of it; in a shell, the exit status is 128 + `signal`.
[[noreturn]] void end_by_signal(int signal) noexcept;

/// From now on, a crash calls `report`, unless the process has a handler already. If that returns, the crash ends the process as without it.
void on_crash(void (*report)(int signal));
/// From now on, calls `tick` after each second of processor time, in a thread that uses it. Does nothing if the process counts that time
/// already, and on a system without such a signal.
void on_processor_time(void (*tick)());
/// Ends the process after some seconds, whatever it does.
void end_soon() noexcept;

} // namespace ATON_NAMESPACE::system
