// SPDX-License-Identifier: MIT
// The calls that are drawn from sampling rules.
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <aton/runtime/compute.hpp>
#include <aton/verify/check.hpp>

#include "../faults.hpp"
#include "calls.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using runtime::tensor;
using tests::contains;
using tests::fault_of;

constexpr std::string_view conv_schema =
    "aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0, "
    "SymInt[2] dilation=1, SymInt groups=1) -> Tensor";

runtime::aten_argument const& argument(sample const& s, std::string_view name) {
    for (runtime::aten_argument const& a : s.arguments)
        if (a.name == name) return a;
    FAIL("no argument " << name);
    return s.arguments.front();
}

} // namespace

TEST_CASE("a rule relates the sizes of tensors, and a seed gives the same call on every machine") {
    sampling_rule const rule{
        "conv2d", "input: (n, c*g, k+h, l+w); weight: (o*g, c, k, l); bias: (o*g) ?; stride: [1..2; 2]; groups: {g}"};
    std::set<std::int64_t> groups;
    for (std::uint64_t seed = 0; seed != 20; ++seed) {
        sample const s = draw("aten::conv2d", conv_schema, &rule, {}, seed);
        CHECK(to_python(s) == to_python(draw("aten::conv2d", conv_schema, &rule, {}, seed)));
        tensor const& x = argument(s, "input").tensor;
        tensor const& w = argument(s, "weight").tensor;
        std::int64_t const g = argument(s, "groups").number.to<std::int64_t>();
        groups.insert(g);
        CHECK(x.size(1) == w.size(1) * g);
        CHECK(w.size(0) % g == 0);
        CHECK(x.size(2) > w.size(2));
        CHECK(w.size(2) != w.size(3));
    }
    CHECK(groups.size() > 3);
    sample const empty = draw("aten::conv2d", conv_schema, &rule, {size_profile::equal, value_profile::ties}, 3);
    CHECK(argument(empty, "input").tensor.sizes() == runtime::sizes{3, 9, 6, 6});
}

TEST_CASE("a list is one of several") {
    constexpr std::string_view schema = "aten::split(Tensor x, int[] to, int n) -> Tensor";
    sampling_rule const rule{"split", "x: (n, c); to: {1, n*c} | {c, n, 1} | {7}; n: {2} | {n}"};
    std::set<std::size_t> lists;
    std::set<int> numbers;
    for (std::uint64_t seed = 0; seed != 30; ++seed) {
        sample const s = draw("aten::split", schema, &rule, {}, seed);
        runtime::sizes const& x = argument(s, "x").tensor.sizes();
        std::vector<std::int64_t> to;
        for (scalar const& each : argument(s, "to").numbers) to.push_back(each.to<std::int64_t>());
        std::size_t const which = to.size() == 1 ? 2 : to.size() - 2;
        CHECK(to == std::vector<std::vector<std::int64_t>>{{1, x[0] * x[1]}, {x[1], x[0], 1}, {7}}[which]);
        lists.insert(which);
        auto const n = argument(s, "n").number.to<std::int64_t>();
        CHECK((n == 2 || n == x[0]));
        numbers.insert(n == 2 ? 0 : 1);
    }
    CHECK(lists.size() == 3);
    CHECK(numbers.size() == 2);
}

TEST_CASE("a dimension that a rule makes optional is left out of all tensors of a call") {
    constexpr std::string_view schema = "aten::pool(Tensor x, Tensor y, int n) -> Tensor";
    sampling_rule const rule{"pool", "x: (n?, c, 2*h+1); y: (c, n?); n: {n}"};
    std::set<std::size_t> ranks;
    for (std::uint64_t seed = 0; seed != 30; ++seed) {
        sample const s = draw("aten::pool", schema, &rule, {}, seed);
        runtime::sizes const& x = argument(s, "x").tensor.sizes();
        runtime::sizes const& y = argument(s, "y").tensor.sizes();
        auto const n = argument(s, "n").number.to<std::int64_t>();
        ranks.insert(x.size());
        REQUIRE(x.size() == y.size() + 1);
        CHECK(x.back() % 2 == 1);
        if (x.size() == 3) CHECK((x[0] == n && y[1] == n && x[1] == y[0]));
        else CHECK(x[0] == y[0]);
    }
    CHECK(ranks == std::set<std::size_t>{2, 3});
}

