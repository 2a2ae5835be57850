// SPDX-License-Identifier: MIT
// Reads the tensors of recorded calls, without trusting any size, offset or path.
#include "stored_tensors.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "frontend/files/mapped_file.hpp"
#include "frontend/files/text.hpp"
#include "frontend/weights/safetensors.hpp"
#include "system/paths.hpp"

namespace ATON_NAMESPACE::calls {

namespace {

namespace fs = std::filesystem;
using pt2::json_value;

constexpr std::string_view format_advice = "; docs/verify.md describes the files of recorded calls";

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
          parts_(weights::split_safetensors(map_.bytes(), path_)),
          header_(parts_.header, path_, format_advice) {}

    /// The tensor of this name; `v` is where it is named.
    [[nodiscard]] tensor get(json_value const& v, std::string_view name) const {
        json_value const root = header_.root();
        std::optional<json_value> const entry = root.optional_member(name);
        if (!entry) v.fail("has no tensor " + files::in_quotes(name) + " in " + path_);
        json_value const type = entry->member("dtype");
        dtype const t = weights::dtype_of_safetensors(type.text());
        if (t == dtype::undefined) type.fail("unknown dtype " + files::in_quotes(type.text()));
        json_value const range = entry->member("data_offsets");
        std::vector<std::int64_t> ends;
        range.for_each([&](json_value const& each, std::size_t) { ends.push_back(each.integer()); });
        if (ends.size() != 2 || ends[0] < 0 || ends[0] > ends[1] ||
            static_cast<std::uint64_t>(ends[1]) > parts_.elements.size())
            range.fail("not a range of the file's " + std::to_string(parts_.elements.size()) + " bytes of elements");
        auto const first = static_cast<std::size_t>(ends[0]);
        return make_tensor(*entry,
                           t,
                           sizes_of(entry->member("shape")),
                           std::string(parts_.elements.substr(first, static_cast<std::size_t>(ends[1]) - first)));
    }

private:
    std::string path_;
    files::mapped_file map_;
    weights::safetensors_parts parts_;
    pt2::json_document header_;
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
    fs::path const path = system::part_of(relative);
    bool escapes = path.has_root_path();
    for (fs::path const& part : path) escapes = escapes || part == "..";
    std::error_code fault;
    fs::path const root = fs::canonical(system::path_of(folder_), fault);
    fs::path const target = fs::weakly_canonical(root / path, fault); // a symbolic link may lead elsewhere
    fs::path const inside = target.lexically_relative(root);
    if (escapes || fault || inside.empty() || *inside.begin() == "..")
        name.fail(files::in_quotes(relative) + " is not in the folder of the recorded calls");
    std::string const place = system::text_of(system::path_of(folder_) / path);
    return *files_.emplace(relative, std::make_unique<file>(place)).first->second;
}

} // namespace ATON_NAMESPACE::calls
