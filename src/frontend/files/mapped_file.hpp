// SPDX-License-Identifier: MIT
// A file that a reader of this layer starts from.
#pragma once

#include <string>

#include "frontend/files/text.hpp"
#include "system/mapped_file.hpp"

namespace ATON_NAMESPACE::files {

class mapped_file : public system::mapped_file {
public:
    /// Throws aton::error unless the path is a readable, non-empty regular file.
    explicit mapped_file(std::string const& path) : system::mapped_file(path) {
        if (bytes().empty()) fail(path, "is empty");
    }
};

} // namespace ATON_NAMESPACE::files
