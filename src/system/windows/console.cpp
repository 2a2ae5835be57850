// SPDX-License-Identifier: MIT
#include "system/console.hpp"

#include <cstdio>

#include <fcntl.h>
#include <io.h>
#include <windows.h>

namespace ATON_NAMESPACE::system {

namespace {

HANDLE handle_of(int file) { return reinterpret_cast<HANDLE>(::_get_osfhandle(file)); } // NOLINT(*-reinterpret-cast)

} // namespace

void prepare_streams() noexcept {
    for (std::FILE* const each : {stdin, stdout, stderr})
        if (::_fileno(each) >= 0) (void)::_setmode(::_fileno(each), _O_BINARY);
    (void)::SetConsoleOutputCP(CP_UTF8);
}

bool is_terminal(int file) noexcept {
    DWORD mode = 0;
    return ::GetConsoleMode(handle_of(file), &mode) != 0;
}

bool can_erase_lines(int file) noexcept {
    constexpr DWORD processing = 0x0004; // ENABLE_VIRTUAL_TERMINAL_PROCESSING, which old headers do not have
    DWORD mode = 0;
    return ::GetConsoleMode(handle_of(file), &mode) != 0 && ::SetConsoleMode(handle_of(file), mode | processing) != 0;
}

int columns_of(int file) noexcept {
    CONSOLE_SCREEN_BUFFER_INFO found{};
    if (::GetConsoleScreenBufferInfo(handle_of(file), &found) == 0) return 80;
    int const columns = found.srWindow.Right - found.srWindow.Left + 1;
    return columns > 0 ? columns : 80;
}

void write_text(int file, std::string_view text) noexcept {
    while (!text.empty()) {
        DWORD n = 0;
        if (::WriteFile(handle_of(file), text.data(), static_cast<DWORD>(text.size()), &n, nullptr) == 0 || n == 0)
            return;
        text.remove_prefix(n);
    }
}

} // namespace ATON_NAMESPACE::system
