// SPDX-License-Identifier: MIT
// Writes a report as one self-contained HTML page.
#include <aton/verify/check.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report_text.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

constexpr std::string_view head = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Equivalence of mappings</title><style>
:root{--ink:#1a1c22;--soft:#5c6270;--line:#e2e4ea;--card:#f6f7f9;--page:#fff;--good:#1f7a4d;--bad:#b3261e;--mild:#8a6d1a;--bar:#3f63c9}
@media(prefers-color-scheme:dark){:root{--ink:#e8e9ee;--soft:#a0a5b3;--line:#31343d;--card:#1d1f26;--page:#14161b;--good:#56c48b;--bad:#f2827a;--mild:#d9b95a;--bar:#8aa4f5}}
body{margin:0 auto;padding:2rem 1.5rem 4rem;max-width:76rem;font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page)}
h1{font-size:1.5rem;margin:0 0 .25rem}p{max-width:46rem;color:var(--soft);margin:.25rem 0 1.25rem}
.tiles{display:flex;flex-wrap:wrap;gap:.75rem;margin:1rem 0}.tile{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.7rem 1rem;min-width:8.5rem}
.tile b{display:block;font-size:1.4rem;font-variant-numeric:tabular-nums}.tile span{color:var(--soft);font-size:.85rem}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.87rem}th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
th{position:sticky;top:0;background:var(--page);color:var(--soft);font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code{font:.85em ui-monospace,monospace}.t{display:inline-block;border:1px solid var(--line);border-radius:4px;padding:0 .35rem;margin:0 .25rem .2rem 0;font-size:.8rem}
.good{color:var(--good)}.bad{color:var(--bad)}.mild{color:var(--mild)}details pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--card);padding:.6rem;border-radius:6px}
input{font:inherit;padding:.35rem .6rem;border:1px solid var(--line);border-radius:6px;background:var(--page);color:inherit;min-width:16rem}
svg text{fill:var(--soft);font:11px system-ui,sans-serif}svg rect{fill:var(--bar)}
</style></head><body>
)";

std::string escaped(std::string_view text) {
    std::string out;
    for (char const c : text) {
        if (c == '<') out += "&lt;";
        else if (c == '>') out += "&gt;";
        else if (c == '&') out += "&amp;";
        else if (c == '"') out += "&quot;";
        else out += c;
    }
    return out;
}

std::string tile(std::string const& number, std::string_view what) {
    return "<div class=\"tile\"><b>" + number + "</b><span>" + std::string(what) + "</span></div>\n";
}

std::string text_at(std::string const& x, int y, std::string_view text) {
    std::string out = R"(<text text-anchor="middle" x=")" + x + R"(" y=")" + std::to_string(y) + "\">";
    return (out += text) + "</text>";
}

/// A histogram of errors: one bar per order of magnitude, with a logarithmic height.
std::string error_picture(report const& r) {
    constexpr std::string_view names[] = {
        "exact", "to 1e-5", "to 1e-4", "to 1e-3", "to 0.01", "to 0.1", "to 1", "more"};
    std::vector<int> sums(std::size(names));
    for (row_report const& row : r.rows)
        for (std::size_t i = 0; i != sums.size(); ++i) sums[i] += row.errors[i];
    double const max = std::log10(1.0 + *std::max_element(sums.begin(), sums.end()));
    std::string out = R"(<svg role="img" aria-label="Results by error, as a fraction of the tolerance" )";
    out += "viewBox=\"0 0 560 190\" width=\"560\">\n";
    for (std::size_t i = 0; i != sums.size(); ++i) {
        int const height = max == 0 ? 0 : static_cast<int>(130 * std::log10(1.0 + sums[i]) / max);
        std::string const x = std::to_string(8 + 69 * static_cast<int>(i));
        std::string const middle = std::to_string(36 + 69 * static_cast<int>(i));
        out += R"(<rect rx="2" x=")" + x + R"(" y=")" + std::to_string(155 - height);
        out += R"(" width="56" height=")" + std::to_string(height) + "\"/>";
        out += text_at(middle, 149 - height, std::to_string(sums[i])) + text_at(middle, 174, names[i]) + '\n';
    }
    return out + "</svg>\n";
}

