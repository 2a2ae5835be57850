// SPDX-License-Identifier: MIT
// Calls that a row leaves to the row below, which the check of mappings counts and does not compare, and rows that it leaves out.
#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/mappings/built_in.hpp>
#include <aton/verify/check.hpp>

#include "../faults.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using tests::contains;

/// Converts only floating-point numbers, and leaves others to the row below.
constexpr auto partial = dsl::table(
    dsl::override_<"aten::sub.Tensor(self, other)">([](dsl::graph<13> g, dsl::value x, dsl::value y) -> dsl::value {
        if (!is_floating(x.dtype())) return g.next();
        return g.op<"Sub">(x, y);
    }));
constexpr auto never = dsl::table(
    dsl::override_<"aten::sub.Tensor(self, other)">([](dsl::graph<13> g, dsl::value, dsl::value) { return g.next(); }));

} // namespace

TEST_CASE("calls that a row leaves to the row below are counted, and not checked") {
    check_options options;
    options.samples = 1;
    report const some = check(partial, options);
    REQUIRE(some.rows.size() == 1);
    CHECK(some.passed());
    for (type_report const& t : some.rows[0].types) {
        CAPTURE(name(t.type));
        if (is_complex(t.type)) CHECK((t.refused > 0 && t.same == 0)); // the row is for reals
        else CHECK((is_floating(t.type) ? t.declined == 0 && t.same > 0 : t.declined > 0 && t.same == 0));
    }
    CHECK(contains(some.to_text(), " left to the row below, "));
    CHECK(contains(some.to_json(), "\"declined\""));
    report const none = check(never, options);
    CHECK_FALSE(none.passed());
    CHECK(contains(none.rows[0].not_checked, "the row leaves every call to the row below: aten::sub.Tensor (opset "));
    CHECK_FALSE(contains(none.to_text(), " 0 left to the row below"));
}

TEST_CASE("rows of other opsets are left out, not reported as unchecked") {
    check_options options;
    options.only = "aten::grid_sampler_2d";
    options.min_opset = options.max_opset = 20;
    options.samples = 1;
    std::size_t found = 0;
    for (dsl::table_view const& table : mappings::built_in_tables()) {
        report const r = check(table, options);
        CHECK_MESSAGE(r.passed(), r.to_text());
        found += r.rows.size();
    }
    CHECK(found == 1);
}

} // namespace ATON_NAMESPACE::verify
