// SPDX-License-Identifier: MIT
// aton verify --seeds: repeats a check with one seed after another, and resumes from a log.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <aton/verify/check.hpp>

#include "verify_command.hpp"

namespace aton::tool {

struct seed_range {
    std::uint64_t first = 0;
    std::uint64_t last = 0; ///< included
};
/// "1..200", or one number; nothing if the string is malformed.
[[nodiscard]] std::optional<seed_range> read_seeds(std::string const& text);

/// Prints a line for each seed, after the calls that differ, and finally which rows differ with which seeds; or one object of JSON. Seeds in
/// the log are not checked again; it must have been written with the same `settings`. Returns the exit status: 0 if no row differs.
int verify_seeds(verify_request const& request, std::string const& settings,
                 std::function<verify::report(std::uint64_t)> const& check);

} // namespace aton::tool
