// SPDX-License-Identifier: MIT
// Names the row of a plugin that crashes.
#include <algorithm>
#include <cstddef>
#include <cstring>
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

} // namespace

void report_crashes() { system::on_crash(&name_row); }

} // namespace aton::tool
