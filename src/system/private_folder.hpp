// SPDX-License-Identifier: MIT
// A folder for temporary files.
#pragma once

#include <optional>
#include <string>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::system {

/// A new folder that only this user can read. It is removed with everything in it.
class private_folder {
public:
    /// Below TMPDIR, or the system's folder for temporary files. Throws aton::error.
    private_folder();
    private_folder(private_folder const&) = delete;
    private_folder& operator=(private_folder const&) = delete;
    ~private_folder();

    /// The path of a file in it.
    [[nodiscard]] std::string file(std::string const& name) const { return prefix_ + name; }
    /// The path of a new folder in it.
    [[nodiscard]] std::string folder(std::string const& name) const;
    /// The contents of a file; nothing if there is none. Throws aton::error.
    [[nodiscard]] std::optional<std::string> read(std::string const& name) const;
    /// The text with the names of files in place of their paths: nobody knows this folder.
    [[nodiscard]] std::string without_path(std::string text) const;

private:
    std::string prefix_; ///< ends with a slash
};

} // namespace ATON_NAMESPACE::system
