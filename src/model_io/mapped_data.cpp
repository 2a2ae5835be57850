// SPDX-License-Identifier: MIT
#include "mapped_data.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

#include <aton/core/error.hpp>

#include "system/files.hpp"
#include "system/paths.hpp"

namespace ATON_NAMESPACE::detail {

namespace fs = std::filesystem;

mapped_data::mapped_data(std::string path, bool follow) : path_(std::move(path)) {
    auto const fail = [&](std::string const& why) {
        if (descriptor_ >= 0) (void)system::close_file(descriptor_);
        throw error(one_line(path_) + ": " + why);
    };
    std::error_code ignored;
    if (!follow && fs::is_symlink(fs::symlink_status(system::path_of(path_), ignored))) fail("is a symbolic link");
    descriptor_ = system::open_to_read(path_);
    if (descriptor_ < 0 && errno == ENOENT) fail("no such file");
    if (descriptor_ < 0) fail("cannot be opened: " + system::message_of(errno));
    system::file_facts facts;
    if (!system::examine(descriptor_, facts)) fail("cannot be examined: " + system::message_of(errno));
    if (facts.kind == system::file_kind::folder) fail("is a folder, not a file");
    if (facts.kind != system::file_kind::regular) fail("is a device, pipe or socket, not a file");
    if (facts.size == 0) return; // nothing to map
    auto const size = static_cast<std::size_t>(facts.size);
    void const* const start = system::map_file(descriptor_, size);
    if (start == nullptr) fail("cannot be mapped into memory: " + system::message_of(errno));
    bytes_ = {static_cast<char const*>(start), size};
}

mapped_data::~mapped_data() {
    if (!bytes_.empty()) system::unmap_file(bytes_.data(), bytes_.size());
    (void)system::close_file(descriptor_);
}

file_span mapped_data::span(std::uint64_t position, std::uint64_t size) const {
    auto const* const start = reinterpret_cast<std::byte const*>(bytes_.data()); // NOLINT(*-reinterpret-cast)
    return {start + position, size, position, descriptor_};
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

mapped_data const& external_files::open(std::string const& location) {
    if (auto const known = by_location_.find(location); known != by_location_.end()) return *known->second;
    fs::path const relative = system::part_of(location);
    bool const leaves = relative.is_absolute() || std::find(relative.begin(), relative.end(), "..") != relative.end();
    if (location.empty() || leaves || location.find('\0') != std::string::npos)
        throw error("is stored in '" + location + "', outside the model's folder");
    fs::path on_the_way = folder_;
    for (fs::path const& part : relative.parent_path()) {
        on_the_way /= part;
        std::error_code ignored;
        if (fs::is_symlink(fs::symlink_status(on_the_way, ignored)))
            throw error("is stored in '" + location + "', behind a symbolic link");
    }
    try {
        mapped_data const& file = files_.emplace_back(system::text_of(folder_ / relative), false);
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
