// SPDX-License-Identifier: MIT
// Values of an enumeration are taken for each other; numbers and lists are changed as those of a graph are; an argument is ignored if it is
// at its default, or None.
#include "changed_calls.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iterator>
#include <limits>
#include <utility>

#include <aton/aten/function_schema.hpp>
#include <aton/core/error.hpp>
#include <aton/passes/passes.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/runtime/onnx_model.hpp>

#include "argument_values.hpp"
#include "rule_reader.hpp"
#include "seen_graphs.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using aten::base_type;
using kind = aten::argument_kind;
using runtime::aten_argument;

std::string text_of(aten_argument const& a) {
    switch (a.kind) {
    case kind::none: return "None";
    case kind::text: return '\'' + a.text + '\'';
    case kind::type: return std::string(name(a.type));
    case kind::number:
        if (a.number.is_bool()) return a.number.to<bool>() ? "true" : "false";
        return std::to_string(a.number.to<std::int64_t>());
    default: return "a value";
    }
}

class change_list {
public:
    change_list(sample const& s, aten::schema_argument const& formal, std::string_view part)
        : sample_(s),
          formal_(formal),
          part_(part),
          default_(default_of(formal)) {
        auto const given = std::ranges::find(s.arguments, formal.name, &aten_argument::name);
        is_given_ = given != s.arguments.end();
        was_ = is_given_ ? *given : default_;
    }

    std::vector<changed_call> all() {
        if (is_given_ && formal_.has_default) add("ignored", default_);
        if (is_given_ && formal_.type.optional && was_.kind != kind::none && default_.kind != kind::none)
            add("taken for None", aten_argument::none());
        switch (was_.kind) {
        case kind::text: words(); break;
        case kind::type: types(); break;
        case kind::number: number(); break;
        case kind::numbers: numbers(); break;
        case kind::tensors: tensors(); break;
        default: break;
        }
        return std::move(out_);
    }

private:
    void add(std::string const& what, aten_argument to) {
        to.name = formal_.name;
        bool const leaves_out = to.kind == kind::missing; // a default that is not a literal
        if (!leaves_out && is_plain(was_) && same_value(was_, to)) return;
        sample changed = sample_;
        auto const at = std::ranges::find(changed.arguments, formal_.name, &aten_argument::name);
        if (leaves_out) {
            if (at == changed.arguments.end()) return;
            changed.arguments.erase(at);
        } else if (at == changed.arguments.end()) changed.arguments.push_back(std::move(to));
        else *at = std::move(to);
        bool const of_tensors = was_.kind == kind::tensor || was_.kind == kind::tensors;
        out_.push_back(
            {formal_.name, "argument " + std::string(formal_.name) + ": " + what, std::move(changed), of_tensors});
    }
    static bool is_plain(aten_argument const& a) { return a.kind != kind::tensor && a.kind != kind::tensors; }
    void taken_for(aten_argument to) {
        if (same_value(was_, to)) return;
        std::string const what = text_of(was_) + " taken for " + text_of(to);
        add(what, std::move(to));
    }

