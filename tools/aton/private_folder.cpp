// SPDX-License-Identifier: MIT
#include "private_folder.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <aton/core/error.hpp>

#include "system/program.hpp"

namespace aton::tool {

namespace fs = std::filesystem;

private_folder::private_folder() {
    std::string const path = system::create_private_folder();
    if (path.empty())
        throw error(std::string("no folder for temporary files can be created in the one that TMPDIR names: ") +
                    std::strerror(errno));
    prefix_ = path + '/';
}

private_folder::~private_folder() {
    std::error_code ignored;
    fs::remove_all(prefix_, ignored);
}

std::optional<std::string> private_folder::read(std::string const& name) const {
    std::error_code fault;
    std::uintmax_t const size = fs::file_size(path_of(name), fault);
    if (fault) return {};
    std::string bytes(static_cast<std::size_t>(size), '\0');
    std::ifstream file(path_of(name), std::ios::binary);
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) throw error(name + ": cannot be read");
    return bytes;
}

std::string private_folder::without_path(std::string text) const {
    for (std::size_t at = text.find(prefix_); at != std::string::npos; at = text.find(prefix_, at))
        text.erase(at, prefix_.size());
    return text;
}

bool is_file_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." && name.find_first_of("/\\") == std::string_view::npos;
}

} // namespace aton::tool
