// SPDX-License-Identifier: MIT
// Equivalent changes of a graph next to similar ones that are not, and the search for calls that detect mutants.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/mappings/bucketing.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/runtime/onnx_model.hpp>
#include <aton/verify/check.hpp>
#include <aton/verify/comparison.hpp>

#include "../faults.hpp"
#include "calls.hpp"
#include "planned_graph.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using tests::floats;
using tests::planned;
using made_mutants = std::set<std::string>;

constexpr double infinity = std::numeric_limits<double>::infinity();

void set(planned& p, std::string name, std::int64_t number) {
    node_attribute a;
    a.name = std::move(name);
    a.type = onnx::attr_type::i;
    a.i = number;
    p.data.nodes.back().attributes.push_back(std::move(a));
}

value_id sized(planned& p, value_id v, std::vector<std::int64_t> const& sizes) {
    p.data.values[v].type.shape = shape(sizes);
    return v;
}

value_id cast(planned& p, value_id x, dtype to) {
    value_id const out = p.node("Cast", {x}, to);
    set(p, "to", static_cast<std::int64_t>(to));
    return out;
}

/// log(1 + x), which loses accuracy for small x.
constexpr auto plain_log1p = dsl::table(dsl::symbolic<"aten::log1p(self)">(
    [](dsl::graph<13> g, dsl::value x) -> dsl::value { return g.op<"Log">(g.op<"Add">(x, 1)); }));

} // namespace

TEST_CASE("the magnitude of an odd function of a difference does not depend on the order of its operands") {
    planned p;
    value_id const turned = p.node("Mul", {p.node("Sub", {p.x, p.y}), p.constant(3)});
    made_mutants const even = p.mutants_of(p.node("Abs", {p.node("Sin", {turned})}));
    CHECK_FALSE(even.contains("0 Sub: inputs 0 and 1 swapped"));
    CHECK_FALSE(even.contains("1 Constant: negated, input 1 of Mul"));
    CHECK(even.contains("1 Constant: one more, input 1 of Mul"));
    made_mutants const odd = p.mutants_of(p.node("Sin", {turned}));
    CHECK(odd.contains("0 Sub: inputs 0 and 1 swapped"));
    CHECK(odd.contains("1 Constant: negated, input 1 of Mul"));
}

TEST_CASE("a changed constant whose comparisons have the same outcome is not a mutant") {
    planned p;
    value_id const less = p.node("Less", {p.constant(0.5), p.constant(7)}, dtype::bool_);
    made_mutants const made = p.mutants_of(p.node("Where", {less, p.x, p.y}));
    CHECK_FALSE(made.contains("0 Constant: one more, input 0 of Less"));
    CHECK_FALSE(made.contains("1 Constant: one less, input 1 of Less"));
    CHECK(made.contains("1 Constant: negated, input 1 of Less"));
}

TEST_CASE("keepdims does not matter if every reader reshapes the result") {
    for (bool const kept_in_front : {true, false}) {
        planned p;
        value_id const most = p.node("ReduceMax", {p.x, p.integers({kept_in_front ? 1 : 0})});
        set(p, "keepdims", 0);
        sized(p, most, {kept_in_front ? 3 : 4});
        value_id const all = sized(p, p.node("Reshape", {most, p.integers({0, 1})}), {kept_in_front ? 3 : 4, 1});
        CHECK(p.mutants_of(all).contains("1 ReduceMax: keepdims 1") != kept_in_front);
    }
}

TEST_CASE("8-bit integers keep their order in every dtype that represents them") {
    planned p;
    p.data.values[p.x].type.dtype = dtype::int8;
    value_id const first = p.node("ArgMax", {cast(p, p.x, dtype::int32)}, dtype::int64);
    made_mutants const made = p.mutants_of(first);
    CHECK_FALSE(made.contains("0 Cast: to float16"));
    CHECK_FALSE(made.contains("0 Cast: to int64"));
    CHECK(made.contains("0 Cast: to uint8"));
    CHECK(made.contains("0 Cast: to bool"));
    planned wide;
    wide.data.values[wide.x].type.dtype = dtype::int16;
    value_id const last = wide.node("ArgMax", {cast(wide, wide.x, dtype::int32)}, dtype::int64);
    CHECK(wide.mutants_of(last).contains("0 Cast: to float16"));
    CHECK_FALSE(wide.mutants_of(last).contains("0 Cast: to float32"));
}

TEST_CASE("negated or reversed NaN is NaN, a reversed list is another list") {
    planned p;
    value_id const nan = p.constant(std::numeric_limits<double>::quiet_NaN());
    CHECK_FALSE(p.mutants_of(p.node("Add", {p.x, nan})).contains("0 Constant: reversed, input 1 of Add"));
    aton::tensor two{dtype::float32, {2}, {}};
    two.append(1.0);
    two.append(infinity);
    planned q;
    value_id const list = q.constant(two);
    CHECK(q.mutants_of(q.node("Add", {q.x, list})).contains("0 Constant: reversed, input 1 of Add"));
}

TEST_CASE("an empty value only has sizes") {
    for (std::int64_t const rows : {0, 3}) {
        planned p;
        sized(p, p.x, {rows, 4});
        value_id const taken = sized(p, p.node("Gather", {p.x, p.integers({0, 1})}), {rows, 4});
        value_id const both = p.node("Concat", {taken, p.y});
        sized(p, p.node("ReduceSum", {taken}), {1, 1});
        made_mutants const made = p.mutants_of(both);
        CHECK(made.contains("1 Gather: left out") == (rows != 0));
        CHECK(made.contains("2 Concat: inputs 0 and 1 swapped") == (rows != 0));
        CHECK(made.contains("3 ReduceSum: replaced by ReduceL2") == (rows != 0));
        CHECK(made.contains("3 ReduceSum: replaced by ReduceMax"));
    }
}

