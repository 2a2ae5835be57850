// SPDX-License-Identifier: MIT
// The check of one row.
#pragma once

#include <aton/verify/check.hpp>

namespace ATON_NAMESPACE::verify {

/// Checks a row as check() does. Deterministic for a seed.
[[nodiscard]] row_report check_row(dsl::entry const& row, check_options const& options);

} // namespace ATON_NAMESPACE::verify
