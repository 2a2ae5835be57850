// SPDX-License-Identifier: MIT
// Checks each row in a process of its own, so that one that crashes or does not end fails, and the rest goes on.
#pragma once

#include <span>
#include <vector>

#include <aton/verify/check.hpp>

namespace ATON_NAMESPACE::verify {

/// The reports in the order of the rows, as check_row() gives them. Throws what a check throws, as aton::error.
[[nodiscard]] std::vector<row_report> check_in_processes(std::span<dsl::entry const* const> rows,
                                                         check_options const& options);

} // namespace ATON_NAMESPACE::verify
