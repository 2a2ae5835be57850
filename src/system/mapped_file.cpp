// SPDX-License-Identifier: MIT
#include "system/mapped_file.hpp"

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include <aton/core/error.hpp>

#include "system/files.hpp"
#include "system/paths.hpp"

namespace ATON_NAMESPACE::system {

namespace {

[[noreturn]] void fail(std::string const& path, std::string_view why) {
    std::string text = path + ": ";
    text += why;
    throw error(std::move(text));
}

[[noreturn]] void fail_with_reason(std::string const& path, std::string_view what, int reason) {
    fail(path, std::string(what) + ": " + message_of(reason));
}

} // namespace

mapped_file::mapped_file(std::string const& path, links at) {
    std::error_code ignored;
    if (at == links::refused && std::filesystem::is_symlink(std::filesystem::symlink_status(path_of(path), ignored)))
        fail(path, "is a symbolic link");
    descriptor_ = open_to_read(path);
    if (descriptor_ < 0) {
        if (errno == ENOENT) fail(path, "no such file");
        fail_with_reason(path, "cannot be opened", errno);
    }
    try {
        map(path);
    } catch (...) {
        (void)close_file(descriptor_);
        throw;
    }
}

void mapped_file::map(std::string const& path) {
    file_facts facts;
    if (!examine(descriptor_, facts)) fail_with_reason(path, "cannot be examined", errno);
    if (facts.kind == file_kind::folder) fail(path, "is a folder, not a file");
    if (facts.kind != file_kind::regular) fail(path, "is a device, pipe or socket, not a file");
    if (facts.size == 0) return; // nothing to map
    if (facts.size > std::numeric_limits<std::size_t>::max()) fail(path, "is too large to map into memory");
    auto const size = static_cast<std::size_t>(facts.size);
    void const* const start = map_file(descriptor_, size);
    if (start == nullptr) fail_with_reason(path, "cannot be mapped into memory", errno);
    bytes_ = {static_cast<char const*>(start), size};
}

mapped_file::~mapped_file() {
    if (!bytes_.empty()) unmap_file(bytes_.data(), bytes_.size());
    (void)close_file(descriptor_);
}

} // namespace ATON_NAMESPACE::system
