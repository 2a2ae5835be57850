// SPDX-License-Identifier: MIT
// The check of mappings: the comparison, mutants, and planted errors.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/mappings/bitwise.hpp>
#include <aton/mappings/built_in.hpp>
#include <aton/mappings/creation.hpp>
#include <aton/mappings/ranges.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/verify/check.hpp>
#include <aton/verify/comparison.hpp>
#include <aton/verify/mutation.hpp>
#include <aton/verify/translation.hpp>

#include "../faults.hpp"
#include "calls.hpp"
#include "planned_graph.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using runtime::tensor;
using tests::contains;
using tests::fault_of;
using tests::floats;
using tests::planned;

constexpr auto right = dsl::table(dsl::symbolic<"aten::sub.Tensor(self, other)">(
    [](dsl::graph<13> g, dsl::value x, dsl::value y) -> dsl::value { return g.op<"Sub">(x, y); }));
constexpr auto swapped = dsl::table(dsl::symbolic<"aten::sub.Tensor(self, other)">(
    [](dsl::graph<13> g, dsl::value x, dsl::value y) -> dsl::value { return g.op<"Sub">(y, x); }));

/// logspace with a base that is off by a factor of 1.0001.
constexpr auto wrong_base = dsl::table(dsl::symbolic<"aten::logspace.Tensor_Tensor(start, end, steps, base, dtype)">(
    [](dsl::graph<13> g, dsl::value start, dsl::value end, std::int64_t steps, double base, std::optional<dtype> type) {
        return mappings::detail::logspace(g, start, end, steps, base * 1.0001, type);
    }));

constexpr auto rarely_limited = dsl::table(dsl::symbolic<"aten::hardtanh(self, min_val, max_val)">(
    [](dsl::graph<13> g, dsl::value x, scalar least, scalar most) -> dsl::value {
        return g.op<"Min">(g.op<"Max">(x, g.scalar_like(least, x)), g.scalar_like(most, x));
    }));

} // namespace

TEST_CASE("NaN matches NaN, infinities match in sign, and the tolerance depends on dtype and number of terms") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    double const infinity = std::numeric_limits<double>::infinity();
    CHECK(compare(floats({1, nan, infinity}), floats({1, nan, infinity})).same());
    CHECK(contains(to_string(compare(floats({1, 2, nan}), floats({1, 2, 3}))), "the first at [2]: nan, expected 3"));
    CHECK_FALSE(compare(floats({infinity}), floats({-infinity})).same());
    CHECK(compare(floats({1.000005}), floats({1})).same());
    CHECK_FALSE(compare(floats({1.00005}), floats({1})).same());
    CHECK(compare(floats({1.00005}), floats({1}), 100).same());
    CHECK_FALSE(compare(floats({1000, 4e-6}), floats({1000, 0})).same());
    CHECK(compare(floats({1000, 4e-6}), floats({1000, 0}), 4).same()); // terms may have canceled
    CHECK_FALSE(compare(floats({1e6, 0.1}), floats({1e6, 0}), 4).same());
    CHECK(contains(to_string(compare(floats({1, 2}), floats({1}))), "is float32[2], expected float32[1]"));
}

/// Whether the rows of this name give ATen's numbers.
void check_rows(std::string_view name) {
    check_options options;
    options.only = name;
    options.samples = 1;
    int found = 0;
    for (dsl::table_view const& table : mappings::built_in_tables()) {
        report const r = check(table, options);
        CHECK_MESSAGE(r.passed(), r.to_text());
        found += static_cast<int>(r.rows.size());
    }
    CHECK(found > 0);
}

TEST_CASE("resizing with antialiasing keeps the axis of a single element") { check_rows("_upsample_bilinear2d_aa"); }
TEST_CASE("a bicubic sample beyond the border reads the border as often as ATen does") {
    check_rows("grid_sampler_2d");
}
TEST_CASE("the middle of an affine grid is exactly 0: infinite factors give NaN there") {
    check_rows("affine_grid_generator");
}
TEST_CASE("a product with an empty matrix is empty") { check_rows("aten::kron"); }
TEST_CASE("channels of an empty batch are shuffled") { check_rows("channel_shuffle"); }
TEST_CASE("unpooling an empty tensor gives zeros") { check_rows("max_unpool"); }
TEST_CASE("sampling an empty volume gives an empty result") { check_rows("grid_sampler_3d"); }
TEST_CASE("both directions of an empty batch are joined") { check_rows("rnn_relu.input"); }
TEST_CASE("the largest number survives gelu") { check_rows("aten::gelu"); }
TEST_CASE("the integral over no points has the dtype of the points") { check_rows("trapezoid.dx"); }
TEST_CASE("running statistics of bfloat16 are rounded once") { check_rows("_native_batch_norm_legit_functional"); }