    void words() {
        for (std::string const& each : alternatives_of(part_))
            if (each.size() > 2 && each.front() == '\'')
                taken_for(aten_argument::of_text(each.substr(1, each.size() - 2)));
    }
    void types() {
        for (dtype const other : {dtype::float32, dtype::float16, dtype::int64, dtype::int32, dtype::bool_})
            taken_for(aten_argument::of_type(other));
    }
    void number() {
        scalar const n = was_.number;
        if (formal_.type.base == base_type::bool_ || n.is_bool())
            return taken_for(aten_argument::of_number(!n.to<bool>()));
        bool const is_axis = formal_.name.starts_with("dim") || formal_.name.starts_with("axis");
        if (!is_axis && (formal_.type.base == base_type::int_ || formal_.type.base == base_type::sym_int)) {
            std::vector<std::int64_t> const values = enumeration_of(part_);
            for (std::int64_t const each : values) taken_for(aten_argument::of_number(each));
            if (!values.empty()) return;
        }
        if (n.is_complex()) return;
        if (n.is_integral()) {
            auto const i = n.to<std::int64_t>();
            if (i == std::numeric_limits<std::int64_t>::max() || i <= -std::numeric_limits<std::int64_t>::max()) return;
            add("one more", aten_argument::of_number(i + 1));
            add("one less", aten_argument::of_number(i - 1));
            return add("negated", aten_argument::of_number(-i));
        }
        auto const v = n.to<double>();
        constexpr double a_little_more = 1.01;
        add("1 % more", aten_argument::of_number(v * a_little_more));
        add("negated", aten_argument::of_number(-v));
        add("zero", aten_argument::of_number(0.0));
    }
    void numbers() {
        std::vector<scalar> reversed(was_.numbers.rbegin(), was_.numbers.rend());
        add("reversed", aten_argument::of_numbers(std::move(reversed)));
        if (was_.numbers.empty()) return;
        for (bool const first : {true, false}) {
            if (!first && was_.numbers.size() == 1) break;
            std::vector<scalar> changed = was_.numbers;
            scalar& n = first ? changed.front() : changed.back();
            if (n.is_bool()) n = !n.to<bool>();
            else if (n.is_integral()) n = n.to<std::int64_t>() + 1;
            else n = n.to<double>() + 1;
            add(first ? "the first one more" : "the last one more", aten_argument::of_numbers(std::move(changed)));
        }
    }
    void tensors() {
        if (was_.tensors.size() < 2) return;
        aten_argument reversed = was_;
        std::reverse(reversed.tensors.begin(), reversed.tensors.end());
        add("reversed", std::move(reversed));
        aten_argument fewer = was_;
        fewer.tensors.pop_back();
        add("without the last", std::move(fewer));
    }

    sample const& sample_;
    aten::schema_argument const& formal_;
    std::string_view part_;
    aten_argument default_;
    aten_argument was_;
    bool is_given_ = false;
    std::vector<changed_call> out_;
};

} // namespace

std::vector<changed_call> changed_calls(dsl::entry const& row, std::string_view rule, sample const& s) {
    std::vector<changed_call> out;
    aten::schema_argument formal;
    std::size_t position = 0;
    for (aten::argument_cursor each{row.schema}; each.next(formal); ++position) {
        bool const is_read = std::ranges::find(row.named, static_cast<std::uint8_t>(position)) != row.named.end();
        if (!is_read || is_placement(formal.type.base)) continue;
        std::vector<changed_call> more = change_list(s, formal, part_of_rule(rule, formal.name)).all();
        std::move(more.begin(), more.end(), std::back_inserter(out));
    }
    return out;
}

traced_graph::outcome outcome_of(changed_call const& changed, translation const& graph, dsl::entry const& row,
                                 bool exact_nan, runtime::device where) {
    constexpr std::uint64_t limit = std::uint64_t{1} << 16;
    using enum traced_graph::effect;
    translation now;
    try {
        now = translate(row, row.schema, graph.graph.opset, changed.call, exact_nan, where);
        inline_functions(now.graph);
    } catch (std::exception const&) {
        return {illegal}; // the row refuses this value
    }
    if (!changed.has_other_tensors && same_graph(now.graph, graph.graph)) return {same};
    for (std::size_t i = 0; i != graph.results.size() && i != now.results.size(); ++i)
        if (graph.results[i].produced && !now.results[i].produced) return {fails}; // a result is missing
    try {
        runtime::onnx_model const model(now.graph, {where, 0, limit});
        std::vector<runtime::value> inputs;
        for (runtime::value const& v : now.inputs) inputs.emplace_back(to_device(v.one(), where));
        return {traced_graph::effect::other, results_of(now, model.run(inputs))};
    } catch (runtime::step_limit_error const&) {
        return {illegal}; // too many steps: other calls have graphs that end sooner
    } catch (error const&) {
        return {fails};
    }
}

} // namespace ATON_NAMESPACE::verify
