// SPDX-License-Identifier: MIT
#include "library.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "frontend/files/inflate.hpp"
#include "frontend/files/text.hpp"
#include "frontend/pt2/file_kind.hpp"
#include "object_reader.hpp"
#include "parser.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

/// "a.b.C" -> "a.b" and "C"
std::pair<std::string_view, std::string_view> split(std::string_view qualified) {
    std::size_t const dot = qualified.rfind('.');
    if (dot == std::string_view::npos) return {{}, qualified};
    return {qualified.substr(0, dot), qualified.substr(dot + 1)};
}

/// The number in the member `version`.
std::int64_t read_format(std::string_view text, std::string const& path) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
    std::int64_t number = 0;
    auto const [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    constexpr std::int64_t newest = 10;
    if (fault != std::errc() || stop != text.data() + text.size() || number < 1)
        files::fail(path, "has a version that is not a number; save the module again");
    if (number > newest)
        files::fail(path,
                    "has version " + std::to_string(number) +
                        " of the format, which is newer than 10; save the module with torch 2.13");
    return number;
}

template <class List>
auto const* find_by_name(List const& list, std::string_view name) {
    auto const found = std::find_if(list.begin(), list.end(), [&](auto const& each) { return each.name == name; });
    return found == list.end() ? nullptr : &*found;
}

} // namespace

bool is_archive(files::zip_directory const& directory) {
    std::string const root(directory.root());
    if (directory.find(root + "constants.pkl") != nullptr) return true;
    std::string const code = root + "code/";
    return std::any_of(directory.members().begin(), directory.members().end(), [&](files::zip_member const& m) {
        return m.name.starts_with(code);
    });
}

library::library(std::shared_ptr<files::mapped_file> file, std::string const& path)
    : file_(std::move(file)),
      path_(path),
      directory_(pt2::read_directory(file_->bytes(), path)),
      root_(directory_.root()) {
    if (!is_archive(directory_)) files::fail(path_, pt2::describe_other_archive(directory_, root_));
    files::zip_member const* const order = find("byteorder");
    if (order != nullptr && !bytes_of(*order).starts_with("little"))
        files::fail(path_, "is big-endian; save the module again on a little-endian machine");
    files::zip_member const* version = find("version");
    if (version == nullptr) version = find(".data/version");
    if (version != nullptr) format_ = read_format(bytes_of(*version), path_);
}

files::zip_member const* library::find(std::string_view name) const {
    return directory_.find(root_ + std::string(name));
}

std::string_view library::bytes_of(files::zip_member const& member) {
    constexpr std::uint16_t deflated = 8;
    if (member.method != deflated) return directory_.stored(member);
    auto const known = inflated_.find(member.name);
    if (known != inflated_.end()) return known->second;
    std::optional<std::string> text = files::inflate(member.bytes, left_to_inflate_);
    if (!text)
        files::fail(path_,
                    "member " + in_quotes(member.name) + " is damaged, or its code is too long; save the module again");
    left_to_inflate_ -= text->size();
    return inflated_.emplace(std::string(member.name), std::move(*text)).first->second;
}

code_file const* library::find_file(std::string_view module) {
    auto const known = files_.find(module);
    if (known != files_.end()) return known->second.get();
    std::string name = "code/" + std::string(module) + ".py";
    std::replace(name.begin() + 5, name.end() - 3, '.', '/');
    files::zip_member const* const member = find(name);
    std::unique_ptr<code_file> made;
    if (member != nullptr) made = parse(bytes_of(*member), std::move(name), path_);
    return files_.emplace(std::string(module), std::move(made)).first->second.get();
}

class_code const* library::find_class(std::string_view qualified) {
    auto const [module, name] = split(qualified);
    code_file const* const file = module.empty() ? nullptr : find_file(module);
    return file == nullptr ? nullptr : find_by_name(file->classes, name);
}

function_code const* library::find_function(std::string_view qualified) {
    auto const [module, name] = split(qualified);
    code_file const* const file = module.empty() ? nullptr : find_file(module);
    return file == nullptr ? nullptr : find_by_name(file->functions, name);
}

std::vector<code_file const*> library::files() {
    std::string const start = root_ + "code/";
    std::vector<std::string> modules;
    for (files::zip_member const& m : directory_.members()) {
        if (!m.name.starts_with(start) || !m.name.ends_with(".py")) continue;
        modules.emplace_back(m.name.substr(start.size(), m.name.size() - start.size() - 3));
        std::ranges::replace(modules.back(), '/', '.');
    }
    std::ranges::sort(modules);
    std::vector<code_file const*> out;
    for (std::string const& module : modules)
        if (code_file const* const file = find_file(module); file != nullptr) out.push_back(file);
    return out;
}

std::string const& library::source_of(code_file const& file, std::uint32_t offset) {
    auto const [known, is_new] = sources_.try_emplace(&file);
    if (is_new) {
        files::zip_member const* const member = find(file.name + ".debug_pkl");
        constexpr std::uint16_t deflated = 8;
        std::optional<std::string> inflated;
        if (member != nullptr && member->method == deflated)
            inflated = files::inflate(member->bytes, left_for_sources_);
        if (inflated) left_for_sources_ -= inflated->size();
        // What cannot be read is not told: the module does not need it.
        if (inflated) known->second = read_source_ranges(*inflated);
        else if (member != nullptr && member->method != deflated)
            known->second = read_source_ranges(directory_.stored(*member));
    }
    return known->second.at(offset);
}

value library::read(std::string_view pickle, std::string const& folder, heap& to) {
    pt2::file_bytes const all{file_->bytes(), file_->descriptor()};
    return read_object(
        pickle,
        path_ + ": member " + in_quotes(folder + ".pkl"),
        [&](std::string_view key) {
            files::zip_member const* const record = find(folder + '/' + std::string(key));
            if (record == nullptr) files::fail(path_, "has no member " + in_quotes(folder + '/' + std::string(key)));
            return all.span(directory_.stored(*record));
        },
        to);
}

value library::read_module(heap& to) {
    files::zip_member const* const member = find("data.pkl");
    if (member == nullptr) files::fail(path_, "is a TorchScript archive without data.pkl; save the module again");
    return read(bytes_of(*member), "data", to);
}

value library::read_constants(heap& to) {
    files::zip_member const* const member = find("constants.pkl");
    if (member == nullptr) return to.tuple({});
    return read(bytes_of(*member), "constants", to);
}

} // namespace ATON_NAMESPACE::torchscript
