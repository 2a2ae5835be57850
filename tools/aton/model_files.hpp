// SPDX-License-Identifier: MIT
// The files that a command line names, by themselves or by their folders.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace aton::tool {

struct model_file {
    std::string path;
    std::string relative; ///< its path in the folder that was named; the name of a file that was named itself
    std::string fault{};  ///< of a folder that cannot be read; empty for files
};

/// The files in `paths`, in this order, each once. A folder stands for all files in it and its subfolders that are `wanted`, sorted by name;
/// links to folders are not followed. Throws aton::error for a folder without such a file: `what` they are, such as ".pt2 file".
[[nodiscard]] std::vector<model_file> find_files(std::vector<std::string> const& paths,
                                                 std::function<bool(std::string const& path)> const& wanted,
                                                 std::string_view what);

/// Whether `paths` are more than one file.
[[nodiscard]] bool are_several(std::vector<std::string> const& paths);

/// find_files() for programs: .pt2 files, and with `torchscript` .pt files that are TorchScript archives.
[[nodiscard]] std::vector<model_file> find_programs(std::vector<std::string> const& paths, bool torchscript);

/// As torchscript::is_archive(), but false for a file that cannot be read.
[[nodiscard]] bool is_torchscript(std::string const& path);

/// The path without links, except for the last part, which may not exist yet: equal for equal files.
[[nodiscard]] std::string place_of(std::string const& path);

} // namespace aton::tool
