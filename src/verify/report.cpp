// SPDX-License-Identifier: MIT
// Writes a report as text and as JSON.
#include <aton/verify/check.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>

#include <aton/core/json_writer.hpp>

#include "report_text.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

/// An object that is left open.
void write(json_writer& to, recorded_report const& r) {
    to.begin_object().field("same", r.same).field("different", r.different).field("refused", r.refused);
}

void write(json_writer& to, row_report const& r) {
    to.begin_object().field("overload", r.overload).field("since", r.since).field("until", r.until);
    to.field("passed", r.passed()).name("opsets").array(r.opsets);
    to.name("types").array(r.types, [&](type_report const& t) {
        to.begin_object().field("dtype", name(t.type)).field("same", t.same).field("different", t.different);
        to.field("refused", t.refused).field("declined", t.declined).field("undefined", t.undefined);
        to.field("excluded", t.excluded).end_object();
    });
    to.name("worst_error").value(r.worst_error, shown_digits).name("errors").array(r.errors);
    to.name("arguments").array(r.arguments, [&](argument_report const& a) {
        to.begin_object().field("name", a.name).field("read", a.is_read).field("reason", a.reason);
        to.name("drawn").array(a.drawn).name("missing").array(a.missing);
        to.field("mutants", a.mutants).field("caught", a.detected).field("equivalent", a.equivalent).end_object();
    });
    write(to.name("recorded"), r.recorded);
    to.field("refusal", r.recorded.refusal).end_object().field("schema_difference", r.schema_difference);
    to.field("not_checked", r.not_checked).name("failures").array(r.failures, [&](failure const& f) {
        to.begin_object().field("opset", f.opset).field("why", f.why).field("call", to_python(f.call));
        to.field("place", f.place).end_object();
    });
    mutant_report const& m = r.mutants;
    to.name("mutants").begin_object().field("made", m.made).field("caught", m.detected);
    to.field("equivalent", m.equivalent).field("few", m.few).name("survivors").array(m.survivors).end_object();
    to.end_object();
}

/// The first names of a list.
std::string first_of(std::vector<std::string> const& names) {
    constexpr std::size_t max = 5;
    std::string out;
    for (std::size_t i = 0; i != std::min(max, names.size()); ++i) out += (i == 0 ? "" : ", ") + names[i];
    return names.size() > max ? out + " and " + std::to_string(names.size() - max) + " others" : out;
}

} // namespace

std::string call_text(failure const& f) {
    return f.place.empty() ? to_python(f.call) : to_python(f.call) + "  # recorded in " + f.place;
}

std::string short_text(double v) {
    std::ostringstream out;
    out.precision(shown_digits);
    out << v;
    return out.str();
}

totals totals_of(report const& r) {
    totals t;
    for (row_report const& row : r.rows) {
        bool const differs = !row.failures.empty() || !row.schema_difference.empty();
        (row.passed() ? t.passed : differs ? t.failed : t.not_checked) += 1;
        t.recorded.same += row.recorded.same;
        t.recorded.different += row.recorded.different;
        t.recorded.refused += row.recorded.refused;
        t.calls += row.total(&type_report::same) + row.total(&type_report::different);
        t.refused += row.total(&type_report::refused);
        t.declined += row.total(&type_report::declined);
        t.excluded += row.total(&type_report::excluded);
        t.mutants += row.mutants.made;
        t.detected += row.mutants.detected;
        t.equivalent += row.mutants.equivalent;
        t.arguments += static_cast<int>(row.arguments.size());
        for (argument_report const& a : row.arguments) {
            t.argument_mutants += a.mutants - a.equivalent;
            t.detected_of_arguments += a.detected;
            t.kinds += static_cast<int>(a.drawn.size());
            t.missing += static_cast<int>(a.missing.size());
        }
    }
    return t;
}

void row_report::add_error(double error) noexcept {
    worst_error = std::max(worst_error, error);
    std::size_t bin = 0;
    if (error > 1) bin = 7;
    else if (error > 0) bin = static_cast<std::size_t>(std::clamp(std::ceil(std::log10(error)) + 6, 1.0, 6.0));
    ++errors[bin];
}

