// SPDX-License-Identifier: MIT
// Reads the tensors of recorded calls, without trusting any size, offset or path.
// Format of the files: safetensors, https://huggingface.co/docs/safetensors (8 bytes with the length of the header, the header, the elements).
#include "stored_tensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "frontend/files/mapped_file.hpp"
#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::calls {

namespace {

namespace fs = std::filesystem;
using pt2::json_value;

constexpr std::string_view format_advice = "; docs/verify.md describes the files of recorded calls";

struct code {
    std::string_view name;
    dtype type;
};
constexpr std::array codes = {code{"BOOL", dtype::bool_},
                              code{"U8", dtype::uint8},
                              code{"I8", dtype::int8},
                              code{"U16", dtype::uint16},
                              code{"I16", dtype::int16},
                              code{"U32", dtype::uint32},
                              code{"I32", dtype::int32},
                              code{"U64", dtype::uint64},
                              code{"I64", dtype::int64},
                              code{"F16", dtype::float16},
                              code{"BF16", dtype::bfloat16},
                              code{"F32", dtype::float32},
                              code{"F64", dtype::float64},
                              code{"F8_E4M3", dtype::float8_e4m3fn},
                              code{"F8_E5M2", dtype::float8_e5m2},
                              code{"C64", dtype::complex64},
                              code{"C128", dtype::complex128}};

using sizes = std::vector<std::int64_t>;

std::string type_text(dtype t, sizes const& of) {
    std::string out;
    for (std::int64_t const size : of) out += (out.empty() ? "" : ", ") + std::to_string(size);
    return std::string(name(t)) + '[' + out + ']';
}

/// Throws for a negative size, and if the product of those that are not 0 exceeds 2^40, which the runtime cannot hold.
sizes sizes_of(json_value const& shape) {
    constexpr std::int64_t max_elements = std::int64_t{1} << 40;
    sizes out;
    std::int64_t product = 1;
    shape.for_each([&](json_value const& each, std::size_t) {
        std::int64_t const size = each.integer();
        if (size < 0) each.fail("the size " + std::to_string(size) + " is negative");
        if (size > max_elements / product) shape.fail("a tensor of more than 2^40 elements");
        product *= std::max<std::int64_t>(1, size);
        out.push_back(size);
    });
    return out;
}

/// Throws at `v` unless this is the number of bytes of such a tensor.
tensor make_tensor(json_value const& v, dtype t, sizes const& of, std::string bytes) {
    tensor out{t, of, {}};
    std::size_t const expected = (static_cast<std::size_t>(out.element_count()) * bits(t) + 7) / 8;
    if (bytes.size() != expected)
        v.fail(type_text(t, of) + " has " + std::to_string(expected) + " bytes, but " + std::to_string(bytes.size()) +
               " are stored");
    out.bytes = std::move(bytes);
    return out;
}

/// The bytes of base64 text (RFC 4648, with padding); nothing if it is malformed.
std::optional<std::string> decoded(std::string_view text) {
    if (text.size() % 4 != 0) return {};
    std::size_t const padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    std::string out;
    out.reserve(text.size() / 4 * 3);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i != text.size() - padding; ++i) {
        char const c = text[i];
        std::uint32_t digit = 0;
        if (c >= 'A' && c <= 'Z') digit = static_cast<std::uint32_t>(c - 'A');
        else if (c >= 'a' && c <= 'z') digit = static_cast<std::uint32_t>(c - 'a') + 26;
        else if (c >= '0' && c <= '9') digit = static_cast<std::uint32_t>(c - '0') + 52;
        else if (c == '+') digit = 62;
        else if (c == '/') digit = 63;
        else return {};
        group = group << 6U | digit;
        if (i % 4 == 0) continue;
        out += static_cast<char>(static_cast<unsigned char>(group >> (6 - 2 * (i % 4))));
    }
    return out;
}

} // namespace

dtype stored_dtype(std::string_view name) {
    if (name.starts_with("torch.")) name.remove_prefix(6);
    dtype const t = dtype_from_name(name);
    return t == dtype::string ? dtype::undefined : t;
}

/// A safetensors file, mapped into memory.
class stored_tensors::file {
public:
    explicit file(std::string path)
        : path_(std::move(path)),
          map_(path_),
          header_(header_of(map_.bytes(), path_), path_, format_advice),
          elements_(map_.bytes().substr(8 + header_length(map_.bytes()))) {}

