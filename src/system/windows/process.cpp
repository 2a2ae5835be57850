// SPDX-License-Identifier: MIT
#include "system/process.hpp"

#include <cerrno>
#include <cstdlib>
#include <new>
#include <vector>

#include <windows.h>

#include <shellapi.h>

#include "text.hpp"

namespace ATON_NAMESPACE::system {

int process_id() noexcept { return static_cast<int>(::GetCurrentProcessId()); }

char** arguments(int& argc, char** argv) {
    int count = 0;
    wchar_t** const all = ::CommandLineToArgvW(::GetCommandLineW(), &count);
    if (all == nullptr) return argv;
    static std::vector<std::string> texts; // as long as the process
    static std::vector<char*> pointers;
    texts.clear();
    pointers.clear();
    for (int i = 0; i != count; ++i) texts.push_back(narrow(all[i]));
    (void)::LocalFree(all); // NOLINT(*-multi-level-implicit-pointer-conversion)
    for (std::string& each : texts) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    argc = count;
    return pointers.data();
}

std::filesystem::path sibling_path(std::string const& program) {
    std::wstring self(1U << 15U, L'\0'); // the longest path
    self.resize(::GetModuleFileNameW(nullptr, self.data(), static_cast<DWORD>(self.size())));
    if (self.empty()) return {};
    return std::filesystem::path(self).parent_path() / wide(program + ".exe");
}

void become(std::filesystem::path const& program, char** argv) noexcept {
    try {
        std::wstring line = quoted(program.native());
        for (char** each = argv + 1; *argv != nullptr && *each != nullptr; ++each) line += L' ' + quoted(wide(*each));
        STARTUPINFOW start{};
        start.cb = sizeof start;
        PROCESS_INFORMATION child{};
        BOOL const started =
            ::CreateProcessW(program.c_str(), line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &start, &child);
        if (started == 0) return set_errno();
        (void)::SetConsoleCtrlHandler(nullptr, TRUE); // Ctrl-C is for the child, which has the same console
        (void)::WaitForSingleObject(child.hProcess, INFINITE);
        DWORD status = 1;
        (void)::GetExitCodeProcess(child.hProcess, &status);
        ::ExitProcess(status);
    } catch (std::bad_alloc const&) {
        errno = ENOMEM;
    }
}

void end_at_once(int status) noexcept { std::_Exit(status); }

} // namespace ATON_NAMESPACE::system
