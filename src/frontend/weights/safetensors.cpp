// SPDX-License-Identifier: MIT
#include "safetensors.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <aton/core/budget.hpp>

#include "frontend/files/text.hpp"
#include "frontend/pt2/json_reader.hpp"

namespace ATON_NAMESPACE::weights {

namespace {

using pt2::json_value;

// About 100,000 tensors.
constexpr std::uint64_t max_header_bytes = std::uint64_t{1} << 24U;
constexpr std::size_t prefix_bytes = 8; // the length of the header
constexpr std::string_view damaged = "; the file is damaged, or not a safetensors file";

/// Nothing if the header is not inside the bytes.
std::optional<std::uint64_t> header_length(std::string_view bytes) {
    if (bytes.size() < prefix_bytes) return {};
    std::uint64_t length = 0;
    for (std::size_t i = prefix_bytes; i-- > 0;) length = length << 8U | static_cast<unsigned char>(bytes[i]);
    return length <= bytes.size() - prefix_bytes ? std::optional(length) : std::nullopt;
}

struct code {
    std::string_view name;
    dtype type;
};
constexpr code codes[] = {{"BOOL", dtype::bool_},
                          {"U8", dtype::uint8},
                          {"I8", dtype::int8},
                          {"U16", dtype::uint16},
                          {"I16", dtype::int16},
                          {"U32", dtype::uint32},
                          {"I32", dtype::int32},
                          {"U64", dtype::uint64},
                          {"I64", dtype::int64},
                          {"F16", dtype::float16},
                          {"BF16", dtype::bfloat16},
                          {"F32", dtype::float32},
                          {"F64", dtype::float64},
                          {"C64", dtype::complex64},
                          {"C128", dtype::complex128},
                          {"F8_E4M3", dtype::float8_e4m3fn},
                          {"F8_E5M2", dtype::float8_e5m2},
                          {"F8_E8M0", dtype::float8_e8m0}};

struct entry {
    std::string name;
    std::string code; ///< of the dtype
    std::vector<std::int64_t> sizes;
    std::uint64_t first = 0; ///< in the elements
    std::uint64_t last = 0;  ///< exclusive
};

std::vector<std::int64_t> numbers(json_value const& list, std::size_t limit) {
    std::vector<std::int64_t> out;
    list.for_each([&](json_value const& each, std::size_t i) {
        if (i == limit) list.fail("has more than " + std::to_string(limit) + " elements");
        out.push_back(each.integer());
        if (out.back() < 0) each.fail("is negative");
    });
    return out;
}

/// The product of the sizes and the width; nothing if it is 2^63 or more.
std::optional<std::uint64_t> byte_count(entry const& e, dtype type) {
    auto bytes = static_cast<std::int64_t>(bits(type) / 8);
    if (std::find(e.sizes.begin(), e.sizes.end(), 0) != e.sizes.end()) return 0;
    for (std::int64_t const s : e.sizes)
        if (__builtin_mul_overflow(bytes, s, &bytes)) return std::nullopt;
    return static_cast<std::uint64_t>(bytes);
}

entry read_entry(json_value const& held, std::uint64_t limit) {
    entry out;
    out.name = held.key();
    json_value const type = held.member("dtype");
    json_value const shape = held.member("shape");
    json_value const range = held.member("data_offsets");
    out.code = type.text();
    out.sizes = numbers(shape, static_cast<std::size_t>(budget::max_rank));
    std::vector<std::int64_t> const ends = numbers(range, 2);
    if (ends.size() != 2 || ends[0] > ends[1] || static_cast<std::uint64_t>(ends[1]) > limit)
        range.fail("is not a range of the file's " + std::to_string(limit) + " bytes of elements");
    out.first = static_cast<std::uint64_t>(ends[0]);
    out.last = static_cast<std::uint64_t>(ends[1]);
    dtype const known = dtype_of_safetensors(out.code);
    if (known == dtype::undefined) return out; // an error when it is used
    std::optional<std::uint64_t> const bytes = byte_count(out, known);
    if (!bytes) shape.fail("its sizes multiply to more than 2^63 bytes");
    if (*bytes != out.last - out.first)
        range.fail("has " + std::to_string(out.last - out.first) + " bytes, but its dtype and shape need " +
                   std::to_string(*bytes));
    return out;
}

class safetensors final : public pt2::tensor_source {
public:
    safetensors(pt2::file_bytes from, std::string where) : from_(from), where_(std::move(where)) {
        auto const [header, elements] = split_safetensors(from.all, where_);
        elements_ = elements;
        pt2::json_document const document(header, where_, damaged);
        json_value const root = document.root();
        root.for_each_member([&](json_value const& each) {
            if (each.key() != "__metadata__") entries_.push_back(read_entry(each, elements.size()));
        });
        refuse_overlaps();
        std::sort(entries_.begin(), entries_.end(), [](entry const& a, entry const& b) { return a.name < b.name; });
        auto const twice = std::adjacent_find(
            entries_.begin(), entries_.end(), [](entry const& a, entry const& b) { return a.name == b.name; });
        if (twice != entries_.end()) files::fail(where_, "has a duplicate tensor " + files::in_quotes(twice->name));
    }

