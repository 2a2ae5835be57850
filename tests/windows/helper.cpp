// SPDX-License-Identifier: MIT
// What the test of the command for Windows does with functions of Windows.
//
//   helper.exe hold FILE COMMAND...        has a file open, which nobody else may open, while the command runs
//   helper.exe interrupt MILLISECONDS FILE COMMAND...
//                                          presses Ctrl-Break so long after a file, or one whose name begins like this, has appeared
//
// It ends with the status of the command, whose arguments have no spaces.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <windows.h>

namespace {

std::string rest_of(char** words) {
    std::string line;
    for (; *words != nullptr; ++words) line += (line.empty() ? "" : " ") + std::string(*words);
    return line;
}

PROCESS_INFORMATION start(std::string line, DWORD flags) {
    STARTUPINFOA how{};
    how.cb = sizeof how;
    PROCESS_INFORMATION child{};
    if (CreateProcessA(nullptr, line.data(), nullptr, nullptr, TRUE, flags, nullptr, nullptr, &how, &child) == 0) {
        std::fprintf(stderr, "helper: cannot start '%s': error %lu\n", line.c_str(), GetLastError());
        std::exit(99);
    }
    return child;
}

int status_of(PROCESS_INFORMATION const& child) {
    DWORD status = 98;
    WaitForSingleObject(child.hProcess, 60000);
    GetExitCodeProcess(child.hProcess, &status);
    return static_cast<int>(status);
}

bool exists(std::string const& name) {
    WIN32_FIND_DATAA found{};
    HANDLE const search = FindFirstFileA(name.c_str(), &found);
    if (search != INVALID_HANDLE_VALUE) FindClose(search);
    return search != INVALID_HANDLE_VALUE;
}

} // namespace

int main(int argc, char** argv) {
    if (argc >= 4 && std::strcmp(argv[1], "hold") == 0) {
        HANDLE const file = CreateFileA(argv[2], GENERIC_READ, 0, nullptr, OPEN_EXISTING, 0, nullptr);
        if (file == INVALID_HANDLE_VALUE) return 97;
        return status_of(start(rest_of(argv + 3), 0));
    }
    if (argc >= 5 && std::strcmp(argv[1], "interrupt") == 0) {
        PROCESS_INFORMATION const child = start(rest_of(argv + 4), CREATE_NEW_PROCESS_GROUP);
        for (int i = 0; i != 20000 && !exists(argv[3]) && WaitForSingleObject(child.hProcess, 1) == WAIT_TIMEOUT; ++i) {
        }
        Sleep(static_cast<DWORD>(std::atoi(argv[2])));
        if (GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, child.dwProcessId) == 0)
            std::fprintf(stderr, "helper: no console: error %lu\n", GetLastError());
        return status_of(child);
    }
    return 96;
}
