// SPDX-License-Identifier: MIT
#include "system/paths.hpp"

#include <algorithm>

#include "text.hpp"

namespace ATON_NAMESPACE::system {

std::filesystem::path path_of(std::string_view text) { return wide_path(text); }

std::filesystem::path part_of(std::string_view text) { return wide(text); }

std::filesystem::path path_in(std::filesystem::path const& folder, std::filesystem::path const& part) {
    return path_of(text_of(folder / part));
}

std::string text_of(std::filesystem::path const& path) {
    std::wstring_view text = path.native();
    constexpr std::wstring_view prefix = LR"(\\?\)";
    constexpr std::wstring_view network_prefix = LR"(\\?\UNC)";
    std::string out;
    if (text.starts_with(network_prefix)) {
        text.remove_prefix(network_prefix.size());
        out = "/";
    } else if (text.starts_with(prefix)) {
        text.remove_prefix(prefix.size());
    }
    out += narrow(text);
    std::ranges::replace(out, '\\', '/');
    return out;
}

} // namespace ATON_NAMESPACE::system
