// SPDX-License-Identifier: MIT
// Files of the caller's memory, for commands that read and write files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace aton::tool {

/// A new folder that only this user can read. It is removed with everything in it.
class private_folder {
public:
    /// Below TMPDIR, or the system's folder for temporary files. Throws aton::error.
    private_folder();
    private_folder(private_folder const&) = delete;
    private_folder& operator=(private_folder const&) = delete;
    ~private_folder();

    /// The path of a file in it.
    [[nodiscard]] std::string path_of(std::string const& name) const { return prefix_ + name; }
    /// The contents of a file; nothing if there is none. Throws aton::error.
    [[nodiscard]] std::optional<std::string> read(std::string const& name) const;
    /// The text with the names of files in place of their paths: nobody knows this folder.
    [[nodiscard]] std::string without_path(std::string text) const;

private:
    std::string prefix_; ///< ends with a slash
};

/// Whether a name is that of a file in a folder, and no path.
[[nodiscard]] bool is_file_name(std::string_view name);

} // namespace aton::tool
