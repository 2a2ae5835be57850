// SPDX-License-Identifier: MIT
// A read-only file that is mapped into memory as a whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::system {

/// Whether the path of a file may itself be a symbolic link.
enum class links : std::uint8_t { followed, refused };

class mapped_file {
public:
    /// Throws aton::error, "path: why", unless the path is a readable regular file. Does not block on pipes.
    explicit mapped_file(std::string const& path, links at = links::followed);
    mapped_file(mapped_file const&) = delete;
    mapped_file& operator=(mapped_file const&) = delete;
    ~mapped_file();

    [[nodiscard]] std::string_view bytes() const { return bytes_; }
    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    void map(std::string const& path);

    int descriptor_ = -1;
    std::string_view bytes_;
};

} // namespace ATON_NAMESPACE::system
