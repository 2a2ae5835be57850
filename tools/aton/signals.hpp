// SPDX-License-Identifier: MIT
// Ctrl-C and other requests to stop: no half file and no temporary file stays behind.
#pragma once

namespace aton::tool {

/// From now on SIGINT, SIGTERM and SIGHUP remove unfinished files before they end the process, unless they are ignored, and a limit on the
/// size of files is an error and no signal. Call it before any thread is started.
void handle_signals();
/// From now on, a crash in a row of a plugin ends the process with a line that names the row, and removes unfinished files.
void report_crashes();
/// From now on, a row of a plugin that takes more than 10 seconds of processor time for a call, or as many as the environment variable
/// ATON_ROW_SECONDS says, ends the process likewise; 0: no limit. Does nothing in a process that is not the command's own.
void limit_rows();
/// Undoes what handle_signals() does, for a program that replaces this one.
void restore_signals();
/// From now on, writing to a closed pipe does not end the process at once, so that other threads do not leave unfinished files.
void postpone_closed_pipes();
/// Ends the process as the signal would have done that is postponed. Does nothing if the process ignored it from the start.
void end_by_closed_pipe();
/// Removes unfinished files and ends the process as the signal does. The process that waits for it learns of the signal; in a shell, the
/// exit status is 128 + `signal`.
[[noreturn]] void end_by(int signal);

} // namespace aton::tool
