// SPDX-License-Identifier: MIT
// Keeps what a command prints, and brings its progress to the thread that waits for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "console.hpp"

namespace aton::tool {

class kept_console : public console {
public:
    /// Whether to go on. May be null.
    using observer = std::function<bool(progress_state const&)>;

    kept_console(observer seen, std::atomic<bool>& stop) : seen_(std::move(seen)), stop_(stop) {}

    void print(std::string_view text) override;
    void note(std::string_view text) override;
    void fail(std::string_view line) override;
    void refuse(std::vector<unconvertible> const& operators) override;
    void report(progress_state const& now, bool is_new_stage) override;

    /// Calls the observer in this thread until end() is called in another one.
    void attend();
    void end();

    std::string output;
    std::string notes;
    std::string failure; ///< the last line of this kind
    std::vector<unconvertible> refused;

private:
    observer seen_;
    std::atomic<bool>& stop_;
    std::mutex mutex_; ///< for all other members
    std::condition_variable changed_;
    progress_state now_;
    bool has_new_stage_ = false; ///< which the observer has not seen; the work waits
    bool has_ended_ = false;
};

} // namespace aton::tool
