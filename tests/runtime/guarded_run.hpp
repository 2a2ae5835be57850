// SPDX-License-Identifier: MIT
// Runs calls in separate processes, so that a crash or a hang is an ordinary result.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace aton::tests {

/// Returns the results of `job` for 0, 1, ..., count - 1, in order. If the process dies or does not return within
/// `seconds`, the result is a line that says so. `processes` run at the same time; with 0, everything is called in this
/// process, unguarded.
[[nodiscard]] std::vector<std::string> guarded_run(std::size_t count,
                                                   std::function<std::string(std::size_t)> const& job,
                                                   std::size_t processes = 2, int seconds = 120);

} // namespace aton::tests
