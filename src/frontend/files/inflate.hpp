// SPDX-License-Identifier: MIT
// Decompresses members of ZIP archives (DEFLATE, RFC 1951), which TorchScript uses for its code.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::files {

/// The decompressed bytes; nullopt if the data is damaged or has more than `limit` bytes.
[[nodiscard]] std::optional<std::string> inflate(std::string_view compressed, std::size_t limit);

} // namespace ATON_NAMESPACE::files
