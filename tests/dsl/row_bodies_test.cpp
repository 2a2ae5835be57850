// SPDX-License-Identifier: MIT
// The forms that a body may have: noexcept and static lambdas, and results as an array.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include <aton/aton.hpp>

namespace row_bodies_test {

using namespace aton::dsl;

namespace {

inline constexpr auto rows =
    table(symbolic<"my::negated(Tensor x) -> Tensor">([](graph<13> g, value x) noexcept { return g.op<"Neg">(x); }),
          symbolic<"my::both(Tensor x) -> (Tensor, Tensor)">(
              [](graph<13> g, value x) -> std::array<value, 2> { return {g.op<"Neg">(x), x}; }),
          symbolic<"my::sizes(Tensor x) -> (SymInt, SymInt, SymInt)">(
              [](graph<13> g, value x) { return std::array{g.size(x, 1), sym_int(7), g.size(x, 0)}; }),
          symbolic<"my::lists(Tensor x) -> (Tensor[], Tensor[])">([](graph<13> g, value x) {
              return std::array{std::vector<value>{x}, std::vector<value>{g.op<"Abs">(x), x}};
          }));

/// A body with a static call operator, which lambdas have from C++23 on.
struct absolute {
#if defined(__cpp_static_call_operator)
    static value operator()(graph<13> g, value x) noexcept { return g.op<"Abs">(x); }
#else
    value operator()(graph<13> g, value x) const noexcept { return g.op<"Abs">(x); }
#endif
};
inline constexpr auto more_rows = table(symbolic<"my::absolute(Tensor x) -> Tensor">(absolute{}));

struct fixture {
    graph_data data;
    value x{data, data.add_input("x", {dtype::float32, aton::shape{2, 5}})};

    std::vector<result> run(table_view table, char const* overload) {
        return convert(data, *find(table, overload, 20), 20, {argument::of_tensor(x)});
    }
};

} // namespace

TEST_CASE("a body may be noexcept or static") {
    fixture f;
    (void)f.run(rows, "my::negated");
    CHECK(f.data.nodes.back().op == "Neg");
    (void)f.run(more_rows, "my::absolute");
    CHECK(f.data.nodes.back().op == "Abs");
}

TEST_CASE("a body returns several results as an array, in the order of the schema") {
    fixture f;
    auto const both = f.run(rows, "my::both");
    REQUIRE(both.size() == 2);
    CHECK(f.data.nodes[0].outputs[0] == both[0].single.id());
    CHECK(both[1].single.id() == f.x.id());
    auto const sizes = f.run(rows, "my::sizes");
    REQUIRE(sizes.size() == 3);
    CHECK(sizes[0].single->constant<int>() == 5);
    CHECK(sizes[1].single->constant<int>() == 7);
    CHECK(sizes[2].single->constant<int>() == 2);
    auto const lists = f.run(rows, "my::lists");
    REQUIRE(lists.size() == 2);
    CHECK(lists[0].is_list);
    CHECK(lists[1].list.size() == 2);
    CHECK(lists[1].list[1].same_as(f.x));
}

TEST_CASE("lambdas of nested graphs may be noexcept, and numbers are conditions and trip counts") {
    fixture f;
    graph<13> const g(f.data, 20);
    (void)g.op<"If">(true,
                     attr::then_branch_g([&](graph<13> b) noexcept { return b.op<"Neg">(f.x); }),
                     attr::else_branch_g([&](graph<13> b) { return b.op<"Abs">(f.x); }));
    value const condition(f.data, f.data.nodes.back().inputs[0]);
    CHECK(condition.constant() == aton::scalar_tensor(true, dtype::bool_));
    (void)g.op<"Loop">(5, absent, f.x, attr::body_g([](graph<13> b, value, value again, value sum) noexcept {
                           return std::tuple(again, b.op<"Neg">(sum));
                       }));
    value const count(f.data, f.data.nodes.back().inputs[0]);
    CHECK(count.constant() == aton::scalar_tensor(5, dtype::int64));
}

} // namespace row_bodies_test
