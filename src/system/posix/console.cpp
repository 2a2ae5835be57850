// SPDX-License-Identifier: MIT
#include "system/console.hpp"

#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace ATON_NAMESPACE::system {

/// Opens a descriptor for each of the three that is closed. Using it fails.
void prepare_streams() noexcept {
    for (int const each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(each, F_GETFD) < 0) (void)::open("/dev/null", each == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

bool is_terminal(int file) noexcept { return ::isatty(file) != 0; }

bool can_erase_lines(int /*file*/) noexcept {
    char const* const term = std::getenv("TERM");
    return term != nullptr && std::strcmp(term, "dumb") != 0 && *term != '\0';
}

int columns_of(int file) noexcept {
    struct ::winsize size{};
    return ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : 80;
}

void write_text(int file, std::string_view text) noexcept {
    while (!text.empty()) {
        ::ssize_t const n = ::write(file, text.data(), text.size());
        if (n <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
}

} // namespace ATON_NAMESPACE::system
