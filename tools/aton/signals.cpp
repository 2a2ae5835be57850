// SPDX-License-Identifier: MIT
#include "signals.hpp"

#include <aton/model_io/model_io.hpp>

#include "progress.hpp"
#include "system/signals.hpp"

namespace aton::tool {

namespace {

bool has_postponed_pipes = false;

} // namespace

void handle_signals() { system::await_requests_to_stop(&end_by); }

void restore_signals() { system::forget_requests_to_stop(); }

void postpone_closed_pipes() { has_postponed_pipes = system::ignore_closed_pipes(); }

void end_by_closed_pipe() {
    if (has_postponed_pipes) end_by(system::closed_pipe_signal());
}

void end_by(int signal) {
    progress::abandon();
    abandon_writes();
    system::end_by_signal(signal);
}

} // namespace aton::tool
