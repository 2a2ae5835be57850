// SPDX-License-Identifier: MIT
// Exports .pt2 files and TorchScript archives to .onnx files.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/dsl/table.hpp>
#include <aton/exporter/quantize.hpp>
#include <aton/frontend/torchscript/read_program.hpp>
#include <aton/ir/pattern.hpp>
#include <aton/model_io/weights.hpp>
#include <aton/passes/pass_trace.hpp>
#include <aton/program/program.hpp>
#include <aton/targets/target.hpp>

namespace ATON_NAMESPACE {

/// The oldest target opset: the first in which operators broadcast. Runtimes execute models from there on.
inline constexpr int oldest_export_opset = 7;

/// How to export operators, in particular those without a mapping. Only the modes other than `standard` create nodes that ONNX does not
/// define.
enum class operator_mode : std::uint8_t {
    standard,      ///< ONNX operators; if some have no mapping, the export is refused and all of them are named
    aten,          ///< every ATen operator becomes a node ATen in domain org.pytorch.aten
    aten_fallback, ///< as `aten`, but only operators without a mapping at the opset, or whose mapping refuses the call
    keep, ///< operators of other domains without a mapping become nodes of their domain; numbers become attributes
};

/// How to represent buffers that the model changes.
enum class state_mode : std::uint8_t {
    outputs, ///< the new value is an additional output; the old value is in the file
    inputs,  ///< the old value is also an additional input
};

/// The name of a dynamic dimension: `--dim x:0=batch`.
struct dim_name {
    std::string input;
    std::int64_t axis = 0;
    std::string name;
};

/// Which guards the model checks at run time. Guards are conditions on the inputs that torch recorded (docs/exporter.md). Those that
/// follow from constant sizes are enforced by any runtime.
enum class guard_mode : std::uint8_t {
    frozen, ///< guards on sizes from which a number of the program was computed
    all,    ///< all; the export is refused if ONNX cannot express one
};

/// How the model gets the random numbers of operators such as rand, bernoulli, and dropout in training.
enum class random_mode : std::uint8_t {
    operators, ///< from ONNX's random operators; there is a warning, which names them
    inputs,    ///< each draw is an input of the model, so that results can be repeated and compared
};

/// What the model does where operands are NaN.
enum class nan_mode : std::uint8_t {
    fast,  ///< what the runtime's operators do, unless the program tests for NaN or contains it as a number
    exact, ///< what ATen does: maxima, minima, sorts and their indices get nodes that treat NaN
};

/// How quantized tensors of the program are written.
enum class quantization_mode : std::uint8_t {
    fused, ///< as runtimes run them fastest: QuantizeLinear, of whose numbers a few in a million are one step off
    exact, ///< with torch's numbers: arithmetic, unless QuantizeLinear gives the same
};

/// What an export does, in this order.
enum class export_stage : std::uint8_t {
    read,     ///< the program, not its weights
    convert,  ///< nodes become a graph
    optimize, ///< rewrites, and arithmetic on weights
    write,    ///< the model and its weights
};

/// The subject of a warning.
enum class warning_kind : std::uint8_t {
    unused_input,
    pinned_dimension,  ///< it was dynamic, but a guard allows only one size
    unchecked_guard,   ///< the model accepts sizes that the module refuses
    dropped_effect,    ///< an operator with a side effect, such as an assertion or print, was removed
    unknown_operator,  ///< an unused operator was removed that neither torch nor a table declares
    random_operator,   ///< the model draws random numbers, other ones than torch
    state_input,       ///< an input that keeps an attribute of the module between calls
    missing_kernel,    ///< ONNX Runtime does not load the model
    assumed_tie,       ///< a weight is not in export_options::weights_from, and takes the numbers of another one
    kept_weight,       ///< a weight is not in export_options::weights_from, and keeps the numbers of the program
    unused_weight,     ///< a tensor in export_options::weights_from belongs to no weight
    unrounded_weights, ///< export_options::quantize rounds nothing
};

/// One sentence, without the name of the file.
struct warning {
    warning_kind kind = warning_kind::unused_input;
    std::string text;         ///< about the first subject, if there are several, with a count and some of the others
    std::string subject = {}; ///< the input, dimension or operator; empty if only the text says it
    std::size_t count = 1;    ///< of subjects
};

/// The maximum number of warnings of a report. If there would be more, one in addition says how many.
inline constexpr std::size_t max_warnings = 64;

/// What to export, and how; the defaults are those of `aton export`.
struct export_options {
    int opset = 20;
    weight_mode weights = weight_mode::embed;
    /// Where the numbers of the weights come from, instead of the program: a safetensors file, a file of torch.save with a state dict, the
    /// index of several such files, or a folder with one of these. Empty: from the program.
    std::string weights_from;
    /// Names of weights, and what they are called in `weights_from`: {"model.*", "*"} (docs/exporter.md).
    std::vector<std::pair<std::string, std::string>> weights_map;
    bool weights_cast =
        false; ///< convert the numbers of `weights_from` if their floating dtype is not that of the program
    operator_mode operators = operator_mode::standard;
    state_mode state = state_mode::outputs;
    std::string model;                           ///< selects one of several in an archive
    std::vector<torchscript::input_type> inputs; ///< of a TorchScript archive, which does not record their types
    std::vector<dim_name> dims;
    std::vector<std::pair<std::string, std::string>> renames; ///< inputs and outputs: {"relu", "probabilities"}
    bool optimize = true;                                     ///< false: keep the graph as built by the mappings
    bool inline_functions = false; ///< replace calls of custom operators by their bodies, as always below opset 13
    std::vector<dsl::table_view> tables;       ///< searched before the built-in ones
    std::vector<rewrites_view> rewrites;       ///< tried before the built-in ones (docs/rewrites.md)
    std::vector<std::string> without_rewrites; ///< names of rewrites, or of groups ("attention"), that are not applied
    targets::target const* target = nullptr;   ///< null: any runtime that implements ONNX (docs/targets.md)
    guard_mode guards = guard_mode::frozen;
    random_mode random = random_mode::operators;
    nan_mode nan = nan_mode::fast;
    quantization_mode quantization =
        quantization_mode::fused; ///< of programs that are quantized (docs/quantization.md)
    /// Of MatMulNBits with quantization_mode::fused: how precisely ONNX Runtime may round the other operand, 1 (float32) to 4 (int8); 0:
    /// not at all.
    int product_accuracy = 4;
    std::optional<std::uint32_t>
        seed; ///< of the random operators, at most 2^24; none: the runtime chooses one for every run
    std::optional<quantize_options> quantize; ///< weights of products become integers; none: they stay
    bool warnings_are_errors = false;         ///< refuse the export if there is a warning
    std::function<void(std::uint64_t done, std::uint64_t total)> progress; ///< bytes of written weights
    std::function<void(export_stage)> stage;                               ///< called when a stage begins
    pass_trace* trace = nullptr; ///< observes and limits the passes; null: nothing does
};

/// An input that replaces a draw of random numbers.
struct drawn_input {
    std::string name;         ///< "dropout_uniform"
    std::string distribution; ///< "uniform in [0, 1)"
    std::string op;           ///< the ATen overload
    std::string place;        ///< "model.py:12 in forward"; may be empty
};

/// A convolution or product of matrices with an operand that the program has quantized.
struct quantized_product {
    std::string op;     ///< of the program: "aten::linear"
    std::string node;   ///< its name in the program
    std::string place;  ///< "model.py:12 in forward"; may be empty
    std::string reason; ///< why it is computed in floating point; empty: ONNX Runtime computes it with integers
};

/// Statistics of an export.
struct export_report {
    std::size_t nodes = 0;
    std::size_t weights = 0;           ///< initializers: weights and constants
    std::uint64_t weight_bytes = 0;    ///< of all initializers
    std::uint64_t rewritten_bytes = 0; ///< the part that was laid out differently or computed
    std::vector<warning> warnings;
    std::vector<drawn_input> drawn_inputs; ///< with random_mode::inputs
    std::vector<copied_weight>
        copied_weights;                      ///< with weight_mode::reference: those that could not stay in their files
    std::vector<quantized_weight> quantized; ///< with export_options::quantize
    std::vector<unquantized_weight> unquantized; ///< likewise
    std::vector<quantized_product> products;     ///< of a quantized program
};

/// A call of an operator that cannot be converted.
struct refused_call {
    std::string node;                                ///< its name
    std::string reason;                              ///< no mapping, or the message of the mapping
    program::value_index result = program::no_value; ///< the first result: identifies the node in all graphs
};

/// An operator of a program that cannot be converted.
struct unconvertible {
    std::string op;
    std::string reason;              ///< of the first use: no mapping, or the message of the mapping
    std::string nearest;             ///< the mapping with the most similar name, if any
    std::vector<std::string> places; ///< "model.py:12 in forward", in program order, without duplicates
    std::size_t count = 0;
    std::vector<refused_call> calls = {}; ///< all of them, in program order
};

/// Operators of a program cannot be converted. what() names the first ones, on one line.
class export_error : public error {
public:
    /// `message` is one line.
    export_error(std::string message, std::vector<unconvertible> nodes)
        : error(std::move(message)),
          nodes_(std::make_shared<std::vector<unconvertible> const>(std::move(nodes))) {}

