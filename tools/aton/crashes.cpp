// SPDX-License-Identifier: MIT
// Names the row of a plugin that crashes, or does not end.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include <aton/core/crash_signals.hpp>
#include <aton/exporter/plugin.hpp>
#include <aton/model_io/model_io.hpp>

#include "signals.hpp"
#include "system/console.hpp"
#include "system/process.hpp"
#include "system/signals.hpp"

namespace aton::tool {

namespace {

/// A line without allocations: the memory of the process may be damaged.
class fixed_line {
public:
    fixed_line& operator<<(int n) {
        char digits[12];
        return *this << std::string_view(digits, std::to_chars(digits, std::end(digits), n).ptr);
    }
    fixed_line& operator<<(std::string_view text) {
        std::size_t const size = std::min(text.size(), sizeof text_ - size_);
        std::memcpy(text_ + size_, text.data(), size);
        size_ += size;
        return *this;
    }
    void write() const { system::write_text(system::standard_error, {text_, size_}); }

private:
    char text_[1024];
    std::size_t size_ = 0;
};

void name_row(int signal) {
    plugin_row const row = running_row();
    if (row.overload.empty()) return; // a fault of Aton
    fixed_line line;
    line << "aton: " << row.plugin << ": the mapping of " << row.overload << " ends the process by "
         << detail::cause_of(signal) << "; 'aton verify --plugin' shows the call\n";
    line.write();
    system::end_soon(); // should memory be damaged so far that the next line does not return
    abandon_writes();   // a row holds no lock of it
    system::end_at_once(1);
}

int row_seconds = 10; // as in aton verify
bool is_own_process = false;

/// Called after each second of processor time, in a thread that uses it.
void name_endless_row() {
    thread_local std::uint64_t watched = 0;
    thread_local int seconds = 0;
    plugin_row const row = running_row();
    bool const goes_on = !row.overload.empty() && row.call == watched;
    watched = row.call;
    seconds = goes_on ? seconds + 1 : 0;
    if (seconds < row_seconds) return;
    fixed_line line;
    line << "aton: " << row.plugin << ": the mapping of " << row.overload << " does not end within " << row_seconds
         << (row_seconds == 1 ? " second" : " seconds") << "; 'aton verify --plugin' shows the call\n";
    line.write();
    system::end_soon();
    abandon_writes();
    system::end_at_once(1);
}

} // namespace

void report_crashes() {
    system::on_crash(&name_row);
    is_own_process = true;
}

void limit_rows() {
    if (!is_own_process) return;
    char const* const given = std::getenv("ATON_ROW_SECONDS");
    if (given != nullptr) (void)std::from_chars(given, given + std::strlen(given), row_seconds);
    if (row_seconds > 0) system::on_processor_time(&name_endless_row);
}

} // namespace aton::tool
