// SPDX-License-Identifier: MIT
// Warnings: unexpected effects of an export, one sentence for each kind.
#include "converter.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/mappings/built_in.hpp>

#include "occurrences.hpp"

namespace ATON_NAMESPACE {

namespace {

using exporter::grouped_by;
using exporter::list_of_some;
using exporter::shortened;
using exporter::where_it_occurs;
using program::expression;
using program::expression_kind;

/// Of an input or operator in the text of a warning, and where it is only listed.
constexpr std::size_t max_name = 80;
constexpr std::size_t max_subject = 60;

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
                          "input '" + shortened(in.target, max_name) +
                              "' is not used by the program; was the same tensor passed twice to torch.export?",
                          '\'' + in.target + '\''});
}

void find_state(program::program const& p, std::vector<warning>& to) {
    for (program::input const& in : p.inputs)
        if (!in.first_value.empty())
            to.push_back({warning_kind::state_input,
                          "input '" + shortened(in.target, max_name) + "' is state of the module: it is " +
                              shortened(in.first_value, max_name) + " before the first call, and '" +
                              shortened(in.target, max_name) + ".out' of the call before after that",
                          '\'' + in.target + "', " + in.first_value});
}

void find_pinned(program::program const& p, std::vector<warning>& to) {
    for (program::pinned_dimension const& d : p.pinned)
        to.push_back({warning_kind::pinned_dimension,
                      "dimension " + std::to_string(d.axis) + " of input '" + shortened(d.input, max_name) +
                          "' is fixed at " + std::to_string(d.number) +
                          ", the only size that the program accepts: " + d.reason,
                      '\'' + d.input + "':" + std::to_string(d.axis) + " at " + std::to_string(d.number)});
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
            to.push_back(
                {warning_kind::dropped_effect,
                 shortened(d.op, max_name) + " has a side effect that ONNX cannot express, and was removed" + where,
                 d.op});
        else
            to.push_back({warning_kind::unknown_operator,
                          shortened(d.op, max_name) +
                              " is an unknown operator whose results are not used, and was removed" + where,
                          d.op});
    }
}

/// What the files of --weights-from do not have, and have too much.
void find_given_weights(program::program const& p, std::vector<warning>& to) {
    if (!p.given) return;
    auto const quoted = [](std::string const& name) { return '\'' + shortened(name, max_name) + '\''; };
    std::string const source = shortened(p.given->source, max_name);
    for (auto const& [name, other] : p.given->assumed)
        to.push_back({warning_kind::assumed_tie,
                      "weight " + quoted(name) + " is not in " + source + ", and has the numbers of " + quoted(other) +
                          ", to which models tie it",
                      '\'' + name + '\''});
    for (std::string const& name : p.given->kept)
        to.push_back({warning_kind::kept_weight,
                      "weight " + quoted(name) + " is not in " + source + ", and keeps the numbers of the program",
                      '\'' + name + '\''});
    for (std::string const& name : p.given->unused)
        to.push_back({warning_kind::unused_weight,
                      "tensor " + quoted(name) + " in " + source + " belongs to no weight of the program",
                      '\'' + name + '\''});
}

/// Warnings that are one in a report.
struct merged_warnings {
    warning first;
    std::vector<std::string> others = {}; ///< subjects
    std::size_t repeated = 0;             ///< how often the same text occurs again
};

warning as_one(merged_warnings const& all) {
    // The path of the file comes in front, and the line ends at max_message.
    constexpr std::size_t max_text = max_message * 4 / 5;
    constexpr std::size_t max_list = max_text / 5;
    warning out = all.first;
    out.count += all.others.size() + all.repeated;
    std::string more;
    if (!all.others.empty())
        more = " (and " + std::to_string(all.others.size()) + " more: " + list_of_some(all.others, max_list) + ')';
    else if (all.repeated != 0) more = " (" + std::to_string(all.repeated + 1) + " times)";
    out.text = clipped(out.text, max_text - more.size()) + more;
    return out;
}

} // namespace

namespace exporter {

std::vector<warning> merge_warnings(std::vector<warning> const& all) {
    std::vector<merged_warnings> groups;
    std::unordered_map<std::string, std::size_t> known;
    std::optional<warning> left_out;
    for (warning const& each : all) {
        std::string key = std::to_string(static_cast<int>(each.kind));
        if (each.subject.empty()) key += ' ' + each.text;
        auto const at = known.find(key);
        if (at != known.end()) {
            merged_warnings& to = groups[at->second];
            if (each.subject.empty()) ++to.repeated;
            else to.others.push_back(clipped(each.subject, max_subject));
        } else if (groups.size() != max_warnings) {
            known.emplace(std::move(key), groups.size());
            groups.push_back({each});
        } else {
            if (!left_out) left_out = warning{each.kind, {}, {}, 0};
            ++left_out->count;
        }
    }
    std::vector<warning> out;
    for (merged_warnings const& each : groups) out.push_back(as_one(each));
    if (left_out) {
        left_out->text = "warnings that are left out: " + std::to_string(left_out->count);
        out.push_back(*std::move(left_out));
    }
    return out;
}

std::vector<warning> warnings_about(program::program const& p, export_options const& options) {
    std::vector<warning> out;
    find_unused_inputs(p, out);
    find_state(p, out);
    find_pinned(p, out);
    if (options.guards != guard_mode::all) find_unchecked_guards(p, out);
    find_dropped(p, options, out);
    find_given_weights(p, out);
    return out;
}

} // namespace exporter

std::vector<warning> find_warnings(program::program const& p, export_options const& options) {
    return exporter::merge_warnings(exporter::warnings_about(p, options));
}

} // namespace ATON_NAMESPACE
