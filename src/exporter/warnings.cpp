// SPDX-License-Identifier: MIT
// Warnings: unexpected effects of an export, one sentence each.
#include "converter.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_set>

#include <aton/mappings/built_in.hpp>

#include "occurrences.hpp"

namespace ATON_NAMESPACE {

namespace {

using exporter::grouped_by;
using exporter::shortened;
using exporter::where_it_occurs;
using program::expression;
using program::expression_kind;

void find_unused_inputs(program::program const& p, std::vector<warning>& to) {
    std::unordered_set<program::value_index> used;
    auto const use = [&](program::argument const& a) {
        program::for_each_value(a, [&](program::value_index v) { used.insert(v); });
    };
    for (program::node const& n : p.main.nodes)
        for (program::argument const& a : n.arguments) use(a);
    for (program::argument const& a : p.main.outputs) use(a);
    for (program::input const& in : p.inputs)
        if (in.kind == program::input_kind::user && in.value != program::no_value && !used.contains(in.value))
            to.push_back({warning_kind::unused_input,
                          "input '" + shortened(in.target) +
                              "' is not used by the program; was the same tensor passed twice to torch.export?"});
}

void find_pinned(program::program const& p, std::vector<warning>& to) {
    for (program::pinned_dimension const& d : p.pinned)
        to.push_back({warning_kind::pinned_dimension,
                      "dimension " + std::to_string(d.axis) + " of input '" + shortened(d.input) + "' is fixed at " +
                          std::to_string(d.number) + ", the only size that the program accepts: " + d.reason});
}

/// Whether a guard is not one of torch's own comparisons with small numbers; it specializes sizes 0 and 1.
bool is_choice(expression const& e) {
    switch (e.kind) {
    case expression_kind::greater:
    case expression_kind::greater_equal:
    case expression_kind::less:
    case expression_kind::less_equal:
    case expression_kind::equal:
    case expression_kind::unequal:
        return std::any_of(e.operands.begin(), e.operands.end(), [](expression const& x) {
            return x.kind == expression_kind::integer && (x.number < 0 || x.number > 2) &&
                   x.number < std::int64_t{1} << 31;
        });
    default: return std::any_of(e.operands.begin(), e.operands.end(), is_choice);
    }
}

void find_unchecked_guards(program::program const& p, std::vector<warning>& to) {
    std::string first;
    std::size_t count = 0;
    std::string unknown;
    std::size_t unknown_count = 0;
    for (program::guard const& g : p.guards) {
        if (g.state != program::guard_state::open) continue;
        if (!g.condition) {
            if (unknown_count++ == 0) unknown = g.text;
        } else if (is_choice(*g.condition) && count++ == 0) {
            first = g.text;
        }
    }
    auto const and_more = [](std::size_t n) { return n == 1 ? "" : " (and " + std::to_string(n - 1) + " more)"; };
    if (count != 0)
        to.push_back({warning_kind::unchecked_guard,
                      "the program was recorded with the guard " + shortened(first) + and_more(count) +
                          ", but the model also accepts other sizes; --check-guards makes it refuse them"});
    if (unknown_count != 0)
        to.push_back({warning_kind::unchecked_guard,
                      "the guard " + shortened(unknown) + and_more(unknown_count) +
                          " of the program cannot be parsed, and the model does not check it"});
}

void find_dropped(program::program const& p, export_options const& options, std::vector<warning>& to) {
    for (auto const& [first, count] : grouped_by(p.dropped, &program::dropped_node::op)) {
        program::dropped_node const& d = *first;
        if (!d.has_effect && (dsl::find(options.tables, d.op, options.opset) != nullptr ||
                              dsl::find(mappings::built_in_tables(), d.op, options.opset) != nullptr))
            continue;
        std::string const where = where_it_occurs(count, d.place);
        if (d.has_effect)
            to.push_back({warning_kind::dropped_effect,
                          shortened(d.op) + " has a side effect that ONNX cannot express, and was removed" + where});
        else
            to.push_back(
                {warning_kind::unknown_operator,
                 shortened(d.op) + " is an unknown operator whose results are not used, and was removed" + where});
    }
}

} // namespace

std::vector<warning> find_warnings(program::program const& p, export_options const& options) {
    std::vector<warning> out;
    find_unused_inputs(p, out);
    find_pinned(p, out);
    if (options.guards != guard_mode::all) find_unchecked_guards(p, out);
    find_dropped(p, options, out);
    return out;
}

} // namespace ATON_NAMESPACE
