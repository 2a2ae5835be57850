// SPDX-License-Identifier: MIT
// aton view --verify: the error of every node, for the page. aton export --verify: the comparison after the export.
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include <aton/verify/models.hpp>

#include "options.hpp"
#include "verify_command.hpp"

namespace aton::tool {

namespace {

view::verdict verdict_of(verify::node_verdict v) {
    switch (v) {
    case verify::node_verdict::same: return view::verdict::same;
    case verify::node_verdict::different: return view::verdict::different;
    case verify::node_verdict::unknown: break;
    }
    return view::verdict::unknown;
}

view::comparison compare_nodes(program::program const& p, graph_data const& graph) {
    verify::model_options options;
    options.nodes = true;
    options.samples = 1;
    verify::model_report const report = compare_models(p, graph, options);
    view::comparison out;
    out.summary = report.passed() ? "the same numbers on random inputs" : "different numbers: " + report.difference;
    for (verify::node_report const& n : report.nodes)
        out.nodes.push_back({n.name, verdict_of(n.verdict), n.worst_error, n.why, n.is_first_divergence});
    return out;
}

verification compare_numbers(program::program const& p, graph_data const& graph, std::string const& recorded,
                             std::function<void(std::size_t, std::size_t)> const& progress) {
    verify::model_options options;
    options.progress = progress;
    if (!recorded.empty()) take_recorded(options, recorded);
    verify::model_report const report = compare_models(p, graph, options);
    verification out{report.passed(), report.difference, report.to_text(), report.to_json()};
    out.json.pop_back(); // the end of the line
    if (out.passed)
        out.summary = "the same on " + std::to_string(report.samples) + (report.samples == 1 ? " sample" : " samples");
    else if (!report.first_divergence.node.empty())
        out.summary += "; the first diverging node: " + report.first_divergence.node;
    return out;
}

} // namespace

int run_passed_on(int argc, char** argv) {
    CLI::App app("", "aton");
    app.require_subcommand(1);
    command const commands[] = {add_view(app, compare_nodes, {}), add_export(app, compare_numbers, {})};
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& e) {
        return end_parsing(app, e, "aton " + std::string(argv[1]) + " --help");
    }
    for (command const& each : commands)
        if (int const status = each(); status >= 0) return status;
    return 0;
}

} // namespace aton::tool
