// SPDX-License-Identifier: MIT
// Error messages for files that are not .pt2 archives of torch.export.save: what the file is, and what to do.
#pragma once

#include <string>
#include <string_view>

#include "frontend/files/zip_directory.hpp"

namespace ATON_NAMESPACE::pt2 {

/// The directory of an archive, whose `bytes` must outlive it. Throws aton::error, "path: ...", also for bytes that are not a ZIP archive.
[[nodiscard]] files::zip_directory read_directory(std::string_view bytes, std::string const& path);

/// For an archive without models; `root` as in files::zip_directory::root().
[[nodiscard]] std::string_view describe_other_archive(files::zip_directory const& directory, std::string_view root);

} // namespace ATON_NAMESPACE::pt2
