// SPDX-License-Identifier: MIT
// Paths of the standard library from UTF-8, and back: on Windows, where they are UTF-16, its own conversion depends on the locale.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::system {

/// The path of a file or folder, for the functions of the standard library, of any length.
[[nodiscard]] std::filesystem::path path_of(std::string_view text);
/// A name, or a path from a folder that is not the working directory.
[[nodiscard]] std::filesystem::path part_of(std::string_view text);
/// The path of a part in a folder, as path_of().
[[nodiscard]] std::filesystem::path path_in(std::filesystem::path const& folder, std::filesystem::path const& part);
/// With slashes on every system.
[[nodiscard]] std::string text_of(std::filesystem::path const& path);

} // namespace ATON_NAMESPACE::system
