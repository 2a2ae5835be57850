// SPDX-License-Identifier: MIT
// Loads plugins. Checks the description of a plugin as far as possible before it calls a function of the plugin.
#include <aton/exporter/plugin.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <new>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <aton/aten/function_schema.hpp>
#include <aton/aten/schema_table.hpp>
#include <aton/dsl/plugin_abi.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/passes/patterns.hpp>

#include "system/library.hpp"
#include "system/paths.hpp"

namespace ATON_NAMESPACE {

namespace exporter { // not unnamed: plugin::library has them

struct close_library {
    void operator()(void* handle) const { system::close_library(handle); }
};
using library_handle = std::unique_ptr<void, close_library>;

/// The state of `run` of a foreign row.
struct foreign_row {
    abi::call* run = nullptr;
    std::uint64_t index = 0;
    std::string const* path = nullptr;
};

} // namespace exporter

namespace {

using exporter::foreign_row;
using exporter::library_handle;
using system::is_loaded;

extern "C" {

/// Stores the message of a row; empty if there is no memory for it.
static void keep_text(void* sink, char const* data, std::uint64_t size) {
    try {
        if (data != nullptr) static_cast<std::string*>(sink)->assign(data, size);
    } catch (std::exception const&) {
        static_cast<std::string*>(sink)->clear();
    }
}

} // extern "C"

thread_local plugin_row running;
thread_local std::uint64_t calls = 0;

void run_foreign(dsl::invocation& in) {
    foreign_row const& row = *static_cast<foreign_row const*>(in.row->foreign);
    std::string text;
    plugin_row const around = std::exchange(running, {in.row->overload, *row.path, ++calls});
    std::int32_t const how = row.run(row.index, &in, &keep_text, &text);
    running = around;
    switch (how) {
    case abi::done: return;
    case abi::unsupported: throw unsupported_error(text);
    case abi::left_to_next: throw declined(text);
    case abi::illegal: throw illegal_call(text);
    case abi::failed: throw error(text);
    case abi::out_of_memory: throw std::bad_alloc();
    default: throw refused(std::string(in.row->overload) + " (" + *row.path + ')', text);
    }
}

class reader {
public:
    explicit reader(std::string const& path) : path_(path) {}

    [[nodiscard]] abi::description const& find_description(void* handle) const {
        system::symbol const symbol = system::find_symbol(handle, abi::symbol);
        if (symbol.address == nullptr)
            refuse("not an Aton plugin: it has no symbol 'aton_plugin', which ATON_PLUGIN(my_table) defines");
        constexpr std::size_t stable_bytes = offsetof(abi::description, library); // the part that no version changes
        if (symbol.size < stable_bytes || !is_loaded(symbol.address, stable_bytes)) malformed();
        auto const& found = *static_cast<abi::description const*>(symbol.address);
        if (std::string_view(found.magic, sizeof found.magic) != abi::magic) malformed();
        std::string const version = text_of(found.version, "version");
        if (version != aton::version)
            refuse("built against Aton " + version + ", but this is Aton " + std::string(aton::version) +
                   "; rebuild it with the headers of this version");
        if (found.bytes != sizeof(abi::description) || !is_loaded(symbol.address, sizeof(abi::description)))
            malformed();
        std::string const library = text_of(found.library, "library");
        if (library != abi::standard_library())
            refuse("built with " + library + ", but this Aton with " + std::string(abi::standard_library()) +
                   "; rebuild it with the same standard library");
        if (found.layout != abi::layout())
            refuse("the layout of its structures differs from that of this Aton, although the version is the same; "
                   "rebuild it with the headers of this Aton and without options that change the layout of types");
        return found;
    }

