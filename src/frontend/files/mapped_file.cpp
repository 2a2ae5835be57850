// SPDX-License-Identifier: MIT
#include "mapped_file.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "system/files.hpp"
#include "text.hpp"

namespace ATON_NAMESPACE::files {

namespace {

[[noreturn]] void fail_with_reason(std::string const& path, std::string_view what, int reason) {
    fail(path, std::string(what) + ": " + system::message_of(reason));
}

} // namespace

mapped_file::mapped_file(std::string const& path) : descriptor_(system::open_to_read(path)) {
    if (descriptor_ < 0) {
        if (errno == ENOENT) fail(path, "no such file");
        fail_with_reason(path, "cannot be opened", errno);
    }
    try {
        map(path);
    } catch (...) {
        (void)system::close_file(descriptor_);
        throw;
    }
}

void mapped_file::map(std::string const& path) {
    system::file_facts facts;
    if (!system::examine(descriptor_, facts)) fail_with_reason(path, "cannot be examined", errno);
    if (facts.kind == system::file_kind::folder) fail(path, "is a folder, not a file");
    if (facts.kind != system::file_kind::regular) fail(path, "is a device, pipe or socket, not a file");
    if (facts.size == 0) fail(path, "is empty");
    if (facts.size > std::numeric_limits<std::size_t>::max()) fail(path, "is too large to map into memory");
    auto const size = static_cast<std::size_t>(facts.size);
    void const* const start = system::map_file(descriptor_, size);
    if (start == nullptr) fail_with_reason(path, "cannot be mapped into memory", errno);
    bytes_ = {static_cast<char const*>(start), size};
}

mapped_file::~mapped_file() {
    system::unmap_file(bytes_.data(), bytes_.size());
    (void)system::close_file(descriptor_);
}

} // namespace ATON_NAMESPACE::files
