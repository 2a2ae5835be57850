// SPDX-License-Identifier: MIT
// A nested graph that no call runs may compute anything: its row is not checked.
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/verify/check.hpp>

#include "unary_calls.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using namespace dsl;
using tests::check_calls;
using tests::floats;

recorded_call one_call(std::string_view name, std::vector<double> const& x, std::vector<double> const& y) {
    auto const row = [](std::vector<double> const& of) { return floats({static_cast<std::int64_t>(of.size())}, of); };
    return tests::unary_call(name, row(x), row(y));
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
        report const half = check_calls(rows, {one_call(name, {3, -1, 2}, {6, -2, 4})});
        CHECK_FALSE(half.rows.at(row).passed());
        CHECK(half.rows[row].failures.empty());
        CHECK(half.rows[row].not_checked == "no call runs the else_branch (Neg, Abs) of If; record a call that does");

        report const both =
            check_calls(rows, {one_call(name, {3, -1, 2}, {6, -2, 4}), one_call(name, {-3, 5}, {3, -5})});
        CHECK(both.rows[row].not_checked.empty());
        CHECK(both.rows[row].failures.size() == 1);
    }
}

TEST_CASE("a loop whose body no call runs is not checked") {
    std::string const name = "nested::loop";
    report const never = check_calls(rows, {one_call(name, {3, 1}, {3, 1}), one_call(name, {4}, {4})});
    CHECK(never.rows.at(2).not_checked == "no call runs the body (Add, Identity) of Loop; record a call that does");
    CHECK(check_calls(rows, {one_call(name, {3, 1}, {3, 1}), one_call(name, {1, 2, 3, 4}, {4, 8, 12, 16})})
              .rows[2]
              .passed());
}

} // namespace ATON_NAMESPACE::verify
