// SPDX-License-Identifier: MIT
// Every planted row is found, and the built-in row in its place passes at the same settings.
#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include <aton/mappings.hpp>
#include <aton/verify/check.hpp>

#include "planted.hpp"

namespace aton::verify::traps {

namespace {

row_report checked(dsl::entry const& row, planted const& p) {
    sampling_rule const own{row.overload, p.rule};
    check_options options;
    options.samples = 2;
    options.least_opset = options.most_opset = p.opset;
    if (!p.rule.empty()) options.rules = {&own, 1};
    return check({&row, 1}, options).rows.at(0);
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
            row_report const wrong = checked(p.row[0], p);
            CHECK_MESSAGE(!wrong.failures.empty(), text_of(wrong));
            if (p.runs) CHECK_MESSAGE(std::ranges::any_of(wrong.failures, runs), text_of(wrong));
            dsl::entry const* const built_in = dsl::find(mappings::library(), p.row[0].overload, p.opset);
            REQUIRE(built_in != nullptr);
            row_report const right = checked(*built_in, p);
            CHECK_MESSAGE(right.passed(), text_of(right));
        }
    }
}

TEST_CASE("wrong resampling and pooling is found") { require_found(resampling_traps()); }
TEST_CASE("wrong layouts and recurrent layers are found") { require_found(layout_traps()); }
TEST_CASE("wrong indexing is found") { require_found(indexing_traps()); }
TEST_CASE("wrong arithmetic of integers and wrong promotion are found") { require_found(integer_traps()); }
TEST_CASE("wrong NaN, infinities, ties and attention are found") { require_found(nan_traps()); }
TEST_CASE("other wrong mappings are found") { require_found(other_traps()); }

TEST_CASE("every trap is planted, or there is a reason why not") {
    std::set<int> seen(std::begin(not_planted), std::end(not_planted));
    for (auto const& family :
         {resampling_traps(), layout_traps(), indexing_traps(), integer_traps(), nan_traps(), other_traps()})
        for (planted const& p : family) seen.insert(p.trap);
    std::set<int> listed;
    for (int i = 1; i <= 58; ++i)
        if (i != 37 && i != 52 && i != 53) listed.insert(i); // numbers that no trap has
    listed.insert(61);
    CHECK(seen == listed);
}

} // namespace aton::verify::traps
