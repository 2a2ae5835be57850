// SPDX-License-Identifier: MIT
#include "mapped_file.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.hpp"

namespace ATON_NAMESPACE::files {

namespace {

[[noreturn]] void fail_with_reason(std::string const& path, std::string_view what, int reason) {
    fail(path, std::string(what) + ": " + std::generic_category().message(reason));
}

} // namespace

mapped_file::mapped_file(std::string const& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    if (descriptor_ < 0) {
        if (errno == ENOENT) fail(path, "no such file");
        fail_with_reason(path, "cannot be opened", errno);
    }
    try {
        map(path);
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

void mapped_file::map(std::string const& path) {
    struct stat facts{};
    if (::fstat(descriptor_, &facts) != 0) fail_with_reason(path, "cannot be examined", errno);
    if (S_ISDIR(facts.st_mode)) fail(path, "is a folder, not a file");
    if (!S_ISREG(facts.st_mode)) fail(path, "is a device, pipe or socket, not a file");
    if (facts.st_size == 0) fail(path, "is empty");
    auto const size = static_cast<std::uint64_t>(facts.st_size);
    if (size > std::numeric_limits<std::size_t>::max()) fail(path, "is too large to map into memory");
    void* const start = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (start == MAP_FAILED) fail_with_reason(path, "cannot be mapped into memory", errno);
    bytes_ = {static_cast<char const*>(start), static_cast<std::size_t>(size)};
}

mapped_file::~mapped_file() {
    ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
    ::close(descriptor_);
}

} // namespace ATON_NAMESPACE::files
