// SPDX-License-Identifier: MIT
// A thread draws what the work has reported, so that reporting costs next to nothing and a bar moves while nothing is reported.
#include "progress.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <aton/core/error.hpp>

#include "system/console.hpp"

namespace aton::tool {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char const* erase_line = "\r\033[K";
constexpr int widest_bar = 30;

/// Whoever writes to the terminal has it. A terminal may stop for hours; the work only waits for it where it writes something itself.
std::mutex terminal;
progress* current = nullptr;
int pauses = 0;
std::atomic<bool> is_abandoned{false};
std::atomic<int> bar_file{-1}; ///< the terminal that shows a bar, or -1

bool is_set(char const* variable) {
    char const* const value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

/// At most this many characters of UTF-8, the last ones, on one line.
std::string tail(std::string const& text, std::size_t characters) {
    std::size_t at = text.size();
    while (at != 0 && characters != 0) {
        --at;
        if ((static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U) --characters;
    }
    return clipped(text.substr(at), std::string::npos);
}

std::string number_text(double value, char const* unit) {
    char text[48];
    std::snprintf(text, sizeof text, value < 10 ? "%.2f %s" : "%.1f %s", value, unit);
    return text;
}

/// "12 s", "3 min 05 s"
std::string elapsed_text(std::chrono::steady_clock::duration d) {
    auto const all = std::chrono::duration_cast<seconds>(d).count();
    if (all < 60) return std::to_string(all) + " s";
    char text[48];
    std::snprintf(text, sizeof text, "%lld min %02d s", static_cast<long long>(all / 60), static_cast<int>(all % 60));
    return text;
}

} // namespace

std::string size_text(std::uint64_t bytes) {
    double const b = static_cast<double>(bytes);
    if (b >= 1e9) return number_text(b / 1e9, "GB");
    if (b >= 1e6) return number_text(b / 1e6, "MB");
    return b >= 1e3 ? number_text(b / 1e3, "kB") : std::to_string(bytes) + " bytes";
}

std::string time_text(std::chrono::steady_clock::duration d) {
    double const s = std::chrono::duration<double>(d).count();
    return s < 1 ? number_text(s * 1e3, "ms") : number_text(s, "s");
}

progress_style style_of_stderr(bool quiet) {
    if (thread_console != nullptr) return {.is_shown = false, .observer = thread_console};
    constexpr int file = system::standard_error;
    bool const is_terminal = system::is_terminal(file) && system::can_erase_lines(file) && !is_set("CI");
    if (is_terminal) return {!quiet, true, file, seconds(1), milliseconds(100), milliseconds(100)};
    return {!quiet, false, file, seconds(30), seconds(30), std::chrono::minutes(5)};
}

progress::progress(progress_style const& style) : style_(style) {
    if (!style_.is_shown) return;
    std::lock_guard const lock(terminal);
    if (current != nullptr || is_abandoned) {
        style_.is_shown = false;
        return;
    }
    try {
        thread_ = std::thread([this] { run(); });
        current = this;
    } catch (std::system_error const&) { // the work does not depend on it
        style_.is_shown = false;
    }
}

progress::~progress() {
    if (!thread_.joinable()) return;
    {
        std::lock_guard const lock(state_);
        has_ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
    std::lock_guard const lock(terminal);
    current = nullptr;
    clear();
}

void progress::stage(std::string what) {
    if (!style_.is_shown && style_.observer == nullptr) return;
    std::unique_lock lock(state_);
    now_.stage = std::move(what);
    now_.total = 0;
    tell(lock, true);
}

void progress::set(std::uint64_t done, std::uint64_t total, std::string_view what, progress_unit unit) {
    if (!style_.is_shown && style_.observer == nullptr) return;
    std::unique_lock lock(state_);
    now_.done = std::min(done, total);
    now_.total = total;
    now_.unit = unit;
    if (now_.what != what) now_.what = what;
    tell(lock, false);
}

/// Gives up the lock.
void progress::tell(std::unique_lock<std::mutex>& lock, bool is_new_stage) {
    if (style_.observer == nullptr) return;
    progress_state const now = now_;
    lock.unlock();
    style_.observer->report(now, is_new_stage);
}

void progress::step(std::uint64_t done, std::uint64_t total, std::string_view what) {
    set(done, total, what, progress_unit::things);
}

void progress::step_bytes(std::uint64_t done, std::uint64_t total) { set(done, total, {}, progress_unit::bytes); }

void progress::run() {
    std::unique_lock lock(state_);
    milliseconds wait = style_.first;
    milliseconds interval = style_.every;
    while (!changed_.wait_for(lock, wait, [&] { return has_ended_; })) {
        std::string const text = style_.is_terminal ? bar(system::columns_of(style_.file)) : line();
        lock.unlock();
        show(text);
        lock.lock();
        wait = interval;
        if (!style_.is_terminal) interval = std::min(2 * interval, style_.at_most);
    }
}

/// "1203 of 4032 mappings, 30 s", "221.0 MB of 498.0 MB, 3 s"
std::string progress::counts() const {
    std::string out;
    if (now_.total != 0) {
        out = now_.unit == progress_unit::bytes ? size_text(now_.done) + " of " + size_text(now_.total)
                                                : std::to_string(now_.done) + " of " + std::to_string(now_.total);
        if (!now_.what.empty()) out += ' ' + now_.what;
        out += ", ";
    }
    return out + elapsed_text(clock::now() - start_);
}

/// "model.pt2: writing [#######       ]  45 %, 221.0 MB of 498.0 MB, 3 s", at most as long as a line.
std::string progress::bar(int columns) const {
    std::string out = counts();
    auto const width = static_cast<std::size_t>(std::max(columns - 1, 1));
    constexpr std::size_t rest = 10; // "[] 100 %, "
    if (now_.total != 0 && out.size() + rest <= width) {
        double const share = static_cast<double>(now_.done) / static_cast<double>(now_.total);
        char percent[16];
        std::snprintf(percent, sizeof percent, "%3d %%, ", static_cast<int>(100 * share));
        std::size_t const room = (width - out.size() - rest) / (now_.stage.empty() ? 1 : 2);
        std::size_t const length = std::min<std::size_t>(widest_bar, room);
        auto const full = static_cast<std::size_t>(share * static_cast<double>(length));
        out = percent + out;
        if (length >= 5) out = '[' + std::string(full, '#') + std::string(length - full, ' ') + "] " + out;
    }
    if (out.size() > width) return tail(out, width);
    std::size_t const left = width - out.size();
    return now_.stage.empty() || left < 8 ? out : tail(now_.stage, left - 1) + ' ' + out;
}

/// "aton: model.pt2: writing: 221.0 MB of 498.0 MB, 30 s"
std::string progress::line() const {
    return "aton: " + (now_.stage.empty() ? std::string() : tail(now_.stage, 200) + ": ") + counts() + '\n';
}

void progress::show(std::string const& text) {
    std::lock_guard const lock(terminal);
    if (pauses != 0 || is_abandoned) return;
    if (!style_.is_terminal) return system::write_text(style_.file, text);
    bar_file = style_.file;
    is_drawn_ = true;
    system::write_text(style_.file, '\r' + text + "\033[K");
}

void progress::clear() {
    if (std::exchange(is_drawn_, false)) system::write_text(style_.file, erase_line);
    bar_file = -1;
}

void progress::abandon() noexcept {
    is_abandoned = true;
    if (int const file = bar_file; file >= 0) system::write_text(file, erase_line);
}

progress::pause::pause() {
    std::lock_guard const lock(terminal);
    ++pauses;
    if (current != nullptr) current->clear();
}

progress::pause::~pause() {
    std::lock_guard const lock(terminal);
    --pauses;
}

} // namespace aton::tool
