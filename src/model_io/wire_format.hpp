// SPDX-License-Identifier: MIT
// Writes fields in protobuf's wire format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::detail {

inline void append_varint(std::string& to, std::uint64_t v) {
    for (; v >= 0x80; v >>= 7) to += static_cast<char>(v | 0x80);
    to += static_cast<char>(v);
}

/// Appends the tag of a field with wire type 0 (varint) or 2 (length, then bytes), and its number or length.
inline void append_field(std::string& to, std::uint64_t field, unsigned wire_type, std::uint64_t v) {
    append_varint(to, field << 3 | wire_type);
    append_varint(to, v);
}

inline void append_number(std::string& to, unsigned field, std::uint64_t v) { append_field(to, field, 0, v); }

inline void append_bytes_field(std::string& to, std::uint64_t field, std::string_view bytes) {
    append_field(to, field, 2, bytes.size());
    to += bytes;
}

/// Appends a StringStringEntryProto.
inline void append_entry(std::string& to, unsigned field, std::string_view key, std::string_view text) {
    std::string entry;
    append_bytes_field(entry, 1, key);
    append_bytes_field(entry, 2, text);
    append_bytes_field(to, field, entry);
}

} // namespace ATON_NAMESPACE::detail