TEST_CASE("offsets ascend from 0, matrices are regular, moderate elements exclude the largest numbers") {
    constexpr std::string_view schema = "aten::bags(Tensor a, Tensor b, Tensor[] c, Tensor? d) -> Tensor";
    sampling_rule const rule{"bags",
                             "a: (n+2) offsets 9; b: (m, m) regular; c: (n) moderate * 2, (m, 2) int64; d: default"};
    sampling_profile special;
    special.values = value_profile::special;
    for (std::uint64_t seed = 0; seed != 20; ++seed) {
        sample const s = draw("aten::bags", schema, &rule, special, seed);
        std::vector<std::int64_t> const offsets = argument(s, "a").tensor.integers();
        CHECK(std::is_sorted(offsets.begin(), offsets.end()));
        CHECK(offsets.front() == 0);
        CHECK(offsets.back() == 9);
        aton::tensor const matrix = argument(s, "b").tensor.to_constant();
        for (std::int64_t i = 0; i != matrix.sizes[0]; ++i) {
            double others = 0;
            for (std::int64_t k = 0; k != matrix.sizes[1]; ++k)
                if (k != i)
                    others += std::abs(matrix.at(static_cast<std::size_t>(i * matrix.sizes[1] + k)).to<double>());
            CHECK(std::abs(matrix.at(static_cast<std::size_t>(i * matrix.sizes[1] + i)).to<double>()) > others);
        }
        std::vector<tensor> const& list = argument(s, "c").tensors;
        REQUIRE(list.size() == 3);
        aton::tensor const numbers = list[0].to_constant();
        for (std::int64_t i = 0; i != numbers.element_count(); ++i) {
            double const x = numbers.at(static_cast<std::size_t>(i)).to<double>();
            CHECK((!std::isfinite(x) || std::abs(x) <= 100));
        }
        CHECK(list[2].dtype() == dtype::int64);
        CHECK(argument(s, "d").kind == aten::argument_kind::none);
    }
}

TEST_CASE("lengths and counts fall, and counts have a first element and a sum") {
    constexpr std::string_view schema = "aten::packs(Tensor a, Tensor b) -> Tensor";
    sampling_rule const rule{"packs", "a: (5) lengths 4; b: (4) counts 3 9"};
    for (std::uint64_t seed = 0; seed != 20; ++seed) {
        sample const s = draw("aten::packs", schema, &rule, {}, seed);
        std::vector<std::int64_t> const lengths = argument(s, "a").tensor.integers();
        CHECK(std::is_sorted(lengths.rbegin(), lengths.rend()));
        CHECK(lengths.front() <= 4);
        CHECK(lengths.back() >= 1);
        std::vector<std::int64_t> const counts = argument(s, "b").tensor.integers();
        CHECK(std::is_sorted(counts.rbegin(), counts.rend()));
        CHECK(counts.front() == 3);
        CHECK(counts.back() >= 1);
        CHECK(counts[0] + counts[1] + counts[2] + counts[3] == 9);
    }
}

TEST_CASE("a malformed rule is refused with the offset of the error") {
    auto const fault = [](std::string_view text) {
        sampling_rule const rule{"conv2d", text};
        return fault_of([&] { (void)draw("aten::conv2d", conv_schema, &rule, {}, 1); });
    };
    CHECK(contains(fault("input: (n, c"), "at "));
    CHECK(contains(fault("input: (n, c) flot32"), "'flot32' is not a dtype"));
    CHECK(contains(fault("input: (n/0)"), "division by 0"));
    CHECK(contains(fault("input: (n); groups: {g"), "expected '}'"));
}

