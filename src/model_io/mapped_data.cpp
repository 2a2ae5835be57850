// SPDX-License-Identifier: MIT
#include "mapped_data.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

#include <aton/core/error.hpp>

#include "system/paths.hpp"

namespace ATON_NAMESPACE::detail {

namespace fs = std::filesystem;

mapped_data::mapped_data(std::string path, system::links at) try : path_(std::move(path)), file_(path_, at) {
} catch (error const& e) {
    throw error(one_line(e.what()));
}

file_span mapped_data::span(std::uint64_t position, std::uint64_t size) const {
    auto const* const start = reinterpret_cast<std::byte const*>(bytes().data()); // NOLINT(*-reinterpret-cast)
    return {start + position, size, position, file_.descriptor()};
}

external_files::external_files(std::string const& model) : folder_(system::path_of(model).parent_path()) {}

namespace {

/// A number of external_data. Throws aton::error unless it is one.
std::uint64_t number_of(std::string const& key, std::string const& text) {
    std::uint64_t out = 0;
    auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (fault != std::errc() || end != text.data() + text.size() || text.empty())
        throw error("has the " + key + " '" + text + "', which is not a number");
    return out;
}

} // namespace

fs::path part_inside(std::string const& location) {
    fs::path relative = system::part_of(location);
    bool const leaves = relative.has_root_path() || std::find(relative.begin(), relative.end(), "..") != relative.end();
    if (location.empty() || leaves || location.find('\0') != std::string::npos)
        throw error("is stored in '" + location + "', outside the model's folder");
    return relative;
}

mapped_data const& external_files::open(std::string const& location) {
    if (auto const known = by_location_.find(location); known != by_location_.end()) return *known->second;
    fs::path const relative = part_inside(location);
    fs::path on_the_way = folder_;
    for (fs::path const& part : relative.parent_path()) {
        on_the_way /= part;
        std::error_code ignored;
        if (fs::is_symlink(fs::symlink_status(on_the_way, ignored)))
            throw error("is stored in '" + location + "', behind a symbolic link");
    }
    try {
        mapped_data const& file = files_.emplace_back(system::text_of(folder_ / relative), system::links::refused);
        return *(by_location_[location] = &file);
    } catch (error const& e) {
        throw error("cannot be read: " + std::string(e.what()));
    }
}

file_span external_files::find(::onnx::TensorProto const& t, std::uint64_t needed) {
    std::string location;
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> length;
    for (auto const& entry : t.external_data()) {
        if (entry.key() == "location") location = entry.value();
        else if (entry.key() == "offset") offset = number_of("offset", entry.value());
        else if (entry.key() == "length") length = number_of("length", entry.value());
    }
    mapped_data const& file = open(location);
    std::uint64_t const size = file.bytes().size();
    if (length && *length != needed)
        throw error("has " + std::to_string(*length) + " bytes, but its sizes need " + std::to_string(needed));
    if (offset > size || needed > size - offset)
        throw error("needs " + std::to_string(needed) + " bytes at offset " + std::to_string(offset) + " of " +
                    file.path() + ", which has " + std::to_string(size));
    return file.span(offset, needed);
}

} // namespace ATON_NAMESPACE::detail