    /// The tensor of this name; `v` is where it is named.
    [[nodiscard]] tensor get(json_value const& v, std::string_view name) const {
        json_value const root = header_.root();
        std::optional<json_value> const entry = root.optional_member(name);
        if (!entry) v.fail("has no tensor " + files::in_quotes(name) + " in " + path_);
        json_value const type = entry->member("dtype");
        dtype t = dtype::undefined;
        for (code const& each : codes)
            if (each.name == type.text()) t = each.type;
        if (t == dtype::undefined) type.fail("unknown dtype " + files::in_quotes(type.text()));
        json_value const range = entry->member("data_offsets");
        std::vector<std::int64_t> ends;
        range.for_each([&](json_value const& each, std::size_t) { ends.push_back(each.integer()); });
        if (ends.size() != 2 || ends[0] < 0 || ends[0] > ends[1] ||
            static_cast<std::uint64_t>(ends[1]) > elements_.size())
            range.fail("not a range of the file's " + std::to_string(elements_.size()) + " bytes of elements");
        auto const first = static_cast<std::size_t>(ends[0]);
        return make_tensor(*entry,
                           t,
                           sizes_of(entry->member("shape")),
                           std::string(elements_.substr(first, static_cast<std::size_t>(ends[1]) - first)));
    }

private:
    static std::uint64_t header_length(std::string_view bytes) {
        static_assert(std::endian::native == std::endian::little);
        std::uint64_t length = 0;
        if (bytes.size() >= sizeof length) std::memcpy(&length, bytes.data(), sizeof length);
        return length;
    }
    static std::string_view header_of(std::string_view bytes, std::string const& path) {
        std::uint64_t const length = header_length(bytes);
        if (bytes.size() < sizeof length || length > bytes.size() - sizeof length)
            files::fail(path, "is truncated, or not a safetensors file");
        return bytes.substr(sizeof length, length);
    }

    std::string path_;
    files::mapped_file map_;
    pt2::json_document header_;
    std::string_view elements_;
};

stored_tensors::stored_tensors(std::string folder) : folder_(std::move(folder)) {}
stored_tensors::~stored_tensors() = default;

bool stored_tensors::is_tensor(json_value const& v) {
    return v.is_object() && (v.optional_member("tensor") || v.optional_member("base64"));
}

tensor stored_tensors::read(json_value const& v, json_value const& line) {
    std::optional<json_value> const type = v.optional_member("dtype");
    std::optional<json_value> const shape = v.optional_member("shape");
    dtype const t = type ? stored_dtype(type->text()) : dtype::undefined;
    if (type && t == dtype::undefined) type->fail("unknown dtype " + files::in_quotes(type->text()));
    if (std::optional<json_value> const key = v.optional_member("tensor")) {
        json_value const name = line.member("file");
        tensor out = open(name).get(*key, key->text());
        bool const same = (!type || t == out.type) && (!shape || sizes_of(*shape) == out.sizes);
        if (!same)
            v.fail(files::in_quotes(key->text()) + " is " + type_text(out.type, out.sizes) + " in the file " +
                   files::in_quotes(name.text()) + ", but not here");
        return out;
    }
    json_value const text = v.member("base64");
    std::optional<std::string> bytes = decoded(text.text());
    if (!bytes) text.fail("is not base64");
    (void)v.member("dtype"), (void)v.member("shape");
    return make_tensor(v, t, sizes_of(*shape), std::move(*bytes));
}

stored_tensors::file const& stored_tensors::open(json_value const& name) {
    std::string const relative(name.name());
    if (auto const known = files_.find(relative); known != files_.end()) return *known->second;
    fs::path const path(relative);
    bool escapes = path.is_absolute();
    for (fs::path const& part : path) escapes = escapes || part == "..";
    std::error_code fault;
    fs::path const root = fs::canonical(folder_, fault);
    fs::path const target = fs::weakly_canonical(root / path, fault); // a symbolic link may lead elsewhere
    fs::path const inside = target.lexically_relative(root);
    if (escapes || fault || inside.empty() || *inside.begin() == "..")
        name.fail(files::in_quotes(relative) + " is not in the folder of the recorded calls");
    return *files_.emplace(relative, std::make_unique<file>((fs::path(folder_) / path).string())).first->second;
}

} // namespace ATON_NAMESPACE::calls