TEST_CASE("a correct row passes, and every mutant of it is detected") {
    check_options options;
    options.mutants = true;
    report const r = check(right, options);
    CHECK_MESSAGE(r.passed(), r.to_text());
    CHECK(r.rows.at(0).mutants.made >= 5);
    CHECK(r.power() == 100);
}

TEST_CASE("a wrong row fails with a small call that torch runs") {
    report const r = check(swapped);
    CHECK_FALSE(r.passed());
    failure const& f = r.rows.at(0).failures.at(0);
    CHECK(contains(f.why, "expected "));
    CHECK(f.call.arguments.front().tensor.count() <= 2);
    CHECK(contains(to_python(f.call), "torch.ops.aten.sub.Tensor(self=torch.tensor("));
    CHECK(contains(r.to_json(), "\"passed\": false"));
    CHECK(contains(r.to_html(), "aten::sub.Tensor"));
}

TEST_CASE("errors are bounded by the conditioning of a call, not by a wider constant") {
    check_options options;
    options.samples = 2;
    options.only = "aten::logspace.Tensor_Tensor";
    for (options.seed = 3; options.seed != 6; ++options.seed) { // 1.08^2477, whose exponent is rounded
        for (dsl::table_view const& table : mappings::built_in_tables()) {
            report const r = check(table, options);
            CHECK_MESSAGE(r.passed(), r.to_text());
        }
        CHECK_FALSE(check(wrong_base, options).passed());
    }
}

TEST_CASE("extreme numbers are drawn as arguments and reported") {
    check_options options;
    options.only = "aten::nan_to_num";
    options.samples = 20;
    for (dsl::table_view const& table : mappings::built_in_tables()) {
        report const r = check(table, options);
        for (row_report const& row : r.rows)
            for (argument_report const& a : row.arguments) {
                if (a.name == "self") continue;
                for (std::string_view const kind : {"NaN", "infinity", "-infinity", "beyond the dtype", "0", "None"})
                    CHECK_MESSAGE(std::count(a.drawn.begin(), a.drawn.end(), kind) == 1, a.name << ": " << kind);
                CHECK(a.missing.empty());
            }
        if (!r.rows.empty()) CHECK(contains(r.to_text(), "arguments had "));
    }
    // A range with `only`.
    sampling_rule const rule{"hardtanh", "self: (n); min_val: -2..0 only; max_val: 1.0..2.0 only"};
    sampling_profile special;
    special.values = value_profile::special;
    for (std::uint64_t seed = 0; seed != 100; ++seed) {
        sample const s = draw("aten::hardtanh",
                              "aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
                              &rule,
                              special,
                              seed);
        for (runtime::aten_argument const& a : s.arguments)
            if (a.name != "self") CHECK(std::abs(a.number.to<double>()) <= 2);
    }
}

TEST_CASE("further calls are searched that detect the remaining mutants") {
    sampling_rule const rule{"hardtanh", "self: (n) index 1000; min_val: {0}; max_val: {996}"};
    check_options options;
    options.rules = std::span(&rule, 1);
    options.mutants = true;
    options.samples = 1;
    int better = 0;
    for (options.seed = 0; options.seed != 10; ++options.seed) {
        options.search = 0;
        report const first = check(rarely_limited, options);
        options.search = 400;
        report const searched = check(rarely_limited, options);
        CHECK_MESSAGE(searched.passed(), searched.to_text());
        CHECK(searched.power() >= first.power());
        better += static_cast<int>(searched.power() > first.power());
    }
    CHECK(better > 0);
}

