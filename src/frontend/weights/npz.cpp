// SPDX-License-Identifier: MIT
#include "npz.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include <aton/core/error.hpp>

#include "frontend/files/inflate.hpp"
#include "frontend/files/zip_directory.hpp"
#include "frontend/pt2/tensor_source.hpp"

namespace ATON_NAMESPACE::weights {

namespace {

struct numpy_dtype {
    std::string_view code;
    dtype type;
};
constexpr numpy_dtype numpy_dtypes[] = {{"<f4", dtype::float32},
                                        {"<f8", dtype::float64},
                                        {"<f2", dtype::float16},
                                        {"|b1", dtype::bool_},
                                        {"|i1", dtype::int8},
                                        {"|u1", dtype::uint8},
                                        {"<i2", dtype::int16},
                                        {"<u2", dtype::uint16},
                                        {"<i4", dtype::int32},
                                        {"<u4", dtype::uint32},
                                        {"<i8", dtype::int64},
                                        {"<u8", dtype::uint64},
                                        {"<c8", dtype::complex64},
                                        {"<c16", dtype::complex128}};

/// The largest array that is decompressed: beyond it, save without compression.
constexpr std::size_t max_inflated = std::size_t{1} << 31;

/// The dictionary of a header, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, in this order or another.
class header_text {
public:
    header_text(std::string_view text, std::string const& where) : text_(text), where_(where) {}

    [[nodiscard]] dtype type() const {
        std::string_view at = after("descr");
        std::size_t const end = at.empty() || at.front() != '\'' ? 0 : at.find('\'', 1);
        if (end == 0 || end == std::string_view::npos) throw error(where_ + ": an array of records, not of numbers");
        std::string_view const code = at.substr(1, end - 1);
        for (numpy_dtype const& each : numpy_dtypes)
            if (each.code == code) return each.type;
        throw error(where_ + ": dtype " + std::string(code) + " is not one of a tensor");
    }

    [[nodiscard]] bool is_fortran() const { return after("fortran_order").starts_with("True"); }

    [[nodiscard]] std::vector<std::int64_t> sizes() const {
        std::string_view at = after("shape");
        std::vector<std::int64_t> out;
        if (at.empty() || at.front() != '(') damaged();
        for (at.remove_prefix(1); !at.empty() && at.front() != ')';) {
            if (at.front() == ' ' || at.front() == ',') {
                at.remove_prefix(1);
                continue;
            }
            std::size_t const digits = std::min(at.find_first_not_of("0123456789"), at.size());
            if (digits == 0 || digits > 18 || out.size() == 64) damaged();
            out.push_back(std::stoll(std::string(at.substr(0, digits))));
            at.remove_prefix(digits);
        }
        if (at.empty()) damaged();
        return out;
    }

private:
    [[noreturn]] void damaged() const { throw error(where_ + ": its header is damaged"); }

    [[nodiscard]] std::string_view after(std::string const& key) const {
        std::size_t const found = text_.find('\'' + key + "':");
        if (found == std::string_view::npos) damaged();
        std::string_view out = text_.substr(found + key.size() + 3);
        while (!out.empty() && out.front() == ' ') out.remove_prefix(1);
        return out;
    }

