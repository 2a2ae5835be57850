// SPDX-License-Identifier: MIT
#include "row_results.hpp"

#include <utility>

namespace aton::tests {

using verify::sample;

std::vector<verify::translation> translated(sample const& s) {
    std::vector<verify::translation> out;
    for (dsl::table_view const& family : mappings::built_in_tables())
        for (dsl::entry const& row : family)
            if (row.overload == s.overload) out.push_back(translate(row, row.schema, row.since, s));
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
