// SPDX-License-Identifier: MIT
// Writes a report as text and as JSON.
#include <aton/verify/check.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>

#include "report_text.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

std::string number(int n) { return std::to_string(n); }

std::string json_of(row_report const& r) {
    std::string out = R"({"overload": )" + json_text(r.overload);
    out += ", \"since\": " + number(r.since) + ", \"until\": " + number(r.until);
    out += ", \"passed\": " + std::string(r.passed() ? "true" : "false");
    out += ", \"opsets\": " + json_list(r.opsets, number);
    out += ", \"types\": " + json_list(r.types, [](type_report const& t) {
               return R"({"dtype": )" + json_text(name(t.type)) + ", \"same\": " + number(t.same) +
                      ", \"different\": " + number(t.different) + ", \"refused\": " + number(t.refused) +
                      ", \"undefined\": " + number(t.undefined) + ", \"excluded\": " + number(t.excluded) + "}";
           });
    out += ", \"worst_error\": " + json_number(r.worst_error);
    out += ", \"errors\": " + json_list(r.errors, number);
    auto const texts = [](std::vector<std::string> const& all) {
        return json_list(all, [](std::string const& s) { return json_text(s); });
    };
    out += ", \"arguments\": " + json_list(r.arguments, [&](argument_report const& a) {
               return R"({"name": )" + json_text(a.name) + ", \"drawn\": " + texts(a.drawn) +
                      ", \"missing\": " + texts(a.missing) + "}";
           });
    out += ", \"not_checked\": " + json_text(r.not_checked);
    out += ", \"failures\": " + json_list(r.failures, [](failure const& f) {
               return R"({"opset": )" + number(f.opset) + ", \"why\": " + json_text(f.why) +
                      ", \"call\": " + json_text(to_python(f.call)) + "}";
           });
    mutant_report const& m = r.mutants;
    out += R"(, "mutants": {"made": )" + number(m.made) + ", \"caught\": " + number(m.detected) +
           ", \"equivalent\": " + number(m.equivalent) + ", \"few\": " + json_text(m.few) +
           ", \"survivors\": " + texts(m.survivors) + "}";
    return out + '}';
}

} // namespace

std::string json_number(double v) { return std::isfinite(v) ? short_text(v) : "null"; }

std::string short_text(double v) {
    std::ostringstream out;
    out.precision(3);
    out << v;
    return out.str();
}

totals totals_of(report const& r) {
    totals t;
    for (row_report const& row : r.rows) {
        (row.passed() ? t.passed : row.not_checked.empty() ? t.failed : t.not_checked) += 1;
        t.calls += row.total(&type_report::same) + row.total(&type_report::different);
        t.refused += row.total(&type_report::refused);
        t.excluded += row.total(&type_report::excluded);
        t.mutants += row.mutants.made;
        t.detected += row.mutants.detected;
        t.equivalent += row.mutants.equivalent;
        t.arguments += static_cast<int>(row.arguments.size());
        for (argument_report const& a : row.arguments) {
            t.kinds += static_cast<int>(a.drawn.size());
            t.missing += static_cast<int>(a.missing.size());
        }
    }
    return t;
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
        if (!r.not_checked.empty()) out += r.overload + ": not checked: " + r.not_checked + '\n';
        for (failure const& f : r.failures)
            out +=
                r.overload + " (opset " + std::to_string(f.opset) + "): " + f.why + "\n    " + to_python(f.call) + '\n';
        for (std::string const& s : r.mutants.survivors) out += r.overload + ": undetected mutant: " + s + '\n';
    }
    totals const t = totals_of(*this);
    out += std::to_string(t.passed) + " of " + std::to_string(rows.size()) + " rows give ATen's numbers on " +
           std::to_string(t.calls) + " calls (" + std::to_string(t.failed) + " do not, " +
           std::to_string(t.not_checked) + " are not checked; " + std::to_string(t.refused) + " calls refused, " +
           std::to_string(t.excluded) + " compared by dtype and sizes only)\n";
    out += std::to_string(t.arguments) + " arguments had " + std::to_string(t.kinds) + " kinds of values; " +
           std::to_string(t.missing) + " more that schema and rules allow were not drawn\n";
    if (t.mutants != 0)
        out += std::to_string(t.detected) + " of " + std::to_string(t.mutants - t.equivalent) + " mutants detected, " +
               short_text(power()) + " %; " + std::to_string(t.equivalent) + " more are equivalent\n";
    std::map<std::string, int> few;
    for (row_report const& r : rows)
        if (!r.mutants.few.empty()) ++few[r.mutants.few];
    for (auto const& [why, count] : few)
        out += std::to_string(count) + " rows have fewer than 5 mutants: " + why + '\n';
    return out;
}

std::string report::to_json() const {
    totals const t = totals_of(*this);
    return R"({"rows": )" + std::to_string(rows.size()) + ", \"passed\": " + number(t.passed) +
           ", \"failed\": " + number(t.failed) + ", \"not_checked\": " + number(t.not_checked) +
           ", \"calls\": " + number(t.calls) + ", \"kinds\": " + number(t.kinds) +
           ", \"missing\": " + number(t.missing) + ", \"mutants\": " + number(t.mutants) +
           ", \"caught\": " + number(t.detected) + ", \"equivalent\": " + number(t.equivalent) +
           ", \"power\": " + short_text(power()) + ",\n\"each\": " +
           json_list(rows, [](row_report const& r) { return std::string(1, '\n').append(json_of(r)); }) + "}\n";
}

} // namespace ATON_NAMESPACE::verify
