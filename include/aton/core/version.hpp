// SPDX-License-Identifier: MIT
// The version of these headers, the same as of the CMake project.
#pragma once

#include <string_view>

namespace aton {

inline constexpr std::string_view version = "0.1.0";

} // namespace aton