    [[nodiscard]] std::vector<dsl::entry> read_rows(abi::description const& d) const {
        constexpr std::uint64_t max_rows = 100'000;
        if (d.row_count == 0 && d.rewrite_count != 0) return {};
        if (d.row_count == 0 || d.row_count > max_rows || !is_loaded(d.rows, d.row_count * sizeof(abi::row)))
            malformed("it claims to have " + std::to_string(d.row_count) + " rows");
        if (d.run == nullptr || !is_code(d.run)) malformed("it has no function that runs rows");
        std::vector<dsl::entry> rows;
        for (std::uint64_t i = 0; i != d.row_count; ++i) rows.push_back(read_row(d.rows[i], i));
        if (auto const duplicate = dsl::detail::duplicate_row(rows); duplicate.length != 0)
            malformed(std::string(duplicate.view()));
        return rows;
    }

    [[nodiscard]] rewrites_view read_rewrites(abi::description const& d) const {
        constexpr std::uint64_t max_rewrites = 10'000;
        if (d.rewrite_count == 0) return {};
        if (d.rewrite_count > max_rewrites || !is_loaded(d.rewrites, d.rewrite_count * sizeof(rewrite_entry)))
            malformed("it claims to have " + std::to_string(d.rewrite_count) + " rewrites");
        rewrites_view const all(static_cast<rewrite_entry const*>(d.rewrites), d.rewrite_count);
        for (std::size_t i = 0; i != all.size(); ++i) check_rewrite(all[i], "rewrite " + std::to_string(i + 1));
        return all;
    }

    [[noreturn]] void refuse(std::string const& why) const { throw error(path_ + ": " + why); }

private:
    [[noreturn]] void malformed(std::string const& what = "it differs from what ATON_PLUGIN generates") const {
        refuse("the description of the plugin is malformed: " + what);
    }

    template <class Result, class... Arguments>
    static bool is_code(Result (*f)(Arguments...)) {
        return is_loaded(
            reinterpret_cast<void const*>(f), 1, system::access::execute); // NOLINT(*-reinterpret-cast): an address
    }

    [[nodiscard]] std::string_view view_of(abi::text t, std::string const& what) const {
        constexpr std::uint64_t max_length = 1U << 16U;
        if (t.size == 0 || t.size > max_length || !is_loaded(t.data, t.size))
            malformed("its " + what + " is not a valid string");
        std::string_view const text(t.data, t.size);
        for (char c : text)
            if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e)
                malformed("its " + what + " is not a valid string");
        return text;
    }
    [[nodiscard]] std::string text_of(abi::text t, std::string const& what) const {
        return std::string(view_of(t, what));
    }

    [[nodiscard]] dsl::entry read_row(abi::row const& r, std::uint64_t index) const {
        std::string const place = "row " + std::to_string(index + 1);
        dsl::entry e;
        e.schema = view_of(r.schema, "schema of " + place);
        e.overload = view_of(r.overload, "name of " + place);
        std::string const name = place + " (" + std::string(e.overload) + ") ";
        if (!aten::syntax_error(e.schema).empty() || aten::parse_head(e.schema).qualified != e.overload)
            malformed(name + "has a schema that does not declare it");
        std::string_view const known = aten::find_schema(e.overload);
        if (!known.empty() && known != e.schema) malformed(name + "has a different schema than torch");
        auto const count = static_cast<std::uint64_t>(aten::argument_count(e.schema));
        if (r.named_count > count || (r.named_count != 0 && !is_loaded(r.named, r.named_count)))
            malformed(name + "names arguments that its schema does not have");
        e.named = {r.named, r.named_count};
        for (std::uint8_t position : e.named)
            if (position >= count) malformed(name + "names arguments that its schema does not have");
        e.since = r.since;
        e.until = r.until;
        if (e.since < 1 || e.until < e.since || e.until > onnx::newest_opset)
            malformed(name + "covers opsets " + std::to_string(e.since) + " to " + std::to_string(e.until));
        e.hash = hash_of(e.overload);
        e.overrides = r.overrides != 0;
        e.takes_complex = r.takes_complex != 0;
        e.run = &run_foreign;
        return e;
    }

