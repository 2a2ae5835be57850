// SPDX-License-Identifier: MIT
#include "zip_directory.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "text.hpp"

namespace ATON_NAMESPACE::files {

namespace {

constexpr std::uint64_t local_signature = 0x04034b50;
constexpr std::uint64_t entry_signature = 0x02014b50;
constexpr std::uint64_t end_signature = 0x06054b50;
constexpr std::uint64_t end64_signature = 0x06064b50;
constexpr std::uint64_t locator_signature = 0x07064b50;

constexpr std::size_t local_size = 30;
constexpr std::size_t entry_size = 46;
constexpr std::size_t end_size = 22;
constexpr std::size_t end64_size = 56;
constexpr std::size_t locator_size = 20;
constexpr std::size_t max_comment_size = 0xffff;

constexpr std::uint64_t in_zip64_16 = 0xffff;
constexpr std::uint64_t in_zip64_32 = 0xffffffff;

// Far more than any model has. Bounds the allocations for a hostile archive.
constexpr std::uint64_t max_members = 1'000'000;

constexpr unsigned encrypted_flags = 1U << 0U | 1U << 6U | 1U << 13U;
constexpr unsigned sizes_follow_flag = 1U << 3U;

/// A little-endian number of 2, 4 or 8 bytes; the caller has checked the bounds.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t width) {
    std::uint64_t out = 0;
    for (std::size_t i = width; i-- > 0;) out = out << 8U | static_cast<unsigned char>(bytes[at + i]);
    return out;
}

bool is_inside(std::uint64_t offset, std::uint64_t length, std::uint64_t size) {
    return offset <= size && length <= size - offset;
}

/// The directory is [offset, offset + size) and has `count` entries.
struct directory_place {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t count = 0;
};

/// An entry of the directory, before its local header is read.
struct entry {
    zip_member member;
    std::uint64_t header = 0;
    std::uint64_t size = 0;
};

std::optional<std::size_t> find_end_record(std::string_view bytes) {
    if (bytes.size() < end_size) return std::nullopt;
    std::size_t const last = bytes.size() - end_size;
    std::size_t const first = last > max_comment_size ? last - max_comment_size : 0;
    for (std::size_t at = last + 1; at-- > first;)
        if (number(bytes, at, 4) == end_signature && number(bytes, at + 20, 2) == last - at) return at;
    return std::nullopt;
}

class reader {
public:
    reader(std::string_view bytes, std::string_view where) : bytes_(bytes), where_(where) {}

    [[nodiscard]] directory_place find_directory() const {
        std::optional<std::size_t> const end = find_end_record(bytes_);
        if (!end)
            fail(where_,
                 "is a ZIP archive without an end record: the file is truncated or damaged; copy or save it again");
        directory_place out{number(bytes_, *end + 16, 4), number(bytes_, *end + 12, 4), number(bytes_, *end + 10, 2)};
        if (number(bytes_, *end + 4, 2) != 0 || number(bytes_, *end + 6, 2) != 0 ||
            number(bytes_, *end + 8, 2) != out.count)
            fail(where_, "is one part of a multi-part ZIP archive; save it as one file");
        std::size_t stop = *end;
        if (*end >= locator_size && number(bytes_, *end - locator_size, 4) == locator_signature) {
            stop = read_end64(*end - locator_size, out);
        }
        if (!is_inside(out.offset, out.size, stop) || out.offset + out.size != stop)
            fail(where_,
                 "the ZIP directory is not where the end record says: the file is truncated or damaged; save it again");
        if (out.count > out.size / entry_size) fail(where_, "the ZIP directory is too small for its number of members");
        if (out.count > max_members)
            fail(where_, "has more than 1000000 members, so it is not an archive of torch.export.save");
        return out;
    }

    [[nodiscard]] std::vector<entry> read_entries(directory_place const& place) const {
        std::vector<entry> out;
        out.reserve(static_cast<std::size_t>(place.count));
        auto at = static_cast<std::size_t>(place.offset);
        auto const stop = static_cast<std::size_t>(place.offset + place.size);
        while (at != stop) {
            if (out.size() == place.count) fail(where_, "the ZIP directory has more members than the end record says");
            if (stop - at < entry_size || number(bytes_, at, 4) != entry_signature)
                fail(where_,
                     "entry " + std::to_string(out.size()) + " of the ZIP directory is damaged; save the file again");
            std::size_t const name_size = number(bytes_, at + 28, 2);
            std::size_t const extra_size = number(bytes_, at + 30, 2);
            std::size_t const length = entry_size + name_size + extra_size + number(bytes_, at + 32, 2);
            if (stop - at < length)
                fail(where_, "entry " + std::to_string(out.size()) + " extends beyond the ZIP directory");
            out.push_back(read_entry(bytes_.substr(at, length), name_size, extra_size));
            at += length;
        }
        if (out.size() != place.count) fail(where_, "the ZIP directory has fewer members than the end record says");
        return out;
    }

