// SPDX-License-Identifier: MIT
// Lets another thread stop long work: loops over nodes, statements and pieces of files ask between two of them.
// Internal header.
#pragma once

#include <atomic>
#include <exception>

#include <aton/version.hpp>

namespace ATON_NAMESPACE {

/// The work was stopped on request. Not an aton::error, so that nothing that handles refusals continues after it.
class cancelled : public std::exception {
public:
    [[nodiscard]] char const* what() const noexcept override { return "the work was cancelled"; }
};

/// Whether the work of this thread is to stop; null: nobody can stop it.
inline thread_local std::atomic<bool> const* cancellation = nullptr;

/// While it exists, `flag` stops the work of this thread. Threads that the work starts need one of their own.
class cancellation_scope {
public:
    explicit cancellation_scope(std::atomic<bool> const* flag) noexcept : outer_(cancellation) { cancellation = flag; }
    cancellation_scope(cancellation_scope const&) = delete;
    cancellation_scope& operator=(cancellation_scope const&) = delete;
    ~cancellation_scope() { cancellation = outer_; }

private:
    std::atomic<bool> const* outer_;
};

/// Throws `cancelled` if the work of this thread is to stop.
inline void stop_if_cancelled() {
    if (cancellation != nullptr && cancellation->load(std::memory_order_relaxed)) throw cancelled();
}

} // namespace ATON_NAMESPACE