TEST_CASE("rules draw masks that hide rows, sorted rows, distinct indices, and tensors close to others") {
    sampling_rule const rule{
        "custom::f",
        "mask: (8, 3) hides; edges: (8, 3) sorted; index: (5) index 5 distinct; x: (8); y: (8) near; "
        "label: (8) int64 | own whole in -1..1"};
    constexpr std::string_view schema =
        "custom::f(Tensor mask, Tensor edges, Tensor index, Tensor x, Tensor y, Tensor label) -> Tensor";
    bool hidden = false;
    std::set<dtype> types;
    for (std::uint64_t seed = 0; seed != 20; ++seed) {
        sample const s = draw("custom::f", schema, &rule, {.values = value_profile::special}, seed);
        auto const at = [&](std::string_view name, std::size_t i) {
            return argument(s, name).tensor.contiguous().to_constant().at(i).to<double>();
        };
        std::set<double> indices;
        for (std::size_t i = 0; i != 8; ++i) {
            bool all = true;
            for (std::size_t k = 0; k != 3; ++k)
                all = all && at("mask", 3 * i + k) == -std::numeric_limits<double>::infinity();
            hidden = hidden || all;
            CHECK(at("edges", 3 * i) <= at("edges", 3 * i + 1));
            CHECK(at("edges", 3 * i + 1) <= at("edges", 3 * i + 2));
            if (i < 5) indices.insert(at("index", i));
            CHECK(std::abs(at("label", i)) <= 1);
            CHECK(at("label", i) == std::round(at("label", i)));
        }
        CHECK(indices == std::set<double>{0, 1, 2, 3, 4});
        types.insert(argument(s, "label").tensor.dtype());
    }
    CHECK(hidden);
    CHECK(types == std::set{dtype::float32, dtype::int64});
}

TEST_CASE("a rule names operators of ATen with and without aten::") {
    sampling_rule const rules[] = {
        {"aten::foo", "x: (n)"}, {"bar aten::foo.Tensor", "x: (m)"}, {"my_ops::foo", "x: (c)"}};
    CHECK(find_rule(rules, "aten::foo.out") == &rules[0]);
    CHECK(find_rule(rules, "aten::foo.Tensor") == &rules[1]);
    CHECK(find_rule(rules, "foo.Tensor") == &rules[1]);
    CHECK(find_rule(rules, "aten::bar") == &rules[1]);
    CHECK(find_rule(rules, "my_ops::foo") == &rules[2]);
    CHECK(find_rule(rules, "my_ops::bar") == nullptr);
    CHECK(names("aten::add aten::sub", "aten::sub.Tensor"));
}

TEST_CASE("a rule gives reasons, has alternatives, and keeps one of several arguments") {
    sampling_rule const rule{
        "custom::f",
        "x: (2); a: default because nothing reads it; b: 1..3 ?; c: any; only_one: b c; or; x: (3); a: 5; c: 7"};
    constexpr std::string_view schema = "custom::f(Tensor x, int a=4, int? b=None, int? c=None) -> Tensor";
    CHECK(reason_for(rule, "a") == "nothing reads it");
    CHECK(reason_for(rule, "b").empty());
    std::set<std::int64_t> sizes;
    bool has_b = false;
    bool has_c = false;
    for (std::uint64_t seed = 0; seed != 60; ++seed) {
        sample const s = draw("custom::f", schema, &rule, {}, seed);
        auto const number = [&](std::string_view name) {
            for (runtime::aten_argument const& a : s.arguments)
                if (a.name == name && a.kind == aten::argument_kind::number) return a.number.to<std::int64_t>();
            return std::int64_t{0};
        };
        std::int64_t const size = argument(s, "x").tensor.size(0);
        sizes.insert(size);
        if (size == 3) continue;
        CHECK(number("a") == 0);
        CHECK((number("b") == 0 || number("c") == 0));
        has_b = has_b || number("b") != 0;
        has_c = has_c || number("c") != 0;
    }
    CHECK(sizes == std::set<std::int64_t>{2, 3});
    CHECK((has_b && has_c));
}