std::string type_chip(type_report const& t) {
    std::string_view kind = "good";
    std::string note = std::to_string(t.same) + " calls agree";
    if (t.different != 0) kind = "bad", note = std::to_string(t.different) + " calls differ";
    else if (t.same == 0) kind = "mild", note = "not claimed";
    if (t.refused != 0) note += ", " + std::to_string(t.refused) + " refused";
    if (t.declined != 0) note += ", " + std::to_string(t.declined) + " left to the row below";
    if (t.excluded != 0) note += ", " + std::to_string(t.excluded) + " compared by dtype and sizes only";
    return "<span class=\"t " + std::string(kind) + "\" title=\"" + note + "\">" + std::string(name(t.type)) +
           "</span>";
}

std::string joined(std::vector<std::string> const& all) {
    std::string out;
    for (std::string const& each : all) out += (out.empty() ? "" : ", ") + each;
    return out;
}

std::string details_of(row_report const& r) {
    std::string out;
    for (failure const& f : r.failures)
        out += "<details><summary class=\"bad\">opset " + std::to_string(f.opset) + ": " + escaped(f.why) +
               "</summary><pre><code>" + escaped(call_text(f)) + "</code></pre></details>";
    if (!r.schema_difference.empty()) out += "<p class=\"bad\">" + escaped(r.schema_difference) + "</p>";
    if (!r.not_checked.empty()) out += "<span class=\"mild\">" + escaped(r.not_checked) + "</span>";
    if (r.recorded.total() != 0)
        out += "<p>" + std::to_string(r.recorded.total()) + " recorded calls: " + std::to_string(r.recorded.same) +
               " the same, " + std::to_string(r.recorded.different) + " different, " +
               std::to_string(r.recorded.refused) + " refused" +
               (r.recorded.refusal.empty() ? std::string() : ", the first of them " + escaped(r.recorded.refusal)) +
               "</p>";
    if (!r.arguments.empty()) {
        out += "<details><summary>values of arguments</summary><pre>";
        for (argument_report const& a : r.arguments) {
            out += escaped(a.name) + (a.is_read ? ": " : " (not read): ") + escaped(joined(a.drawn)) + '\n';
            if (!a.reason.empty()) out += "    because " + escaped(a.reason) + '\n';
            if (a.mutants != a.equivalent)
                out += "    " + std::to_string(a.detected) + " of " + std::to_string(a.mutants - a.equivalent) +
                       " mutants detected\n";
            if (!a.missing.empty())
                out += "<span class=\"mild\">    not drawn: " + escaped(joined(a.missing)) + "</span>\n";
        }
        out += "</pre></details>";
    }
    if (!r.mutants.survivors.empty()) {
        out += "<details><summary>" + std::to_string(r.mutants.survivors.size()) + " undetected mutants</summary><pre>";
        for (std::string const& s : r.mutants.survivors) out += escaped(s) + '\n';
        out += "</pre></details>";
    }
    return out;
}

constexpr double enough_power = 95;

/// The sort key of a row: 0 differs, 1 not checked, 2 too few mutants detected, 3 fine.
int urgency(row_report const& r) {
    if (!r.failures.empty() || !r.schema_difference.empty()) return 0;
    if (!r.not_checked.empty()) return 1;
    return r.mutants.power() < enough_power ? 2 : 3;
}

std::vector<row_report const*> in_order(std::vector<row_report> const& rows) {
    std::vector<row_report const*> out;
    for (row_report const& r : rows) out.push_back(&r);
    std::stable_sort(out.begin(), out.end(), [](row_report const* a, row_report const* b) {
        return urgency(*a) < urgency(*b) || (urgency(*a) == urgency(*b) && a->mutants.power() < b->mutants.power());
    });
    return out;
}

