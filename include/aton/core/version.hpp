// SPDX-License-Identifier: MIT
// The version of these headers, which is that of the CMake project.
// Public header.
#pragma once

#include <string_view>

namespace aton {

/// The version of these headers, "major.minor.patch".
inline constexpr std::string_view version = "0.1.0";

} // namespace aton
