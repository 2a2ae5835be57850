// SPDX-License-Identifier: MIT
// From a .pt2 file to an .onnx file.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/dsl/table.hpp>
#include <aton/model_io/weights.hpp>
#include <aton/program/program.hpp>

namespace ATON_NAMESPACE {

/// Programs are exported to this opset or a newer one: before it too few operators have their present form.
inline constexpr int oldest_export_opset = 13;

/// What becomes of operators, above all of those that have no mapping. Nodes that are not ONNX's are made only where asked for.
enum class operator_mode : std::uint8_t {
    standard,      ///< ONNX operators; the export is refused where one has no mapping, with all of them
    aten,          ///< every ATen operator becomes a node ATen of domain org.pytorch.aten
    aten_fallback, ///< those that have no mapping at the opset, or whose mapping refuses the call
    keep,          ///< operators that ATen does not have become nodes of their own domain; numbers become attributes
};

/// How buffers that the model changes appear.
enum class state_mode : std::uint8_t {
    outputs, ///< their new value is an extra output; the old one is in the file
    inputs,  ///< the old value is an extra input as well
};

/// The name of a dynamic dimension: `--dim x:0=batch`.
struct dim_name {
    std::string input;
    std::int64_t axis = 0;
    std::string name;
};

/// Guards are conditions on the inputs that torch recorded (docs/exporter.md). Those that follow from sizes that are written as numbers are
/// kept by any runtime; of the others the model checks, when it runs:
enum class guard_mode : std::uint8_t {
    frozen, ///< those where a number of the program was computed from the sizes
    all,    ///< all; the export is refused where ONNX cannot express one
};

/// What a warning is about.
enum class warning_kind : std::uint8_t {
    unused_input,
    pinned_dimension, ///< it was dynamic, and a guard leaves one number
    unchecked_guard,  ///< sizes that the module refuses are accepted
    dropped_effect,   ///< an operator was removed that does something, an assertion or print
    unknown_operator, ///< an operator was removed that torch does not declare and no table has: its results are not used
};

/// One sentence, without the name of the file.
struct warning {
    warning_kind kind = warning_kind::unused_input;
    std::string text;
};

/// What to export, and how; the defaults are those of `aton export`.
struct export_options {
    int opset = 20;
    weight_mode weights = weight_mode::embed;
    operator_mode operators = operator_mode::standard;
    state_mode state = state_mode::outputs;
    std::string model; ///< of several in an archive
    std::vector<dim_name> dims;
    std::vector<std::pair<std::string, std::string>> renames; ///< inputs and outputs: {"relu", "probabilities"}
    bool optimize = true;                                     ///< false: the graph as the mappings made it
    bool inline_functions = false;                            ///< bodies of custom operators in place of their calls
    std::vector<dsl::table_view> tables;                      ///< looked at before the built-in ones
    guard_mode guards = guard_mode::frozen;
    bool warnings_are_errors = false; ///< the export is refused where there is a warning
    std::function<void(std::uint64_t done, std::uint64_t total)> progress; ///< bytes of weights that are written
};

/// What an export did.
struct export_report {
    std::size_t nodes = 0;
    std::size_t weights = 0;           ///< initializers: weights, and constants
    std::uint64_t weight_bytes = 0;    ///< of all of them
    std::uint64_t rewritten_bytes = 0; ///< of these, laid out or computed anew
    std::vector<warning> warnings;
};

/// An operator of a program that cannot be converted.
struct unconvertible {
    std::string op;
    std::string reason;              ///< of the first use: no mapping, or what the mapping says
    std::string nearest;             ///< the mapping whose name is most like it; empty: none
    std::vector<std::string> places; ///< "model.py:12 in forward", in the order of the program, without repeats
    std::size_t count = 0;
};

/// Exports `from` to `to`. The file appears whole or not at all; with external weights `to`.data beside it. Throws aton::error:
/// one line with file, node, operator and the user's source line.
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

/// Tables are looked at in their order, and the built-in ones after them. Throws aton::error where a row stands before another row for
/// the same overload and opsets and was not made with override_. An export begins with it.
void check_tables(std::span<dsl::table_view const> tables);

/// The rewrites that a program needs before it is converted: wrappers are inlined, in-place operators made functional, what no
/// output needs is removed, and sizes that guards leave no choice become numbers. Of operators that torch does not declare, the rows in
/// `options.tables` say which arguments they write to: the options are those that the program is converted with. Throws aton::error.
void prepare(program::program& p, export_options const& options);

/// What a user should know about the export of a prepared program, a warning for each input, dimension or operator.
[[nodiscard]] std::vector<warning> find_warnings(program::program const& p, export_options const& options = {});

/// Makes a converted graph fail where a guard of the program does not hold: one that option `guards` names. An output depends on a Reshape
/// whose target does not fit then. To be called after the passes. Throws aton::error for a guard that ONNX cannot express.
void check_guards(graph_data& graph, program::program const& p, export_options const& options = {});

/// Everything in a prepared program that has no mapping at the target opset, or whose mapping refuses it.
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

/// The ONNX graph of a prepared program, before any pass. Weights are initializers that point into the program, which must outlive the graph.
/// Throws aton::error; operators that cannot be converted are all named.
/// ```cpp
/// #include <deque>
///
/// #include <aton/exporter/exporter.hpp>
/// #include <aton/exporter/passes.hpp>
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
