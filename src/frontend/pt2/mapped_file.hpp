// SPDX-License-Identifier: MIT
// A file that is open for reading and mapped into memory as a whole, until it is destroyed.
#pragma once

#include <string>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::pt2 {

class mapped_file {
public:
    /// Throws aton::error for anything but a regular file that can be read and is not empty. Does not wait for a pipe's other end.
    explicit mapped_file(std::string const& path);
    mapped_file(mapped_file const&) = delete;
    mapped_file& operator=(mapped_file const&) = delete;
    ~mapped_file();

    [[nodiscard]] std::string_view bytes() const { return bytes_; }
    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    void map(std::string const& path);

    int descriptor_;
    std::string_view bytes_;
};

} // namespace ATON_NAMESPACE::pt2
