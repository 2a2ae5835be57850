// SPDX-License-Identifier: MIT
// The aton command: its subcommands and their options.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/onnx/kernels.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/targets/faults.hpp>

#include "commands.hpp"
#include "ops_command.hpp"
#include "optimize_command.hpp"
#include "options.hpp"
#include "record_check_command.hpp"
#include "stub_command.hpp"

namespace aton::tool {

namespace {

command add_unconvertible(CLI::App& app) {
    auto const request = std::make_shared<unconvertible_request>();
    CLI::App& sub = *app.add_subcommand(
        "unconvertible", "List the operators of .pt2 files that cannot be converted: why, how often, and where");
    sub.add_option("MODEL.pt2",
                   request->files,
                   "A file written by torch.export.save, or by torch.jit.save; several files; or folders")
        ->required();
    add_conversion_options(sub, request->options);
    add_inputs(sub, request->inputs);
    add_format(sub, request->format);
    add_plugins(sub, request->plugins);
    return [&sub, request] { return sub.parsed() ? list_unconvertible(*request) : -1; };
}

command add_ops(CLI::App& app) {
    auto const request = std::make_shared<list_request>();
    CLI::App& sub = *app.add_subcommand("ops", "List the overloads that have a mapping, built in or in a plugin");
    sub.add_option("NAME",
                   request->names,
                   "Only these operators or overloads, with the table and the header of each built-in mapping")
        ->expected(0, -1);
    add_plugins(sub, request->plugins);
    sub.add_option("--opset", request->opset, "Only mappings that apply at this opset")
        ->check(CLI::Range(1, onnx::newest_version("")));
    add_choice<list_format>(
        sub,
        "--format",
        request->format,
        {{"text", list_format::text}, {"json", list_format::json}, {"markdown", list_format::markdown}},
        "text, json or markdown");
    sub.add_flag_callback("--json", [request] { request->format = list_format::json; }, "The same as --format json");
    CLI::Option* const only_mapped = sub.add_flag_callback(
        "--mapped", [request] { request->mapped = true; }, "Only overloads that have a mapping (default)");
    sub.add_flag_callback(
           "--all", [request] { request->mapped = false; }, "Every ATen overload of torch")
        ->excludes(only_mapped);
    auto const rewrites = std::make_shared<bool>(false);
    sub.add_flag("--rewrites", *rewrites, "The rewrites of finished graphs instead, with their patterns")
        ->excludes(only_mapped)
        ->excludes("--all");
    auto const passes = std::make_shared<bool>(false);
    sub.add_flag("--passes", *passes, "The passes of an export instead, with what they do")
        ->excludes(only_mapped)
        ->excludes("--all")
        ->excludes("--rewrites");
    auto const target = std::make_shared<targets::target const*>(nullptr);
    add_target(sub, *target);
    return [&sub, request, rewrites, passes, target] {
        if (sub.parsed())
            print_out(*target     ? list_target(**target, *request)
                      : *passes   ? list_passes(request->format)
                      : *rewrites ? list_rewrites(*request)
                                  : list_operators(*request));
        return sub.parsed() ? 0 : -1;
    };
}

command add_print(CLI::App& app) {
    auto const request = std::make_shared<print_request>();
    CLI::App& sub = *app.add_subcommand(
        "print", "Print the program of a .pt2 file or a TorchScript archive, or the graph of an .onnx file");
    sub.add_option("FILE", request->file, "A .pt2 file, a TorchScript archive, or an .onnx file")->required();
    sub.add_option("--model", request->model, "The name of one of several models in a .pt2 archive")->type_name("NAME");
    add_inputs(sub, request->inputs);
    add_format(sub, request->format);
    return [&sub, request] { return sub.parsed() ? print_file(*request) : -1; };
}

command add_check(CLI::App& app) {
    auto const request = std::make_shared<check_request>();
    CLI::App& sub = *app.add_subcommand("check", "Check ONNX files with ONNX's checker and full shape inference");
    sub.add_option("FILE", request->files, "An .onnx file, or a folder with .onnx files")->required();
    sub.add_option_function<std::string>(
           "--runtime",
           [request](std::string const& text) {
               std::size_t const colon = std::min(text.find(':'), text.size());
               if (text.substr(0, colon) != "onnxruntime")
                   throw CLI::ValidationError("--runtime", "write onnxruntime, or onnxruntime:RELEASE");
               request->release =
                   colon == text.size() ? std::string(onnx::onnxruntime::release) : text.substr(colon + 1);
               try {
                   (void)targets::parse_release(request->release);
               } catch (error const& e) {
                   throw CLI::ValidationError("--runtime", e.what());
               }
           },
           "Also list the nodes that meet a known fault of the runtime's kernels: onnxruntime, or a release of it, "
           "onnxruntime:1.31")
        ->type_name("NAME[:RELEASE]");
    add_format(sub, request->format);
    return [&sub, request] { return sub.parsed() ? check_models(*request) : -1; };
}

command add_record_check(CLI::App& app) {
    auto const files = std::make_shared<std::vector<std::string>>();
    CLI::App& sub =
        *app.add_subcommand("record-check", "Check files of recorded calls, as aton verify --calls reads them");
    auto const format = std::make_shared<std::string>("text");
    sub.add_option("FILE", *files, "A .jsonl file of recorded calls, or a folder with such files")->required();
    add_format(sub, *format);
    return [&sub, files, format] { return sub.parsed() ? check_records(*files, *format) : -1; };
}

command add_stub(CLI::App& app) {
    auto const request = std::make_shared<stub_request>();
    CLI::App& sub = *app.add_subcommand(
        "stub", "Write rows to fill in for the operators of a .pt2 file or a TorchScript archive that have no mapping");
    sub.add_option("MODEL", request->file, "A .pt2 file, or a TorchScript archive; or only --schemas");
    sub.add_option(
           "--schemas",
           request->schemas,
           "Schemas of operators, one in each line, as torch prints them; for those of MODEL, which has none, or "
           "without MODEL for all")
        ->type_name("FILE");
    add_plugins(sub, request->plugins);
    add_inputs(sub, request->inputs);
    sub.add_option("-o,--output", request->output, "The C++ file; default: standard output")->type_name("FILE");
    sub.callback([request] {
        if (request->file.empty() && request->schemas.empty()) throw CLI::RequiredError("MODEL or --schemas");
    });
    return [&sub, request] { return sub.parsed() ? write_stubs(*request) : -1; };
}

/// Passes the rest of the command line to run_verify(), which parses its own options.
command add_verify(CLI::App& app, char** argv) {
    CLI::App& sub = *app.add_subcommand(
        "verify", "Compare mappings, or a .pt2 file and its .onnx file, with ATen by running both sides");
    sub.prefix_command();
    sub.set_help_flag();
    return [&sub, argv] { return sub.parsed() ? run_verify(argv + 1) : -1; };
}

} // namespace

int run_command(int argc, char** argv) {
    CLI::App app("Aton: PyTorch models to ONNX, without Python", "aton");
    app.set_version_flag("--version", "aton " + std::string(aton::version), "Print the version");
    app.require_subcommand(1);
    app.allow_windows_style_options(false); // "/models/a.pt2" is a path on every system
    app.footer("Exit status: 0 success, 1 failure, 2 wrong usage.");
    auto const pass_on = [argv] { return run_verify(argv); };
    std::vector<command> const commands{add_export(app, {}, pass_on),
                                        add_print(app),
                                        add_ops(app),
                                        add_unconvertible(app),
                                        add_stub(app),
                                        add_view(app, {}, pass_on),
                                        add_optimize(app),
                                        add_check(app),
                                        add_record_check(app),
                                        add_verify(app, argv)};
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& e) {
        return end_parsing(app, e, "aton --help");
    }
    for (command const& each : commands)
        if (int const status = each(); status >= 0) return status;
    return 0;
}

} // namespace aton::tool
