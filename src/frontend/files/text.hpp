// SPDX-License-Identifier: MIT
// Formats what is in a file for error messages: on one line, printable and short.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::files {

/// 'name', with \xNN for everything except printable ASCII, truncated after about 120 characters.
[[nodiscard]] std::string in_quotes(std::string_view name);

/// "float32[2, 3]"
[[nodiscard]] std::string type_text(dtype type, std::vector<std::int64_t> const& sizes);

/// Throws aton::error("where: what").
[[noreturn]] void fail(std::string_view where, std::string_view what);

} // namespace ATON_NAMESPACE::files
