// SPDX-License-Identifier: MIT
// A task of the C interface: one command with its arguments, and what became of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/c/aton.h>

#include "kept_console.hpp"
#include "system/private_folder.hpp"

namespace aton::tool {

/// An aton_error with the text that it points to.
class kept_error {
public:
    kept_error(aton_code code, std::string message) : message_(std::move(message)) { fill(code, 0); }
    /// Of an operator that cannot be converted. `message`: empty: its reason.
    kept_error(unconvertible const& op, std::string message);
    kept_error(kept_error const&) = delete;
    kept_error& operator=(kept_error const&) = delete;

    [[nodiscard]] aton_error const& get() const { return view_; }

private:
    void fill(aton_code code, std::uint64_t count);

    std::string message_;
    std::string op_;
    std::string node_;
    std::string place_;
    std::string nearest_;
    aton_error view_{};
};

/// All members may be called from any thread. Those that read results have none while the task runs.
class task {
public:
    explicit task(std::string command) : command_(std::move(command)) {}

    aton_code add_option(std::string_view name, char const* value);
    aton_code add_file(std::string_view path);
    aton_code add_memory(std::string_view name, std::string_view bytes);
    aton_code add_argument(std::string_view argument);
    aton_code keep_output(std::string_view name);
    aton_code observe(aton_progress_function* function, void* user);
    aton_code run();
    void cancel() noexcept { stop_ = true; }

    [[nodiscard]] int exit_status();
    [[nodiscard]] std::string const* output();
    [[nodiscard]] std::string const* messages();
    [[nodiscard]] aton_error const* failure();
    [[nodiscard]] aton_error const* refused(std::size_t index);
    /// A name and its bytes.
    [[nodiscard]] std::pair<std::string, std::string> const* result(std::size_t index);

private:
    enum class argument_kind : std::uint8_t { text, memory, kept_output };
    struct argument {
        argument_kind kind = argument_kind::text;
        std::string text; ///< or the name of a file
        std::string bytes{};
    };

    aton_code change(argument one, std::string fault = {});
    aton_code fail(aton_code code, std::string message);
    void work(kept_console& out, system::private_folder const* folder);
    [[nodiscard]] bool show(progress_state const& now, system::private_folder const* folder) const;
    void publish(kept_console& out, system::private_folder const* folder);
    void keep_results(system::private_folder const& folder);

    std::string command_;
    std::atomic<bool> stop_ = false;
    std::mutex mutex_; ///< for all other members
    bool is_running_ = false;
    std::vector<argument> arguments_;
    aton_progress_function* function_ = nullptr;
    void* user_ = nullptr;

    int status_ = 0;
    std::string output_;
    std::string messages_;
    std::optional<kept_error> failure_;
    std::deque<kept_error> refused_;
    std::vector<std::pair<std::string, std::string>> results_;
};

} // namespace aton::tool
