// SPDX-License-Identifier: MIT
// Where a command prints: the standard streams, or whatever the caller of the library puts in their place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/cancellation.hpp>
#include <aton/exporter/exporter.hpp>

namespace aton::tool {

/// What is counted.
enum class progress_unit : std::uint8_t { things, bytes };

/// How far the work is.
struct progress_state {
    std::string stage; ///< "model.pt2: reading"
    std::string what;  ///< the things that are counted: "nodes"
    std::uint64_t done = 0;
    std::uint64_t total = 0; ///< 0: unknown
    progress_unit unit = progress_unit::things;
};

/// Takes what commands print and report, in place of the standard streams. Members may be called from several threads at a time.
class console {
public:
    console() = default;
    console(console const&) = delete;
    console& operator=(console const&) = delete;
    virtual ~console() = default;

    /// The result, for stdout.
    virtual void print(std::string_view text) = 0;
    /// Lines about the work, for stderr.
    virtual void note(std::string_view text) = 0;
    /// Why the command fails: one of these lines, without its end.
    virtual void fail(std::string_view line) = 0;
    /// Operators that cannot be converted, because of which the command fails.
    virtual void refuse(std::vector<unconvertible> const& operators) = 0;
    /// A stage begins, or more of it is done. May throw `cancelled`.
    virtual void report(progress_state const& now, bool is_new_stage) = 0;
};

/// The console of the commands of this thread; null: the standard streams.
inline thread_local console* thread_console = nullptr;

/// What a thread of a command has from the thread that starts it: the console, and who may stop the work.
class thread_context {
public:
    /// That of the calling thread.
    thread_context() noexcept : console_(thread_console), flag_(cancellation) {}

    /// While it exists, the calling thread has it.
    class scope {
    public:
        explicit scope(thread_context const& context) noexcept : cancels_(context.flag_), outer_(thread_console) {
            thread_console = context.console_;
        }
        scope(scope const&) = delete;
        scope& operator=(scope const&) = delete;
        ~scope() { thread_console = outer_; }

    private:
        cancellation_scope cancels_;
        console* outer_;
    };

private:
    console* console_;
    std::atomic<bool> const* flag_;
};

} // namespace aton::tool
