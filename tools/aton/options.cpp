// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/targets/built_in.hpp>

#include "model_files.hpp"

namespace aton::tool {

int end_parsing(CLI::App const& app, CLI::ParseError const& e, std::string const& help) {
    if (e.get_exit_code() == 0) {
        std::ostringstream out;
        (void)app.exit(e, out, out);
        print_out(out.str());
        return 0;
    }
    complain(plain(e.what()) + " (see " + help + ")");
    return 2;
}

void add_conversion_options(CLI::App& app, export_options& options) {
    app.add_option("--opset", options.opset, "The target opset of ai.onnx")
        ->check(CLI::Range(oldest_export_opset, onnx::newest_version("")))
        ->capture_default_str();
    app.add_option("--model", options.model, "The name of one of several models in the archive")->type_name("NAME");
    add_target(app, options.target);
}

void add_target(CLI::App& app, targets::target const*& target) {
    app.add_option_function<std::string>(
           "--target",
           [&target](std::string const& name) {
               try {
                   target = targets::find_target(name);
               } catch (error const& e) {
                   throw CLI::ValidationError("--target", e.what());
               }
           },
           "The runtime of the model. " + targets::target_names())
        ->type_name("NAME[:VERSION]");
}

void add_format(CLI::App& app, std::string& format) {
    app.add_option("--format", format, "text or json")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
    app.add_flag_callback("--json", [&format] { format = "json"; }, "The same as --format json");
}

void add_plugins(CLI::App& app, std::vector<std::string>& plugins) {
    app.add_option(
           "--plugin", plugins, "A shared library with mapping tables; may be repeated, earlier ones take priority")
        ->type_name("FILE")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_inputs(CLI::App& app, std::vector<std::string>& inputs) {
    app.add_option(
           "--input",
           inputs,
           "The type of an input of a TorchScript archive: x:float32[1,3,224,224]; a name instead of a size makes "
           "the dimension dynamic; n:int, scale:float and flag:bool are numbers; rate=16000 is the value in every "
           "call; "
           "may be repeated")
        ->type_name("NAME:DTYPE[SIZES] | NAME=VALUE")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_operators(CLI::App& app, operator_mode& operators) {
    add_choice<operator_mode>(
        app,
        "--operators",
        operators,
        {{"standard", operator_mode::standard},
         {"aten", operator_mode::aten},
         {"aten-fallback", operator_mode::aten_fallback},
         {"keep", operator_mode::keep}},
        "standard: refuse operators without a mapping; aten: every ATen operator becomes an ATen node; aten-fallback: "
        "only those that cannot be converted do; keep: custom operators without a mapping become nodes of their "
        "own domain");
}

void add_dims(CLI::App& app, std::vector<std::string>& dims) {
    app.add_option("--dim", dims, "Name a dynamic dimension: x:0=batch; may be repeated")
        ->type_name("INPUT:AXIS=NAME")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_weight_sources(CLI::App& app, export_options& options, std::vector<std::string>& names) {
    CLI::Option* const from = app.add_option("--weights-from",
                                             options.weights_from,
                                             "Take the numbers of the weights from here, not from MODEL.pt2: "
                                             "a safetensors file, a state dict of torch.save, their index "
                                             "(model.safetensors.index.json), or a folder with one of these");
    from->type_name("FILE");
    app.add_option("--weights-map",
                   names,
                   "What a weight is called in --weights-from: 'model.*=*'; A+B joins two tensors; may be repeated")
        ->type_name("OLD=NEW")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->needs(from);
    app.add_flag("--weights-cast",
                 options.weights_cast,
                 "Convert the numbers of --weights-from to the floating dtypes of the program")
        ->needs(from);
}

namespace {

/// --quantize, --quantize-include and --quantize-exclude
void add_quantize(CLI::App& app, export_request& request) {
    CLI::Option* const quantize =
        app.add_option(
               "--quantize",
               request.quantize,
               "Round the weights of MatMul and Gemm to the nearest int2, int4 or int8, in blocks with a scale: "
               "int4:block=32; :symmetric: no zero points; :embeddings: also those of Gather; :accuracy=4: "
               "the other operand may be rounded to int8. With --target onnxruntime MatMulNBits multiplies, "
               "else DequantizeLinear of opset 21")
            ->type_name("TYPE[:OPTION...]");
    auto const add_patterns = [&](char const* name, std::vector<std::string>& patterns, char const* about) {
        app.add_option(name, patterns, about)
            ->type_name("NAME")
            ->expected(1)
            ->allow_extra_args(false)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
            ->needs(quantize);
    };
    add_patterns("--quantize-include",
                 request.quantize_include,
                 "Round only weights of this name, in which * is any text; may be repeated");
    add_patterns("--quantize-exclude",
                 request.quantize_exclude,
                 "Do not round weights of this name, in which * is any text; may be repeated");
}

} // namespace

command add_export(CLI::App& app, export_verifier verifier, std::function<int()> pass_on) {
    auto const request = std::make_shared<export_request>();
    CLI::App& sub = *app.add_subcommand("export", "Convert .pt2 files and TorchScript archives to .onnx files");
    export_options& options = request->options;
    sub.add_option(
           "MODEL.pt2",
           request->files,
           "A file written by torch.export.save, or by torch.jit.save; several files; or folders, whose .pt2 files "
           "are exported (and with --input .pt files)")
        ->required();
    add_conversion_options(sub, options);
    sub.add_option("-o,--output",
                   request->output,
                   "The .onnx file, or the folder for those of several files; default: next to MODEL.pt2")
        ->type_name("FILE");
    sub.add_option("-j,--jobs", request->jobs, "Export this many files at a time")
        ->check(CLI::Range(1, 1024))
        ->type_name("NUMBER")
        ->capture_default_str();
    add_choice<weight_mode>(
        sub,
        "--weights",
        options.weights,
        {{"embed", weight_mode::embed}, {"external", weight_mode::external}, {"reference", weight_mode::reference}},
        "embed: in the .onnx file, up to 2 GiB; external: in FILE.data next to it; reference: they "
        "stay in MODEL.pt2 or in the files of --weights-from, which must be in the folder of the .onnx file");
    add_weight_sources(sub, options, request->weight_names);
    add_quantize(sub, *request);
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
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    sub.add_flag_callback(
        "--no-optimize", [request] { request->options.optimize = false; }, "Keep the graph as the mappings made it");
    sub.add_option(
           "--no-rewrite",
           request->options.without_rewrites,
           "Leave out a rewrite, or a group such as attention (aton ops --rewrites lists them); may be repeated")
        ->type_name("NAME")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    sub.add_option("--print-after",
                   request->print_after,
                   "Print the graph on stderr whenever this pass has run (aton ops --passes lists them)")
        ->type_name("PASS");
    sub.add_option("--stop-after",
                   request->stop_after,
                   "Make no more changes after this number of them, or after the first one of a pass")
        ->type_name("NUMBER | PASS");
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
    sub.add_option_function<std::string>(
           "--quantization",
           [&options](std::string const& text) { parse_quantization(text, options); },
           "Quantized tensors of the program. fused: QuantizeLinear, with which runtimes multiply integers; at most a "
           "few numbers in a million are one step off; exact: torch's numbers, by arithmetic in floating point. "
           "fused:accuracy=NUMBER: of MatMulNBits, which --target onnxruntime writes, 0 (exact) to 4 (default): how "
           "far "
           "it rounds the other operand")
        ->type_name("WORD")
        ->default_str("fused");
    sub.add_option("--seed", options.seed, "The seed of the random operators; default: other numbers in every run")
        ->check(CLI::Range(0, 1 << 24))
        ->type_name("NUMBER");
    sub.add_flag("--werror", options.warnings_are_errors, "Treat warnings as errors: write nothing");
    auto const verifies = std::make_shared<bool>(false);
    CLI::Option* const verify_option =
        sub.add_flag("--verify", *verifies, "Run program and model on the same inputs afterwards, as aton verify does");
    auto const recorded = std::make_shared<std::string>();
    sub.add_option("--recorded",
                   *recorded,
                   "A folder with input_0.pb, ... and output_0.pb, ...: what the program gave, for --verify of one "
                   "program with custom operators, which only their library can run")
        ->type_name("FOLDER")
        ->needs(verify_option);
    add_format(sub, request->format);
    sub.add_flag("-q,--quiet", request->quiet, "Print nothing on success, not even warnings");
    return [&sub, request, verifies, recorded, verifier = std::move(verifier), pass_on = std::move(pass_on)] {
        if (!sub.parsed()) return -1;
        if (!recorded->empty() && are_several(request->files)) throw error("--recorded is for one program");
        if (*verifies && !request->quantize.empty())
            throw error("--verify: --quantize changes the numbers; leave out one of the two");
        if (*verifies && !verifier) return pass_on();
        if (*verifies)
            request->verifier = [&verifier, recorded](auto const& p, auto const& graph, auto const& progress) {
                return verifier(p, graph, *recorded, progress);
            };
        return export_models(*request);
    };
}

command add_view(CLI::App& app, node_comparer compare, std::function<int()> pass_on) {
    auto const request = std::make_shared<view_request>();
    CLI::App& sub = *app.add_subcommand(
        "view", "Write a page that shows the graph of an .onnx file, or a .pt2 file and the graph that it becomes");
    sub.add_option("MODEL", request->input, "A .pt2 file, a TorchScript archive, or an .onnx file")->required();
    sub.add_option("MODEL.onnx", request->graph, "The graph to show beside a .pt2 file, instead of exporting it");
    sub.add_option("-o,--output", request->output, "The .html file; default: next to MODEL")->type_name("FILE");
    add_format(sub, request->format);
    export_options& options = request->options;
    CLI::Option_group& of_programs = *sub.add_option_group("Options for .pt2 files and TorchScript archives");
    add_conversion_options(of_programs, options);
    add_operators(of_programs, options.operators);
    add_plugins(of_programs, request->plugins);
    add_inputs(of_programs, request->inputs);
    add_dims(of_programs, request->dims);
    of_programs.add_flag_callback(
        "--no-optimize", [request] { request->options.optimize = false; }, "Keep the graph as the mappings made it");
    auto const verifies = std::make_shared<bool>(false);
    of_programs.add_flag(
        "--verify", *verifies, "Run program and graph on the same inputs, and show the error of every node");
    return [&sub, &of_programs, request, verifies, compare = std::move(compare), pass_on = std::move(pass_on)] {
        if (!sub.parsed()) return -1;
        request->has_program_options = of_programs.count_all() != 0;
        if (*verifies && !compare) return pass_on();
        if (*verifies) request->compare = compare;
        return view_model(*request);
    };
}

} // namespace aton::tool
