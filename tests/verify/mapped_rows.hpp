// SPDX-License-Identifier: MIT
// One built-in row for each mapped overload.
#pragma once

#include <vector>

#include <aton/mappings/built_in.hpp>

namespace aton::tests {

/// One row per overload: rows of several opset ranges are adjacent.
inline std::vector<aton::dsl::entry const*> all_rows() {
    std::vector<aton::dsl::entry const*> out;
    for (aton::dsl::table_view const family : aton::mappings::built_in_tables())
        for (aton::dsl::entry const& row : family)
            if (out.empty() || out.back()->overload != row.overload) out.push_back(&row);
    return out;
}

} // namespace aton::tests
