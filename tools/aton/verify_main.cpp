// SPDX-License-Identifier: MIT
// The options of aton verify.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/onnx/registry.hpp>

#include "commands.hpp"
#include "options.hpp"
#include "torch_truth.hpp"
#include "verify_command.hpp"

namespace aton::tool {

int verify_main(int argc, char** argv) {
    if (argc > 1 && (std::string_view(argv[1]) == "view" || std::string_view(argv[1]) == "export"))
        return run_passed_on(argc, argv);
    CLI::App app("Compare mappings or a model with ATen by running both sides on the same inputs", "aton verify");
    verify_request request;
    app.add_option("MODEL",
                   request.files,
                   "MODEL.pt2 MODEL.onnx: a program and its graph; RIGHT.onnx OTHER.onnx: two models; MODEL.onnx with "
                   "--runtime; --rewrites MODEL.pt2: every rewrite that applies to its "
                   "graph; default: every built-in mapping")
        ->expected(0, 2);
    app.add_flag(
        "--rewrites",
        request.rewrites,
        "Check the rewrites of finished graphs instead, built in or of plugins: what a pattern computes is the truth");
    add_target(app, request.target);
    app.add_option("--only", request.only, "Only mappings of overloads whose name contains TEXT")->type_name("TEXT");
    app.add_option("--opset",
                   request.opset,
                   "Only this opset; default: all opsets at which the graph of a mapping computes something new")
        ->check(CLI::Range(1, onnx::newest_version("")));
    app.add_option("--samples",
                   request.samples,
                   "Calls per combination of dtype, sizes and values; for a model: sets of inputs")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    app.add_option(
           "--nan",
           request.nan,
           "exact: calls with NaN, and the graphs of aton export --nan exact; fast: those of --nan fast, on calls "
           "without NaN")
        ->check(CLI::IsMember({"exact", "fast"}))
        ->capture_default_str();
    app.add_option("--seed", request.seed, "Seed of the random calls or inputs")->capture_default_str();
    app.add_option("--seeds",
                   request.seeds,
                   "Check mappings with each of these seeds, such as 1..200, and print a line for each")
        ->type_name("FIRST..LAST");
    app.add_option(
           "--log", request.log, "Record the lines of --seeds in FILE; seeds that it already has are not run again")
        ->type_name("FILE");
    app.add_flag(
        "--mutants", request.mutants, "Change every graph on purpose and count how many of the mutants are detected");
    app.add_option("--without-mutants",
                   request.without_mutants,
                   "A file with overloads, one per line, whose graphs are not changed")
        ->type_name("FILE");
    app.add_option("--max-mutants",
                   request.max_mutants,
                   "Run about this many mutants of each graph, always the same ones; default: all")
        ->check(CLI::Range(1, 1000000));
    app.add_option("--least-power", request.least_power, "Fail if less than this percentage of all mutants is detected")
        ->check(CLI::Range(0.0, 100.0));
    app.add_option("--least-row-power",
                   request.least_row_power,
                   "Fail if any mapping detects less than this percentage of its mutants")
        ->check(CLI::Range(0.0, 100.0));
    app.add_option("--threads", request.threads, "Number of threads that check mappings; default: one per CPU")
        ->check(CLI::Range(1, 1024));
    app.add_option("--plugin",
                   request.plugins,
                   "Check the mappings of a shared library instead of the built-in ones; may be repeated")
        ->type_name("FILE")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--calls",
                   request.calls,
                   "A folder with recorded calls of operators: rows must give the recorded results. For rows that "
                   "nothing else can check, instead of random calls")
        ->type_name("FOLDER");
    app.add_option(
           "--inputs",
           request.inputs,
           "A folder with input_0.pb, input_1.pb, ...: inputs of the model instead of random ones; with output_0.pb, "
           "...: what the program gave for them, and it is not run. For .onnx files also an .npz or safetensors file")
        ->type_name("FOLDER | FILE");
    app.add_option(
           "--runtime",
           request.runtime,
           "Compare MODEL.onnx in this runtime, at every level of its optimizations, with Aton's, and find the "
           "node or the optimization that differs: onnxruntime, or onnxruntime:disabled, :basic, :extended, :all")
        ->type_name("NAME[:LEVEL]");
    app.add_option("--runtime-library",
                   request.runtime_library,
                   "The shared library of --runtime; default: that of the Python package in the active environment")
        ->type_name("FILE");
    app.add_option(
           "--runtime-command",
           request.runtime_command,
           "The same for a command that runs a model: 'prog {model} {inputs} {outputs}'. {inputs} is a folder "
           "with input_0.pb, ...; {outputs} one for output_0.pb, ...; {inputs.npz}, {outputs.npz}: archives instead")
        ->type_name("COMMAND");
    app.add_option("--timeout", request.timeout, "Seconds that a run of --runtime or --runtime-command may take")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_option(
           "--reproduction",
           request.reproduction,
           "Write the smallest part of the model that differs in --runtime to a folder: with its inputs and both "
           "results, to attach to a report")
        ->type_name("FOLDER");
    app.add_option("--model", request.model, "The name of one of several models in the .pt2 archive")
        ->type_name("NAME");
    app.add_option("--device", request.device, "The device to run on; cuda needs a build with ATON_BUILD_CUDA")
        ->check(CLI::IsMember({"cpu", "cuda"}))
        ->capture_default_str();
    app.add_flag(
        "--torch",
        request.torch,
        "Compare mappings with the operators of libtorch, those of plugins too; in builds with ATON_BUILD_TORCH");
    app.add_option("--report", request.reports, "Also write a report: .html (mappings only) or .json; may be repeated")
        ->type_name("FILE")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    add_format(app, request.format);
    app.add_flag("-q,--quiet", request.quiet, "Print nothing if there is no difference, and no progress");
    app.footer("Exit status: 0 no difference, 1 a difference or failure, 2 wrong usage.");
    app.callback([&] {
        if (std::string const fault = usage_fault(request); !fault.empty()) throw CLI::ValidationError(fault);
    });
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& e) {
        return end_parsing(app, e, "aton verify --help");
    }
    if (request.torch) become_torch(argv);
    return request.files.empty() ? verify_mappings(request) : verify_model(request);
}

} // namespace aton::tool
