// SPDX-License-Identifier: MIT
// Every later version of every operator has a decision: compares version_decisions.tsv with the registry, its schemas and the table of semantic
// breaks. Runs in the source folder.
#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/onnx/registry.hpp>
#include <aton/onnx/semantic_breaks.hpp>
#include <doctest/doctest.h>

namespace {

using namespace aton::onnx;

constexpr char const* decisions_file = "tests/onnx/version_decisions.tsv";

using version = std::pair<std::string, int>;

struct decision {
    version of;
    std::string kind;
    std::string reason;
};

using complaints = std::vector<std::string>;

std::string text_of(version const& v) { return v.first + " " + std::to_string(v.second); }

std::vector<decision> read_decisions(std::istream& file) {
    std::vector<decision> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        std::istringstream fields(line);
        decision d;
        std::string number;
        std::getline(fields, d.of.first, '\t');
        std::getline(fields, number, '\t');
        std::getline(fields, d.kind, '\t');
        std::getline(fields, d.reason);
        d.of.second = std::stoi(number);
        rows.push_back(std::move(d));
    }
    return rows;
}

std::vector<decision> const& decisions() {
    static std::vector<decision> const rows = [] {
        std::ifstream file(decisions_file);
        REQUIRE_MESSAGE(file.is_open(), "run it in the source folder: no " << decisions_file);
        return read_decisions(file);
    }();
    return rows;
}

/// Every version of an operator of the default domain except the first.
std::vector<version> later_versions() {
    std::vector<version> all;
    for (int i = 0; i != op_count(); ++i)
        for (int k = 1; k < op_versions(i).size(); ++k)
            if (op_schema const s = op_versions(i)[k]; s.domain().empty()) all.emplace_back(s.name(), s.since());
    return all;
}

/// The versions that have a row in the table of semantic breaks.
std::set<version> versions_with_break() {
    std::set<version> all;
    for (semantic_break const& b : detail::semantic_breaks) all.emplace(b.op, b.opset);
    return all;
}
std::set<version> versions_with_conditional_break() {
    std::set<version> all;
    for (conditional_break const& b : detail::conditional_breaks) all.emplace(b.op, b.opset);
    return all;
}

complaints check_completeness(std::vector<version> const& registry, std::vector<decision> const& rows) {
    complaints found;
    std::set<version> decided;
    for (decision const& d : rows) {
        if (!decided.insert(d.of).second) found.push_back(text_of(d.of) + ": two rows; keep one");
        if (std::find(registry.begin(), registry.end(), d.of) == registry.end())
            found.push_back(text_of(d.of) + ": no later version of an operator; remove the row");
    }
    for (version const& v : registry)
        if (!decided.contains(v))
            found.push_back(
                text_of(v) +
                ": nobody has decided whether a call that was legal before means something else now; read both "
                "schemas and add a row to " +
                decisions_file);
    return found;
}

complaints check_tables(std::vector<decision> const& rows, std::set<version> const& plain,
                        std::set<version> const& conditional) {
    complaints found;
    for (decision const& d : rows) {
        std::string const name = text_of(d.of) + ", " + d.kind;
        bool const known = d.kind == "same" || d.kind == "wider" || d.kind == "signature" || d.kind == "break" ||
                           d.kind == "conditional";
        if (!known) found.push_back(name + ": a decision is same, wider, signature, break or conditional");
        if (d.kind != "wider" && d.reason.empty()) found.push_back(name + ": say why");
        bool const in_plain = plain.contains(d.of);
        bool const in_conditional = conditional.contains(d.of);
        if (d.kind == "break" && !in_plain) found.push_back(name + ": add it to semantic_breaks");
        if (d.kind == "conditional" && (!in_conditional || in_plain))
            found.push_back(name + ": add it to conditional_breaks alone");
        if (d.kind != "break" && d.kind != "conditional" && (in_plain || in_conditional))
            found.push_back(name +
                            ": but semantic_breaks.hpp has it; decide for break or conditional, or remove it there");
    }
    for (auto const* table : {&plain, &conditional})
        for (version const& v : *table)
            if (std::none_of(rows.begin(), rows.end(), [&v](decision const& d) { return d.of == v; }))
                found.push_back(text_of(v) + ": in semantic_breaks.hpp, but without a decision; add a row to " +
                                decisions_file);
    return found;
}

