// SPDX-License-Identifier: MIT
#include "optimize_command.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/counted.hpp>
#include <aton/core/json_writer.hpp>
#include <aton/exporter/optimize.hpp>

namespace aton::tool {

namespace {

struct optimize_request {
    std::string input;
    std::string output;
    std::string format = "text";
    bool with_steps = false;
    bool quiet = false;
    optimize_options options;
};

/// Passes and rewrites with the number of their changes, the most frequent first.
std::vector<std::pair<std::string, std::size_t>> counts_of(optimize_report const& report) {
    std::vector<std::pair<std::string, std::size_t>> out;
    for (pass_step const& s : report.steps) {
        auto const found = std::ranges::find(out, s.pass, &std::pair<std::string, std::size_t>::first);
        if (found == out.end()) out.emplace_back(s.pass, 1);
        else ++found->second;
    }
    std::ranges::stable_sort(out, [](auto const& a, auto const& b) { return a.second > b.second; });
    return out;
}

std::string text_of(optimize_request const& request, optimize_report const& report) {
    std::string const name = plain(request.output);
    if (!report.unchanged.empty()) return name + ": unchanged: " + plain(report.unchanged) + '\n';
    std::string out = name + ": " + std::to_string(report.nodes_before) + " nodes became " +
                      std::to_string(report.nodes_after) + ", " + std::to_string(report.bytes_before) +
                      " bytes became " + std::to_string(report.bytes_after) + '\n';
    if (!request.with_steps) return out;
    for (auto const& [pass, count] : counts_of(report)) {
        out += "  " + pass + ": " + counted(count, "time") + '\n';
        for (pass_step const& s : report.steps)
            if (s.pass == pass) out += "    " + plain(s.subject) + '\n';
    }
    return out;
}

std::string json_of(optimize_request const& request, optimize_report const& report) {
    json_writer out;
    out.begin_object().field("file", request.output).name("unchanged");
    if (report.unchanged.empty()) out.null();
    else out.value(report.unchanged);
    out.field("nodes_before", report.nodes_before).field("nodes_after", report.nodes_after);
    out.field("bytes_before", report.bytes_before).field("bytes_after", report.bytes_after);
    out.name("steps").begin_array();
    for (pass_step const& s : report.steps)
        out.new_line("  ").begin_object().field("pass", s.pass).field("at", s.subject).end_object();
    if (!report.steps.empty()) out.new_line();
    out.end_array().end_object();
    return out.text() + '\n';
}

int run(optimize_request const& request) {
    optimize_report const report = optimize_file(request.input, request.output, request.options);
    if (!request.quiet) print_out(request.format == "json" ? json_of(request, report) : text_of(request, report));
    return 0;
}

} // namespace

command add_optimize(CLI::App& app) {
    auto const request = std::make_shared<optimize_request>();
    CLI::App& sub =
        *app.add_subcommand("optimize", "Optimize an .onnx file of any producer: fewer nodes, the same results");
    sub.add_option("MODEL.onnx", request->input, "The model")->required();
    sub.add_option("-o,--output", request->output, "The optimized model")->type_name("FILE")->required();
    add_target(sub, request->options.target);
    sub.add_option("--keep",
                   request->options.keep,
                   "The name of a value that stays in the graph, as the outputs do; may be repeated")
        ->type_name("NAME")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    sub.add_option(
           "--no-rewrite",
           request->options.without_rewrites,
           "Leave out a rewrite, or a group such as attention (aton ops --rewrites lists them); may be repeated")
        ->type_name("NAME")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    sub.add_option_function<std::string>(
           "--weights",
           [request](std::string const& word) {
               request->options.weights = word == "embed"      ? weight_mode::embed
                                          : word == "external" ? weight_mode::external
                                                               : weight_mode::reference;
           },
           "embed: in the .onnx file, up to 2 GiB; external: in FILE.data next to it; reference: in the files that the "
           "model refers to. Default: embed, or external if the model refers to other files")
        ->check(CLI::IsMember({"embed", "external", "reference"}))
        ->type_name("WORD");
    sub.add_flag("--report", request->with_steps, "Print every change: the pass or rewrite, and where it was made");
    add_format(sub, request->format);
    sub.add_flag("-q,--quiet", request->quiet, "Print nothing on success");
    return [&sub, request] { return sub.parsed() ? run(*request) : -1; };
}

} // namespace aton::tool