    std::string_view text_;
    std::string const& where_;
};

std::uint64_t little_endian(std::string_view bytes) {
    std::uint64_t out = 0;
    for (std::size_t i = bytes.size(); i-- != 0;) out = out << 8U | static_cast<unsigned char>(bytes[i]);
    return out;
}

/// A file .npy, whose bytes stay where they are.
stored_tensor read_npy(std::string_view bytes, pt2::file_bytes const& from, std::string const& where) {
    constexpr std::string_view magic = "\x93NUMPY";
    if (!bytes.starts_with(magic) || bytes.size() < 12) throw error(where + ": not an array of numpy");
    bool const is_first = bytes[6] == 1;
    std::size_t const start = is_first ? 10 : 12;
    std::uint64_t const length = little_endian(bytes.substr(8, is_first ? 2 : 4));
    if (length > bytes.size() - start) throw error(where + ": its header is damaged");
    header_text const header(bytes.substr(start, static_cast<std::size_t>(length)), where);
    std::string_view const elements = bytes.substr(start + static_cast<std::size_t>(length));
    std::vector<std::int64_t> sizes = header.sizes();
    std::vector<std::int64_t> strides(sizes.size());
    std::int64_t next = 1;
    for (std::size_t k = 0; k != sizes.size(); ++k) {
        std::size_t const axis = header.is_fortran() ? k : sizes.size() - 1 - k;
        strides[axis] = next;
        if (__builtin_mul_overflow(next, std::max<std::int64_t>(1, sizes[axis]), &next))
            throw error(where + ": its sizes are too large");
    }
    bool const is_in_file = from.file >= 0;
    file_span const record = is_in_file ? from.span(elements)
                                        : file_span{reinterpret_cast<std::byte const*>(elements.data()), // NOLINT
                                                    elements.size(),
                                                    reinterpret_cast<std::uintptr_t>(elements.data()), // NOLINT
                                                    -1};
    return pt2::checked_tensor(header.type(), std::move(sizes), std::move(strides), 0, record, "the array", where);
}

struct npz_owner {
    std::shared_ptr<files::mapped_file const> file;
    std::deque<std::string> inflated;
};

} // namespace

tensor_file read_npz(std::shared_ptr<files::mapped_file const> file, std::string const& path) {
    tensor_file out;
    auto const owner = std::make_shared<npz_owner>();
    owner->file = std::move(file);
    out.owner = owner;
    pt2::file_bytes const all{owner->file->bytes(), owner->file->descriptor()};
    files::zip_directory const directory(all.all, path);
    for (files::zip_member const& member : directory.members()) {
        std::string name(member.name);
        if (!name.ends_with(".npy")) throw error(path + ": not an .npz archive: it has the member " + name);
        std::string const where = path + ": " + name;
        name.resize(name.size() - 4);
        if (member.method == 0) {
            out.tensors.emplace_back(std::move(name), read_npy(directory.stored(member), all, where));
            continue;
        }
        std::optional<std::string> bytes = files::inflate(member.bytes, max_inflated);
        if (!bytes) throw error(where + ": cannot be decompressed, or has more than 2 GiB");
        owner->inflated.push_back(std::move(*bytes));
        out.tensors.emplace_back(std::move(name),
                                 read_npy(owner->inflated.back(), {owner->inflated.back(), -1}, where));
    }
    return out;
}

namespace {

std::uint32_t crc32(std::string_view bytes) {
    static std::vector<std::uint32_t> const table = [] {
        std::vector<std::uint32_t> all(256);
        for (std::uint32_t i = 0; i != 256; ++i) {
            std::uint32_t c = i;
            for (int k = 0; k != 8; ++k) c = (c & 1U) != 0 ? 0xedb88320U ^ c >> 1U : c >> 1U;
            all[i] = c;
        }
        return all;
    }();
    std::uint32_t c = ~0U;
    for (char const each : bytes) c = table[(c ^ static_cast<unsigned char>(each)) & 0xffU] ^ c >> 8U;
    return ~c;
}

void append(std::string& to, std::uint64_t number, int bytes) {
    for (int i = 0; i != bytes; ++i) to += static_cast<char>(number >> (8 * i) & 0xffU);
}

std::string to_npy(tensor const& t, std::string const& name) {
    auto const found = std::ranges::find(numpy_dtypes, t.type, &numpy_dtype::type);
    if (found == std::end(numpy_dtypes))
        throw error("tensor '" + name + "': numpy has no dtype " + std::string(aton::name(t.type)) +
                    ", so that it cannot be in an .npz file; use a folder of .pb files");
    std::string shape = "(";
    for (std::int64_t size : t.sizes) shape += std::to_string(size) + ",";
    std::string header =
        "{'descr': '" + std::string(found->code) + "', 'fortran_order': False, 'shape': " + shape + "), }";
    header.append(63 - (10 + header.size()) % 64, ' ');
    header += '\n';
    std::string out = "\x93NUMPY\x01";
    out += '\0';
    append(out, header.size(), 2);
    return out + header + t.bytes;
}

} // namespace

std::string to_npz(std::span<std::pair<std::string, tensor> const> tensors) {
    std::string out;
    std::string directory;
    for (auto const& [name, t] : tensors) {
        std::string const member = name + ".npy";
        std::string const bytes = to_npy(t, name);
        if (out.size() + bytes.size() > 0xfffffff0U) throw error("tensors of more than 4 GiB for an .npz file");
        std::string facts; // version, flags (names in UTF-8), method, time, date, CRC, sizes, length of the name, extra
        append(facts, 20, 2);
        append(facts, 0x800, 2);
        append(facts, 0, 2);
        append(facts, 0x00210000, 4);
        append(facts, crc32(bytes), 4);
        append(facts, bytes.size(), 4);
        append(facts, bytes.size(), 4);
        append(facts, member.size(), 2);
        append(facts, 0, 2);
        directory += std::string("PK\x01\x02\x14", 5) + '\0' + facts;
        append(directory, 0, 10); // comment, disk, attributes
        append(directory, out.size(), 4);
        directory += member;
        out += "PK\x03\x04" + facts + member + bytes;
    }
    std::size_t const start = out.size();
    out += directory;
    out += "PK\x05\x06";
    append(out, 0, 4);
    append(out, tensors.size(), 2);
    append(out, tensors.size(), 2);
    append(out, directory.size(), 4);
    append(out, start, 4);
    append(out, 0, 2);
    return out;
}

} // namespace ATON_NAMESPACE::weights
