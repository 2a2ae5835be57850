// SPDX-License-Identifier: MIT
// The aton command: its options and exit status. 0: success, 1: failure, 2: wrong usage.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/onnx/registry.hpp>

#include "commands.hpp"
#include "ops_command.hpp"
#include "options.hpp"

namespace aton::tool {

namespace {

void add_program_options(CLI::App& app, std::string& input, export_options& options) {
    app.add_option("MODEL.pt2", input, "A file written by torch.export.save, or by torch.jit.save")->required();
    add_conversion_options(app, options);
}

void add_format(CLI::App& app, std::string& format) {
    app.add_option("--format", format, "text or json")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
}

command add_export(CLI::App& app) {
    auto const request = std::make_shared<export_request>();
    CLI::App& sub = *app.add_subcommand("export", "Convert a .pt2 file, or a TorchScript archive, to an .onnx file");
    export_options& options = request->options;
    add_program_options(sub, request->input, options);
    sub.add_option("-o,--output", request->output, "The .onnx file; default: next to MODEL.pt2")->type_name("FILE");
    add_choice<weight_mode>(
        sub,
        "--weights",
        options.weights,
        {{"embed", weight_mode::embed}, {"external", weight_mode::external}, {"reference", weight_mode::reference}},
        "embed: in the .onnx file, up to 2 GiB; external: in FILE.data next to it; reference: they "
        "stay in MODEL.pt2, which must be in the folder of the .onnx file");
    add_operators(sub, options.operators);
    add_plugins(sub, request->plugins);
    add_inputs(sub, request->inputs);
    add_choice<state_mode>(sub,
                           "--state",
                           options.state,
                           {{"outputs", state_mode::outputs}, {"inputs", state_mode::inputs}},
                           "Buffers that the model changes. outputs: the new value is an extra output; inputs: the "
                           "old value is also an extra input");
    add_dims(sub, request->dims);
    sub.add_option("--rename", request->renames, "Rename an input or output; may be repeated")
        ->type_name("OLD=NEW")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    sub.add_flag_callback(
        "--no-optimize", [request] { request->options.optimize = false; }, "Keep the graph as the mappings made it");
    sub.add_option(
           "--no-rewrite",
           request->options.without_rewrites,
           "Leave out a rewrite, or a group such as attention (aton ops --rewrites lists them); may be repeated")
        ->type_name("NAME")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    sub.add_flag(
        "--inline-functions",
        request->options.inline_functions,
        "Expand custom operators with bodies of ONNX operators, instead of writing functions; always below opset 13");
    sub.add_flag_callback(
        "--check-guards",
        [request] { request->options.guards = guard_mode::all; },
        "The model rejects all sizes that the module rejects; default: only those that a constant of the program "
        "depends on");
    add_choice<random_mode>(sub,
                            "--random",
                            options.random,
                            {{"operators", random_mode::operators}, {"inputs", random_mode::inputs}},
                            "Random numbers, as of rand and of dropout in training. operators: ONNX's random operators "
                            "draw them; inputs: every draw is an extra input of the model");
    add_choice<nan_mode>(
        sub,
        "--nan",
        options.nan,
        {{"fast", nan_mode::fast}, {"exact", nan_mode::exact}},
        "Maxima, minima, sorts and their indices of NaN. fast: as the runtime's operators, except in programs "
        "that test for NaN; exact: as ATen, with more nodes");
    sub.add_option("--seed", options.seed, "The seed of the random operators; default: other numbers in every run")
        ->check(CLI::Range(0, 1 << 24))
        ->type_name("NUMBER");
    sub.add_flag("--werror", options.warnings_are_errors, "Treat warnings as errors: write nothing");
    add_format(sub, request->format);
    sub.add_flag("-q,--quiet", request->quiet, "Print nothing on success, not even warnings");
    return [&sub, request] { return sub.parsed() ? export_model(*request) : -1; };
}

command add_unconvertible(CLI::App& app) {
    auto const request = std::make_shared<unconvertible_request>();
    CLI::App& sub = *app.add_subcommand(
        "unconvertible", "List the operators of a .pt2 file that cannot be converted: why, how often, and where");
    add_program_options(sub, request->input, request->options);
    add_inputs(sub, request->inputs);
    add_format(sub, request->format);
    add_plugins(sub, request->plugins);
    return [&sub, request] { return sub.parsed() ? list_unconvertible(*request) : -1; };
}

command add_ops(CLI::App& app) {
    auto const request = std::make_shared<list_request>();
    CLI::App& sub = *app.add_subcommand("ops", "List the overloads that have a mapping, built in or in a plugin");
    add_plugins(sub, request->plugins);
    sub.add_option("--opset", request->opset, "Only mappings that apply at this opset")
        ->check(CLI::Range(1, onnx::newest_version("")));
    add_choice<list_format>(
        sub,
        "--format",
        request->format,
        {{"text", list_format::text}, {"json", list_format::json}, {"markdown", list_format::markdown}},
        "text, json or markdown");
    CLI::Option* const only_mapped = sub.add_flag_callback(
        "--mapped", [request] { request->mapped = true; }, "Only overloads that have a mapping (default)");
    sub.add_flag_callback(
           "--all", [request] { request->mapped = false; }, "Every ATen overload of torch")
        ->excludes(only_mapped);
    auto const rewrites = std::make_shared<bool>(false);
    sub.add_flag("--rewrites", *rewrites, "The rewrites of finished graphs instead, with their patterns")
        ->excludes(only_mapped)
        ->excludes("--all");
    return [&sub, request, rewrites] {
        if (sub.parsed()) print_out(*rewrites ? list_rewrites(*request) : list_operators(*request));
        return sub.parsed() ? 0 : -1;
    };
}

command add_print(CLI::App& app) {
    auto const file = std::make_shared<std::string>();
    auto const model = std::make_shared<std::string>();
    CLI::App& sub = *app.add_subcommand(
        "print", "Print the program of a .pt2 file or a TorchScript archive, or the graph of an .onnx file");
    sub.add_option("FILE", *file, "A .pt2 file, a TorchScript archive, or an .onnx file")->required();
    sub.add_option("--model", *model, "The name of one of several models in a .pt2 archive")->type_name("NAME");
    auto const inputs = std::make_shared<std::vector<std::string>>();
    add_inputs(sub, *inputs);
    return [&sub, file, model, inputs] { return sub.parsed() ? print_file(*file, *model, *inputs) : -1; };
}

command add_check(CLI::App& app) {
    auto const files = std::make_shared<std::vector<std::string>>();
    CLI::App& sub = *app.add_subcommand("check", "Check ONNX files with ONNX's checker and full shape inference");
    auto const format = std::make_shared<std::string>("text");
    sub.add_option("FILE", *files, "An .onnx file")->required();
    add_format(sub, *format);
    return [&sub, files, format] { return sub.parsed() ? check_models(*files, *format) : -1; };
}

/// Passes the rest of the command line to aton-verify, in the same folder, which parses its own options.
command add_verify(CLI::App& app, char** argv) {
    CLI::App& sub = *app.add_subcommand(
        "verify", "Compare mappings, or a .pt2 file and its .onnx file, with ATen by running both sides");
    sub.prefix_command();
    sub.set_help_flag();
    return [&sub, argv] { return sub.parsed() ? exec_sibling("aton-verify", argv + 1) : -1; };
}

int run(int argc, char** argv) {
    CLI::App app("Aton: PyTorch models to ONNX, without Python", "aton");
    app.set_version_flag("--version", "aton " + std::string(aton::version), "Print the version");
    app.require_subcommand(1);
    app.footer("Exit status: 0 success, 1 failure, 2 wrong usage.");
    std::vector<command> const commands{add_export(app),
                                        add_print(app),
                                        add_ops(app),
                                        add_unconvertible(app),
                                        add_view(app, {}, argv),
                                        add_check(app),
                                        add_verify(app, argv)};
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& e) {
        if (e.get_exit_code() == 0) return app.exit(e); // --help, --version
        complain(plain(e.what()) + " (see aton --help)");
        return 2;
    }
    for (command const& each : commands)
        if (int const status = each(); status >= 0) return status;
    return 0;
}

} // namespace

} // namespace aton::tool

int main(int argc, char** argv) { return aton::tool::guarded(aton::tool::run, argc, argv); }
