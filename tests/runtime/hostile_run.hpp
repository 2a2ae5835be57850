// SPDX-License-Identifier: MIT
// Runs many calls, each of which must give a result or aton::error with one line, in bounded time and memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace aton::tests {

struct hostile_options {
    std::string only;       ///< the name, or all names that contain it
    std::size_t rounds = 1; ///< calls per name
    std::size_t first = 0;  ///< first round
    std::uint64_t seed = 0;
    std::size_t seconds = 0; ///< no call starts after that; 0: no limit
    std::size_t jobs = 2;    ///< processes; 0: all in this one, and each call is printed before it starts
};

/// Parses options of the form --name value; throws aton::error for others.
[[nodiscard]] hostile_options read_hostile_options(int count, char** words, int first);

/// Limits of a call.
struct hostile_limits {
    int seconds = 20;                             ///< far more than any call needs
    std::size_t addresses = std::size_t{3} << 30; ///< bytes of the process
    std::size_t resident = 0;                     ///< peak resident bytes of the process; 0: not checked
    std::size_t message = 20000;                  ///< characters
    bool library_text = true;                     ///< false: messages of the C++ library are findings
};

/// What is wrong with an error message; empty: nothing.
[[nodiscard]] std::string fault_of_message(std::string_view line, hostile_limits const& limits);

struct hostile_tally {
    std::size_t answered = 0; ///< finished with a result
    std::size_t refused = 0;
    std::size_t found = 0; ///< crashed, hung, or threw something else
};

/// Calls `work` for each name and round with a distinct seed, in processes with little memory. Prints each finding with
/// the options that reproduce it, and totals.
hostile_tally hostile_run(std::string_view program, std::size_t names, hostile_options const& options,
                          std::function<std::string(std::size_t)> const& name_of,
                          std::function<void(std::size_t, std::uint64_t)> const& work,
                          hostile_limits const& limits = {});

} // namespace aton::tests
