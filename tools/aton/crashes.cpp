// SPDX-License-Identifier: MIT
// Names the row of a plugin that crashes.
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <string_view>

#include <unistd.h>

#include <aton/core/crash_signals.hpp>
#include <aton/exporter/plugin.hpp>
#include <aton/model_io/model_io.hpp>

#include "signals.hpp"

namespace aton::tool {

namespace {

/// A line without allocations: the memory of the process may be damaged.
class fixed_line {
public:
    fixed_line& operator<<(std::string_view text) {
        std::size_t const size = std::min(text.size(), sizeof text_ - size_);
        std::memcpy(text_ + size_, text.data(), size);
        size_ += size;
        return *this;
    }
    void write() const { (void)!::write(STDERR_FILENO, text_, size_); }

private:
    char text_[1024];
    std::size_t size_ = 0;
};

extern "C" {

static void name_row(int signal) {
    plugin_row const row = running_row();
    if (row.overload.empty()) { // a fault of Aton: as without a handler, which SA_RESETHAND has removed
        (void)std::raise(signal);
        return;
    }
    fixed_line line;
    line << "aton: " << row.plugin << ": the mapping of " << row.overload << " ends the process by "
         << detail::cause_of(signal) << "; 'aton verify --plugin' shows the call\n";
    line.write();
    ::alarm(5);       // should memory be damaged so far that the next line does not return
    abandon_writes(); // a row holds no lock of it
    ::_exit(1);
}

} // extern "C"

} // namespace

void report_crashes() {
    static std::byte stack[1U << 16U]; // for rows that use up the stack
    ::stack_t other{};
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    (void)::sigaltstack(&other, nullptr);
    for (int const signal : detail::crash_signals) {
        struct ::sigaction now{};
        bool const is_free = ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL; // no sanitizer's
        if (!is_free) continue;
        struct ::sigaction naming{};
        naming.sa_handler = &name_row;
        naming.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
        (void)::sigaction(signal, &naming, nullptr);
    }
}

} // namespace aton::tool
