// SPDX-License-Identifier: MIT
#include "row_results.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace aton::tests {

using verify::sample;

namespace {

constexpr int first_complete_opset = 13; // from here on, a row takes every dtype that it supports

/// Adds the graph at each opset at which it changes. Older opsets may lack a dtype, and the row then refuses the call.
void add_graphs(std::vector<verify::translation>& out, dsl::entry const& row, sample const& s) {
    std::string before;
    for (int opset = row.since; opset <= std::min(row.until, std::max(row.since, first_complete_opset)); ++opset) {
        try {
            verify::translation graph = translate(row, row.schema, opset, s);
            std::string structure = verify::structure_of(graph.graph);
            if (structure != before) out.push_back(std::move(graph));
            before = std::move(structure);
        } catch (aton::error const&) {
            if (opset >= first_complete_opset) throw;
        }
    }
}

} // namespace

std::vector<verify::translation> translated(sample const& s) {
    std::vector<verify::translation> out;
    for (dsl::table_view const& family : mappings::built_in_tables())
        for (dsl::entry const& row : family)
            if (row.overload == s.overload) add_graphs(out, row, s);
    if (out.empty()) FAIL("no row for " << s.overload);
    return out;
}

namespace {

/// A tensor, or the only one of a list.
runtime::tensor const& tensor_of(runtime::value const& v) { return v.many().size() == 1 ? v.many()[0] : v.one(); }

} // namespace

void gives(std::string overload, std::vector<runtime::aten_argument> arguments, runtime::tensor const& expected,
           std::size_t result) {
    sample const s{std::move(overload), std::move(arguments)};
    CAPTURE(to_python(s));
    runtime::tensor const truth = tensor_of(runtime::call_aten(s.overload, s.arguments).results.at(result));
    CHECK(verify::compare(truth, expected).same());
    for (verify::translation const& t : translated(s)) {
        CAPTURE(t.graph.opset);
        verify::comparison const c = verify::compare(tensor_of(run(t).at(result)), expected);
        CHECK_MESSAGE(c.same(), to_string(c));
    }
}

std::string refusal(std::string overload, std::vector<runtime::aten_argument> arguments) {
    sample const s{std::move(overload), std::move(arguments)};
    return fault_of([&] { return translated(s); });
}

} // namespace aton::tests
