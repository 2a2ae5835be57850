// SPDX-License-Identifier: MIT
#include "kept_console.hpp"

#include <chrono>

namespace aton::tool {

namespace {

constexpr std::chrono::milliseconds interval(100); // between two calls of the observer

} // namespace

void kept_console::print(std::string_view text) {
    std::lock_guard const lock(mutex_);
    output += text;
}

void kept_console::note(std::string_view text) {
    std::lock_guard const lock(mutex_);
    notes += text;
}

void kept_console::fail(std::string_view line) {
    constexpr std::string_view prefix = "aton: ";
    std::lock_guard const lock(mutex_);
    failure = line.starts_with(prefix) ? line.substr(prefix.size()) : line;
}

void kept_console::refuse(std::vector<unconvertible> const& operators) {
    std::lock_guard const lock(mutex_);
    refused.insert(refused.end(), operators.begin(), operators.end());
}

void kept_console::report(progress_state const& now, bool is_new_stage) {
    if (stop_) throw cancelled();
    if (!seen_) return;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !has_new_stage_; }); // of another thread
    now_ = now;
    if (!is_new_stage) return;
    has_new_stage_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !has_new_stage_; });
    lock.unlock();
    if (stop_) throw cancelled();
}

void kept_console::attend() {
    std::unique_lock lock(mutex_);
    if (!seen_) return changed_.wait(lock, [&] { return has_ended_; });
    for (;;) {
        changed_.wait_for(lock, interval, [&] { return has_ended_ || has_new_stage_; });
        if (has_ended_) return;
        progress_state const now = now_;
        bool const is_new_stage = has_new_stage_;
        lock.unlock();
        bool const goes_on = seen_(now);
        lock.lock();
        if (!goes_on) stop_ = true;
        if (!is_new_stage) continue;
        has_new_stage_ = false;
        changed_.notify_all();
    }
}

void kept_console::end() {
    std::lock_guard const lock(mutex_);
    has_ended_ = true;
    changed_.notify_all();
}

} // namespace aton::tool