    /// Finds the bytes of every member through its local header, and checks that no two members overlap.
    void locate(std::vector<entry>& entries, std::uint64_t stop) const {
        std::vector<std::uint32_t> order(entries.size());
        std::iota(order.begin(), order.end(), 0U);
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return entries[a].header < entries[b].header;
        });
        std::uint64_t free_from = 0;
        entry const* previous = nullptr;
        for (std::uint32_t const i : order) {
            entry& e = entries[i];
            if (e.header < free_from)
                fail(where_,
                     "members " + in_quotes(previous->member.name) + " and " + in_quotes(e.member.name) + " overlap");
            free_from = locate(e, stop);
            previous = &e;
        }
    }

private:
    [[noreturn]] void fail_at(std::string_view member, std::string_view what) const {
        fail(where_, "member " + in_quotes(member) + ' ' + std::string(what));
    }

    /// Reads the ZIP64 end record that the locator points to. Returns its start, where the directory must end.
    [[nodiscard]] std::size_t read_end64(std::size_t locator, directory_place& out) const {
        constexpr std::string_view contradiction =
            "the ZIP64 end record contradicts the rest of the archive: the file is damaged; save it again";
        std::uint64_t const at = number(bytes_, locator + 8, 8);
        if (number(bytes_, locator + 4, 4) != 0 || number(bytes_, locator + 16, 4) > 1)
            fail(where_, "is one part of a multi-part ZIP archive; save it as one file");
        if (!is_inside(at, end64_size, locator)) fail(where_, contradiction);
        auto const start = static_cast<std::size_t>(at);
        if (number(bytes_, start, 4) != end64_signature || number(bytes_, start + 4, 8) != locator - start - 12)
            fail(where_, contradiction);
        directory_place const wide{
            number(bytes_, start + 48, 8), number(bytes_, start + 40, 8), number(bytes_, start + 32, 8)};
        bool const one_disk = number(bytes_, start + 16, 4) == 0 && number(bytes_, start + 20, 4) == 0;
        if (!one_disk || number(bytes_, start + 24, 8) != wide.count) fail(where_, contradiction);
        if ((out.offset != in_zip64_32 && out.offset != wide.offset) ||
            (out.size != in_zip64_32 && out.size != wide.size) || (out.count != in_zip64_16 && out.count != wide.count))
            fail(where_, contradiction);
        out = wide;
        return start;
    }

    [[nodiscard]] entry read_entry(std::string_view from, std::size_t name_size, std::size_t extra_size) const {
        entry out;
        out.member.name = from.substr(entry_size, name_size);
        check_name(out.member.name);
        out.member.flags = static_cast<std::uint16_t>(number(from, 8, 2));
        out.member.method = static_cast<std::uint16_t>(number(from, 10, 2));
        std::uint64_t packed = number(from, 20, 4);
        std::uint64_t size = number(from, 24, 4);
        std::uint64_t disk = number(from, 34, 2);
        out.header = number(from, 42, 4);
        std::string_view wide = zip64_field(from.substr(entry_size + name_size, extra_size), out.member.name);
        // The field has only the numbers that do not fit their slots, in this order.
        struct slot {
            std::uint64_t* number;
            std::uint64_t in_zip64;
            std::size_t width;
        };
        for (slot const& s : {slot{&size, in_zip64_32, 8},
                              {&packed, in_zip64_32, 8},
                              {&out.header, in_zip64_32, 8},
                              {&disk, in_zip64_16, 4}}) {
            if (*s.number != s.in_zip64) continue;
            if (wide.size() < s.width)
                fail_at(out.member.name, "has no ZIP64 field for a size or offset that needs one");
            *s.number = number(wide, 0, s.width);
            wide.remove_prefix(s.width);
        }
        if (disk != 0) fail_at(out.member.name, "is in another part of a multi-part archive; save it as one file");
        if (out.member.method == 0 && (out.member.flags & encrypted_flags) == 0 && packed != size)
            fail_at(out.member.name, "is not compressed, but its compressed and uncompressed sizes differ");
        out.size = packed;
        return out;
    }

    /// The contents of the extra field with id 1; empty if there is none.
    [[nodiscard]] std::string_view zip64_field(std::string_view extra, std::string_view member) const {
        while (extra.size() >= 4) {
            std::size_t const length = number(extra, 2, 2);
            if (length > extra.size() - 4) fail_at(member, "has a damaged extra field in the ZIP directory");
            if (number(extra, 0, 2) == 1) return extra.substr(4, length);
            extra.remove_prefix(4 + length);
        }
        return {};
    }

    void check_name(std::string_view name) const {
        using namespace std::string_view_literals;
        if (name.empty()) fail(where_, "a member of the archive has no name");
        if (name.find('\0') != name.npos || name.find('\\') != name.npos)
            fail_at(name, "has a NUL or a backslash in its name; this is not an archive of torch.export.save");
        if (name[0] == '/') fail_at(name, "has an absolute name; this is not an archive of torch.export.save");
        for (std::size_t at = 0; at <= name.size();) {
            std::size_t const slash = std::min(name.find('/', at), name.size());
            if (name.substr(at, slash - at) == ".."sv)
                fail_at(name, "has '..' in its name; this is not an archive of torch.export.save");
            at = slash + 1;
        }
    }

    /// Fills in the bytes of a member. Returns where they end.
    std::uint64_t locate(entry& e, std::uint64_t stop) const {
        std::string_view const name = e.member.name;
        if (!is_inside(e.header, local_size, stop)) fail_at(name, "is outside the file");
        auto const at = static_cast<std::size_t>(e.header);
        if (number(bytes_, at, 4) != local_signature) fail_at(name, "does not start where the directory says");
        std::uint64_t const name_size = number(bytes_, at + 26, 2);
        std::uint64_t const data = e.header + local_size + name_size + number(bytes_, at + 28, 2);
        if (!is_inside(data, e.size, stop)) fail_at(name, "is outside the file");
        if (bytes_.substr(at + local_size, static_cast<std::size_t>(name_size)) != name)
            fail_at(name, "has another name in its local header than in the directory");
        auto const flags = static_cast<unsigned>(number(bytes_, at + 6, 2));
        bool const same_flags = ((flags ^ e.member.flags) & encrypted_flags) == 0;
        if (number(bytes_, at + 8, 2) != e.member.method || !same_flags)
            fail_at(name, "has another compression or encryption in its local header than in the directory");
        std::uint64_t const size = number(bytes_, at + 18, 4);
        if ((flags & sizes_follow_flag) == 0 && size != in_zip64_32 && size != e.size)
            fail_at(name, "has another size in its local header than in the directory");
        e.member.bytes = bytes_.substr(static_cast<std::size_t>(data), static_cast<std::size_t>(e.size));
        return data + e.size;
    }

    std::string_view bytes_;
    std::string_view where_;
};

} // namespace