TEST_CASE("changes that keep the function are not mutants") {
    planned p;
    value_id const size = p.node("Abs", {p.node("Sub", {p.x, p.y})});
    std::set<std::string> const made = p.mutants_of(p.node("Mul", {p.node("Abs", {size}), p.x}));
    CHECK_FALSE(made.contains("0 Sub: inputs 0 and 1 swapped")); // only Abs reads it
    CHECK(made.contains("0 Sub: replaced by Add"));
    CHECK(made.contains("1 Abs: left out"));
    CHECK_FALSE(made.contains("2 Abs: left out")); // the value is non-negative
    CHECK_FALSE(made.contains("3 Mul: inputs 0 and 1 swapped"));
    CHECK(made.contains("3 Mul: left out"));
}

TEST_CASE("a comparison with an infinity, or with the extreme of the same values, has nothing beyond it") {
    planned p;
    value_id const hidden = p.node("Equal", {p.x, p.constant(-std::numeric_limits<double>::infinity())}, dtype::bool_);
    value_id const largest = p.node("Equal", {p.y, p.node("ReduceMax", {p.y})}, dtype::bool_);
    std::set<std::string> const made = p.mutants_of(p.node("And", {hidden, largest}, dtype::bool_));
    CHECK_FALSE(made.contains("1 Equal: replaced by LessOrEqual"));
    CHECK(made.contains("1 Equal: replaced by GreaterOrEqual"));
    CHECK_FALSE(made.contains("3 Equal: replaced by GreaterOrEqual"));
    CHECK(made.contains("3 Equal: replaced by LessOrEqual"));
}

TEST_CASE("a test for any true element has many equivalent forms, counting them has few") {
    planned p;
    value_id const bits = p.node("Cast", {p.node("IsNaN", {p.x}, dtype::bool_)}, dtype::int64);
    node_attribute to;
    to.name = "to";
    to.type = onnx::attr_type::i;
    to.i = static_cast<std::int64_t>(dtype::int64);
    p.data.nodes.back().attributes.push_back(to);
    value_id const asked = p.node("ReduceSum", {bits}, dtype::int64);
    std::set<std::string> const any = p.mutants_of(p.node("Greater", {asked, p.constant(0)}, dtype::bool_));
    CHECK_FALSE(any.contains("2 ReduceSum: replaced by ReduceMax"));
    CHECK_FALSE(any.contains("2 ReduceSum: replaced by ReduceL2"));
    CHECK(any.contains("2 ReduceSum: replaced by ReduceMin"));
    CHECK(p.mutants_of(asked).contains("2 ReduceSum: replaced by ReduceMax"));
}

TEST_CASE("equivalent slices and shapes are not mutants") {
    planned p;
    value_id const slice = p.node("Slice", {p.x, p.integers({1}), p.integers({4}), p.integers({1})});
    p.data.values[slice].type.shape = shape({3, 3});
    value_id const wide = p.node("Unsqueeze", {slice, p.integers({0})});
    p.data.values[wide].type.shape = shape({1, 3, 3});
    value_id const flat = p.node("Reshape", {wide, p.integers({9})});
    p.data.values[flat].type.shape = shape({9});
    std::set<std::string> const made = p.mutants_of(flat);
    CHECK_FALSE(made.contains("1 Constant: one more, input 2 of Slice"));
    CHECK(made.contains("1 Constant: one less, input 2 of Slice"));
    CHECK_FALSE(made.contains("2 Constant: negated, input 3 of Slice")); // 1 and -1 both select the last of two
    CHECK(made.contains("3 Slice: without input 3"));
    CHECK_FALSE(made.contains("5 Unsqueeze: left out"));
    CHECK(made.contains("7 Reshape: left out"));
}

TEST_CASE("a family of built-in rows gives ATen's numbers, and its mutants are detected") {
    check_options options;
    options.mutants = true;
    options.samples = 1;
    report const r = check(mappings::bitwise, options);
    CHECK_MESSAGE(r.passed(), r.to_text());
    CHECK(r.rows.size() > 20);
    CHECK(r.power() > 95);
    for (row_report const& row : r.rows) CHECK(row.mutants.few.empty() == (row.mutants.made >= 5));
    options.threads = 2;
    CHECK(check(mappings::bitwise, options).to_json() == r.to_json());
}

} // namespace ATON_NAMESPACE::verify
