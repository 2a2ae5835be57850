// SPDX-License-Identifier: MIT
// The whole export: read, rewrite, convert, optimize, write.
#include <deque>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/frontend/weights/bind_weights.hpp>
#include <aton/fusions/built_in.hpp>
#include <aton/model_io/legality.hpp>
#include <aton/onnx/integer_kernels.hpp>
#include <aton/passes/passes.hpp>

#include "converter.hpp"
#include "missing_kernels.hpp"
#include "quantize.hpp"
#include "quantized_graph.hpp"
#include "select_rewrites.hpp"
#include "target_limits.hpp"

namespace ATON_NAMESPACE {

namespace {

/// Joins strings of the program, one per line.
std::string in_lines(std::vector<std::string> const& all) {
    std::string out;
    for (std::string const& each : all) {
        if (!out.empty()) out += '\n';
        out += clipped(each, std::string::npos);
    }
    return out;
}

/// Guards that the input shapes do not express, and the ranges of dynamic dimensions by their names in the file.
std::vector<std::pair<std::string, std::string>> metadata_of(program::program const& p, export_options const& options) {
    std::vector<std::string> guards;
    for (program::guard const& g : p.guards)
        if (g.state != program::guard_state::kept) guards.push_back(g.text);
    exporter::dimension_names const names(p, options.dims);
    std::vector<std::string> ranges;
    std::set<std::string, std::less<>> seen;
    for (program::input const& in : p.inputs) {
        if (in.kind != program::input_kind::user || in.value == program::no_value) continue;
        for (program::extent const& e : p.values[in.value].sizes) {
            if (e.is_number() || p.expressions[e.expression].kind != program::expression_kind::symbol) continue;
            auto const range = p.ranges.find(p.expressions[e.expression].symbol);
            if (range == p.ranges.end() || !seen.insert(range->first).second) continue;
            bool const open = range->second.max == program::symbol_range().max;
            ranges.push_back(std::string(names(e).symbol()) + ": " + std::to_string(range->second.min) +
                             (open ? " or more" : " to " + std::to_string(range->second.max)));
        }
    }
    std::vector<std::pair<std::string, std::string>> out;
    if (!guards.empty()) out.emplace_back("aton.guards", in_lines(guards));
    if (!ranges.empty()) out.emplace_back("aton.ranges", in_lines(ranges));
    return out;
}

/// "dropout_uniform: uniform in [0, 1), of aten::dropout at model.py:12 in forward"
std::vector<std::string> lines_of(std::vector<drawn_input> const& drawn) {
    std::vector<std::string> out;
    for (drawn_input const& each : drawn)
        out.push_back(each.name + ": " + each.distribution + ", of " + each.op +
                      (each.place.empty() ? "" : " at " + each.place));
    return out;
}

/// Functions need IR 8, which a runtime that only knows older opsets cannot read.
constexpr int first_opset_with_functions = 13;

void refuse_warnings(std::string const& file, std::vector<warning> const& all) {
    if (all.empty()) return;
    throw error(file + ": " + all[0].text +
                (all.size() > 1 ? "; and " + std::to_string(all.size() - 1) + " more" : "") + " (warnings are errors)");
}

/// Refuses what the target does not run, and warns of what ONNX Runtime does not run if there is no target.
void require_runtime(graph_data const& graph, program::program const& p, export_options const& options,
                     std::vector<warning>& warnings) {
    graph_data inlined;
    bool const sees_bodies = options.target == nullptr || options.target->has_onnxruntime_kernels;
    if (sees_bodies && !graph.functions.empty()) inline_functions(inlined = graph);
    graph_data const& seen = inlined.nodes.empty() ? graph : inlined;
    if (options.target != nullptr) exporter::require_target(seen, *options.target, p.file);
    else exporter::find_missing_kernels(seen, warnings);
}

} // namespace

exported_graph export_graph(program::program const& p, export_options const& options) {
    return exporter::finish_export(exporter::convert_quantized(p, options), p, options);
}

exported_graph exporter::finish_export(graph_data converted, program::program const& p, export_options const& options) {
    exported_graph out;
    graph_data& graph = out.graph = std::move(converted);
    auto const finish = [&](std::string_view pass) {
        if (options.trace != nullptr) options.trace->finish(pass, graph);
    };
    finish("convert");
    std::vector<std::string> names;
    bool const knows_functions =
        options.opset >= first_opset_with_functions && (options.target == nullptr || options.target->operators.empty());
    if (options.inline_functions || !knows_functions) inline_functions(graph);
    bool const is_for_onnxruntime = options.target != nullptr && options.target->has_onnxruntime_kernels;
    type_set const floats = is_for_onnxruntime ? tensors(dtype::float16, dtype::bfloat16) : hidden_floats(graph);
    if (options.optimize || is_for_onnxruntime) exporter::inline_narrow_functions(graph, floats);
    for (value_id id : graph.outputs) names.push_back(graph.values[id].name);

    std::span<onnx::integer_kernel const> const kernels =
        options.target == nullptr ? onnx::onnx_runtime_integer_kernels : options.target->integer_kernels;
    auto const make_exact = [&](graph_data& g) {
        return use_exact_integers(g, kernels, fusions::build_exact_integers);
    };
    for (graph_function& f : graph.functions)
        for (graph_data& body : f.body) make_exact(body); // while it has types
    if (!options.tables.empty()) require_legal(graph); // a row that states a wrong dtype: the passes would cast to it
    if (options.optimize) {
        exporter::selected_rewrites const rewrites = exporter::select_rewrites(options);
        if (options.stage) options.stage(export_stage::optimize);
        bool const rewrites_weights = options.weights != weight_mode::reference;
        bool const keeps_integers = exporter::is_quantized(graph);
        auto const optimize_with = [&](std::span<rewrite_entry const> table) {
            optimize(graph, out.rewritten, {rewrites_weights, table, true, options.trace, keeps_integers});
        };
        optimize_with(rewrites.first);
        if (!rewrites.last.empty()) optimize_with(rewrites.last);
        if (keeps_integers) exporter::choose_quantized_forms(out, p.file, options);
        if (mappings::lower_quantized(graph, exporter::form_of(options)))
            optimize(graph, out.rewritten, {.rewrite_weights = false, .trace = options.trace, .keeps_integers = true});
        bool const is_changed = make_exact(graph); // when sizes and constants are known
        finish("exact-integers");
        if (is_changed) optimize_with({});
        exporter::name_outputs(graph, names);
    } else {
        remove_unused(graph);
        mappings::lower_quantized(graph, exporter::form_of(options));
        make_exact(graph);
        finish("exact-integers");
    }
    order_canonically(graph);
    finish("order");
    std::vector<warning> warnings = exporter::warnings_about(p, options);
    out.drawn_inputs = exporter::apply_random_options(graph, options, warnings);
    if (!out.drawn_inputs.empty()) {
        remove_unused(graph);
        exporter::name_outputs(graph, names);
    }
    finish("random-numbers");
    if ((options.optimize || is_for_onnxruntime) && widen_dtypes(graph, floats)) { // what rewrites and draws have added
        if (options.optimize) optimize(graph, out.rewritten, {.rewrite_weights = false, .trace = options.trace});
        exporter::name_outputs(graph, names);
        order_canonically(graph);
        finish("widen-dtypes");
    }
    quantize_weights(out, options);
    if (options.quantize && out.quantized.empty())
        warnings.push_back({warning_kind::unrounded_weights,
                            "--quantize rounds nothing: no weight of the model can be rounded" +
                                std::string(out.unquantized.empty() ? "; only those of MatMul and Gemm are" : "")});
    check_guards(graph, p, options);
    require_legal(graph);
    require_shapes(graph);
    require_runtime(graph, p, options, warnings);
    out.warnings = exporter::merge_warnings(warnings);
    if (options.warnings_are_errors) refuse_warnings(p.file, out.warnings);
    return out;
}

namespace {

/// `source`: the file with the program, to whose weights weight_mode::reference refers.
export_report write(program::program p, std::string const& source, std::string const& to,
                    export_options const& options) {
    if (options.stage) options.stage(export_stage::convert);
    weights::require_numbers(p);
    prepare(p, options);
    exported_graph made = export_graph(p, options);
    if (options.stage) options.stage(export_stage::write);
    weight_options to_write;
    to_write.mode = options.weights;
    if (p.given) {
        to_write.sources = p.given->files;
        to_write.optional_sources = {source};
    } else {
        to_write.sources = {source};
    }
    to_write.progress = options.progress;
    model_options model;
    model.metadata = metadata_of(p, options);
    if (!made.drawn_inputs.empty()) model.metadata.emplace_back("aton.random", in_lines(lines_of(made.drawn_inputs)));
    weight_report written = write_model(made.graph, to, to_write, model);
    export_report report{made.graph.nodes.size(),
                         made.graph.initializers.size(),
                         0,
                         written.rewritten,
                         std::move(made.warnings),
                         std::move(made.drawn_inputs),
                         std::move(written.copied),
                         {},
                         std::move(made.unquantized),
                         std::move(made.products)};
    for (quantized_initializer const& each : made.quantized)
        report.quantized.push_back({each.name,
                                    static_cast<std::uint64_t>(each.matrix.rows().element_count()),
                                    each.matrix.byte_count(),
                                    each.matrix.rounding()});
    for (graph_initializer const& i : made.graph.initializers)
        report.weight_bytes += i.stored != nullptr ? i.stored->byte_count() : i.data.bytes.size();
    return report;
}

} // namespace

export_report export_file(std::string const& from, std::string const& to, export_options const& options) {
    if (options.stage) options.stage(export_stage::read);
    return write(read_program(from, options), from, to, options);
}

export_report export_program(program::program p, std::string const& to, export_options const& options) {
    if (options.weights == weight_mode::reference)
        throw error(p.file + ": its weights are in memory, so that no model can refer to them; embed them, or write "
                             "them beside the model");
    return write(std::move(p), {}, to, options);
}

} // namespace ATON_NAMESPACE
