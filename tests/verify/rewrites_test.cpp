// SPDX-License-Identifier: MIT
// Rewrites are compared with their patterns: wrong ones are found, and conditions that are needed.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include <aton/dsl/rewrite.hpp>
#include <aton/verify/rewrites.hpp>

using namespace aton::dsl;
using aton::dtype;
namespace verify = aton::verify;

namespace {

verify::report checked(aton::rewrites_view rewrites, bool mutants = false) {
    verify::rewrite_rows const rows(rewrites);
    verify::check_options options;
    options.mutants = mutants;
    options.samples = 4;
    return check(rows.rows(), rows.options(options));
}

constexpr auto negation = [](pattern<13> p, capture<value> x, capture<value> y) {
    return p.op<"Add">(x, p.op<"Neg">(y));
};

} // namespace

TEST_CASE("a right rewrite agrees with its pattern, and its mutants do not") {
    constexpr auto table =
        rewrites(rewrite<"right">(negation, [](graph<13> g, value x, value y) { return g.op<"Sub">(x, y); }));
    verify::report const all = checked(table, true);
    CHECK(all.passed());
    CHECK(all.rows.at(0).overload == "rewrite::right");
    CHECK(all.rows.at(0).total(&verify::type_report::same) > 50);
    CHECK(all.power() == 100);
}

TEST_CASE("names may have hyphens, as those of targets do") {
    constexpr auto table =
        rewrites(rewrite<"a-target.right">(negation, [](graph<13> g, value x, value y) { return g.op<"Sub">(x, y); }));
    verify::report const all = checked(table);
    CHECK(all.passed());
    CHECK(all.rows.at(0).overload == "rewrite::a-target.right");
    CHECK(all.rows.at(0).total(&verify::type_report::same) > 50);
}

TEST_CASE("a wrong rewrite is found, with the call") {
    constexpr auto table =
        rewrites(rewrite<"exchanged">(negation, [](graph<13> g, value x, value y) { return g.op<"Sub">(y, x); }),
                 rewrite<"only_for_finite">([](pattern<13> p, capture<value> x) { return p.op<"Sub">(x, x); },
                                            [](value x) { return x.dtype() == dtype::float32; },
                                            [](graph<13> g, value x) { return g.op<"Mul">(x, g.scalar_like(0, x)); }),
                 rewrite<"log_softmax">([](pattern<13> p, capture<value> x) { return p.op<"Log">(p.op<"Softmax">(x)); },
                                        [](graph<13> g, value x) { return g.op<"LogSoftmax">(x); }));
    verify::report const all = checked(table);
    REQUIRE(all.rows.size() == 3);
    CHECK(all.rows[0].total(&verify::type_report::different) > 0);
    CHECK(all.rows[1].total(&verify::type_report::different) == 0); // inf * 0 and inf - inf are both NaN
    CHECK(all.rows[2].total(&verify::type_report::different) > 0);  // -inf where the softmax is 0
    CHECK_FALSE(all.rows[0].failures.empty());
}

TEST_CASE("a condition that is needed is found, and one that is not") {
    constexpr auto halved = [](pattern<13> p, capture<value> x) { return p.op<"Add">(x, x); };
    constexpr auto table =
        rewrites(rewrite<"needed">(
                     [](pattern<13> p, capture<value> x) { return p.op<"Max">(x, p.op<"Neg">(x)); },
                     [](value x) { return x.dtype() != dtype::int64; },
                     [](graph<13> g, value x) { return x.dtype() == dtype::int64 ? g.op<"Neg">(x) : g.op<"Abs">(x); }),
                 rewrite<"idle">(
                     halved,
                     [](value x) { return x.dtype() != dtype::float64; },
                     [](graph<13> g, value x) { return g.op<"Mul">(x, g.scalar_like(2, x)); }));
    CHECK(checked(table).passed());
    verify::condition_report const conditions = verify::check_conditions(table, {});
    CHECK(conditions.needed == 1);
    CHECK(conditions.survivors == std::vector<std::string>{"idle"});
    CHECK(conditions.power() == 50);
    CHECK(conditions.to_text() == "1 of 2 conditions are needed by some call; not those of idle\n");
}

TEST_CASE("a rewrite that never applies is not checked, with the reason") {
    constexpr auto table = rewrites(rewrite<"never">(
        negation, [](value, value) { return false; }, [](graph<13> g, value x, value y) { return g.op<"Sub">(x, y); }));
    verify::report const all = checked(table);
    CHECK(all.rows.at(0).not_checked.find("the rewrite does not apply") != std::string::npos);
}

TEST_CASE("every built-in rule is for a rewrite, and names its captures") {
    for (verify::sampling_rule const& rule : verify::rewrite_sampling_rules())
        CHECK(rule.operators.starts_with("rewrite::"));
}
