// SPDX-License-Identifier: MIT
// Runs another program and waits for it.
#pragma once

#include <string>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::system {

struct program_end {
    std::string why_not; ///< the program cannot be run; empty: it ran
    int status = 0;
    int signal = 0; ///< that ended it; 0: it ended by itself
    bool out_of_time = false;
    std::string said; ///< the last 64 KiB of its standard output and standard error
};

/// Runs the program `arguments[0]`, found as a shell finds it, without input. After this many seconds, it is ended by force with what it has
/// started. Returns errors in the result.
[[nodiscard]] program_end run_program(std::vector<std::string> const& arguments, int seconds);

/// A new, empty folder for temporary files that only this user can read; empty, and errno is set, if there is none.
[[nodiscard]] std::string create_private_folder();

} // namespace ATON_NAMESPACE::system
