// SPDX-License-Identifier: MIT
#include "system/paths.hpp"

namespace ATON_NAMESPACE::system {

std::filesystem::path path_of(std::string_view text) { return text; }

std::filesystem::path part_of(std::string_view text) { return text; }

std::filesystem::path path_in(std::filesystem::path const& folder, std::filesystem::path const& part) {
    return folder / part;
}

std::string text_of(std::filesystem::path const& path) { return path.string(); }

} // namespace ATON_NAMESPACE::system
