// SPDX-License-Identifier: MIT
// Archives of arrays of numpy. Format of a member: numpy/lib/format.py, "Format Version 1.0" to "3.0".
#pragma once

#include <memory>
#include <string>

#include <aton/frontend/weights/tensor_file.hpp>

#include "frontend/files/mapped_file.hpp"

namespace ATON_NAMESPACE::weights {

/// The arrays of a file, which the result keeps mapped. Throws aton::error, one line that names the file.
[[nodiscard]] tensor_file read_npz(std::shared_ptr<files::mapped_file const> file, std::string const& path);

} // namespace ATON_NAMESPACE::weights
