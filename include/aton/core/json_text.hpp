// SPDX-License-Identifier: MIT
// JSON string literals.
// Internal header.
#pragma once

#include <string>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE {

/// The text as a JSON string, quoted and escaped.
inline std::string json_text(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out = "\"";
    for (char const c : text) {
        auto const code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') (out += '\\') += c;
        else if (code < 0x20) ((out += "\\u00") += digits[code >> 4U]) += digits[code & 0xfU];
        else out += c;
    }
    return out + '"';
}

} // namespace ATON_NAMESPACE
