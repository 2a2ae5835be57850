// SPDX-License-Identifier: MIT
// A nested graph that no call runs may compute anything: its row is not checked.
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/verify/check.hpp>

#include "../faults.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using namespace dsl;
using tests::contains;

runtime::tensor floats(std::vector<double> const& values) {
    aton::tensor t{dtype::float32, {static_cast<std::int64_t>(values.size())}, {}};
    for (double const v : values) t.append(v);
    return runtime::tensor::from_constant(t);
}

recorded_call one_call(std::string const& name, std::vector<double> const& x, std::vector<double> const& y) {
    recorded_call out;
    out.call.overload = name;
    out.schema = name + "(Tensor x) -> Tensor";
    out.call.arguments.push_back(runtime::aten_argument::of_tensor(floats(x)).named("x"));
    out.results = {floats(y)};
    out.place = "calls.jsonl:1";
    return out;
}

report checked_with(table_view rows, std::vector<recorded_call> const& calls) {
    check_options options;
    options.calls = calls;
    return check(rows, options);
}

/// Doubled if the first element is positive, else its negative.
constexpr auto by_sign = [](graph<13> g, value x) -> value {
    value const first = g.op<"Squeeze">(g.op<"Slice">(x, g.ints({0}), g.ints({1})));
    return g.op<"If">(g.op<"Greater">(first, 0),
                      attr::then_branch_g([&](graph<13> b) { return b.op<"Add">(x, x); }),
                      attr::else_branch_g([&](graph<13> b) { return b.op<"Abs">(b.op<"Neg">(x)); })); // Abs is wrong
};
constexpr auto signs = domain<"nested.test", 1, op<"Sign2(T X) -> (T Y = like(X))", "T: float", body<by_sign>>>{};

constexpr auto rows =
    table(symbolic<"nested::branch(Tensor x) -> Tensor">(by_sign),
          symbolic<"nested::function(Tensor x) -> Tensor">(
              [](graph<13, signs> g, value x) -> value { return g.op<"nested.test::Sign2">(x); }),
          symbolic<"nested::loop(Tensor x) -> Tensor">([](graph<13> g, value x) -> value {
              value const trips = g.op<"Sub">(g.op<"Size">(x), 2);
              return g.op<"Loop">(trips, absent, x, attr::body_g([](graph<13> b, value, value go_on, value sum) {
                                      return std::tuple(go_on, b.op<"Add">(sum, sum));
                                  }));
          }));

} // namespace

TEST_CASE("a row with a branch that no call runs is not checked") {
    for (std::string const name : {"nested::branch", "nested::function"}) {
        std::size_t const row = name == "nested::branch" ? 0 : 1;
        report const half = checked_with(rows, {one_call(name, {3, -1, 2}, {6, -2, 4})});
        CHECK_FALSE(half.rows.at(row).passed());
        CHECK(half.rows[row].failures.empty());
        CHECK(half.rows[row].not_checked == "no call runs the else_branch (Neg, Abs) of If; record a call that does");

        report const both =
            checked_with(rows, {one_call(name, {3, -1, 2}, {6, -2, 4}), one_call(name, {-3, 5}, {3, -5})});
        CHECK(both.rows[row].not_checked.empty());
        CHECK(both.rows[row].failures.size() == 1);
    }
}

TEST_CASE("a loop whose body no call runs is not checked") {
    std::string const name = "nested::loop";
    report const never = checked_with(rows, {one_call(name, {3, 1}, {3, 1}), one_call(name, {4}, {4})});
    CHECK(never.rows.at(2).not_checked == "no call runs the body (Add, Identity) of Loop; record a call that does");
    CHECK(checked_with(rows, {one_call(name, {3, 1}, {3, 1}), one_call(name, {1, 2, 3, 4}, {4, 8, 12, 16})})
              .rows[2]
              .passed());
}

} // namespace ATON_NAMESPACE::verify