    [[nodiscard]] std::vector<std::string_view> names() const override {
        std::vector<std::string_view> out;
        out.reserve(entries_.size());
        for (entry const& e : entries_) out.emplace_back(e.name);
        return out;
    }

    [[nodiscard]] std::optional<stored_tensor> find(std::string_view name) const override {
        auto const found = std::lower_bound(
            entries_.begin(), entries_.end(), name, [](entry const& e, std::string_view n) { return e.name < n; });
        if (found == entries_.end() || found->name != name) return std::nullopt;
        std::string const where = where_ + ": tensor " + files::in_quotes(name);
        dtype const type = dtype_of_safetensors(found->code);
        if (type == dtype::undefined)
            files::fail(where, "has dtype " + files::in_quotes(found->code) + ", which is not supported");
        std::vector<std::int64_t> strides(found->sizes.size(), 1);
        for (std::size_t i = strides.size(); i-- > 1;)
            strides[i - 1] = strides[i] * std::max<std::int64_t>(found->sizes[i], 1);
        file_span const bytes = from_.span(elements_.substr(found->first, found->last - found->first));
        return pt2::checked_tensor(type, found->sizes, std::move(strides), 0, bytes, name, where);
    }

private:
    void refuse_overlaps() {
        std::sort(entries_.begin(), entries_.end(), [](entry const& a, entry const& b) {
            return a.first != b.first ? a.first < b.first : a.last < b.last;
        });
        entry const* before = nullptr; // the last one with elements
        for (entry const& e : entries_) {
            if (e.first == e.last) continue;
            if (before != nullptr && e.first < before->last)
                files::fail(where_,
                            "the bytes of tensors " + files::in_quotes(before->name) + " and " +
                                files::in_quotes(e.name) + " overlap; the file is damaged");
            before = &e;
        }
    }

    pt2::file_bytes from_;
    std::string where_;
    std::string_view elements_;
    std::vector<entry> entries_; ///< sorted by name
};

} // namespace

dtype dtype_of_safetensors(std::string_view name) {
    for (code const& each : codes)
        if (each.name == name) return each.type;
    return dtype::undefined;
}

bool looks_like_safetensors(std::string_view bytes) {
    std::optional<std::uint64_t> const length = header_length(bytes);
    return length && *length != 0 && bytes[prefix_bytes] == '{';
}

safetensors_parts split_safetensors(std::string_view bytes, std::string const& where) {
    std::optional<std::uint64_t> const length = header_length(bytes);
    if (!length) files::fail(where, "is truncated, or not a safetensors file");
    if (*length > max_header_bytes)
        files::fail(where, "has a header of " + std::to_string(*length) + " bytes, of which at most 16 MiB are read");
    auto const header = static_cast<std::size_t>(*length);
    return {bytes.substr(prefix_bytes, header), bytes.substr(prefix_bytes + header)};
}

std::unique_ptr<pt2::tensor_source> read_safetensors(pt2::file_bytes from, std::string where) {
    return std::make_unique<safetensors>(from, std::move(where));
}

} // namespace ATON_NAMESPACE::weights
