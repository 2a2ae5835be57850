// SPDX-License-Identifier: MIT
#include "stub_command.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/aten/schema_text.hpp>
#include <aton/core/error.hpp>
#include <aton/mappings/built_in.hpp>

#include "commands.hpp"
#include "inferred_schema.hpp"
#include "model_files.hpp"
#include "stub_rows.hpp"
#include "system/paths.hpp"

namespace aton::tool {

namespace {

/// The schemas of a file, which may be malformed, by overload.
std::map<std::string, std::string> read_schemas(std::string const& path) {
    std::map<std::string, std::string> out;
    std::ifstream in(system::path_of(path));
    if (!in) throw error(plain(path) + ": cannot be read");
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        std::size_t const start = line.find_first_not_of(" \t\r");
        if (start == std::string::npos || line[start] == '#') continue;
        aten::schema_head const head = aten::parse_head(line);
        if (head.ns.empty())
            throw error(plain(path) + ':' + std::to_string(number) + ": expected a schema with a namespace, as in " +
                        "\"my_ops::foo(Tensor x) -> Tensor\"");
        out.emplace(head.qualified, line);
    }
    return out;
}

class row_search {
public:
    explicit row_search(std::vector<dsl::table_view> const& plugins) : plugins_(plugins) {}

    [[nodiscard]] bool has(std::string_view overload) const {
        auto const in = [&](dsl::table_view table) {
            return std::any_of(table.begin(), table.end(), [&](dsl::entry const& e) { return e.overload == overload; });
        };
        return std::any_of(plugins_.begin(), plugins_.end(), in) ||
               std::any_of(mappings::built_in_tables().begin(), mappings::built_in_tables().end(), in);
    }

    /// Whether any overload of an operator has a row of a plugin.
    [[nodiscard]] bool has_operator(std::string_view op) const {
        return std::any_of(plugins_.begin(), plugins_.end(), [&](dsl::table_view table) {
            return std::any_of(table.begin(), table.end(), [&](dsl::entry const& e) {
                return e.overload.substr(0, e.overload.find('.')) == op;
            });
        });
    }

private:
    std::vector<dsl::table_view> const& plugins_;
};

export_options options_of(stub_request const& request, std::vector<dsl::table_view> const& tables) {
    export_options options;
    options.tables = tables;
    for (std::string const& text : request.inputs) options.inputs.push_back(parse_input(text));
    return options;
}

/// Operators of torch that cannot be converted because they have no row.
void add_operators_of_torch(program::program p, export_options const& options, row_search const& rows,
                            std::vector<stub>& out) {
    try {
        prepare(p, options);
        for (unconvertible const& u : find_unconvertible(p, options))
            if (!aten::find_schema(u.op).empty() && !rows.has(u.op)) out.push_back({u.op, {}, u.places, {}});
    } catch (error const&) {
        return; // a program that cannot be prepared still has operators of its own
    }
}

} // namespace

int write_stubs(stub_request const& request) {
    std::vector<plugin> const plugins = load_plugins(request.plugins);
    std::vector<dsl::table_view> const tables = tables_of(plugins);
    row_search const rows(tables);
    std::map<std::string, std::string> schemas;
    if (!request.schemas.empty()) schemas = read_schemas(request.schemas);
    std::string const origin = request.file.empty() ? request.schemas : request.file;
    std::vector<stub> all;
    if (request.file.empty()) {
        for (auto& [overload, schema] : schemas)
            if (!rows.has(overload)) all.push_back({overload, schema, {}, {}});
    } else if (is_torchscript(request.file)) {
        for (auto& [op, found] : custom_operators_of(torchscript::called_operators(request.file))) {
            bool is_known = rows.has_operator(op);
            for (auto const& [overload, schema] : schemas) {
                if (overload.substr(0, overload.find('.')) != op) continue;
                is_known = true;
                if (!rows.has(overload)) all.push_back({overload, schema, found.places, {}});
            }
            if (!is_known) all.push_back(std::move(found));
        }
        if (!request.inputs.empty()) { // without them, the operators of torch are not known
            export_options const options = options_of(request, tables);
            try {
                add_operators_of_torch(read_program(request.file, options), options, rows, all);
            } catch (error const&) { // a call of one of the operators above
                if (all.empty()) throw;
            }
        }
    } else {
        export_options const options = options_of(request, tables);
        program::program p = read_program(request.file, options);
        for (auto& [overload, op] : custom_operators_of(p)) {
            if (rows.has(overload)) continue;
            if (auto const known = schemas.find(overload); known != schemas.end())
                all.push_back({overload, known->second, op.places, {}});
            else all.push_back(std::move(op));
        }
        add_operators_of_torch(std::move(p), options, rows, all);
    }
    std::string const name = system::text_of(system::part_of(origin).filename());
    if (all.empty()) {
        print_out("// every operator of " + plain(name) + " has a mapping\n");
        return 0;
    }
    std::string const text = stub_file(all, name);
    if (request.output.empty()) {
        print_out(text);
        return 0;
    }
    std::ofstream out(system::path_of(request.output), std::ios::binary);
    if (!(out << text) || !out.flush()) throw error(plain(request.output) + ": cannot be written");
    print_out(plain(request.output) + ": " + std::to_string(all.size()) +
              (all.size() == 1 ? " operator\n" : " operators\n"));
    return 0;
}

} // namespace aton::tool