// Checks of a decision against the schemas.

/// Whether inputs i and j must have the same type.
bool tied(op_schema s, int i, int j) { return s.input(i).type_var >= 0 && s.input(i).type_var == s.input(j).type_var; }
bool can_differ(op_schema s, int i, int j) {
    bool const one_type =
        s.input(i).types == s.input(j).types && (s.input(i).types.plain & (s.input(i).types.plain - 1)) == 0;
    return !tied(s, i, j) && !one_type;
}

/// The first thing that is legal in `before` but not in `after`; empty: nothing.
std::string narrowed(op_schema before, op_schema after) {
    if (after.deprecated()) return "deprecated";
    for (int i = 0; i != before.attribute_count(); ++i) {
        attribute const a = before.attr(i);
        int const found = after.find_attribute(a.name);
        if (found < 0) return "no attribute " + std::string(a.name);
        if (after.attr(found).type != a.type) return "another type of attribute " + std::string(a.name);
    }
    for (int i = 0; i != after.attribute_count(); ++i) {
        int const found = before.find_attribute(after.attr(i).name);
        if (after.attr(i).required && (found < 0 || !before.attr(found).required))
            return "attribute " + std::string(after.attr(i).name) + " is required";
    }
    if (after.min_inputs() > before.min_inputs() || after.max_inputs() < before.max_inputs())
        return "another number of inputs";
    if (after.min_outputs() > before.min_outputs() || after.max_outputs() < before.max_outputs())
        return "another number of outputs";
    int const inputs = std::min(before.input_count(), after.input_count());
    for (int i = 0; i != inputs; ++i) {
        if (!after.input(i).types.contains(before.input(i).types))
            return "fewer types of input " + std::string(after.input(i).name);
        if (before.input(i).kind == option::optional && after.input(i).kind == option::single)
            return "required input " + std::string(after.input(i).name);
        for (int j = 0; j != i; ++j)
            if (tied(after, i, j) && can_differ(before, i, j))
                return "one type of " + std::string(after.input(i).name) + " and " + std::string(after.input(j).name);
    }
    for (int i = 0; i != std::min(before.output_count(), after.output_count()); ++i)
        if (!after.output(i).types.contains(before.output(i).types))
            return "fewer types of output " + std::string(after.output(i).name);
    return {};
}

/// An attribute of both whose default changed; empty: none.
std::string_view changed_default(op_schema before, op_schema after) {
    for (int i = 0; i != before.attribute_count(); ++i) {
        int const found = after.find_attribute(before.attr(i).name);
        if (found >= 0 && after.attr(found).default_text != before.attr(i).default_text) return before.attr(i).name;
    }
    return {};
}

/// A contradiction between the decision and the schemas; empty: none.
std::optional<std::string> contradiction(std::string_view kind, op_schema before, op_schema after) {
    std::string const less = narrowed(before, after);
    bool const more = !narrowed(after, before).empty();
    if (kind == "same" && more) return "more is legal than before: " + narrowed(after, before) + " until then";
    if ((kind == "same" || kind == "wider") && !less.empty()) return "less is legal than before: " + less;
    if (kind == "signature" && less.empty()) return "whatever was legal before still is";
    bool const misspelled_before = after.name() == "GRU" && after.since() == 3; // direction=foward
    if (std::string_view const name = changed_default(before, after);
        (kind == "same" || kind == "wider") && !name.empty() && !misspelled_before)
        return "the default of " + std::string(name) + " is another";
    return std::nullopt;
}

void report(complaints const& found) {
    for (std::string const& c : found) FAIL_CHECK(c);
}

} // namespace

TEST_CASE("every later version of an operator has one decision") {
    CHECK(later_versions().size() > 400);
    report(check_completeness(later_versions(), decisions()));
}

TEST_CASE("decisions and the table of semantic breaks agree") {
    report(check_tables(decisions(), versions_with_break(), versions_with_conditional_break()));
}

TEST_CASE("decisions are sorted like the registry") {
    std::vector<version> order;
    for (decision const& d : decisions()) order.push_back(d.of);
    CHECK(order == later_versions());
}

