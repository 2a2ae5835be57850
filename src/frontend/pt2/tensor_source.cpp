// SPDX-License-Identifier: MIT
#include "tensor_source.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

constexpr std::uint64_t max_expanded_bytes = std::uint64_t{1} << 30U;

/// a * b and a + b of non-negative numbers; false on overflow.
bool multiply(std::int64_t a, std::int64_t b, std::int64_t& out) {
    if (a != 0 && b > std::numeric_limits<std::int64_t>::max() / a) return false;
    out = a * b;
    return true;
}

bool add(std::int64_t a, std::int64_t b, std::int64_t& out) {
    if (b > std::numeric_limits<std::int64_t>::max() - a) return false;
    out = a + b;
    return true;
}

/// The number of elements. Sizes of 0 count as 1 in the overflow check, so that no product of the sizes can overflow.
std::int64_t count_elements(std::vector<std::int64_t> const& sizes, std::int64_t element_bytes,
                            std::string const& where) {
    std::int64_t bytes = element_bytes;
    bool is_empty = false;
    for (std::int64_t const s : sizes) {
        if (s < 0) files::fail(where, "size " + std::to_string(s) + " is negative");
        is_empty = is_empty || s == 0;
        if (s != 0 && !multiply(bytes, s, bytes)) files::fail(where, "its sizes multiply to more than 2^63 bytes");
    }
    return is_empty ? 0 : bytes / element_bytes;
}

} // namespace

file_span file_bytes::span(std::string_view part) const {
    return {reinterpret_cast<std::byte const*>(part.data()),
            part.size(),
            static_cast<std::uint64_t>(part.data() - all.data()),
            file};
}

std::int64_t count_inside(dtype type, std::vector<std::int64_t> const& sizes, std::vector<std::int64_t> const& strides,
                          std::int64_t offset, std::uint64_t record_size, std::string_view record_name,
                          std::string const& where) {
    auto const width = static_cast<std::int64_t>(bits(type) / 8);
    if (strides.size() != sizes.size())
        files::fail(where, std::to_string(sizes.size()) + " sizes, but " + std::to_string(strides.size()) + " strides");
    std::int64_t const count = count_elements(sizes, width, where);
    if (offset < 0) files::fail(where, "its storage offset " + std::to_string(offset) + " is negative");
    std::int64_t last = offset;
    for (std::size_t i = 0; i != sizes.size(); ++i) {
        if (strides[i] < 0) files::fail(where, "stride " + std::to_string(strides[i]) + " is negative");
        std::int64_t reach = 0;
        if (sizes[i] > 1 && (!multiply(sizes[i] - 1, strides[i], reach) || !add(last, reach, last)))
            files::fail(where, "its strides span more than 2^63 elements");
    }
    if (count != 0 && record_size != 0 &&
        static_cast<std::uint64_t>(last) >= record_size / static_cast<std::uint64_t>(width))
        files::fail(where,
                    "element " + std::to_string(last) + " is outside its record " + files::in_quotes(record_name) +
                        " of " + std::to_string(record_size) + " bytes");
    return count;
}

stored_tensor checked_tensor(dtype type, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                             std::int64_t offset, file_span record, std::string_view record_name,
                             std::string const& where, std::string_view key) {
    std::int64_t const count = count_inside(type, sizes, strides, offset, record.size, record_name, where);
    if (count == 0) {
        offset = 0;
        record.size = 0;
    } else if (record.size == 0 && key.empty()) {
        files::fail(
            where,
            "its record " + files::in_quotes(record_name) +
                " is empty: saved without data (a fake or meta tensor); load the weights before torch.export.save");
    } else if (record.size == 0) {
        stored_tensor out{type, sizes, {}};
        std::uint64_t const own_position = reinterpret_cast<std::uintptr_t>(key.data());
        out.parts.push_back({{nullptr, 0, own_position, -1}, std::move(sizes), std::move(strides), offset, {}});
        return out;
    }
    // Strides of 0 can expand a few bytes without bound.
    auto const bytes = static_cast<std::uint64_t>(count) * (bits(type) / 8);
    if (bytes > record.size && bytes > max_expanded_bytes)
        files::fail(where,
                    "it expands " + std::to_string(record.size) +
                        " bytes to more than 1 GiB; expand it in the model instead");
    stored_tensor out{type, sizes, {}};
    out.parts.push_back({record, std::move(sizes), std::move(strides), offset, {}});
    return out;
}

} // namespace ATON_NAMESPACE::pt2
