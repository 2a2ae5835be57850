// SPDX-License-Identifier: MIT
// The members of an untrusted ZIP or ZIP64 archive in memory: every returned range has been checked against the bytes.
// Format: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.16 and 4.5.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::files {

struct zip_member {
    std::string_view name;
    std::string_view bytes; ///< as stored: possibly compressed
    std::uint16_t method = 0;
    std::uint16_t flags = 0;
};

class zip_directory {
public:
    /// Reads and checks the directory and every local header; `bytes` must outlive it. Throws aton::error, "where: ...": records
    /// out of range, overlapping or duplicate members, names that leave the archive, contradictory headers.
    zip_directory(std::string_view bytes, std::string where);

    /// In the order of the directory; at least one.
    [[nodiscard]] std::vector<zip_member> const& members() const { return members_; }
    [[nodiscard]] zip_member const* find(std::string_view name) const;
    /// The bytes of a member. Throws aton::error if they are compressed or encrypted.
    [[nodiscard]] std::string_view stored(zip_member const& member) const;
    /// The top-level folder of the first member, "model/"; empty if it is not in a folder.
    [[nodiscard]] std::string_view root() const;
    [[nodiscard]] std::string const& where() const { return where_; }

private:
    std::string where_;
    std::vector<zip_member> members_;
    std::vector<std::uint32_t> by_name_;
};

/// Whether the bytes start or end like a ZIP archive.
[[nodiscard]] bool looks_like_zip(std::string_view bytes);

} // namespace ATON_NAMESPACE::files