    /// All of them, in program order.
    [[nodiscard]] std::vector<unconvertible> const& nodes() const { return *nodes_; }

private:
    std::shared_ptr<std::vector<unconvertible> const> nodes_; // copies of an exception must not throw
};

/// Exports `from` to `to`, and external weights to `to`.data. Files are written atomically. Throws aton::error, one line with the file,
/// the node, the operator and the user's source line; export_error if operators cannot be converted.
/// ```cpp
/// #include <aton/exporter/exporter.hpp>
///
/// inline void export_for_opset_18() {
///     aton::export_options options;
///     options.opset = 18;
///     options.weights = aton::weight_mode::external;
///     options.dims = {{"x", 0, "batch"}};
///     aton::export_report const report = aton::export_file("model.pt2", "model.onnx", options);
///     for (aton::warning const& each : report.warnings) std::puts(each.text.c_str());
/// }
/// ```
export_report export_file(std::string const& from, std::string const& to, export_options const& options = {});

/// The ONNX graph of a program, ready to be written.
struct exported_graph {
    graph_data graph;
    std::deque<stored_tensor> rewritten; ///< weights with another layout, to which initializers point
    std::vector<warning> warnings;
    std::vector<drawn_input> drawn_inputs;             ///< with random_mode::inputs
    std::vector<quantized_initializer> quantized = {}; ///< with export_options::quantize
    std::vector<unquantized_weight> unquantized = {};  ///< likewise
    std::vector<quantized_product> products = {};      ///< of a quantized program
};

/// What export_file() writes, in memory: converts a prepared program, optimizes the graph and checks it. Weights are initializers that
/// point into the program, which must outlive the graph. Throws as export_file().
/// ```cpp
/// #include <aton/exporter/exporter.hpp>
///
/// inline std::size_t nodes_of_model(std::string const& path) {
///     aton::program::program p = aton::read_program(path);
///     aton::prepare(p, {});
///     return aton::export_graph(p).graph.nodes.size();
/// }
/// ```
[[nodiscard]] exported_graph export_graph(program::program const& p, export_options const& options = {});

/// Finds the change of a pass that makes the graph of a prepared program wrong: exports it with fewer and fewer changes, and asks `is_right`
/// about each graph, whose weights point into the program. Nothing if the graph with all changes is right, or the one without any is wrong.
/// Throws as export_graph(), and what `is_right` throws.
[[nodiscard]] std::optional<pass_step> find_wrong_step(program::program const& p, export_options options,
                                                       std::function<bool(graph_data const&)> const& is_right);

/// Exports a program that is not prepared yet, of whatever front end, as export_file() does. `p.storage` keeps its weights alive, which
/// weight_mode::reference therefore cannot refer to. Throws aton::error and export_error.
export_report export_program(program::program p, std::string const& to, export_options const& options = {});

/// Reads a .pt2 file, or a TorchScript archive with the types in `options.inputs`; `options.dims` make dimensions of these inputs dynamic. The
/// result is not prepared. Throws aton::error.
[[nodiscard]] program::program read_program(std::string const& path, export_options const& options = {});

/// Checks tables, which are searched in order, and before the built-in ones. Throws aton::error if a row shadows another row for the same
/// overload and opsets without override_. Every export calls this first.
void check_tables(std::span<dsl::table_view const> tables);

/// Rewrites a program before its conversion: inlines wrappers, makes in-place operators functional, removes dead nodes, and replaces sizes
/// that guards determine by numbers. For operators that torch does not declare, the rows in `options.tables` say which arguments they
/// write to; pass the same options as for the conversion. Throws aton::error.
void prepare(program::program& p, export_options const& options);

/// Warnings about the export of a prepared program. Those of one kind are one warning, about its first input, dimension or operator.
[[nodiscard]] std::vector<warning> find_warnings(program::program const& p, export_options const& options = {});

/// Makes a converted graph fail at run time if a guard of the program, as selected by `options.guards`, does not hold: an output then
/// depends on an invalid Reshape. The graph is then in canonical order. Call it after the passes. Throws aton::error for a guard that ONNX
/// cannot express.
void check_guards(graph_data& graph, program::program const& p, export_options const& options = {});

/// The operators of a prepared program without a mapping at the target opset, or whose mapping refuses a call; if there are none, those that
/// become nodes which `options.target` does not run.
/// ```cpp
/// #include <aton/exporter/exporter.hpp>
/// #include <aton/frontend/pt2/read_program.hpp>
///
/// inline std::size_t operators_without_a_mapping(std::string const& path) {
///     aton::program::program p = aton::pt2::read_program(path);
///     aton::prepare(p, {});
///     return aton::find_unconvertible(p).size();
/// }
/// ```
[[nodiscard]] std::vector<unconvertible> find_unconvertible(program::program const& p,
                                                            export_options const& options = {});

/// The ONNX graph of a prepared program, before any pass. Weights are initializers that point into the program, which must outlive the
/// graph. Throws export_error, which has all operators that cannot be converted.
/// ```cpp
/// #include <deque>
///
/// #include <aton/exporter/exporter.hpp>
/// #include <aton/passes/passes.hpp>
/// #include <aton/frontend/pt2/read_program.hpp>
///
/// inline void export_in_steps(std::string const& from, std::string const& to) { // what export_file() does
///     aton::export_options const options;
///     aton::program::program p = aton::pt2::read_program(from);
///     aton::prepare(p, options);
///     aton::graph_data graph = aton::convert_program(p, options);
///     std::deque<aton::stored_tensor> weights;
///     aton::optimize(graph, weights);
///     aton::check_guards(graph, p, options);
///     aton::write_model(graph, to, aton::weight_options{});
/// }
/// ```
[[nodiscard]] graph_data convert_program(program::program const& p, export_options const& options = {});

} // namespace ATON_NAMESPACE
