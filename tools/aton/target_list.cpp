// SPDX-License-Identifier: MIT
// Lists what a target is stated to run: one line, JSON object or table row per operator.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>
#include <aton/core/json_writer.hpp>
#include <aton/core/nearest.hpp>
#include <aton/targets/target.hpp>

#include "ops_command.hpp"

namespace aton::tool {

namespace {

std::string types_of(targets::operator_support const& o) {
    if (o.is_excluded) return "none";
    std::string out;
    for (std::size_t i = 1; i != dtype_count; ++i)
        if (auto const type = static_cast<dtype>(i); o.types.contains(tensors(type)))
            out += (out.empty() ? "" : " ") + std::string(name(type));
    return out.empty() ? "any" : out;
}

std::string conditions_of(targets::operator_support const& o) {
    std::string out;
    for (targets::node_condition const& c : o.when) {
        if (!out.empty()) out += "; ";
        bool is_first = true;
        for (std::string_view word : {c.part, c.name, c.test, c.values}) {
            if (word.empty()) continue;
            out += (is_first ? "" : " ") + std::string(word);
            is_first = false;
        }
    }
    return out;
}

/// Those that are asked for, by name; throws if one is not in the table.
std::vector<targets::operator_support const*> chosen(targets::target const& t, std::vector<std::string> const& names) {
    std::vector<targets::operator_support const*> all;
    for (targets::operator_support const& o : t.operators)
        if (names.empty() || std::find(names.begin(), names.end(), o.op) != names.end()) all.push_back(&o);
    for (std::string const& name : names) {
        if (std::any_of(all.begin(), all.end(), [&](auto const* o) { return o->op == name; })) continue;
        nearest near(name);
        for (targets::operator_support const& o : t.operators) near.offer(o.op);
        std::string const similar(near.found());
        throw error(name + ": " + std::string(t.title) + " does not mention it" +
                    (similar.empty() ? "" : "; did you mean " + similar + '?'));
    }
    return all;
}

std::string heading(targets::target const& t) {
    return std::string(t.title) + ": opsets " + std::to_string(t.since) + " to " + std::to_string(t.until) +
           (t.is_strongly_typed ? ", strongly typed" : "") + (t.is_static ? ", static sizes" : "") + "; " +
           std::string(t.source) + ", " + std::string(t.date) + '\n';
}

std::string as_json(targets::target const& t, std::vector<targets::operator_support const*> const& all) {
    json_writer out;
    out.begin_object().field("target", t.name).field("version", t.version).field("since", t.since);
    out.field("until", t.until).field("source", t.source).field("date", t.date);
    out.field("strongly_typed", t.is_strongly_typed).field("static_sizes", t.is_static).name("operators").begin_array();
    for (targets::operator_support const* o : all) {
        out.new_line("  ").begin_object().field("op", o->op).field("types", types_of(*o));
        out.field("conditions", conditions_of(*o)).field("source", o->line).end_object();
    }
    return out.new_line().end_array().end_object().text() + '\n';
}

} // namespace

std::string list_target(targets::target const& t, list_request const& request) {
    if (t.operators.empty())
        throw error(std::string(t.title) +
                    " has no table of operators; aton check --runtime lists what it does not run");
    std::vector<targets::operator_support const*> const all = chosen(t, request.names);
    if (request.format == list_format::json) return as_json(t, all);
    bool const is_markdown = request.format == list_format::markdown;
    std::string out = is_markdown ? "| operator | types | conditions | source |\n|---|---|---|---|\n" : heading(t);
    for (targets::operator_support const* o : all) {
        std::string const when = conditions_of(*o);
        std::string op(o->op);
        if (is_markdown) {
            out += "| `" + op + "` | " + types_of(*o) + " | " + when + " | " + std::string(o->line) + " |\n";
            continue;
        }
        op.resize(std::max<std::size_t>(op.size() + 1, 26), ' ');
        out += op + types_of(*o) + (when.empty() ? "" : "; " + when) + '\n';
    }
    return out;
}

} // namespace aton::tool
