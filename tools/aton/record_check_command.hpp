// SPDX-License-Identifier: MIT
// `aton record-check`: checks files of recorded calls, for `aton verify --calls`.
#pragma once

#include <string>
#include <vector>

namespace aton::tool {

/// Prints the operators of each file, and one line on stderr for each problem. `paths`: files and folders; `format`: "text" or "json".
int check_records(std::vector<std::string> const& paths, std::string const& format);

} // namespace aton::tool
