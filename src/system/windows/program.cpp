// SPDX-License-Identifier: MIT
#include "system/program.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <windows.h>

#include "system/paths.hpp"
#include "text.hpp"

namespace ATON_NAMESPACE::system {

namespace {

constexpr std::size_t kept = std::size_t{1} << 16U;

void drain(HANDLE from, std::string& to) {
    DWORD there = 0;
    while (::PeekNamedPipe(from, nullptr, 0, nullptr, &there, nullptr) != 0 && there != 0) {
        char buffer[4096];
        DWORD n = 0;
        if (::ReadFile(from, buffer, sizeof buffer, &n, nullptr) == 0 || n == 0) return;
        to.append(buffer, n);
        if (to.size() > 2 * kept) to.erase(0, to.size() - kept);
    }
}

/// A job that ends what is in it when its handle is closed.
HANDLE create_job() {
    HANDLE const job = ::CreateJobObjectW(nullptr, nullptr);
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    (void)::SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    return job;
}

} // namespace

program_end run_program(std::vector<std::string> const& arguments, int seconds) {
    program_end out;
    std::wstring line;
    for (std::string const& each : arguments) line += (line.empty() ? L"" : L" ") + quoted(wide(each));
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    HANDLE from = nullptr;
    HANDLE to = nullptr;
    if (::CreatePipe(&from, &to, &inherited, 0) == 0) {
        out.why_not = "error " + std::to_string(::GetLastError()) + " of Windows";
        return out;
    }
    (void)::SetHandleInformation(from, HANDLE_FLAG_INHERIT, 0);
    STARTUPINFOW start{};
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdOutput = start.hStdError = to;
    PROCESS_INFORMATION child{};
    HANDLE const job = create_job();
    BOOL const started = ::CreateProcessW(nullptr,
                                          line.data(),
                                          nullptr,
                                          nullptr,
                                          TRUE,
                                          CREATE_SUSPENDED | CREATE_NO_WINDOW,
                                          nullptr,
                                          nullptr,
                                          &start,
                                          &child);
    if (started == 0) out.why_not = "error " + std::to_string(::GetLastError()) + " of Windows";
    (void)::CloseHandle(to);
    if (started != 0) {
        (void)::AssignProcessToJobObject(job, child.hProcess);
        (void)::ResumeThread(child.hThread);
        ULONGLONG const end = ::GetTickCount64() + static_cast<ULONGLONG>(seconds) * 1000;
        while (::WaitForSingleObject(child.hProcess, 20) == WAIT_TIMEOUT && !out.out_of_time) {
            drain(from, out.said);
            out.out_of_time = ::GetTickCount64() >= end;
        }
        if (out.out_of_time) (void)::TerminateJobObject(job, 1);
        drain(from, out.said);
        DWORD status = 1;
        (void)::GetExitCodeProcess(child.hProcess, &status);
        out.status = static_cast<int>(status);
        (void)::CloseHandle(child.hThread);
        (void)::CloseHandle(child.hProcess);
    }
    (void)::CloseHandle(job);
    (void)::CloseHandle(from);
    return out;
}

std::string create_private_folder() {
    std::error_code fault;
    std::filesystem::path const temporary = std::filesystem::temp_directory_path(fault);
    for (unsigned i = 0; i != 1000 && !fault; ++i) { // the folder of temporary files is the user's own
        std::string const name = "aton-" + std::to_string(::GetCurrentProcessId()) + '-' + std::to_string(i);
        std::filesystem::path const path = temporary / name;
        if (std::filesystem::create_directory(path, fault)) return text_of(path);
    }
    errno = fault ? fault.value() : EEXIST;
    return {};
}

} // namespace ATON_NAMESPACE::system
