// SPDX-License-Identifier: MIT
// Every planted row is detected by a call for which the built-in row of its overload is correct.
#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include <aton/mappings/built_in.hpp>
#include <aton/runtime/aten_operator.hpp>
#include <aton/verify/check.hpp>
#include <aton/verify/comparison.hpp>
#include <aton/verify/translation.hpp>

#include "planted.hpp"

namespace ATON_NAMESPACE::verify::traps {

namespace {

/// ATen's results. Throws if the built-in row gives others, so that every failure is due to the planted bug.
runtime::aten_results where_right(dsl::entry const& built_in, int opset, sample const& s) {
    runtime::aten_results out = runtime::call_aten(s.overload, s.arguments);
    std::vector<runtime::value> const got = run(translate(built_in, built_in.schema, opset, s));
    for (std::size_t i = 0; i != got.size() && i != out.results.size(); ++i) {
        std::string const difference = got[i] ? compare(got[i], out.results[i]).difference : std::string();
        if (!difference.empty()) throw error(difference);
    }
    return out;
}

row_report checked(planted const& p, dsl::entry const& built_in) {
    std::string_view const name = p.row[0].overload.substr(std::string_view("aten::").size());
    sampling_rule const own{name, p.rule};
    check_options options;
    options.samples = 3; // the default of aton verify
    options.min_opset = options.max_opset = p.opset;
    options.truth = [&](sample const& s) { return where_right(built_in, p.opset, s); };
    if (!p.rule.empty()) options.rules = {&own, 1};
    return check(p.row, options).rows.at(0);
}

std::string text_of(row_report const& r) {
    std::string out = r.overload + ": " + r.not_checked;
    for (failure const& f : r.failures) out += "\n" + f.why + "\n" + to_python(f.call);
    return out;
}

bool runs(failure const& f) { return !f.why.starts_with("the graph does not run"); }

} // namespace

void require_found(std::span<planted const> all) {
    for (planted const& p : all) {
        std::string const name = std::to_string(p.trap) + " " + p.name;
        SUBCASE(name.c_str()) {
            INFO(name);
            dsl::entry const* const built_in = dsl::find(mappings::built_in_tables(), p.row[0].overload, p.opset);
            REQUIRE(built_in != nullptr);
            row_report const wrong = checked(p, *built_in);
            // A graph that cannot run may be refused while it is built.
            CHECK_MESSAGE((!wrong.failures.empty() || (!p.runs && wrong.total(&type_report::refused) != 0)),
                          text_of(wrong));
            if (p.runs) CHECK_MESSAGE(std::ranges::any_of(wrong.failures, runs), text_of(wrong));
        }
    }
}

TEST_CASE("wrong resampling and pooling is found") { require_found(resampling_traps()); }
TEST_CASE("wrong layouts and recurrent layers are found") { require_found(layout_traps()); }
TEST_CASE("wrong indexing is found") { require_found(indexing_traps()); }
TEST_CASE("wrong arithmetic of integers and wrong promotion are found") { require_found(integer_traps()); }
TEST_CASE("wrong NaN, infinities, ties and attention are found") { require_found(nan_traps()); }
TEST_CASE("wrong handling of extreme arguments is found") { require_found(argument_traps()); }
TEST_CASE("other wrong mappings are found") { require_found(other_traps()); }

TEST_CASE("every trap is planted or listed as not planted") {
    std::set<int> seen(std::begin(not_planted), std::end(not_planted));
    for (auto const& family : {resampling_traps(),
                               layout_traps(),
                               indexing_traps(),
                               integer_traps(),
                               nan_traps(),
                               argument_traps(),
                               other_traps()})
        for (planted const& p : family) seen.insert(p.trap);
    std::set<int> listed;
    for (int i = 1; i <= 58; ++i)
        if (i != 37 && i != 52 && i != 53) listed.insert(i); // unused numbers
    listed.insert(59);                                       // of arguments
    listed.insert(61);
    CHECK(seen == listed);
}

} // namespace ATON_NAMESPACE::verify::traps
