// SPDX-License-Identifier: MIT
// Error messages for files that are not .pt2 archives of torch.export.save: what the file is, and what to do.
#pragma once

#include <string_view>

#include "frontend/files/zip_directory.hpp"

namespace ATON_NAMESPACE::pt2 {

/// For bytes that are not a ZIP archive.
[[nodiscard]] std::string_view describe_other_file(std::string_view bytes);

/// For an archive without models; `root` as in files::zip_directory::root().
[[nodiscard]] std::string_view describe_other_archive(files::zip_directory const& directory, std::string_view root);

} // namespace ATON_NAMESPACE::pt2
