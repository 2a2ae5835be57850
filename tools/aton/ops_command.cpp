// SPDX-License-Identifier: MIT
// Lists the rows of built-in tables and plugins, and torch's schemas: one line, JSON object or table row per overload and opset range.
#include "ops_command.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/aten/schema_table.hpp>
#include <aton/core/error.hpp>
#include <aton/core/json_writer.hpp>
#include <aton/fusions/built_in.hpp>
#include <aton/ir/pattern_text.hpp>
#include <aton/mappings/built_in.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/passes/pass_trace.hpp>

#include "commands.hpp"

namespace aton::tool {

namespace {

struct line {
    std::string_view overload;
    std::string_view schema;
    int since = 0; ///< 0: no mapping
    int until = 0;
    std::string_view plugin; ///< the file; empty: a built-in mapping
    bool overrides = false;
    std::string_view family{}; ///< of a built-in mapping: its table, mappings::FAMILY, and its header
};

/// Whether an overload is one of those that are asked for: by its name, "aten::add", which all overloads have, "aten::add.Tensor", or "add".
bool is_asked_for(std::vector<std::string> const& names, std::string_view overload) {
    std::string_view const op = overload.substr(0, overload.find('.'));
    std::size_t const colons = op.find("::");
    std::string_view const bare = colons == std::string_view::npos ? op : op.substr(colons + 2);
    auto const same = [&](std::string const& n) { return n == overload || n == op || n == bare; };
    return names.empty() || std::any_of(names.begin(), names.end(), same);
}

std::string_view overload_of(std::string_view schema) { return schema.substr(0, schema.find('(')); }

/// Sorted by overload and first opset; rows of plugins come before built-in ones.
std::vector<line> collect(list_request const& request, std::vector<plugin> const& plugins) {
    std::vector<line> lines;
    auto const add = [&](dsl::table_view table, std::string_view from, std::string_view family) {
        for (dsl::entry const& e : table)
            if ((request.opset == 0 || e.holds_at(request.opset)) && is_asked_for(request.names, e.overload))
                lines.push_back({e.overload, e.schema, e.since, e.until, from, e.overrides, family});
    };
    for (plugin const& each : plugins)
        for (dsl::table_view const& table : each.tables()) add(table, each.path(), {});
    std::span<dsl::table_view const> const families = mappings::built_in_tables();
    for (std::size_t i = 0; i != families.size(); ++i) add(families[i], {}, mappings::built_in_name(i));
    auto const before = [](line const& a, line const& b) {
        return a.overload != b.overload ? a.overload < b.overload : a.since < b.since;
    };
    std::stable_sort(lines.begin(), lines.end(), before);
    if (request.mapped) return lines;
    std::size_t const mapped = lines.size();
    for (std::size_t i = 0; i != aten::schema_count(); ++i) {
        line const each{overload_of(aten::schema_at(i)), aten::schema_at(i), 0, 0, {}, false, {}};
        auto const same = [&](line const& other) { return other.overload == each.overload; };
        auto const end = lines.begin() + static_cast<std::ptrdiff_t>(mapped);
        auto const at = std::lower_bound(lines.begin(), end, each, before);
        if (!is_asked_for(request.names, each.overload)) continue;
        if (each.overload.starts_with("aten::") && (at == end || !same(*at))) lines.push_back(each);
    }
    std::stable_sort(lines.begin(), lines.end(), before);
    return lines;
}

/// "libfoo.so, overrides"
std::string origin(line const& l) {
    return l.plugin.empty() ? std::string() : plain(std::string(l.plugin)) + (l.overrides ? ", overrides" : "");
}

/// "13-20", or "13-" if the newest opset is included.
std::string range(line const& l) {
    if (l.since == 0) return "-";
    return std::to_string(l.since) + '-' +
           (l.until >= onnx::newest_version("") ? std::string() : std::to_string(l.until));
}

/// Text in a cell of a Markdown table.
std::string cell(std::string_view text) {
    std::string out;
    for (char const c : text) {
        if (c == '|') out += '\\';
        out += c;
    }
    return out;
}

std::string table_of(line const& l) { return "mappings::" + std::string(l.family); }
std::string header_of(line const& l) { return "aton/mappings/" + std::string(l.family) + ".hpp"; }

/// `with_tables`: say which table and header a built-in row is in.
std::string as_text(std::vector<line> const& lines, bool with_tables) {
    std::string out;
    for (line const& l : lines) {
        std::string opsets = range(l);
        opsets.resize(std::max<std::size_t>(opsets.size() + 1, 7), ' ');
        out += opsets;
        out += l.schema.empty() ? l.overload : l.schema;
        if (!l.plugin.empty()) out += "  # " + origin(l);
        else if (with_tables && !l.family.empty()) out += "  # " + table_of(l) + ", <" + header_of(l) + '>';
        out += '\n';
    }
    return out;
}

std::string as_json(std::vector<line> const& lines) {
    json_writer out;
    out.begin_array();
    for (line const& l : lines) {
        out.new_line("  ").begin_object().field("overload", l.overload).field("schema", l.schema);
        if (l.since == 0) out.name("since").null().name("until").null();
        else out.field("since", l.since).field("until", l.until);
        if (!l.plugin.empty()) out.field("plugin", plain(std::string(l.plugin))).field("overrides", l.overrides);
        if (!l.family.empty()) out.field("table", table_of(l)).field("header", header_of(l));
        out.end_object();
    }
    return out.new_line().end_array().text() + '\n';
}

std::string as_markdown(std::vector<line> const& lines) {
    std::string out = "| ATen overload | opsets | schema |\n|---|---|---|\n";
    for (line const& l : lines)
        out += "| `" + std::string(l.overload) + "` | " + range(l) + " | `" + cell(l.schema) + "`" +
               (l.plugin.empty() ? "" : " (" + cell(origin(l)) + ")") + " |\n";
    return out;
}

/// Why nothing is listed for a name.
std::string why_missing(std::string const& name, list_request const& request) {
    std::string const at = request.opset == 0 ? std::string() : " at opset " + std::to_string(request.opset);
    bool const is_torchs = !aten::find_schema(name).empty();
    std::string_view const nearest = is_torchs ? std::string_view() : overload_of(aten::nearest_overload(name));
    if (!nearest.empty() && nearest != name)
        return "no such operator has a mapping" + at + "; did you mean " + std::string(nearest) + '?';
    return (request.mapped ? "no mapping" : "no such operator") + at;
}

} // namespace

std::string list_operators(list_request const& request) {
    std::vector<plugin> const plugins = load_plugins(request.plugins);
    std::vector<line> const lines = collect(request, plugins);
    for (std::string const& name : request.names) {
        auto const found = [&](line const& l) { return is_asked_for({name}, l.overload); };
        if (!std::any_of(lines.begin(), lines.end(), found))
            throw error(plain(name) + ": " + why_missing(name, request));
    }
    switch (request.format) {
    case list_format::json: return as_json(lines);
    case list_format::markdown: return as_markdown(lines);
    default: return as_text(lines, !request.names.empty());
    }
}

std::string list_rewrites(list_request const& request) {
    std::vector<plugin> const plugins = load_plugins(request.plugins);
    std::vector<rewrite_entry> rows;
    auto const add = [&](rewrites_view table) {
        for (rewrite_entry const& r : table)
            if (request.opset == 0 || r.holds_at(request.opset)) rows.push_back(r);
    };
    for (plugin const& each : plugins) add(each.rewrites());
    add(fusions::built_in_rewrites());
    json_writer json;
    std::string text = request.format == list_format::markdown ? "| rewrite | opsets | pattern |\n|---|---|---|\n" : "";
    json.begin_array();
    for (rewrite_entry const& r : rows) {
        std::string const pattern = to_string(r.pattern);
        std::string opsets = range({r.name, {}, r.since, r.until, {}, false, {}});
        json.new_line("  ").begin_object().field("rewrite", r.name).field("since", r.since).field("until", r.until);
        json.field("pattern", pattern).end_object();
        if (request.format == list_format::markdown) {
            text += "| `" + std::string(r.name) + "` | " + opsets + " | `" + cell(pattern) + "` |\n";
        } else {
            opsets.resize(std::max<std::size_t>(opsets.size() + 1, 7), ' ');
            std::string name(r.name);
            name.resize(std::max<std::size_t>(name.size() + 1, 28), ' ');
            text += opsets + name + pattern + '\n';
        }
    }
    return request.format == list_format::json ? json.new_line().end_array().text() + '\n' : text;
}

std::string list_passes(list_format format) {
    json_writer json;
    std::string text = format == list_format::markdown ? "| pass | what it does |\n|---|---|\n" : "";
    json.begin_array();
    for (pass_description const& p : all_passes()) {
        json.new_line("  ").begin_object().field("pass", p.name).field("does", p.does).end_object();
        std::string name(p.name);
        if (format == list_format::markdown) {
            text += "| `" + name + "` | " + std::string(p.does) + " |\n";
        } else {
            name.resize(std::max<std::size_t>(name.size() + 1, 28), ' ');
            text += name + std::string(p.does) + '\n';
        }
    }
    return format == list_format::json ? json.new_line().end_array().text() + '\n' : text;
}

} // namespace aton::tool