TEST_CASE("indices may count from either end") {
    planned p;
    value_id const last = sized(p, p.node("Gather", {p.x, p.integers({0})}), {1, 4});
    CHECK(p.mutants_of(last).contains("0 Constant: one less, input 1 of Gather"));
    sized(p, p.x, {1, 4});
    CHECK_FALSE(p.mutants_of(last).contains("0 Constant: one less, input 1 of Gather"));
}

TEST_CASE("drawing other elements keeps arguments and sizes") {
    constexpr std::string_view schema = "custom::f(Tensor x, Tensor y, float p, int dim) -> Tensor";
    sampling_rule const rule{"custom::f", "x: (n, m, ...); y: (m); p: 0.5..3.0 | 7.0; dim: axis x"};
    std::set<std::string> drawn;
    for (std::uint64_t seed = 0; seed != 10; ++seed) {
        sampling_profile const t{.values = seed % 2 == 0 ? value_profile::special : value_profile::ordinary};
        sample const first = draw("custom::f", schema, &rule, t, seed);
        for (std::uint64_t other = 0; other != 3; ++other) {
            sample const s = draw_elements("custom::f", schema, &rule, t, seed, value_profile::ties, other);
            REQUIRE(s.arguments.size() == first.arguments.size());
            for (std::size_t i = 0; i != s.arguments.size(); ++i) {
                CHECK(s.arguments[i].tensor.sizes() == first.arguments[i].tensor.sizes());
                bool const both_nan = std::isnan(s.arguments[i].number.to<double>()) &&
                                      std::isnan(first.arguments[i].number.to<double>());
                CHECK((both_nan || s.arguments[i].number == first.arguments[i].number));
            }
            drawn.insert(to_python(s));
        }
    }
    CHECK(drawn.size() > 25);
}

TEST_CASE("a row that is inaccurate for small results is detected if the rule says result: relative") {
    CHECK(compare(floats({1e-7}), floats({1.1e-7})).same());
    CHECK_FALSE(compare(floats({1e-7}), floats({1.1e-7}), 0).same());
    CHECK(compare(floats({1e-7}), floats({1.000001e-7}), 0).same());
    check_options options;
    CHECK_FALSE(check(plain_log1p, options).passed());
    sampling_rule const far{"log1p", "self: (n, c, ...) in 0.5..4.0"};
    options.rules = std::span(&far, 1);
    report const r = check(plain_log1p, options);
    CHECK_MESSAGE(r.passed(), r.to_text());
}

TEST_CASE("a row that takes one value of an argument for another is a mutant") {
    check_options options;
    options.only = "aten::searchsorted.Tensor";
    options.mutants = true;
    auto const side = [&] {
        report const r = check(mappings::bucketing, options);
        CHECK_MESSAGE(r.passed(), r.to_text());
        for (argument_report const& a : r.rows.at(0).arguments)
            if (a.name == "side") return a;
        return argument_report();
    };
    argument_report const drawn = side();
    CHECK(drawn.is_read);
    CHECK(drawn.mutants > 2); // ignored, and each word for the other
    CHECK(drawn.detected == drawn.mutants);
    sampling_rule const blind{"searchsorted.Tensor",
                              "sorted_sequence: (1) float32 in 5.0..6.0; self: (n) float32 in -1.0..1.0; side: 'left' "
                              "| 'right'; sorter: default"};
    options.rules = std::span(&blind, 1);
    argument_report const missed = side();
    CHECK(missed.mutants > 2);
    CHECK(missed.detected == 0);
    sampling_rule const explained{
        "searchsorted.Tensor",
        "sorted_sequence: (1) float32 in 5.0..6.0; self: (n) float32 in -1.0..1.0; side: 'left' | 'right' because "
        "no element is equal to an edge; sorter: default"};
    options.rules = std::span(&explained, 1);
    CHECK(side().equivalent == missed.mutants);
}

TEST_CASE("a 0-d list of sizes is illegal") {
    planned p;
    aton::tensor two{dtype::int64, {}, {}};
    two.append(12LL);
    value_id const flat = p.node("Reshape", {p.x, p.constant(two)});
    p.data.outputs = {flat};
    runtime::tensor const x = runtime::reshape(floats(std::vector<double>(12, 1)), {3, 4});
    std::vector<runtime::value> const given = {x, x};
    std::string const fault = tests::fault_of([&] { (void)runtime::onnx_model(p.data).run(given); });
    CHECK_MESSAGE(tests::contains(fault, "must have 1 dimension, not 0"), fault);
}

TEST_CASE("the weakest row is the one that detects the smallest share of its mutants") {
    report r;
    CHECK(r.weakest() == nullptr);
    auto const add = [&](std::string name, int made, int detected, int equivalent) {
        row_report& row = r.rows.emplace_back();
        row.overload = std::move(name);
        row.mutants.made = made;
        row.mutants.detected = detected;
        row.mutants.equivalent = equivalent;
    };
    add("none", 0, 0, 0);
    add("half", 10, 4, 2);
    add("most", 10, 9, 0);
    REQUIRE(r.weakest() != nullptr);
    CHECK(r.weakest()->overload == "half");
    CHECK(r.weakest()->mutants.power() == 50);
    CHECK(r.power() == doctest::Approx(100.0 * 13 / 18));
}

} // namespace ATON_NAMESPACE::verify