/// The calls of each dtype.
std::string table_of_types(report const& r) {
    std::map<dtype, type_report> all;
    std::map<dtype, int> rows;
    for (row_report const& row : r.rows)
        for (type_report const& t : row.types) {
            type_report& sum = all[t.type];
            sum.same += t.same;
            sum.different += t.different;
            sum.refused += t.refused;
            sum.excluded += t.excluded;
            rows[t.type] += t.same != 0 ? 1 : 0;
        }
    std::string out =
        "<div class=\"wide\"><table><thead><tr><th>Dtype</th><th class=\"n\">Rows that support it</th><th "
        "class=\"n\">Calls that "
        "agree</th><th class=\"n\">Calls that differ</th><th class=\"n\">Refused</th><th class=\"n\">By dtype and "
        "sizes "
        "only</th></tr></thead><tbody>\n";
    for (auto const& [type, t] : all) {
        out += "<tr><td><code>" + std::string(name(type)) + "</code></td>";
        for (int const n : {rows[type], t.same, t.different, t.refused, t.excluded})
            out += "<td class=\"n\">" + std::to_string(n) + "</td>";
        out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
}

std::string row_of(row_report const& r) {
    std::string opsets;
    for (int const o : r.opsets) opsets += (opsets.empty() ? "" : ", ") + std::to_string(o);
    std::string types;
    for (type_report const& t : r.types) types += type_chip(t);
    int const counted = r.mutants.made - r.mutants.equivalent;
    static constexpr std::string_view verdicts[] = {
        "bad\">differs", "mild\">not checked", "mild\">same, too few mutants detected", "good\">same"};
    std::string_view const verdict = verdicts[urgency(r)];
    return "<tr><td><code>" + escaped(r.overload) + "</code></td><td class=\"" + std::string(verdict) + "</td><td>" +
           opsets + "</td><td>" + types + "</td><td class=\"n\">" + short_text(r.worst_error) +
           "</td><td class=\"n\">" +
           (counted == 0 ? std::string("-") : std::to_string(r.mutants.detected) + " / " + std::to_string(counted)) +
           "</td><td>" + details_of(r) + "</td></tr>\n";
}

constexpr std::string_view foot = R"(</tbody></table></div>
<script>
const box=document.getElementById('find');
box.addEventListener('input',()=>{const w=box.value.toLowerCase();
for(const row of document.querySelectorAll('#rows tr'))row.hidden=!row.textContent.toLowerCase().includes(w);});
</script></body></html>
)";

} // namespace

std::string report::to_html() const {
    totals const t = totals_of(*this);
    std::string out(head);
    out += "<h1>Equivalence of mappings</h1>\n<p>Each row was called with random or recorded arguments, by ATen and by "
           "the ONNX "
           "graph of the row, at every opset "
           "where that graph computes something new. Errors are fractions of the tolerance, which depends on the "
           "dtype.</p>\n<div "
           "class=\"tiles\">\n";
    out += tile(std::to_string(t.passed) + " / " + std::to_string(rows.size()), "rows give ATen's numbers");
    out += tile(std::to_string(t.failed), "rows differ");
    out += tile(std::to_string(t.not_checked), "rows not checked");
    out += tile(std::to_string(t.calls), "calls compared");
    if (t.recorded.total() != 0)
        out += tile(std::to_string(t.recorded.same + t.recorded.different), "of these recorded");
    double worst = 0;
    for (row_report const& r : rows) worst = std::max(worst, r.worst_error);
    out += tile(short_text(worst), "worst error, as a fraction of the tolerance");
    out += tile(std::to_string(t.kinds), "kinds of values of " + std::to_string(t.arguments) + " arguments");
    out += tile(std::to_string(t.missing), "kinds not drawn");
    if (t.mutants != 0) {
        out += tile(short_text(power()) + " %", "of mutants detected");
        out += tile(std::to_string(t.mutants), "mutants, " + std::to_string(t.equivalent) + " equivalent");
    }
    out += "</div>\n<h2>Results by error</h2>\n<p>The number of results by error, as a fraction of the tolerance. The "
           "height of a "
           "bar is logarithmic.</p>\n" +
           error_picture(*this);
    out += "<h2>Dtypes</h2>\n" + table_of_types(*this);
    out +=
        "<h2>Rows</h2>\n<p>Rows that differ come first, then those that were not checked, then those with fewer than " +
        short_text(enough_power) +
        " % of their mutants detected.</p>\n<input id=\"find\" type=\"search\" placeholder=\"Find an operator\" "
        "aria-label=\"Find an "
        "operator\">\n<div class=\"wide\"><table><thead><tr><th>Overload</th><th>Verdict</th><th>Opsets</th>"
        "<th>Dtypes</th><th class=\"n\">Worst error</th><th class=\"n\">Mutants "
        "detected</th><th></th></tr></thead><tbody id=\"rows\">\n";
    for (row_report const* r : in_order(rows)) out += row_of(*r);
    return out += foot;
}

} // namespace ATON_NAMESPACE::verify
