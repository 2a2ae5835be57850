// SPDX-License-Identifier: MIT
// The forms that a body may have: noexcept and static lambdas, and results as an array; and which of its nodes is refused, at which line.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <type_traits>
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

namespace {

constexpr int start = __LINE__;
/// Multiplies until it is refused: at the node that `place` says.
inline constexpr auto squared_twice = [](graph<13> g, value x, value y, std::int64_t place) -> value {
    value const square = g.op<"Mul">(x, x);
    if (place == 4) return g.op<"Mul">(square, g.op<"Mul">(square, y));
    return g.op<"Mul">(square, square);
};
inline constexpr auto products =
    domain<"test.products", 1, op<"Product(T X, U Y, int place) -> (T Z)", "", body<squared_twice>>>{};
inline constexpr auto refused_rows = table(symbolic<"my::product(Tensor x, Tensor y, int place) -> Tensor">(
    [](graph<13, products> g, value x, value y, std::int64_t place) -> value {
        if (place == 0) return g.op<"Mul">(x, y);
        value const square = g.op<"Mul">(x, x);
        if (place == 1) return g.op<"Mul">(square, y);
        if (place == 2) return g.op<"Mul">(square, value());
        if (place == 3)
            return g.op<"If">(true,
                              attr::then_branch_g([&](graph<13> b) {
                                  value const first = b.op<"Mul">(x, x);
                                  return b.op<"Mul">(b.op<"Mul">(first, x), y);
                              }),
                              attr::else_branch_g([&](graph<13>) { return x; }));
        if (place == 4) return g.op<"test.products::Product">(x, y, attr_i<"place">(4));
        if (place == 6) return g.op<"QLinearMatMul">(x, x, x, x, x, x, y, x);
        if (place == 7)
            return g.op<"QLinearConv">(x, x, x, x, x, x, x, y, x, attr::group_i(2), attr::pads_i({1, 0, 2, 0}));
        if (place == 8) return g.cast(g.sequence({x, y}), dtype::int64);
        if (place == 9) return g.cast(g.sequence({square, x}), dtype::int64);
        return g.op<"Mul">(square, g.op<"Concat">(std::vector<value>{x, x, x}, attr::axis_i(1))); // sizes 5 and 15
    }));

value halved(graph<13> g, value x, value y, call_site at = call_site::here()) { return g.op<"Mul">(x, y, at); }

std::string refusal_at(std::int64_t place) {
    fixture f;
    value const y(f.data, f.data.add_input("y", {dtype::float16, aton::shape{2, 5}}));
    try {
        (void)convert(f.data,
                      *find(refused_rows, "my::product", 20),
                      20,
                      {argument::of_tensor(f.x), argument::of_tensor(y), argument::of_number(place)});
    } catch (aton::error const& e) {
        return e.what();
    }
    return {};
}

} // namespace

TEST_CASE("a refusal says at which line its node was called, and which of those with its operator it is") {
    auto const at = [](int line) { return "; row_bodies_test.cpp:" + std::to_string(start + line) + ", the "; };
    std::string const types = "my::product: onnx::Mul (opset 20): input 'B' is float16, but another input of the same "
                              "type variable is float32; cast one of them";
    CHECK(refusal_at(0) == types + at(11) + "1st Mul of the row");
    CHECK(refusal_at(1) == types + at(13) + "2nd Mul of the row");
    CHECK(refusal_at(2) ==
          "my::product: onnx::Mul (opset 20): operand 2 is a value that was never set" + at(14) + "2nd Mul of the row");
    CHECK(refusal_at(3) == types + at(19) + "3rd Mul of the nested graph");
    CHECK(refusal_at(4) == types + at(4) + "2nd Mul of the body");
    CHECK(refusal_at(5) == "my::product: dimensions 5 and 15 do not broadcast" + at(28) + "2nd Mul of the row");
    CHECK(refusal_at(6).ends_with(at(23) + "1st QLinearMatMul of the row"));
    CHECK(refusal_at(7).starts_with("my::product: onnx::QLinearConv (opset 20): input 'x' is float32"));
    CHECK(refusal_at(7).find(".hpp") == std::string::npos); // as many arguments leave no place for the line
    CHECK(refusal_at(8).ends_with(at(26) + "1st SequenceConstruct of the row"));
    CHECK(refusal_at(9).ends_with(at(27) + "1st Cast of the row"));
}

TEST_CASE("a helper that passes the line on is reported at its caller") {
    fixture f;
    value const y(f.data, f.data.add_input("y", {dtype::float16, aton::shape{2, 5}}));
    f.data.context.overload = "my::product";
    int const line = __LINE__ + 2;
    try {
        (void)halved({f.data, 20}, f.x, y);
        FAIL("legal");
    } catch (aton::error const& e) {
        std::string const what = e.what();
        CHECK(what.ends_with("; row_bodies_test.cpp:" + std::to_string(line) + ", the 1st Mul of the row"));
    }
}

TEST_CASE("one output is a value, and a tuple of one") {
    fixture f;
    graph<13> const g(f.data, 20);
    value const y = g.op<"Relu">(f.x, outputs<1>);
    CHECK(y.shape() == f.x.shape());
    auto const [z] = g.op<"Neg">(y, outputs<1>);
    CHECK(f.data.nodes.back().op == "Neg");
    CHECK(z.id() == f.data.nodes.back().outputs.at(0));
    static_assert(std::is_same_v<decltype(z), typed_value<decltype(z)::types> const>);
    std::tuple<value, optional_value> const results = {g.op<"Abs">(z, outputs<1>), absent};
    CHECK(std::get<0>(results).id() == f.data.nodes.back().outputs.at(0));
    CHECK_FALSE(std::get<1>(results).has_value());
}

TEST_CASE("the line of a call is an argument like no other") {
    static_assert(!valid_call<graph<13>, "Neg", value, char const*>);
    static_assert(!std::is_convertible_v<char const*, call_site>);
    CHECK(call_site("/a/folder/plugin.cpp", 41).to_text() == "plugin.cpp:41");
    CHECK(call_site("C:\\plugin.cpp", 7).to_text() == "plugin.cpp:7");
    CHECK(call_site("plugin.cpp", 1).to_text() == "plugin.cpp:1");
    CHECK(call_site().to_text().empty());
}

TEST_CASE("calls of more arguments than the usual ones mean the same") {
    fixture f;
    graph<13> const g(f.data, 20);
    value const small(f.data, f.data.add_input("small", {dtype::uint8, aton::shape{2, 4, 6, 5}}));
    value const filter(f.data, f.data.add_input("filter", {dtype::uint8, aton::shape{8, 2, 3, 2}}));
    value const one = g.scalar(1, dtype::uint8);
    value const scale = g.scalar(0.5, dtype::float32);
    (void)g.op<"QLinearConv">(
        small, scale, one, filter, scale, one, scale, one, absent, attr::group_i(2), attr::pads_i({1, 0, 2, 0}));
    aton::graph_node const& node = f.data.nodes.back();
    CHECK(node.inputs.size() == 8); // without the absent one
    CHECK(node.inputs[3] == filter.id());
    REQUIRE(node.attributes.size() == 2);
    CHECK(node.attribute("group")->i == 2);
    CHECK(node.attribute("pads")->ints == std::vector<std::int64_t>{1, 0, 2, 0});
}

} // namespace row_bodies_test
