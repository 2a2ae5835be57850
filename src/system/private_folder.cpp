// SPDX-License-Identifier: MIT
#include "private_folder.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <aton/core/error.hpp>

#include "paths.hpp"
#include "program.hpp"

namespace ATON_NAMESPACE::system {

namespace fs = std::filesystem;

private_folder::private_folder() {
    std::string const path = create_private_folder();
    if (path.empty())
        throw error(std::string("no folder for temporary files can be created in the one that TMPDIR names: ") +
                    std::strerror(errno));
    prefix_ = path + '/';
}

private_folder::~private_folder() {
    std::error_code ignored;
    fs::remove_all(path_of(prefix_), ignored);
}

std::string private_folder::folder(std::string const& name) const {
    fs::create_directory(path_of(file(name)));
    return file(name);
}

std::optional<std::string> private_folder::read(std::string const& name) const {
    std::error_code fault;
    std::uintmax_t const size = fs::file_size(path_of(file(name)), fault);
    if (fault) return {};
    std::string bytes(static_cast<std::size_t>(size), '\0');
    std::ifstream from(path_of(file(name)), std::ios::binary);
    if (!from.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) throw error(name + ": cannot be read");
    return bytes;
}

std::string private_folder::without_path(std::string text) const {
    for (std::size_t at = text.find(prefix_); at != std::string::npos; at = text.find(prefix_, at))
        text.erase(at, prefix_.size());
    return text;
}

} // namespace ATON_NAMESPACE::system
