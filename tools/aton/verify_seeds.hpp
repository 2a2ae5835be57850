// SPDX-License-Identifier: MIT
// aton verify --seeds: the same check with one seed after another, which a log lets go on where it stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <aton/verify/check.hpp>

namespace aton::tool {

struct seed_range {
    std::uint64_t first = 0;
    std::uint64_t last = 0; ///< included
};
/// "1..200", or one number; nothing for another text.
[[nodiscard]] std::optional<seed_range> read_seeds(std::string const& text);

/// Prints a line for each seed, after the calls that differ, and at the end which rows differ with which seeds. Seeds that the file `log`
/// has are not checked again; `settings` must be what they were. Exit status: 0 where no row differs.
int verify_seeds(seed_range const& seeds, std::string const& log, std::string const& settings,
                 std::function<verify::report(std::uint64_t)> const& check);

} // namespace aton::tool
