// SPDX-License-Identifier: MIT
// aton view: writes a model as an HTML page.
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <aton/core/counted.hpp>
#include <aton/core/error.hpp>
#include <aton/core/json_writer.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/model_io/weights.hpp>
#include <view/page.hpp>

#include "commands.hpp"
#include "progress.hpp"
#include "system/paths.hpp"

namespace aton::tool {

namespace {

namespace fs = std::filesystem;

/// What a page is made of, which it points into.
struct contents {
    std::optional<program::program> program;
    exported_graph graph;
    view::page page;
};

/// The message without the path of the file, which does not belong in a page.
std::string without_path(error const& e, std::string const& path) {
    std::string text = e.what();
    std::string const prefix = path + ": ";
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
        text.erase(at, prefix.size());
    return text;
}

void read_graph_into(contents& to, std::string const& path, bool with_elements) {
    model m = read_model(path);
    if (with_elements) load_external(m, path);
    to.page.facts.push_back(summary(m));
    to.graph.graph = std::move(m.graph);
    to.page.graph = &to.graph.graph;
}

/// Exports a prepared program. If that fails, the page has the reason.
void export_into(contents& to, export_options const& options, std::string const& path) {
    to.page.facts.push_back("opset " + std::to_string(options.opset));
    try {
        prepare(*to.program, options);
        to.graph = export_graph(*to.program, options);
        to.page.graph = &to.graph.graph;
        for (warning const& each : to.graph.warnings) to.page.warnings.push_back(plain(each.text));
        for (quantized_product const& each : to.graph.products)
            if (!each.reason.empty() && to.page.warnings.size() < max_warnings)
                to.page.warnings.push_back(plain(each.op + " '" + each.node + "' is computed in floating point: " +
                                                 each.reason + (each.place.empty() ? "" : " (" + each.place + ")")));
    } catch (export_error const& e) {
        to.page.failure = without_path(e, path);
        to.page.refused = e.nodes();
    } catch (error const& e) {
        to.page.failure = without_path(e, path);
        to.program = read_program(path, options); // as it was before
    }
}

void read_program_into(contents& to, view_request const& request, export_options const& options) {
    to.program = read_program(request.input, options);
    if (!to.program->torch_version.empty()) to.page.facts.push_back("torch " + plain(to.program->torch_version));
    if (request.graph.empty()) {
        export_into(to, options, request.input);
    } else {
        prepare(*to.program, options);
        read_graph_into(to, request.graph, bool(request.compare));
    }
    to.page.program = &*to.program;
    if (!request.compare || to.page.graph == nullptr) return;
    try {
        to.page.comparison = request.compare(read_program(request.input, options), with_weights(to.graph.graph));
    } catch (error const& e) {
        to.page.comparison.summary = "not compared: " + without_path(e, request.input);
        warn(request.input, to.page.comparison.summary);
    }
}

std::string json_of(contents const& shown, std::string const& input, std::string const& output) {
    view::page const& page = shown.page;
    json_writer out;
    out.begin_object().field("input", input).field("output", output).name("program_nodes");
    page.program != nullptr ? out.value(page.program->main.nodes.size()) : out.null();
    out.name("graph_nodes");
    page.graph != nullptr ? out.value(page.graph->nodes.size()) : out.null();
    write_json(out.name("unconvertible"), page.refused);
    out.name("warnings").array(page.warnings).name("error");
    page.failure.empty() ? out.null() : out.value(page.failure);
    out.name("comparison");
    page.comparison.summary.empty() ? out.null() : out.value(page.comparison.summary);
    return out.end_object().text() + '\n';
}

/// Refuses a second file, and options, that an .onnx file cannot have.
void check_graph_alone(view_request const& request) {
    std::string const name = plain(request.input);
    if (!request.graph.empty())
        throw error(name + ": is an ONNX file; a second file can only be shown beside a .pt2 file");
    if (request.has_program_options)
        throw error(name + ": is an ONNX file; only -o applies, the other options are for .pt2 files");
}

} // namespace

int view_model(view_request request) {
    fs::path const input = system::path_of(request.input);
    std::string const output =
        request.output.empty() ? system::text_of(fs::path(input).replace_extension(".html")) : request.output;
    fs::path const page = system::path_of(output);
    std::error_code ignored;
    if (fs::equivalent(input, page, ignored) || fs::equivalent(system::path_of(request.graph), page, ignored))
        throw error(plain(output) + ": is also the input; name another output file with -o");
    for (std::string const& text : request.inputs) request.options.inputs.push_back(parse_input(text));
    for (std::string const& text : request.dims) request.options.dims.push_back(parse_dim(text));
    std::vector<plugin> const plugins = load_plugins(request.plugins);
    request.options.tables = tables_of(plugins);
    for (plugin const& each : plugins) request.options.rewrites.push_back(each.rewrites());
    std::optional<progress> bar(style_of_stderr());
    bar->stage(request.input);
    contents shown;
    shown.page.title = plain(system::text_of(input.filename()));
    if (is_archive(request.input)) {
        read_program_into(shown, request, request.options);
    } else {
        read_graph_into(shown, request.input, false);
        check_graph_alone(request);
    }
    write_file(view::to_html(shown.page), output);
    bar.reset();
    if (!fs::is_regular_file(page, ignored)) return 0; // a pipe may be this process's stdout
    if (request.format == "json") {
        print_out(json_of(shown, request.input, output));
        return 0;
    }
    std::string line = plain(output) + ": ";
    if (shown.page.program != nullptr)
        line += counted(shown.page.program->main.nodes.size(), "node") + " of the program";
    if (shown.page.program != nullptr && shown.page.graph != nullptr) line += ", ";
    if (shown.page.graph != nullptr) line += counted(shown.page.graph->nodes.size(), "node") + " of the graph";
    if (!shown.page.refused.empty())
        line += ", " + counted(shown.page.refused.size(), "operator") + " that cannot be converted";
    if (!shown.page.comparison.nodes.empty()) line += "; " + shown.page.comparison.summary;
    print_out(line + '\n');
    if (!shown.page.failure.empty()) warn(request.input, shown.page.failure);
    return 0;
}

} // namespace aton::tool
