// SPDX-License-Identifier: MIT
#include "text.hpp"

#include <cstddef>

namespace ATON_NAMESPACE::files {

std::string in_quotes(std::string_view name) {
    constexpr std::string_view digits = "0123456789abcdef";
    constexpr std::size_t longest = 120;
    std::string out = "'";
    for (char const c : name) {
        if (out.size() > longest) return out + "...'";
        auto const code = static_cast<unsigned char>(c);
        if (code >= 0x20 && code < 0x7f) {
            out += c;
            continue;
        }
        out += "\\x";
        out += digits[code >> 4U];
        out += digits[code & 15U];
    }
    return out + "'";
}

std::string type_text(dtype type, std::vector<std::int64_t> const& sizes) {
    std::string out(name(type));
    out += '[';
    for (std::size_t i = 0; i != sizes.size(); ++i) (out += i == 0 ? "" : ", ") += std::to_string(sizes[i]);
    return out + "]";
}

void fail(std::string_view where, std::string_view what) {
    std::string text(where);
    text += ": ";
    text += what;
    throw error(std::move(text));
}

} // namespace ATON_NAMESPACE::files
