// SPDX-License-Identifier: MIT
// UTF-16 of Windows, and its errors as numbers of errno.
#pragma once

#include <string>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::system {

/// Malformed text becomes U+FFFD.
[[nodiscard]] std::wstring wide(std::string_view utf8);
[[nodiscard]] std::string narrow(std::wstring_view utf16);

/// A path for the functions of Windows: absolute and with the prefix that lifts the limit of 260 characters, if it is long.
[[nodiscard]] std::wstring wide_path(std::string_view utf8);

/// Sets errno from GetLastError().
void set_errno() noexcept;

/// An argument as programs of Microsoft's C library split the command line: backslashes count before a quote only.
[[nodiscard]] std::wstring quoted(std::wstring const& argument);

} // namespace ATON_NAMESPACE::system
