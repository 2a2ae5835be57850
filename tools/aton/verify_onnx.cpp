// SPDX-License-Identifier: MIT
// aton verify of .onnx files: two models, or one in another runtime.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <aton/backends/command.hpp>
#include <aton/backends/onnxruntime.hpp>
#include <aton/core/error.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/verify/model_pairs.hpp>
#include <aton/verify/second_opinion.hpp>

#include "commands.hpp"
#include "given_inputs.hpp"
#include "progress.hpp"
#include "verify_command.hpp"

namespace aton::tool {

int verify_pair(verify_request const& request, runtime::device where) {
    model_parts const first(request.files[0]);
    model_parts const second(request.files[1]);
    verify::pair_options options;
    options.samples = request.samples;
    options.seed = request.seed;
    options.where = where;
    if (!request.inputs.empty()) options.inputs = read_inputs(request.inputs, first.inputs());
    progress shown(style_of_stderr(request.quiet));
    shown.stage(request.files[1]);
    options.progress = [&](std::size_t done, std::size_t all) { shown.step(done, all, "samples"); };
    verify::pair_report const report = verify::compare_pair(first, second, options);
    for (std::string const& path : request.reports) write_file(report.to_json(), path);
    print_report(
        request, report.passed(), report.to_text(plain(request.files[0]), plain(request.files[1])), report.to_json());
    return report.passed() ? 0 : 1;
}

namespace {

/// "extended" of "onnxruntime:extended"; empty: all levels.
std::string_view level_of(std::string const& runtime) {
    std::size_t const colon = runtime.find(':');
    return colon == std::string::npos ? std::string_view() : std::string_view(runtime).substr(colon + 1);
}

std::vector<std::unique_ptr<backends::backend>> backends_of(verify_request const& request) {
    std::vector<std::unique_ptr<backends::backend>> out;
    if (!request.runtime_command.empty()) {
        out.push_back(backends::make_command(request.runtime_command, request.timeout));
        return out;
    }
    std::string const path = request.runtime_library.empty() ? backends::find_onnxruntime() : request.runtime_library;
    if (path.empty())
        throw error(
            "ONNX Runtime is not found: install its Python package (pip install onnxruntime) in the environment "
            "that is active, or name its shared library with --runtime-library");
    auto const library = backends::load_onnxruntime(path);
    std::string_view const wanted = level_of(request.runtime);
    for (backends::optimization_level const& level : backends::onnxruntime_levels)
        if (wanted.empty() || wanted == level.name)
            out.push_back(backends::make_onnxruntime(library, level, request.timeout));
    return out;
}

/// The command that shows the fault in the folder of a reproduction.
std::string command_in_folder(verify_request const& request, verify::second_opinion_report const& report) {
    std::string out = "aton verify model.onnx";
    if (!report.parts.front().inputs.empty()) out += " --inputs inputs";
    if (!request.runtime_command.empty()) return out + " --runtime-command \"" + request.runtime_command + '"';
    std::string const& title = report.opinions[report.failed].runtime;
    return out + " --runtime onnxruntime:" + title.substr(title.rfind(' ') + 1);
}

} // namespace

std::string runtime_fault(verify_request const& request) {
    bool const is_asked = !request.runtime.empty() || !request.runtime_command.empty();
    if (!request.runtime.empty() && !request.runtime_command.empty())
        return "--runtime and --runtime-command exclude each other";
    if (!request.runtime_library.empty() && request.runtime.empty()) return "--runtime-library needs --runtime";
    if (!request.reproduction.empty() && !is_asked) return "--reproduction needs --runtime or --runtime-command";
    if (!is_asked) return {};
    if (request.files.size() != 1 || !request.files[0].ends_with(".onnx"))
        return "--runtime and --runtime-command take one file, MODEL.onnx";
    if (request.device != "cpu") return "--runtime and --runtime-command compare on the CPU";
    std::string_view const name = std::string_view(request.runtime).substr(0, request.runtime.find(':'));
    std::string_view const level = level_of(request.runtime);
    bool const is_level =
        std::ranges::any_of(backends::onnxruntime_levels, [&](auto const& each) { return each.name == level; });
    if (!request.runtime.empty() && (name != "onnxruntime" || (request.runtime != name && !is_level)))
        return "--runtime " + request.runtime + ": write onnxruntime, or a level of its optimizations: " +
               "onnxruntime:disabled, :basic, :extended or :all";
    return {};
}

bool is_asked(verify_request const& request) { return !request.runtime.empty() || !request.runtime_command.empty(); }

int verify_runtime(verify_request const& request) {
    model_parts const model(request.files[0]);
    auto const others = backends_of(request);
    verify::second_opinion_options options;
    options.samples = request.samples;
    options.seed = request.seed;
    if (!request.inputs.empty()) options.inputs = read_inputs(request.inputs, model.inputs());
    progress shown(style_of_stderr(request.quiet));
    shown.stage(request.files[0]);
    options.progress = [&](std::size_t done) { shown.step(done, done, "runs"); };
    verify::second_opinion_report const report = verify::ask(model, others, options);
    for (std::string const& path : request.reports) write_file(report.to_json(), path);
    std::string text = report.to_text();
    if (!request.reproduction.empty() && !report.parts.empty()) {
        verify::write_reproduction(report, request.reproduction, command_in_folder(request, report));
        text += "written to " + plain(request.reproduction) + ": model.onnx with its inputs and both results\n";
    }
    print_report(request, report.passed(), text, report.to_json());
    return report.passed() ? 0 : 1;
}

} // namespace aton::tool
