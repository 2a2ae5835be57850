// SPDX-License-Identifier: MIT
// aton verify, after its options are parsed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <aton/targets/target.hpp>
#include <aton/verify/models.hpp>

namespace aton::tool {

struct verify_request {
    std::vector<std::string> files; ///< MODEL.pt2 and MODEL.onnx, two .onnx files, or none
    std::string only;
    int opset = 0; ///< 0: all
    int samples = 3;
    targets::target const* target = nullptr; ///< with rewrites
    std::string nan = "exact";               ///< or "fast"
    std::uint64_t seed = 0;
    std::string seeds;     ///< "1..200": several seeds instead of `seed`
    std::string log;       ///< the file that records finished seeds
    bool rewrites = false; ///< the built-in rewrites instead of mappings
    bool mutants = false;
    std::string without_mutants; ///< a file with overloads whose graphs are not changed
    int max_mutants = 0;         ///< of each graph; 0: all
    double least_power = 0;      ///< in percent
    double least_row_power = 0;  ///< in percent
    int threads = 0;             ///< 0: one per CPU
    std::vector<std::string> plugins;
    std::string calls;   ///< a folder with recorded calls
    std::string inputs;  ///< a folder with input_0.pb, input_1.pb, ...; of .onnx files also an .npz or safetensors file
    std::string runtime; ///< another one that runs the model: "onnxruntime" or "onnxruntime:extended"
    std::string runtime_library; ///< empty: that of a Python package
    std::string runtime_command; ///< "prog {model} {inputs} {outputs}", in place of `runtime`
    int timeout = 60;            ///< seconds of a run of `runtime` or `runtime_command`
    std::string reproduction;    ///< a folder for the smallest part that differs
    std::string model;
    std::string device = "cpu"; ///< or "cuda"
    bool torch = false;         ///< libtorch's operators are the truth
    std::vector<std::string> reports;
    std::string format = "text"; ///< or "json"
    bool quiet = false;          ///< print only what differs

    [[nodiscard]] bool is_json() const { return format == "json"; }
};

/// Why options cannot be combined; empty if they can.
[[nodiscard]] std::string usage_fault(verify_request const& request);

/// The same for --runtime and --runtime-command.
[[nodiscard]] std::string runtime_fault(verify_request const& request);

/// Return the exit status: 0 if there is no difference, 1 otherwise. Throw aton::error if the check cannot be run.
int verify_mappings(verify_request const& request);
int verify_model(verify_request const& request);
/// Whether the files are two .onnx files.
[[nodiscard]] bool is_pair(verify_request const& request);
int verify_pair(verify_request const& request, runtime::device where);
/// Whether another runtime runs the model.
[[nodiscard]] bool is_asked(verify_request const& request);
int verify_runtime(verify_request const& request);
/// Applies the rewrites to the graph of a program one after another, and compares each graph that a rewrite changes with the program.
class progress;
int verify_translation(verify_request const& request, verify::model_options const& how, progress& shown);

/// Takes the inputs of a model from a folder with input_0.pb, ... and, if it has them, the outputs from output_0.pb, ...
void take_recorded(verify::model_options& options, std::string const& folder);

/// Prints the report of a check as text or, if the request says so, as JSON.
void print_report(verify_request const& request, bool passed, std::string const& text, std::string const& json);

/// Parses the arguments of `aton verify`, or of `view` and `export` with --verify, and runs them. Returns the exit status: 0 no difference,
/// 1 a difference or failure, 2 wrong usage.
int verify_main(int argc, char** argv);
/// aton view --verify and aton export --verify, which aton passes on with its own arguments.
int run_passed_on(int argc, char** argv);

} // namespace aton::tool
