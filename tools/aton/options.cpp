// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/targets/built_in.hpp>

namespace aton::tool {

void add_conversion_options(CLI::App& app, export_options& options) {
    app.add_option("--opset", options.opset, "The target opset of ai.onnx")
        ->check(CLI::Range(oldest_export_opset, onnx::newest_version("")))
        ->capture_default_str();
    app.add_option("--model", options.model, "The name of one of several models in the archive")->type_name("NAME");
    add_target(app, options.target);
}

void add_target(CLI::App& app, targets::target const*& target) {
    std::string about = "The runtime of the model. onnx: any (default)";
    for (targets::target const* t : targets::built_in_targets())
        about += "; " + std::string(t->name) + ": " + std::string(t->about);
    app.add_option_function<std::string>(
           "--target",
           [&target](std::string const& name) {
               try {
                   target = targets::find_target(name);
               } catch (error const& e) {
                   throw CLI::ValidationError("--target", e.what());
               }
           },
           about)
        ->type_name("NAME");
}

void add_plugins(CLI::App& app, std::vector<std::string>& plugins) {
    app.add_option(
           "--plugin", plugins, "A shared library with mapping tables; may be repeated, earlier ones take priority")
        ->type_name("FILE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_inputs(CLI::App& app, std::vector<std::string>& inputs) {
    app.add_option(
           "--input",
           inputs,
           "The type of an input of a TorchScript archive: x:float32[1,3,224,224]; a name instead of a size makes "
           "the dimension dynamic; may be repeated")
        ->type_name("NAME:DTYPE[SIZES]")
        ->expected(1)
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
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

command add_view(CLI::App& app, node_comparer compare, char** argv) {
    auto const request = std::make_shared<view_request>();
    CLI::App& sub = *app.add_subcommand(
        "view", "Write a page that shows the graph of an .onnx file, or a .pt2 file and the graph that it becomes");
    sub.add_option("MODEL", request->input, "A .pt2 file, a TorchScript archive, or an .onnx file")->required();
    sub.add_option("MODEL.onnx", request->graph, "The graph to show beside a .pt2 file, instead of exporting it");
    sub.add_option("-o,--output", request->output, "The .html file; default: next to MODEL")->type_name("FILE");
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
    return [&sub, &of_programs, request, verifies, compare = std::move(compare), argv] {
        if (!sub.parsed()) return -1;
        request->has_program_options = of_programs.count_all() != 0;
        if (*verifies && !compare) return exec_sibling("aton-verify", argv);
        if (*verifies) request->compare = compare;
        return view_model(*request);
    };
}

} // namespace aton::tool
