// SPDX-License-Identifier: MIT
// Formats names from a file for error messages: on one line, printable and short.
#pragma once

#include <string>
#include <string_view>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::files {

/// 'name', with \xNN for everything except printable ASCII, truncated after about 120 characters.
[[nodiscard]] std::string in_quotes(std::string_view name);

/// Throws aton::error("where: what").
[[noreturn]] void fail(std::string_view where, std::string_view what);

} // namespace ATON_NAMESPACE::files
