// SPDX-License-Identifier: MIT
// aton verify --rewrites MODEL.pt2: applies the rewrites one after another, and runs the graph before and after each that changes it.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/counted.hpp>
#include <aton/core/error.hpp>
#include <aton/core/json_writer.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/fusions/built_in.hpp>
#include <aton/ir/print.hpp>
#include <aton/verify/models.hpp>

#include "commands.hpp"
#include "progress.hpp"
#include "verify_command.hpp"

namespace aton::tool {

namespace {

/// The graphs of a program with the first rewrites of a list only.
class partial_exports {
public:
    partial_exports(program::program const& p, export_options options) : prepared_(p), options_(std::move(options)) {
        prepare(prepared_, options_);
        for (rewrites_view const& table : options_.rewrites) add(table);
        if (options_.target != nullptr) add(options_.target->rewrites);
        add(fusions::built_in_rewrites());
        if (options_.target != nullptr) add(options_.target->last_rewrites);
    }

    [[nodiscard]] std::size_t size() const { return names_.size(); }
    [[nodiscard]] std::string const& name(std::size_t i) const { return names_[i]; }
    [[nodiscard]] exported_graph with(std::size_t count) {
        options_.without_rewrites.assign(names_.begin() + static_cast<std::ptrdiff_t>(count), names_.end());
        return export_graph(prepared_, options_);
    }

private:
    void add(rewrites_view table) {
        for (rewrite_entry const& r : table) names_.emplace_back(r.name);
    }

    program::program prepared_;
    export_options options_;
    std::vector<std::string> names_;
};

} // namespace

int verify_translation(verify_request const& request, verify::model_options const& how, progress& shown) {
    std::vector<plugin> const plugins = load_plugins(request.plugins);
    export_options options;
    if (request.opset != 0) options.opset = request.opset;
    options.model = request.model;
    options.target = request.target;
    options.nan = request.nan == "exact" ? nan_mode::exact : nan_mode::fast;
    options.tables = tables_of(plugins);
    for (plugin const& each : plugins) options.rewrites.push_back(each.rewrites());
    program::program const p = read_program(request.files[0], options);

    partial_exports exports(p, options);
    std::string before;
    std::size_t nodes = 0;
    std::size_t applied = 0;
    bool const has_lines = !request.quiet && !request.is_json();
    json_writer json;
    json.begin_object().field("file", request.files[0]).name("graphs").begin_array();
    for (std::size_t i = 0; i <= exports.size(); ++i) {
        shown.step(i, exports.size(), "rewrites");
        exported_graph const made = exports.with(i);
        std::string text = to_string(made.graph);
        if (text == before) continue;
        verify::model_report const report = compare_models(p, with_weights(made.graph), how);
        std::string const name = i == 0 ? "without rewrites" : exports.name(i - 1);
        json.new_line("  ").begin_object().name("rewrite");
        i == 0 ? json.null() : json.value(name);
        json.field("nodes", made.graph.nodes.size()).field("passed", report.passed());
        json.field("difference", report.difference).end_object();
        if (!report.passed()) {
            std::string const what = i == 0 ? "the graph differs without rewrites: " : name + " changes a number: ";
            json.new_line().end_array().field("passed", false).end_object();
            print_report(request, false, report.to_text() + what + report.difference + "\n", json.text() + '\n');
            return 1;
        }
        if (has_lines)
            print_out(name + ": " + (i == 0 ? "" : std::to_string(nodes) + " -> ") +
                      counted(made.graph.nodes.size(), "node") + ", the same numbers\n");
        if (i != 0) ++applied;
        nodes = made.graph.nodes.size();
        before = std::move(text);
    }
    json.new_line().end_array().field("passed", true).end_object();
    print_report(request,
                 true,
                 counted(applied, "rewrite") + " of " + std::to_string(exports.size()) +
                     " applied, none changed a number\n",
                 json.text() + '\n');
    return 0;
}

} // namespace aton::tool
