// SPDX-License-Identifier: MIT
// Windows calls the handler of a console in a thread of its own.
#include "system/signals.hpp"

#include <csignal>
#include <cstdlib>
#include <thread>

#include <windows.h>

namespace ATON_NAMESPACE::system {

namespace {

void (*end_of_requests)(int) = nullptr;
void (*report_of_crash)(int) = nullptr;

BOOL WINAPI on_console_event(DWORD event) {
    switch (event) {
    case CTRL_C_EVENT:
    case CTRL_BREAK_EVENT: end_of_requests(SIGINT); return TRUE;
    case CTRL_CLOSE_EVENT:
    case CTRL_LOGOFF_EVENT:
    case CTRL_SHUTDOWN_EVENT: end_of_requests(SIGTERM); return TRUE;
    default: return FALSE;
    }
}

/// 0: an exception that is no crash of this kind.
int signal_of(DWORD code) {
    switch (code) {
    case EXCEPTION_ACCESS_VIOLATION:
    case EXCEPTION_IN_PAGE_ERROR:
    case EXCEPTION_STACK_OVERFLOW:
    case EXCEPTION_ARRAY_BOUNDS_EXCEEDED: return SIGSEGV;
    case EXCEPTION_INT_DIVIDE_BY_ZERO:
    case EXCEPTION_INT_OVERFLOW:
    case EXCEPTION_FLT_DIVIDE_BY_ZERO: return SIGFPE;
    case EXCEPTION_ILLEGAL_INSTRUCTION:
    case EXCEPTION_PRIV_INSTRUCTION: return SIGILL;
    default: return 0;
    }
}

LONG WINAPI on_exception(EXCEPTION_POINTERS* found) {
    int const signal = signal_of(found->ExceptionRecord->ExceptionCode);
    if (signal != 0) report_of_crash(signal);
    return EXCEPTION_CONTINUE_SEARCH;
}

extern "C" {

static void on_abort(int signal) { report_of_crash(signal); }

} // extern "C"

} // namespace

void await_requests_to_stop(void (*end)(int signal)) {
    end_of_requests = end;
    (void)::SetConsoleCtrlHandler(&on_console_event, TRUE);
}

void forget_requests_to_stop() noexcept { (void)::SetConsoleCtrlHandler(&on_console_event, FALSE); }

bool ignore_closed_pipes() noexcept { return false; } // they are always errors

int closed_pipe_signal() noexcept { return 0; }

void end_by_signal(int signal) noexcept {
    constexpr UINT by_ctrl_c = 0xC000013A; // STATUS_CONTROL_C_EXIT
    ::ExitProcess(signal == SIGINT ? by_ctrl_c : static_cast<UINT>(128 + signal));
}

void on_crash(void (*report)(int signal)) {
    report_of_crash = report;
    (void)::SetErrorMode(::GetErrorMode() | SEM_NOGPFAULTERRORBOX); // a line on stderr, no dialog box
    (void)::SetUnhandledExceptionFilter(&on_exception);
    (void)std::signal(SIGABRT, &on_abort);
}

void on_processor_time(void (*)()) {}

void end_soon() noexcept {
    std::thread([] {
        ::Sleep(5000);
        std::_Exit(1);
    }).detach();
}

} // namespace ATON_NAMESPACE::system
