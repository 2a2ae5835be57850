// SPDX-License-Identifier: MIT
// Calls in processes of their own: one that crashes or hangs is a result like any other.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace aton::tests {

/// What `job` returns for each of 0, 1, ..., count - 1, in that order; where the process dies in it, or has not come back after
/// `seconds`, a line that says so. `processes` run at the same time; with 0 everything is called in this one, unguarded.
[[nodiscard]] std::vector<std::string> guarded_run(std::size_t count,
                                                   std::function<std::string(std::size_t)> const& job,
                                                   std::size_t processes = 2, int seconds = 120);

} // namespace aton::tests
