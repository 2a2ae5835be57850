// SPDX-License-Identifier: MIT
// Converts each node of a program with the mapping of its operator. Nodes that cannot be converted are collected.
#include "converter.hpp"
#include "summary.hpp"
#include "target_limits.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <aton/aten/schema_table.hpp>
#include <aton/core/cancellation.hpp>
#include <aton/core/nearest.hpp>
#include <aton/dsl/tables.hpp>
#include <aton/dsl/thrown.hpp>
#include <aton/ir/complex.hpp>
#include <aton/mappings/built_in.hpp>
#include <aton/mappings/lower_quantized.hpp>
#include <aton/mappings/requirements.hpp>
#include <aton/onnx/registry.hpp>

#include "nan_as_data.hpp"

namespace ATON_NAMESPACE::exporter {

dtype dtype_of(program::value_kind kind) {
    switch (kind) {
    case program::value_kind::sym_int: return dtype::int64;
    case program::value_kind::sym_float: return dtype::float64;
    case program::value_kind::sym_bool: return dtype::bool_;
    default: return dtype::undefined;
    }
}

converter::converter(program::program const& p, export_options const& options)
    : original_(p),
      exact_nan_(options.nan == nan_mode::exact || has_nan_as_data(p)),
      dims_(p, options.dims),
      calls_(p, options, dims_, exact_nan_),
      program_(calls_.rewritten()),
      options_(calls_.options()),
      bound_(p.values.size()),
      untrusted_(p.values.size(), untrusted::none) {
    graph_->opset = options.opset;
    graph_->name = p.name.empty() ? "aton" : p.name;
    rows_.reserve(p.main.nodes.size());
}

void converter::run(bool to_the_end) {
    add_inputs();
    for (program::node const& n : program_.main.nodes) {
        convert(n);
        if (!to_the_end && !refused_.all().empty()) return;
    }
    if (refused_.all().empty()) add_outputs();
}

/// In branches and loop bodies, torch records only generated code instead of the user's line; then the line of the calling node is used.
std::uint32_t converter::origin_index(program::node const& n) const {
    std::string const& source = program_.origins[n.origin].source;
    return caller_ != 0 && (source.empty() || source.starts_with('<')) ? caller_ : n.origin;
}

program::origin const& converter::origin_of(program::node const& n) const { return program_.origins[origin_index(n)]; }

void converter::convert(program::node const& n) {
    stop_if_cancelled();
    program::origin const& from = origin_of(n);
    graph_->context.exact_nan = exact_nan_;
    graph_->context.may_be_empty = may_be_empty(n);
    graph_->context.node_name = n.name;
    graph_->context.module = from.module;
    graph_->context.source = from.source;
    graph_->context.origin = static_cast<std::uint32_t>(graph_->origins.size());
    graph_->origins.push_back({n.name, from.module, from.source});
    propagate_untrusted(n);
    try {
        switch (n.kind) {
        case program::node_kind::python: graph_->context.overload = n.op; return convert_python(n);
        case program::node_kind::higher_order:
            if (!convert_with_user_row(n)) convert_higher_order(n);
            return;
        case program::node_kind::aten: return convert_with_mapping(n);
        }
    } catch (...) { // any exception: continue with the other nodes
        refuse(n, describe_thrown());
    }
}

dsl::entry const* converter::find_row(std::string_view op) {
    auto const [at, is_new] = rows_.try_emplace(op, nullptr);
    if (!is_new) return at->second;
    dsl::entry const* row = dsl::find(options_.tables, op, options_.opset);
    if (row == nullptr) row = dsl::find(mappings::built_in_tables(), op, options_.opset);
    return at->second = row;
}

/// The row that gets the calls that this one declines: of the next table with one, or the built-in row.
dsl::entry const* converter::row_below(dsl::entry const& row) const {
    if (options_.tables.empty()) return nullptr;
    if (dsl::entry const* const next = dsl::find_below(options_.tables, row, options_.opset)) return next;
    dsl::entry const* const last = dsl::find(mappings::built_in_tables(), row.overload, options_.opset);
    return last == &row ? nullptr : last;
}

void converter::convert_with_mapping(program::node const& n) {
    bool const is_aten = n.op.starts_with("aten::");
    if (is_aten && options_.operators == operator_mode::aten) return add_aten_node(n);
    bool const falls_back = is_aten && options_.operators == operator_mode::aten_fallback;
    dsl::entry const* const row = find_row(n.op);
    if (row == nullptr) {
        bool const keeps = options_.operators == operator_mode::keep && !is_aten;
        return falls_back ? add_aten_node(n) : keeps ? keep(n) : refuse(n, describe_missing_row(n.op));
    }
    if (!falls_back) return convert_with_row(n, row);
    std::string refusal;
    try {
        return convert_with_row(n, row);
    } catch (...) {
        refusal = describe_thrown();
    }
    try {
        add_aten_node(n);
    } catch (unsupported_error const&) {
        refuse(n, refusal);
    }
}

/// Converts a node with a row, or with a row below it if the row declines.
void converter::convert_with_row(program::node const& n, dsl::entry const* row) {
    check_squeeze(n);
    check_strides(n);
    graph_->context.expected = expected_types(n);
    std::size_t const first_new = graph_->values.size();
    std::vector<dsl::argument> arguments = bind_arguments(n, row->schema);
    mappings::check_requirements(n.op, row->schema, arguments);
    auto const call = [&] {
        return dsl::convert_or_next(*graph_, row, options_.opset, arguments, [this](dsl::entry const& declining) {
            return row_below(declining);
        });
    };
    std::vector<dsl::result> results;
    dsl::graph_mark const before(*graph_);
    dsl::entry const* const first_row = row;
    try {
        results = call();
    } catch (
        unsupported_error const&) { // because it needs a constant, perhaps, which the program computes from constants
        if (!fold_arguments(arguments, before)) throw;
        row = first_row;
        results = call();
    }
    if (n.schema.empty() && results.size() > n.results.size())
        throw unsupported_error("the mapping returns " + std::to_string(results.size()) +
                                " results, but the program has " + std::to_string(n.results.size()));
    bind_results(n, *row, results, first_new);
}

/// Another overload of the operator that has a row or, for an operator that torch does not declare, one of the same namespace whose name
/// differs by a few letters, or the user's row of that name in another namespace; empty if there is none. Similar names of operators that both
/// exist would mislead.
std::string converter::nearest_row(std::string_view op) const {
    std::string_view const name = op.substr(0, op.find('.'));
    std::size_t const colons = name.find("::");
    std::size_t const start = colons == std::string_view::npos ? 0 : colons + 2;
    bool const is_torchs = !aten::detail::nearest_overload_of(name, {}).empty();
    nearest overload(op);
    nearest typo(op.substr(start));
    std::string_view same_operator; // any overload, however different its name
    std::string_view elsewhere;
    auto const scan = [&](std::span<dsl::table_view const> tables, bool is_users) {
        for (dsl::table_view const& table : tables)
            for (dsl::entry const& e : table) {
                if (e.overload == op || !e.holds_at(options_.opset)) continue;
                bool const has_name = e.overload.substr(0, e.overload.find('.')) == name;
                bool const is_named_so = is_users && start != 0 && e.overload.ends_with(op.substr(start - 2));
                if (has_name) overload.offer(e.overload);
                else if (!is_torchs && e.overload.starts_with(op.substr(0, start)))
                    typo.offer(e.overload.substr(start));
                if (!is_torchs && has_name && same_operator.empty()) same_operator = e.overload;
                if (!is_torchs && is_named_so && elsewhere.empty()) elsewhere = e.overload;
            }
    };
    scan(options_.tables, true);
    scan(mappings::built_in_tables(), false);
    if (!overload.found().empty()) return std::string(overload.found());
    if (!same_operator.empty()) return std::string(same_operator);
    return typo.found().empty() ? std::string(elsewhere) : std::string(op.substr(0, start)).append(typo.found());
}

void converter::refuse(program::node const& n, std::string reason) {
    program::origin const& from = origin_of(n);
    std::string const place = !from.source.empty() ? from.source : n.name.empty() ? n.op : "node " + n.name;
    std::vector<program::value_index> const results = program::result_values(n);
    bool const is_new = refused_.add(
        n.op, n.op, {n.name, std::move(reason), results.empty() ? program::no_value : results.front()}, place);
    if (is_new && find_row(n.op) == nullptr) refused_.last().nearest = nearest_row(n.op);
    // Continue with results of the recorded types.
    for (program::result const& r : n.results)
        for (program::value_index v : r.values)
            if (v != program::no_value) bind(v, {dsl::value(*graph_, graph_->add_value(type_of(v), {})), {}, {}});
}

std::string converter::describe_missing_row(std::string_view op) const {
    int since = std::numeric_limits<int>::max();
    int until = 0;
    auto const scan = [&](std::span<dsl::table_view const> tables) {
        for (dsl::table_view const& table : tables)
            for (dsl::entry const& e : table)
                if (e.overload == op) {
                    since = std::min(since, e.since);
                    until = std::max(until, e.until);
                }
    };
    scan(options_.tables);
    scan(mappings::built_in_tables());
    if (until == 0) return "no mapping";
    return since > options_.opset ? "has a mapping since opset " + std::to_string(since)
                                  : "has a mapping until opset " + std::to_string(until);
}

} // namespace ATON_NAMESPACE::exporter

