// SPDX-License-Identifier: MIT
#include <aton/targets/built_in.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/core/nearest.hpp>
#include <aton/targets/faults.hpp>
#include <aton/targets/onnx_runtime.hpp>
#include <aton/targets/onnx_runtime_genai.hpp>
#include <aton/targets/tensorrt.hpp>

#include "target_table.hpp"
#include "words.hpp"

namespace ATON_NAMESPACE::targets {

namespace {

/// A file of data/targets: NAME-VERSION.target.
struct table_file {
    std::string_view name;
    std::string_view version;
    std::string_view text;
};

std::vector<table_file> const& table_files() {
    static std::vector<table_file> const all = [] {
        std::vector<table_file> files{
#include <target_tables.inc>
        };
        std::ranges::stable_sort(files, [](table_file const& a, table_file const& b) {
            return a.name != b.name ? a.name < b.name : parse_release(a.version) < parse_release(b.version);
        });
        return files;
    }();
    return all;
}

/// The tables that were asked for.
class read_tables {
public:
    target const& get(table_file const& file) {
        std::scoped_lock const lock(mutex_);
        return find(file.name, file.version);
    }

private:
    target const& find(std::string_view name, std::string_view version) {
        for (target_table const& t : all_)
            if (t.made.name == name && t.made.version == version) return t.made;
        for (table_file const& file : table_files())
            if (file.name == name && file.version == version) return read(file);
        throw error("no table of " + std::string(name) + ' ' + std::string(version));
    }
    target const& read(table_file const& file) {
        std::function<target const&(std::string_view)> const base = [&](std::string_view v) -> target const& {
            if (v == file.version) throw error("a table that is its own base");
            return find(file.name, v);
        };
        target_table& made = all_.emplace_back(read_target(file.text, base));
        made.made.about = made.about;
        if (file.name == "tensorrt") made.made.rewrites = detail::tensorrt::table;
        return made.made;
    }

    std::mutex mutex_;
    std::deque<target_table> all_; ///< which do not move
};

target const& table_of(table_file const& file) {
    static read_tables all;
    return all.get(file);
}

constexpr target const* compiled[] = {&onnx_runtime, &onnx_runtime_genai};

/// "tensorrt:10.1, tensorrt:10.6 or tensorrt:11.5"
std::string versions_of(std::string_view name) {
    std::vector<std::string> all;
    for (table_file const& file : table_files())
        if (file.name == name) all.push_back(std::string(name) + ':' + std::string(file.version));
    return alternatives(all);
}

std::vector<std::string_view> names() {
    std::vector<std::string_view> all{"onnx"};
    for (target const* t : compiled) all.push_back(t->name);
    for (table_file const& file : table_files())
        if (all.back() != file.name) all.push_back(file.name);
    return all;
}

[[noreturn]] void refuse(std::string_view name) {
    nearest near(name);
    std::vector<std::string_view> const known = names();
    for (std::string_view each : known) near.offer(each);
    std::string const similar(near.found());
    throw error("no target has the name " + std::string(name) +
                (similar.empty() ? "; choose " + alternatives(known) : "; did you mean " + similar + "?"));
}

} // namespace

std::span<target const* const> built_in_targets() {
    static std::vector<target const*> const all = [] {
        std::vector<target const*> found(std::begin(compiled), std::end(compiled));
        for (table_file const& file : table_files()) found.push_back(&table_of(file));
        return found;
    }();
    return all;
}

target const* find_target(std::string_view name) {
    if (name == "onnx") return nullptr;
    std::size_t const colon = std::min(name.find(':'), name.size());
    std::string_view const runtime = name.substr(0, colon);
    std::string_view const version = colon == name.size() ? std::string_view() : name.substr(colon + 1);
    for (target const* t : compiled)
        if (t->name == runtime) {
            if (colon == name.size() || version == t->version) return t;
            throw error("the table of " + std::string(runtime) + " is of version " + std::string(t->version));
        }
    table_file const* newest = nullptr;
    for (table_file const& file : table_files())
        if (file.name == runtime) {
            if (file.version == version) return &table_of(file);
            newest = &file;
        }
    if (newest == nullptr) refuse(runtime);
    if (colon == name.size()) return &table_of(*newest);
    throw error("there is no table of " + std::string(runtime) + ' ' + std::string(version) + "; choose " +
                versions_of(runtime));
}

std::string target_names() {
    std::string out = "onnx: any (default)";
    for (target const* t : compiled) out += "; " + std::string(t->name) + ": " + std::string(t->about);
    for (std::string_view name : names())
        if (std::string const versions = versions_of(name); !versions.empty())
            out += "; " + versions +
                   ": the operators and types that its documentation states (the newest without a version)";
    return out;
}

} // namespace ATON_NAMESPACE::targets
