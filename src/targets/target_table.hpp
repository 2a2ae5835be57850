// SPDX-License-Identifier: MIT
// Targets as files: data/targets/README.md describes the format.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/targets/target.hpp>

namespace ATON_NAMESPACE::targets {

/// A target that was read, and what it refers to. The text that it was read from must live as long.
struct target_table {
    target made;
    std::string about;
    std::vector<operator_support> operators;
    std::vector<std::vector<node_condition>> conditions; ///< those of one operator, which its `when` refers to
};

/// Reads a table. `base` gives the table of another version of the same runtime. Throws aton::error, which names the line.
[[nodiscard]] target_table read_target(std::string_view text,
                                       std::function<target const&(std::string_view version)> const& base);

} // namespace ATON_NAMESPACE::targets
