// SPDX-License-Identifier: MIT
// Writes ZIP archives for tests: valid ones, as torch.export.save does, and invalid ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aton::tests {

inline void append_number(std::string& to, std::uint64_t number, int width) {
    for (int i = 0; i != width; ++i) to += static_cast<char>(number >> 8 * i & 0xffU);
}

/// Overwrites a little-endian number.
inline void patch(std::string& bytes, std::size_t at, int width, std::uint64_t number) {
    std::string text;
    append_number(text, number, width);
    bytes.replace(at, text.size(), text);
}

struct zip_options {
    std::size_t alignment = 64;  ///< of contents, through an extra field in the local header
    bool sizes_follow = true;    ///< sizes are zero in the local header and follow in a descriptor
    bool zip64_fields = false;   ///< every entry has sizes and offsets in its extra field
    bool zip64_end = true;       ///< the ZIP64 end record and its locator
    bool only_zip64_end = false; ///< all bits of the other end record's numbers are set
    std::string comment;         ///< of the archive
    std::string entry_extra;     ///< before the ZIP64 field of every entry
    std::string entry_comment;
};

class zip_writer {
public:
    struct place {
        std::size_t header = 0; ///< of the local header
        std::size_t data = 0;
        std::size_t entry = 0; ///< in the directory
        std::size_t size = 0;
    };

    explicit zip_writer(zip_options options = {}) : options_(std::move(options)) {}

    zip_writer& add(std::string_view name, std::string_view content, unsigned method = 0, unsigned more_flags = 0) {
        member m;
        m.name = name;
        m.method = method;
        m.flags = more_flags | 0x0800U | (options_.sizes_follow && !content.empty() ? 8U : 0U);
        m.at.header = bytes_.size();
        m.at.size = content.size();
        bytes_ += local_header(m, content.size(), bytes_.size());
        m.at.data = bytes_.size();
        bytes_ += content;
        if ((m.flags & 8U) != 0) {
            bytes_ += "PK\7\10";
            append_number(bytes_, 0, 4);
            append_number(bytes_, content.size(), 4);
            append_number(bytes_, content.size(), 4);
        }
        members_.push_back(m);
        return *this;
    }

    /// Adds a directory entry without writing a member: it claims a local header at `header` and the size `size`.
    zip_writer& claim(std::string_view name, std::size_t header, std::size_t size) {
        member m;
        m.name = name;
        m.flags = 0x0808;
        m.at.header = header;
        m.at.size = size;
        members_.push_back(m);
        return *this;
    }

    /// The whole archive. Positions are known afterwards.
    std::string finish() {
        directory = bytes_.size();
        for (member& m : members_) {
            m.at.entry = bytes_.size();
            append_entry(m);
        }
        std::size_t const size = bytes_.size() - directory;
        std::size_t const count = members_.size();
        if (options_.zip64_end) {
            end64 = bytes_.size();
            bytes_ += "PK\6\6";
            append_number(bytes_, 44, 8);
            append_number(bytes_, 0x002d002d, 4);
            append_number(bytes_, 0, 8); // disks
            for (std::size_t n : {count, count, size, directory}) append_number(bytes_, n, 8);
            locator = bytes_.size();
            bytes_ += "PK\6\7";
            append_number(bytes_, 0, 4);
            append_number(bytes_, end64, 8);
            append_number(bytes_, 1, 4);
        }
        end = bytes_.size();
        bytes_ += "PK\5\6";
        append_number(bytes_, 0, 4);
        bool const hidden = options_.only_zip64_end;
        append_number(bytes_, hidden ? 0xffff : count, 2);
        append_number(bytes_, hidden ? 0xffff : count, 2);
        append_number(bytes_, hidden ? 0xffffffff : size, 4);
        append_number(bytes_, hidden ? 0xffffffff : directory, 4);
        append_number(bytes_, options_.comment.size(), 2);
        bytes_ += options_.comment;
        return bytes_;
    }

    [[nodiscard]] place of(std::string_view name) const {
        for (member const& m : members_)
            if (m.name == name) return m.at;
        return {};
    }
    /// The number of bytes written.
    [[nodiscard]] std::size_t position() const { return bytes_.size(); }

    std::size_t directory = 0;
    std::size_t end64 = 0;
    std::size_t locator = 0;
    std::size_t end = 0;

private:
    struct member {
        std::string name;
        unsigned method = 0;
        unsigned flags = 0;
        place at;
    };

    [[nodiscard]] std::string local_header(member const& m, std::size_t size, std::size_t position) const {
        std::size_t const start = position + 30 + m.name.size();
        std::size_t padding = 0;
        if (options_.alignment > 1)
            padding = 4 + (options_.alignment - (start + 4) % options_.alignment) % options_.alignment;
        std::string out = "PK\3\4";
        append_number(out, 0, 2);
        append_number(out, m.flags, 2);
        append_number(out, m.method, 2);
        append_number(out, 0, 8); // time, date, crc
        append_number(out, (m.flags & 8U) != 0 ? 0 : size, 4);
        append_number(out, (m.flags & 8U) != 0 ? 0 : size, 4);
        append_number(out, m.name.size(), 2);
        append_number(out, padding, 2);
        out += m.name;
        if (padding != 0) {
            out += "FB";
            append_number(out, padding - 4, 2);
            out += std::string(padding - 4, 'Z');
        }
        return out;
    }

    void append_entry(member const& m) {
        std::string extra = options_.entry_extra;
        if (options_.zip64_fields) {
            append_number(extra, 1, 2);
            append_number(extra, 24, 2);
            for (std::size_t n : {m.at.size, m.at.size, m.at.header}) append_number(extra, n, 8);
        }
        bool const wide = options_.zip64_fields;
        bytes_ += "PK\1\2";
        append_number(bytes_, 0, 4); // versions
        append_number(bytes_, m.flags, 2);
        append_number(bytes_, m.method, 2);
        append_number(bytes_, 0, 8); // time, date, crc
        append_number(bytes_, wide ? 0xffffffff : m.at.size, 4);
        append_number(bytes_, wide ? 0xffffffff : m.at.size, 4);
        append_number(bytes_, m.name.size(), 2);
        append_number(bytes_, extra.size(), 2);
        append_number(bytes_, options_.entry_comment.size(), 2);
        append_number(bytes_, 0, 8); // disk, attributes
        append_number(bytes_, wide ? 0xffffffff : m.at.header, 4);
        bytes_ += m.name;
        bytes_ += extra;
        bytes_ += options_.entry_comment;
    }

    zip_options options_;
    std::string bytes_;
    std::vector<member> members_;
};

} // namespace aton::tests
