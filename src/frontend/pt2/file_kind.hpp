// SPDX-License-Identifier: MIT
// What a file is that is no .pt2 archive of torch.export.save, and what to do about it: for error messages.
#pragma once

#include <string_view>

#include "zip_directory.hpp"

namespace ATON_NAMESPACE::pt2 {

/// Of bytes that are no ZIP archive.
[[nodiscard]] std::string_view describe_other_file(std::string_view bytes);

/// Of an archive that has no models; `root` as in zip_directory::root().
[[nodiscard]] std::string_view describe_other_archive(zip_directory const& directory, std::string_view root);

} // namespace ATON_NAMESPACE::pt2
