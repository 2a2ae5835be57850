// SPDX-License-Identifier: MIT
// Many calls that must give an answer: a result or aton::error with one line, in bounded time and memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace aton::tests {

struct hostile_options {
    std::string only;       ///< the name that is this, or else those that have it
    std::size_t rounds = 1; ///< calls for each name
    std::size_t first = 0;  ///< the first of them
    std::uint64_t seed = 0;
    std::size_t seconds = 0; ///< after which no call is begun; 0: none
    std::size_t jobs = 2;    ///< processes; 0: all in this one, and each call is named before it begins
};

/// Words of the form --name value; throws aton::error for others.
[[nodiscard]] hostile_options read_hostile_options(int count, char** words, int first);

/// What a call may take, and say.
struct hostile_limits {
    int seconds = 20;                             ///< far more than any needs
    std::size_t addresses = std::size_t{3} << 30; ///< bytes of the process
    std::size_t resident = 0;                     ///< bytes of the process at its largest; 0: not looked at
    std::size_t message = 20000;                  ///< characters
    bool library_text = true;                     ///< false: words of the C++ library in a message are a finding
};

/// What is wrong with a message; empty: nothing.
[[nodiscard]] std::string fault_of_message(std::string_view line, hostile_limits const& limits);

struct hostile_tally {
    std::size_t answered = 0; ///< ran to the end
    std::size_t refused = 0;
    std::size_t found = 0; ///< crashed, did not come back, or threw something else
};

/// Calls `work` for each name and round, with another seed each time, in processes with little memory. Prints each finding with what
/// repeats it, and figures.
hostile_tally hostile_run(std::string_view program, std::size_t names, hostile_options const& options,
                          std::function<std::string(std::size_t)> const& name_of,
                          std::function<void(std::size_t, std::uint64_t)> const& work,
                          hostile_limits const& limits = {});

} // namespace aton::tests
