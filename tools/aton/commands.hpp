// SPDX-License-Identifier: MIT
// The commands, after their options are parsed. Each returns its exit status and throws aton::error on failure.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/json_writer.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/exporter/plugin.hpp>
#include <view/page.hpp>

namespace aton::tool {

/// Writes the result of a command to stdout. Throws if that fails.
void print_out(std::string_view text);
/// The body of main(): run_reported() in a process of its own, whose signals and standard streams it prepares.
int guarded(int (*run)(int, char**), int argc, char** argv);
/// Calls `run`; prints an exception as one line on stderr and returns 1.
int run_reported(int (*run)(int, char**), int argc, char** argv);
/// The command with all its subcommands. Returns the exit status, 0: success, 1: failure, 2: wrong usage.
int run_command(int argc, char** argv);
/// Prints "aton: WHAT" as one line on stderr: why the command fails.
void complain(std::string_view what);
/// The same, because of operators that cannot be converted, if there are any.
void complain(std::string_view what, std::vector<unconvertible> const& operators);
/// Writes lines to stderr.
void print_note(std::string_view text);
/// Prints "aton: warning: FILE: TEXT" as one line on stderr. Of more than `max_warnings` in a run, run_reported() prints the number of the others.
void warn(std::string const& file, std::string const& text);
/// Replaces control characters by spaces, in text that comes from a file or the command line.
[[nodiscard]] std::string plain(std::string text);
/// One line such as "IR 9, opset 20, ai.onnx.ml 4, made by pytorch 2.13.0".
[[nodiscard]] std::string summary(model const& m);
/// Whether a file starts like a ZIP archive, as .pt2 files do. False if it cannot be read.
[[nodiscard]] bool is_archive(std::string const& path);

/// Replaces this process by a program from the folder of this one, with `argv`. Throws if that fails.
[[noreturn]] int exec_sibling(std::string const& program, char** argv);
/// Runs `aton verify`, or `export` and `view` with --verify: aton-verify replaces this process, or the runtime is in this program.
int run_verify(char** argv);

/// Loads plugins. Throws if one cannot be used, or shadows rows of a later one or of the built-in tables without `override_`.
[[nodiscard]] std::vector<plugin> load_plugins(std::vector<std::string> const& paths);
/// The tables of all plugins, in order.
[[nodiscard]] std::vector<dsl::table_view> tables_of(std::vector<plugin> const& plugins);

/// Whether a graph gives the numbers of its program.
struct verification {
    bool passed = false;
    std::string summary; ///< one sentence
    std::string text;    ///< lines, as aton verify prints them
    std::string json;    ///< an object
};
/// Runs a program and its graph. `progress` counts nodes, and may be null.
using model_verifier = std::function<verification(program::program const&, graph_data const&,
                                                  std::function<void(std::size_t, std::size_t)> const& progress)>;

struct export_request {
    std::vector<std::string> files; ///< and folders
    std::string format = "text";    ///< or "json"
    std::string output;             ///< empty: next to the input, with the extension .onnx
    bool quiet = false;
    int jobs = 1;                          ///< files exported at a time
    model_verifier verifier;               ///< null: nothing is run
    std::vector<std::string> inputs;       ///< "x:float32[1,3,224,224]"
    std::vector<std::string> dims;         ///< "x:0=batch"
    std::vector<std::string> renames;      ///< "relu=probabilities"
    std::vector<std::string> weight_names; ///< "model.*=*"
    std::vector<std::string> plugins;      ///< files, in order of priority
    std::string quantize;                  ///< "int4:block=32"; empty: weights stay as they are
    std::vector<std::string> quantize_include;
    std::vector<std::string> quantize_exclude;
    std::string print_after; ///< a pass, after which the graph is printed on stderr
    std::string stop_after;  ///< a pass, or a number of changes
    export_options options;
};
int export_models(export_request request);

/// One file of an export.
struct export_job {
    std::string input;
    std::string output;
    std::string fault{}; ///< why it cannot be exported, if that is known
};
/// The files to export: those in folders, too, with their outputs. Throws if two inputs have the same output, or an output is an input.
[[nodiscard]] std::vector<export_job> plan_exports(export_request const& request);

/// What became of a job.
struct export_outcome {
    export_job job;
    std::string error; ///< one line; empty if the file was exported
    std::vector<unconvertible> refused{};
    std::optional<export_report> report{}; ///< if the file was exported
    std::optional<verification> verified{};
    std::chrono::steady_clock::duration took{};

    /// Whether it was exported and, if that was asked for, has the numbers of its program.
    [[nodiscard]] bool passed() const { return error.empty() && (!verified || verified->passed); }
};
class progress;
/// Exports one file. What goes wrong is in the outcome.
[[nodiscard]] export_outcome export_one(export_job const& job, export_options options, model_verifier const& verifier,
                                        progress& shown);
/// Exports several files, prints a line for each in their order, and returns the exit status.
int export_several(export_request const& request, std::vector<export_job> const& jobs);

/// Lines for stdout: inputs in place of random numbers, and what was written.
[[nodiscard]] std::string text_of(export_outcome const& made, int opset);
/// The object of JSON that describes an outcome.
void write_json(json_writer& out, export_outcome const& made, int opset);
/// Warnings about the program, on stderr.
void print_warnings(export_outcome const& made);
/// "x:0=batch"
[[nodiscard]] dim_name parse_dim(std::string const& text);
/// "x:float32[batch,3,224,224]", "rate:int", or "rate=16000"
[[nodiscard]] torchscript::input_type parse_input(std::string const& text);
/// "int4:block=32:symmetric"
[[nodiscard]] quantize_options parse_quantize(std::string const& text);
/// "fused", "fused:accuracy=0" or "exact"; throws if it is none of these.
void parse_quantization(std::string const& text, export_options& to);

struct unconvertible_request {
    std::vector<std::string> files; ///< and folders
    std::string format = "text";
    std::vector<std::string> inputs;
    std::vector<std::string> plugins;
    export_options options;
};
int list_unconvertible(unconvertible_request const& request);

/// Runs a program and its graph, and returns what the page says about every node.
using node_comparer = std::function<view::comparison(program::program const&, graph_data const&)>;

struct view_request {
    std::string input;
    std::string graph;  ///< an .onnx file; empty: `input` is exported
    std::string output; ///< empty: next to the input, with the extension .html
    std::string format = "text";
    std::vector<std::string> inputs;
    std::vector<std::string> dims;
    std::vector<std::string> plugins;
    bool has_program_options = false; ///< options were given that an .onnx file does not have
    node_comparer compare;            ///< null: nothing is run
    export_options options;
};
int view_model(view_request request);

/// The graph with the elements of its weights, also those of nested graphs, in memory.
[[nodiscard]] graph_data with_weights(graph_data graph);

struct print_request {
    std::string file;
    std::string model; ///< of several in an archive
    std::string format = "text";
    std::vector<std::string> inputs;
};
int print_file(print_request const& request);
/// What print_file() prints as JSON. `models`: the names of all in the archive.
[[nodiscard]] std::string json_of(std::string const& path, program::program const& p,
                                  std::vector<std::string> const& models);
[[nodiscard]] std::string json_of(std::string const& path, model const& m);
struct check_request {
    std::vector<std::string> files; ///< and folders
    std::string format = "text";
    std::string release; ///< of ONNX Runtime, whose known faults are listed; empty: none
};
int check_models(check_request const& request);
/// The array of JSON that describes operators that cannot be converted.
void write_json(json_writer& out, std::vector<unconvertible> const& all);

} // namespace aton::tool