zip_directory::zip_directory(std::string_view bytes, std::string where) : where_(std::move(where)) {
    reader const from(bytes, where_);
    directory_place const place = from.find_directory();
    if (place.count == 0) fail(where_, "is a ZIP archive without members");
    std::vector<entry> entries = from.read_entries(place);
    from.locate(entries, place.offset);
    members_.reserve(entries.size());
    for (entry const& e : entries) members_.push_back(e.member);
    // Sorted instead of hashed: immune to hash collisions.
    by_name_.resize(members_.size());
    std::iota(by_name_.begin(), by_name_.end(), 0U);
    std::sort(by_name_.begin(), by_name_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return members_[a].name < members_[b].name;
    });
    auto const duplicate = std::adjacent_find(by_name_.begin(), by_name_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return members_[a].name == members_[b].name;
    });
    if (duplicate != by_name_.end()) fail(where_, "duplicate member " + in_quotes(members_[*duplicate].name));
}

zip_member const* zip_directory::find(std::string_view name) const {
    auto const found =
        std::lower_bound(by_name_.begin(), by_name_.end(), name, [&](std::uint32_t i, std::string_view n) {
            return members_[i].name < n;
        });
    return found != by_name_.end() && members_[*found].name == name ? &members_[*found] : nullptr;
}

std::string_view zip_directory::stored(zip_member const& member) const {
    if ((member.flags & encrypted_flags) != 0)
        fail(where_, "member " + in_quotes(member.name) + " is encrypted; save the model again with torch.export.save");
    if (member.method != 0)
        fail(where_,
             "member " + in_quotes(member.name) + " is compressed (method " + std::to_string(member.method) +
                 "); torch.export.save does not compress: save the model again with it");
    return member.bytes;
}

std::string_view zip_directory::root() const {
    std::string_view const first = members_.front().name;
    std::size_t const slash = first.find('/');
    return slash == first.npos ? std::string_view() : first.substr(0, slash + 1);
}

bool looks_like_zip(std::string_view bytes) {
    return bytes.starts_with("PK\3\4") || find_end_record(bytes).has_value();
}

} // namespace ATON_NAMESPACE::files