namespace ATON_NAMESPACE {

namespace {

void check_opset(int opset) {
    if (opset < oldest_export_opset || opset > onnx::newest_opset)
        throw error("opset " + std::to_string(opset) + " is not supported for export; choose " +
                    std::to_string(oldest_export_opset) + " to " + std::to_string(onnx::newest_opset));
}

std::string opsets(int since, int until) {
    return since == until ? "opset " + std::to_string(since)
                          : "opsets " + std::to_string(since) + " to " + std::to_string(until);
}

void check_row(dsl::entry const& row, dsl::table_view later, std::size_t at, std::string const& whose) {
    dsl::entry const* const hidden = dsl::hidden_row(row, later);
    if (hidden == nullptr) return;
    throw error("the row " + std::string(row.overload) + " of table " + std::to_string(at + 1) + " hides the " + whose +
                " at " + opsets(std::max(row.since, hidden->since), std::min(row.until, hidden->until)) +
                "; if this is intended, write override_<...> instead of symbolic<...>");
}

} // namespace

void check_tables(std::span<dsl::table_view const> tables) {
    for (std::size_t i = 0; i != tables.size(); ++i)
        for (dsl::entry const& row : tables[i]) {
            for (std::size_t k = i + 1; k != tables.size(); ++k)
                check_row(row, tables[k], i, "row of table " + std::to_string(k + 1));
            for (dsl::table_view const& family : mappings::built_in_tables()) check_row(row, family, i, "built-in one");
        }
}

void prepare(program::program& p, export_options const& options) {
    std::span<dsl::table_view const> const tables = options.tables;
    program::inline_wrappers(p);
    program::functionalize(p, [&](std::string_view op) {
        if (dsl::entry const* const row = dsl::find(tables, op, options.opset); row != nullptr) return row->schema;
        for (std::span<dsl::table_view const> const all : {tables, mappings::built_in_tables()})
            for (dsl::table_view const& table : all)
                for (dsl::entry const& e : table)
                    if (e.overload == op) return e.schema;
        return std::string_view();
    });
    program::remove_dead_nodes(p);
    program::specialize_sizes(p);
    for (program::input& in : p.inputs)
        if (is_complex(in.data.type)) in.as_real = exporter::as_real(in.data);
}

namespace {

/// Throws if these options cannot be used for any program.
void check(export_options const& options) {
    check_opset(options.opset);
    if (options.target != nullptr) exporter::require_opset_of(*options.target, options.opset);
    check_tables(options.tables);
}

/// The graph of a program that was converted as a whole.
graph_data take_graph(exporter::converter& c) {
    std::vector<std::string> const names = c.output_names();
    graph_data graph = c.take_graph();
    complex_ir::lower(graph);
    exporter::name_outputs(graph, names);
    return graph;
}

/// The lowest opset above the target at which every operator can be converted; 0 if there is none.
int lowest_opset_above(program::program const& p, export_options options) {
    auto const converts = [&](int opset) {
        options.opset = opset;
        exporter::converter c(p, options);
        c.run(false);
        return c.refused().empty();
    };
    int below = options.opset;
    if (below == onnx::newest_opset || !converts(onnx::newest_opset)) return 0;
    int above = onnx::newest_opset;
    while (below + 1 != above) {
        int const opset = std::midpoint(below, above);
        (converts(opset) ? above : below) = opset;
    }
    return above;
}

} // namespace

std::vector<unconvertible> find_unconvertible(program::program const& p, export_options const& options) {
    check(options);
    exporter::converter c(p, options);
    c.run();
    if (!c.refused().empty() || options.target == nullptr) return c.refused();
    try {
        (void)exporter::finish_export(take_graph(c), p, options);
    } catch (export_error const& e) {
        return e.nodes();
    }
    return {};
}

graph_data convert_program(program::program const& p, export_options const& options) {
    graph_data graph = exporter::convert_quantized(p, options);
    mappings::lower_quantized(graph, exporter::form_of(options));
    return graph;
}

mappings::quantize_form exporter::form_of(export_options const& options) {
    return options.quantization == quantization_mode::exact ? mappings::quantize_form::arithmetic
                                                            : mappings::quantize_form::linear;
}

graph_data exporter::convert_quantized(program::program const& p, export_options const& options) {
    check(options);
    exporter::converter c(p, options);
    c.run();
    if (c.refused().empty()) return take_graph(c);
    std::string text =
        p.file + ": " + exporter::summary(c.refused(), "cannot be converted at opset " + std::to_string(options.opset));
    if (int const opset = lowest_opset_above(p, options); opset != 0)
        text += "; export with --opset " + std::to_string(opset);
    throw export_error(std::move(text), c.refused());
}

} // namespace ATON_NAMESPACE
