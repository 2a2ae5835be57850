// SPDX-License-Identifier: MIT
// Upper and lower case of UTF-8 by Unicode's UnicodeData.txt, independent of the locale of the process.
#include "letter_case.hpp"

#include <cstddef>
#include <cstdint>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// Upper-case letters and the distance to their lower-case ones. `pairs`: upper and lower case alternate, starting with
/// upper case.
struct letters {
    char32_t first = 0;
    char32_t last = 0;
    std::int32_t distance = 0;
    bool pairs = false;
};

constexpr letters alphabets[] = {
    {U'A', U'Z', 32},          {0x00C0, 0x00D6, 32},      {0x00D8, 0x00DE, 32},      {0x0100, 0x012E, 1, true},
    {0x0132, 0x0136, 1, true}, // except the Turkish i
    {0x0139, 0x0147, 1, true}, {0x014A, 0x0176, 1, true}, {0x0178, 0x0178, -121},    {0x0179, 0x017D, 1, true},
    {0x0386, 0x0386, 38},      {0x0388, 0x038A, 37},      {0x038C, 0x038C, 64},      {0x038E, 0x038F, 63},
    {0x0391, 0x03A1, 32},      {0x03A3, 0x03AB, 32},      {0x0400, 0x040F, 80},      {0x0410, 0x042F, 32},
    {0x0460, 0x0480, 1, true}, {0x048A, 0x04BE, 1, true}, {0x04D0, 0x052E, 1, true}, {0x0531, 0x0556, 48},
    {0x1E00, 0x1E94, 1, true}, {0x1EA0, 0x1EFE, 1, true},
};

char32_t moved(char32_t c, std::int32_t by) { return static_cast<char32_t>(static_cast<std::int32_t>(c) + by); }

char32_t lower(char32_t c) {
    for (letters const& a : alphabets)
        if (c >= a.first && c <= a.last && (!a.pairs || (c - a.first) % 2 == 0)) return moved(c, a.distance);
    return c;
}

char32_t upper(char32_t c) {
    for (letters const& a : alphabets) {
        char32_t const up = moved(c, -a.distance);
        if (up >= a.first && up <= a.last && (!a.pairs || (up - a.first) % 2 == 0)) return up;
    }
    return c;
}

/// Letters of one and two bytes, and U+1E00 to U+1EFF, are in the table above; others are copied.
template <char32_t (*Change)(char32_t)>
std::string changed(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i != text.size();) {
        auto const byte = [&](std::size_t k) -> char32_t {
            return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0;
        };
        auto const follows = [&](std::size_t k) { return (byte(k) & 0xC0U) == 0x80U; };
        if (byte(0) < 0x80) {
            out += static_cast<char>(Change(byte(0)));
            i += 1;
        } else if (byte(0) >= 0xC2 && byte(0) < 0xE0 && follows(1)) {
            char32_t const c = Change((byte(0) & 0x1FU) << 6U | (byte(1) & 0x3FU));
            out += static_cast<char>(0xC0U | c >> 6U);
            out += static_cast<char>(0x80U | (c & 0x3FU));
            i += 2;
        } else if (byte(0) == 0xE1 && byte(1) >= 0xB8 && byte(1) <= 0xBB && follows(2)) {
            char32_t const c = Change(0x1000U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU));
            out += static_cast<char>(0xE0U | c >> 12U);
            out += static_cast<char>(0x80U | (c >> 6U & 0x3FU));
            out += static_cast<char>(0x80U | (c & 0x3FU));
            i += 3;
        } else {
            out += text[i++];
        }
    }
    return out;
}

} // namespace

std::string lower_case(std::string_view text) { return changed<lower>(text); }
std::string upper_case(std::string_view text) { return changed<upper>(text); }

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
