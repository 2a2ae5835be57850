// SPDX-License-Identifier: MIT
// The call that a row converts or whose graph runs, in memory that another process reads once this one has ended.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

/// Memory that a process shares with its children.
class call_watch {
public:
    /// `seconds` of CPU time are what a row may take for a call, and `run_factor` times as many its graph; ten times as many in all.
    static constexpr int run_factor = 6;
    explicit call_watch(int seconds);
    call_watch(call_watch const&) = delete;
    call_watch& operator=(call_watch const&) = delete;
    ~call_watch();

    /// From now on, this process notes its calls here.
    void start() { current = this; }

    struct noted {
        bool converts = false; ///< the row ran
        bool runs = false;     ///< its graph ran
        int opset = 0;
        sample call{};     ///< without arguments if they are too large
        std::string place; ///< of a recorded call
    };
    /// The last call.
    [[nodiscard]] noted last() const;
    [[nodiscard]] int seconds() const { return seconds_; }

    /// The place of the calls that follow; empty for drawn ones.
    static void set_place(std::string_view place);

private:
    friend class watched_call;
    friend class watched_run;
    struct header;
    void begin(sample const& s, int opset) const;
    void begin_run() const;
    void end() const;

    static call_watch* current; ///< of this process; nullptr: calls are not noted
    header* head_;
    int seconds_;
};

/// A call while the row converts it.
class watched_call {
public:
    watched_call(sample const& s, int opset) : to_(call_watch::current) {
        if (to_ != nullptr) to_->begin(s, opset);
    }
    watched_call(watched_call const&) = delete;
    watched_call& operator=(watched_call const&) = delete;
    ~watched_call() {
        if (to_ != nullptr) to_->end();
    }

private:
    call_watch const* to_;
};

/// The graph of the last call while it runs: a loop in it may not end.
class watched_run {
public:
    watched_run() : to_(call_watch::current) {
        if (to_ != nullptr) to_->begin_run();
    }
    watched_run(watched_run const&) = delete;
    watched_run& operator=(watched_run const&) = delete;
    ~watched_run() {
        if (to_ != nullptr) to_->end();
    }

private:
    call_watch const* to_;
};

} // namespace ATON_NAMESPACE::verify
