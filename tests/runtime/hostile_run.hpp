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
    std::string only;       ///< of the names, those that have it
    std::size_t rounds = 1; ///< calls for each name
    std::size_t first = 0;  ///< the first of them
    std::uint64_t seed = 0;
    std::size_t seconds = 0; ///< after which no call is begun; 0: none
    std::size_t jobs = 2;    ///< processes; 0: all in this one, and each call is named before it begins
};

/// Words of the form --name value; throws aton::error for others.
[[nodiscard]] hostile_options read_hostile_options(int count, char** words, int first);

struct hostile_tally {
    std::size_t answered = 0; ///< ran to the end
    std::size_t refused = 0;
    std::size_t found = 0; ///< crashed, did not come back, or threw something else
};

/// Calls `work` for each name and round, with another seed each time, in processes with little memory. Prints each finding with what
/// repeats it, and figures.
hostile_tally hostile_run(std::string_view program, std::size_t names, hostile_options const& options,
                          std::function<std::string(std::size_t)> const& name_of,
                          std::function<void(std::size_t, std::uint64_t)> const& work);

} // namespace aton::tests