    template <class T>
    static bool is_loaded_list(std::span<T const> list, std::size_t max) {
        return list.size() <= max && (list.empty() || is_loaded(list.data(), list.size_bytes()));
    }

    void check_rewrite(rewrite_entry const& r, std::string const& place) const {
        (void)view_of(abi::text_of(r.name), "name of " + place);
        if (r.since < 1 || r.until < r.since || r.until > onnx::newest_opset)
            malformed(place + " covers opsets " + std::to_string(r.since) + " to " + std::to_string(r.until));
        constexpr std::size_t max_parts = 1000;
        pattern_view const& p = r.pattern;
        bool const is_readable = is_loaded_list(p.nodes, max_parts) && is_loaded_list(p.terms, max_parts) &&
                                 is_loaded_list(p.attributes, max_parts) && is_loaded_list(p.integers, max_parts) &&
                                 is_loaded_list(p.captures, max_parts) && is_loaded_list(p.further, max_parts) &&
                                 is_loaded_list(std::span(p.text.data(), p.text.size()), max_parts);
        bool const has_functions = is_code(r.build) && (r.holds == nullptr || is_code(r.holds));
        if (!is_readable || !has_functions) malformed(place + " is not one that rewrite<...> makes");
        for (pattern_node const& n : p.nodes)
            if (!is_loaded(n.op.data(), n.op.size()) ||
                (!n.schema.empty() && !is_loaded(n.schema.data(), n.schema.size())) ||
                (!n.domain.empty() && !is_loaded(n.domain.data(), n.domain.size())))
                malformed("an operator of " + place + " is not a valid string");
        for (pattern_attribute const& a : p.attributes)
            if (!is_loaded(a.name.data(), a.name.size()))
                malformed("an attribute of " + place + " is not a valid string");
        if (!is_well_formed(p)) malformed(place + " has parts that do not exist");
    }

    std::string const& path_;
};

} // namespace

/// The order matters: rows point into the library.
struct plugin::library {
    std::string path;
    library_handle handle;
    std::vector<foreign_row> foreign;
    std::vector<dsl::entry> rows;
    rewrites_view rewrites;
};

plugin::plugin(std::unique_ptr<library> loaded) : library_(std::move(loaded)) {}
plugin::plugin(plugin&& other) noexcept = default;
plugin& plugin::operator=(plugin&& other) noexcept = default;
plugin::~plugin() = default;

std::vector<dsl::table_view> plugin::tables() const { return {dsl::table_view(library_->rows)}; }
rewrites_view plugin::rewrites() const noexcept { return library_->rewrites; }
std::string const& plugin::path() const { return library_->path; }

plugin_row running_row() noexcept { return running; }

plugin load_plugin(std::string const& path) {
    reader const source(path);
    std::error_code fault;
    std::filesystem::file_status const status = std::filesystem::status(system::path_of(path), fault);
    if (!std::filesystem::exists(status)) source.refuse("no such file");
    if (std::filesystem::is_directory(status)) source.refuse("is a folder, not a plugin");
    if (!std::filesystem::is_regular_file(status)) source.refuse("is not a regular file");

    auto loaded = std::make_unique<plugin::library>();
    loaded->path = path;
    std::string why;
    loaded->handle.reset(system::load_library(path, why));
    if (loaded->handle == nullptr) source.refuse("cannot be loaded as a shared library: " + why);
    abi::description const& d = source.find_description(loaded->handle.get());
    loaded->rows = source.read_rows(d);
    loaded->rewrites = source.read_rewrites(d);
    for (std::uint64_t i = 0; i != d.row_count; ++i) loaded->foreign.push_back({d.run, i, &loaded->path});
    for (std::size_t i = 0; i != loaded->rows.size(); ++i) loaded->rows[i].foreign = &loaded->foreign[i];
    return plugin(std::move(loaded));
}

} // namespace ATON_NAMESPACE