TEST_CASE("no schema contradicts a decision") {
    for (decision const& d : decisions()) {
        auto const& [op, opset] = d.of;
        INFO(text_of(d.of), ", ", d.kind);
        op_schema const before = aton::onnx::find("", op, opset - 1);
        op_schema const after = aton::onnx::find("", op, opset);
        REQUIRE(before);
        REQUIRE(after);
        auto const problem = contradiction(d.kind, before, after);
        CHECK_MESSAGE(!problem.has_value(), problem.value_or(""));
    }
}

// Tests of the checks: each kind of fault is found.

TEST_CASE(
    "a new version without a decision is named, with what to do; so are rows without a version and duplicate rows") {
    std::vector<version> const registry = {{"Abs", 13}, {"Softmax", 13}};
    std::vector<decision> const good = {{registry[0], "wider", ""}, {registry[1], "break", "why"}};
    CHECK(check_completeness(registry, good).empty());
    complaints const newer = check_completeness({registry[0], registry[1], {"Softmax", 99}}, good);
    REQUIRE(newer.size() == 1);
    CHECK(newer[0].starts_with("Softmax 99: nobody has decided"));
    CHECK(newer[0].ends_with(decisions_file));
    CHECK(check_completeness({registry[0]}, good) ==
          complaints{"Softmax 13: no later version of an operator; remove the row"});
    CHECK(check_completeness(registry, {good[0], good[1], good[0]}) == complaints{"Abs 13: two rows; keep one"});
}

TEST_CASE("decision and table that disagree are named, from both sides") {
    std::set<version> const plain = {{"Softmax", 13}};
    std::set<version> const conditional = {{"MaxPool", 22}};
    std::vector<decision> const good = {{{"Softmax", 13}, "break", "why"}, {{"MaxPool", 22}, "conditional", "why"}};
    CHECK(check_tables(good, plain, conditional).empty());
    CHECK(check_tables(good, {}, conditional).size() == 1);
    CHECK(check_tables(good, plain, {}).size() == 1);
    CHECK(check_tables({good[0]}, plain, conditional).size() == 1);
    CHECK(check_tables({good[1]}, plain, conditional).size() == 1);
    auto const with = [&](version const& v, std::string const& kind, std::string const& reason) {
        std::vector<decision> rows = good;
        rows.push_back({v, kind, reason});
        return check_tables(rows, plain, conditional);
    };
    CHECK(with({"Abs", 13}, "wider", "").empty());
    CHECK(with({"Abs", 13}, "unsure", "why").size() == 1);
    CHECK(with({"Abs", 6}, "signature", "").size() == 1);
    CHECK(with({"Abs", 13}, "break", "why").size() == 1);
    CHECK(with({"Softmax", 13}, "wider", "").size() == 1);
    CHECK(with({"Softmax", 13}, "conditional", "why").size() == 1);
}

TEST_CASE("a decision that the schemas contradict is found") {
    auto const of = [](std::string_view kind, std::string_view op, int before, int after) {
        return contradiction(kind, aton::onnx::find("", op, before), aton::onnx::find("", op, after)).has_value();
    };
    CHECK(of("same", "Abs", 6, 13));       // bfloat16
    CHECK(of("wider", "Erf", 9, 13));      // no longer integers
    CHECK(of("wider", "Squeeze", 11, 13)); // axes became an input
    CHECK(of("wider", "Softmax", 11, 13)); // another default of axis
    CHECK(of("wider", "QuantizeLinear", 13, 18) == false);
    CHECK(of("wider", "QuantizeLinear", 13, 19)); // x and y_scale of one type
    CHECK(of("wider", "Concat", 1, 4));           // axis is required
    CHECK(of("wider", "Unsqueeze", 12, 13));      // one input more
    CHECK(of("wider", "Upsample", 9, 10));        // deprecated
    CHECK(of("signature", "Abs", 6, 13));         // nothing was removed
    CHECK(!of("same", "NonMaxSuppression", 10, 11));
    CHECK(!of("wider", "Abs", 6, 13));
    CHECK(!of("signature", "Squeeze", 11, 13));
}