bool report::passed() const {
    return std::all_of(rows.begin(), rows.end(), [](row_report const& r) { return r.passed(); });
}

double report::power() const {
    int made = 0;
    int detected = 0;
    for (row_report const& r : rows) {
        made += r.mutants.made - r.mutants.equivalent;
        detected += r.mutants.detected;
    }
    return made == 0 ? 100 : 100.0 * detected / made;
}

row_report const* report::weakest() const {
    auto const weaker = [](row_report const& a, row_report const& b) { return a.mutants.power() < b.mutants.power(); };
    auto const found = std::min_element(rows.begin(), rows.end(), weaker);
    return found == rows.end() ? nullptr : &*found;
}

std::string report::to_text() const {
    std::string out;
    for (row_report const& r : rows) {
        if (!r.schema_difference.empty()) out += r.overload + ": " + r.schema_difference + '\n';
        if (!r.not_checked.empty()) out += r.overload + ": not checked: " + r.not_checked + '\n';
        for (failure const& f : r.failures)
            out += r.overload + " (opset " + std::to_string(f.opset) + "): " + f.why + "\n    " + call_text(f) + '\n';
        if (!r.recorded.refusal.empty()) {
            out += r.overload + ": refused: " + r.recorded.refusal;
            if (r.recorded.refused != 1)
                out += " (the first of " + std::to_string(r.recorded.refused) + " refused calls)";
            out += '\n';
        }
        for (std::string const& s : r.mutants.survivors) out += r.overload + ": undetected mutant: " + s + '\n';
    }
    totals const t = totals_of(*this);
    out += std::to_string(t.passed) + " of " + std::to_string(rows.size()) + " rows give ATen's numbers on " +
           std::to_string(t.calls) + " calls (" + std::to_string(t.failed) + " do not, " +
           std::to_string(t.not_checked) + " are not checked; " + std::to_string(t.refused) + " calls refused, " +
           (t.declined == 0 ? std::string() : std::to_string(t.declined) + " left to the row below, ") +
           std::to_string(t.excluded) + " compared by dtype and sizes only)\n";
    if (t.recorded.total() != 0)
        out += std::to_string(t.recorded.total()) + " recorded calls: " + std::to_string(t.recorded.same) +
               " give the recorded results, " + std::to_string(t.recorded.different) + " do not, " +
               std::to_string(t.recorded.refused) + " are refused\n";
    if (!without_row.empty()) out += "no row for the recorded calls of " + first_of(without_row) + '\n';
    out += std::to_string(t.arguments) + " arguments had " + std::to_string(t.kinds) + " kinds of values; " +
           std::to_string(t.missing) + " more that schema and rules allow were not drawn\n";
    if (t.mutants != 0)
        out += std::to_string(t.detected) + " of " + std::to_string(t.mutants - t.equivalent) + " mutants detected, " +
               short_text(power()) + " %; " + std::to_string(t.equivalent) + " more are equivalent; " +
               std::to_string(t.detected_of_arguments) + " of " + std::to_string(t.argument_mutants) +
               " that take an argument for another are detected\n";
    std::map<std::string, int> few;
    for (row_report const& r : rows)
        if (!r.mutants.few.empty()) ++few[r.mutants.few];
    for (auto const& [why, count] : few)
        out += std::to_string(count) + " rows have fewer than 5 mutants: " + why + '\n';
    return out;
}

std::string report::to_json() const {
    totals const t = totals_of(*this);
    json_writer out;
    out.begin_object().field("rows", rows.size()).field("passed", t.passed).field("failed", t.failed);
    out.field("not_checked", t.not_checked).field("calls", t.calls).field("kinds", t.kinds).field("missing", t.missing);
    write(out.name("recorded"), t.recorded);
    out.name("without_row").array(without_row).end_object();
    out.field("mutants", t.mutants).field("caught", t.detected).field("equivalent", t.equivalent);
    out.name("power").value(power(), shown_digits).new_line().name("each").array(rows, [&](row_report const& r) {
        out.new_line();
        write(out, r);
    });
    return out.end_object().text() + '\n';
}

} // namespace ATON_NAMESPACE::verify
