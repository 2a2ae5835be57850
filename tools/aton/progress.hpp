// SPDX-License-Identifier: MIT
// Progress of long work on stderr: a bar on a terminal, a few lines in a log, and nothing if the work is short.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "console.hpp"

namespace aton::tool {

/// Where and how progress is shown.
struct progress_style {
    bool is_shown = true;
    bool is_terminal = false;          ///< false: lines, as in a log
    int file = 2;                      ///< the descriptor
    std::chrono::milliseconds first{}; ///< after which something is shown
    std::chrono::milliseconds
        every{}; ///< between two updates of a bar; between lines, at first: then twice as long, and so on
    std::chrono::milliseconds at_most{}; ///< between two lines
    console* observer = nullptr;         ///< is told as well, whether it is shown or not
};
/// The style for stderr, or for the console of this thread if it has one. A terminal gets a bar, unless TERM is "dumb" or CI is set. `quiet`:
/// nothing is shown.
[[nodiscard]] progress_style style_of_stderr(bool quiet = false);

/// At most one object shows its progress at a time; others show nothing. All members may be called from any thread.
class progress {
public:
    explicit progress(progress_style const& style);
    progress(progress const&) = delete;
    progress& operator=(progress const&) = delete;
    /// Removes the bar.
    ~progress();

    /// What is being done, such as "model.pt2: reading". How much of it is done is unknown until step() is called.
    void stage(std::string what);
    /// How much is done: of things, `what` says which ("mappings").
    void step(std::uint64_t done, std::uint64_t total, std::string_view what);
    void step_bytes(std::uint64_t done, std::uint64_t total);

    /// Ends all progress for good, without waiting for another thread. For a process that is about to end.
    static void abandon() noexcept;

    /// While it exists, no bar is shown. For what writes to the terminal.
    class pause {
    public:
        pause();
        pause(pause const&) = delete;
        pause& operator=(pause const&) = delete;
        ~pause();
    };

private:
    using clock = std::chrono::steady_clock;

    void run();
    void show(std::string const& text);
    void clear();
    [[nodiscard]] std::string counts() const;
    [[nodiscard]] std::string bar(int columns) const;
    [[nodiscard]] std::string line() const;
    void set(std::uint64_t done, std::uint64_t total, std::string_view what, progress_unit unit);
    void tell(std::unique_lock<std::mutex>& lock, bool is_new_stage);

    progress_style style_;
    std::mutex state_; ///< for the members up to has_ended_
    clock::time_point start_ = clock::now();
    progress_state now_;
    bool has_ended_ = false;
    bool is_drawn_ = false;
    std::condition_variable changed_;
    std::thread thread_;
};

/// "12.3 MB"
[[nodiscard]] std::string size_text(std::uint64_t bytes);
/// "66.8 ms", "1.25 s"
[[nodiscard]] std::string time_text(std::chrono::steady_clock::duration d);

} // namespace aton::tool