TEST_CASE("axes are reordered with everything that depends on them") {
    sampling_rule const rule{
        "custom::f",
        "x: (2, 5, 3); all: (2, 4, 3) * 2; fewer: (2, 3); to: {2, 5, 3}; dim: {1}; reordered: dim x all fewer to"};
    constexpr std::string_view schema = "custom::f(Tensor x, Tensor[] all, Tensor fewer, int[] to, int dim) -> Tensor";
    std::set<std::int64_t> axes;
    for (std::uint64_t seed = 0; seed != 60; ++seed) {
        sample const s = draw("custom::f", schema, &rule, {}, seed);
        runtime::sizes const& x = argument(s, "x").tensor.sizes();
        auto const dim = argument(s, "dim").number.to<std::int64_t>();
        axes.insert(dim);
        auto const axis = static_cast<std::size_t>(dim < 0 ? dim + 3 : dim);
        CHECK(x[axis] == 5);
        runtime::sizes expected = x;
        expected[axis] = 4;
        for (tensor const& each : argument(s, "all").tensors) CHECK(each.sizes() == expected);
        expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(axis));
        CHECK(argument(s, "fewer").tensor.sizes() == expected);
        runtime::sizes to;
        for (scalar const& n : argument(s, "to").numbers) to.push_back(n.to<std::int64_t>());
        CHECK(to == x);
    }
    CHECK(axes == std::set<std::int64_t>{-3, -2, -1, 0, 1, 2});
}

TEST_CASE("indices that unsort rows sort them") {
    sampling_rule const rule{"custom::f", "rows: (3, 5) sorted; order: (3, 5) unsorts rows ?"};
    constexpr std::string_view schema = "custom::f(Tensor rows, Tensor? order) -> Tensor";
    bool permuted = false;
    for (std::uint64_t seed = 0; seed != 20; ++seed) {
        sample const s = draw("custom::f", schema, &rule, {}, seed);
        aton::tensor const rows = argument(s, "rows").tensor.to_constant();
        bool const has_order = argument(s, "order").kind == aten::argument_kind::tensor;
        std::vector<std::int64_t> const order =
            has_order ? argument(s, "order").tensor.integers() : std::vector<std::int64_t>();
        for (std::size_t row = 0; row != 3; ++row)
            for (std::size_t i = 0; i + 1 != 5; ++i) {
                auto const at = [&](std::size_t k) {
                    return rows.at(5 * row + (has_order ? static_cast<std::size_t>(order[5 * row + k]) : k))
                        .to<double>();
                };
                CHECK(at(i) <= at(i + 1));
                permuted = permuted || (has_order && order[5 * row + i] > order[5 * row + i + 1]);
            }
    }
    CHECK(permuted);
}

TEST_CASE("some tensors of an optional list are absent, but not all") {
    sampling_rule const rule{"custom::f", "all: (3) * 1..3 ?"};
    bool absent = false;
    for (std::uint64_t seed = 0; seed != 30; ++seed) {
        sample const s = draw("custom::f", "custom::f(Tensor?[] all) -> Tensor", &rule, {}, seed);
        std::vector<tensor> const& all = argument(s, "all").tensors;
        absent = absent || std::any_of(all.begin(), all.end(), [](tensor const& x) { return !x; });
        CHECK(std::any_of(all.begin(), all.end(), [](tensor const& x) { return static_cast<bool>(x); }));
    }
    CHECK(absent);
}

TEST_CASE("elements are drawn close to the thresholds of a call, and to their quotients") {
    constexpr std::string_view schema = "custom::f(Tensor x, float beta=4, float threshold=20) -> Tensor";
    std::set<int> met; // 0: the threshold, 1: threshold / beta
    for (std::uint64_t seed = 0; seed != 8; ++seed) {
        sample const s = draw("custom::f", schema, nullptr, {.defaults = true}, seed);
        tensor const& x = argument(s, "x").tensor;
        aton::tensor const all = x.to_constant();
        for (std::int64_t i = 0; i != x.count(); ++i) {
            auto const v = all.at(static_cast<std::size_t>(i)).to<double>();
            if (std::abs(v - 20) < 0.21) met.insert(0);
            if (std::abs(v - 5) < 0.06) met.insert(1);
        }
    }
    CHECK(met.size() == 2);
    sampling_rule const bounded{"custom::f", "x: (40) in -1.0..1.0"};
    for (std::uint64_t seed = 0; seed != 8; ++seed) {
        aton::tensor const all =
            argument(draw("custom::f", schema, &bounded, {.defaults = true}, seed), "x").tensor.to_constant();
        for (std::size_t i = 0; i != 40; ++i) CHECK(std::abs(all.at(i).to<double>()) <= 1);
    }
}

} // namespace ATON_NAMESPACE::verify
