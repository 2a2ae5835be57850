// SPDX-License-Identifier: MIT
// Copies of this process, for work that may crash or may not end.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::system {

/// Whether the system can copy a process. Nothing else of this header may be used where it cannot.
[[nodiscard]] bool can_copy_process() noexcept;

struct process_end {
    int signal = 0; ///< 0: it ended by itself
    int status = 0;
};

/// Runs a function in a copy of this process, which then ends.
class child_process {
public:
    /// Starts it: the function gets the end of a pipe to write to. Throws std::system_error on failure. In the copy, signals are as in a new
    /// process, and a crash writes no memory image.
    explicit child_process(std::function<void(int to)> const& work);
    child_process(child_process&& other) noexcept;
    child_process& operator=(child_process&& other) noexcept;
    child_process(child_process const&) = delete;
    child_process& operator=(child_process const&) = delete;
    /// Ends it by force if it still runs.
    ~child_process();

    [[nodiscard]] int from() const { return from_; }
    /// Reads what is there; 0 at the end, -1 and errno on failure.
    [[nodiscard]] std::ptrdiff_t read(char* to, std::size_t size) noexcept;
    /// Waits until it has ended.
    [[nodiscard]] process_end wait() noexcept;

private:
    int process_ = -1;
    int from_ = -1;
};

/// Writes everything, or ends the process.
void send_or_end(int to, std::string_view bytes) noexcept;
/// Waits until there is something to read, or an end, and returns the indices of these pipes. Returns none, and sets errno, on failure.
[[nodiscard]] std::vector<std::size_t> wait_for_pipes(std::vector<int> const& pipes);

/// Ends this process by a signal if it takes more seconds of CPU time than this, or ten times as many in all; 0: no limit.
void limit_time(int seconds) noexcept;
enum class end_reason : unsigned char { other, killed, out_of_time };
/// Why a signal ended a process.
[[nodiscard]] end_reason reason_of(int signal) noexcept;

} // namespace ATON_NAMESPACE::system
