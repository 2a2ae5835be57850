// SPDX-License-Identifier: MIT
// call_aten: mappings called by their overload from other rows; arguments, defaults, results, limits and refusals.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <aton/aton.hpp>
#include <aton/dsl/call_aten.hpp>

#include "../faults.hpp"

namespace call_aten_test {

using namespace aton::dsl;
using aton::tests::refusal_of;

namespace {

/// Rows whose nodes show the arguments that they got.
inline constexpr auto rows =
    table(symbolic<"aten::gelu(self, approximate)">(
              [](graph<13, 19> g, value x, std::string_view) -> value { return g.op<"Neg">(x); }),
          symbolic<"aten::gelu(self, approximate)">([](graph<20> g, value x, std::string_view how) -> value {
              return g.op<"Gelu">(x, attr::approximate_s(how));
          }),
          symbolic<"aten::add.Tensor(self, other, alpha)">([](graph<13> g, value x, value y, double alpha) -> value {
              if (alpha == 7) return g.unsupported("alpha 7");
              if (alpha == 8) return g.next();
              if (!g.context().expected.empty()) return g.unsupported("types of the outer call");
              if (g.context().op() != "aten::add" || g.context().argument("alpha") == nullptr)
                  return g.unsupported("context");
              return g.op<"Sub">(x, g.op<"Mul">(g.cast(y, x.dtype()), alpha));
          }),
          symbolic<"aten::topk(self, k, dim, largest, sorted)">(
              [](graph<13> g, value x, size k, std::int64_t dim, bool largest, bool) {
                  return g.op<"TopK">(x, g.ints({k}), attr::axis_i(dim), attr::largest_i(largest), outputs<2>);
              }),
          symbolic<"aten::split_with_sizes(self, split_sizes, dim)">(
              [](graph<13> g, value x, std::span<size const> sizes, std::int64_t dim) -> std::vector<value> {
                  return g.op<"Split">(x, g.ints(sizes), attr::axis_i(dim), output_list(sizes.size()));
              }),
          symbolic<"aten::avg_pool2d(self, kernel_size, stride, divisor_override)">(
              [](graph<13> g, value x, std::span<std::int64_t const> kernel, std::span<std::int64_t const> stride,
                 std::optional<std::int64_t> divisor) -> value {
                  if (divisor) return g.unsupported("divisor " + std::to_string(*divisor));
                  return g.op<"AveragePool">(x,
                                             attr::kernel_shape_i(kernel),
                                             attr::strides_i(stride.empty() ? std::nullopt : std::optional(stride)));
              }),
          symbolic<"my::taken(Tensor(a!) x, Tensor? y=None) -> (Tensor, Tensor?)">(
              [](graph<13> g, value x, optional_value y) -> std::tuple<value, optional_value, value> {
                  return {g.op<"Abs">(x), y, g.op<"Neg">(x)};
              }));

struct fixture {
    graph_data data;
    graph<13> g{data, 20};
    value x{data, data.add_input("x", {dtype::float32, aton::shape{2, 3, 8, "n"}})};

    [[nodiscard]] aton::graph_node const& last() const { return data.nodes.back(); }
};

} // namespace

TEST_CASE("the row for the target opset is called, with defaults for what is not given") {
    fixture f;
    (void)call_aten<"aten::gelu">(rows, f.g, f.x);
    CHECK(f.last().op == "Gelu");
    CHECK(f.last().attributes[0].s == "none");
    (void)call_aten<"aten::gelu">(rows, f.g, f.x, "tanh");
    CHECK(f.last().attributes[0].s == "tanh");
    (void)call_aten<"aten::gelu">(rows, graph<13>(f.data, 19), f.x, arg<"approximate">(std::string("tanh")));
    CHECK(f.last().op == "Neg");
    (void)call_aten<"aten::gelu">(rows, graph<20, 21>(f.data, 20), arg<"approximate">("tanh"), arg<"self">(f.x));
    CHECK(f.last().inputs[0] == f.x.id());
}

TEST_CASE("arguments are converted as those of a program") {
    fixture f;
    (void)call_aten<"aten::add.Tensor">(rows, f.g, f.x, 5); // a Python number where a tensor is expected
    CHECK(f.last().op == "Sub");
    value const product(f.data, f.last().inputs[1]);
    aton::graph_node const& mul = f.data.nodes[f.data.nodes.size() - 2];
    CHECK(value(f.data, mul.inputs[0]).constant<double>() == 5);
    CHECK(product.dtype() == dtype::float32);
    (void)call_aten<"aten::avg_pool2d">(rows, f.g, f.x, 3); // repeated to int[2]
    CHECK(f.last().attributes[0].ints == std::vector<std::int64_t>{3, 3});
    CHECK(f.last().attributes.size() == 1);
    (void)call_aten<"aten::avg_pool2d">(
        rows, f.g, f.x, std::array{2, 1}, std::vector<sym_int>{4, 5}, std::array{0, 0}, false, true, std::nullopt);
    CHECK(f.last().attributes[1].ints == std::vector<std::int64_t>{4, 5});
    CHECK(refusal_of([&] {
              return call_aten<"aten::avg_pool2d">(
                  rows, f.g, f.x, 3, arg<"divisor_override">(std::optional<std::int64_t>(6)));
          }) == "aten::avg_pool2d: divisor 6");
    CHECK(refusal_of([&] {
              return call_aten<"aten::avg_pool2d">(rows, f.g, f.x, 3, arg<"padding">(std::array{1, 1}));
          }).find("argument 'padding' is [1, 1]; the mapping supports only the default, 0") != std::string::npos);
    (void)call_aten<"aten::add.Tensor">(rows, f.g, f.x, f.x, number(0.25));
    CHECK(value(f.data, f.data.nodes[f.data.nodes.size() - 2].inputs[1]).constant<double>() == 0.25);
    (void)call_aten<"aten::topk">(rows, f.g, f.x, f.g.size(f.x, 3));
    CHECK_FALSE(value(f.data, f.last().inputs[1]).is_constant());
}

TEST_CASE("a call returns what the schema returns") {
    fixture f;
    static_assert(std::is_same_v<decltype(call_aten<"aten::gelu">(rows, f.g, f.x)), value>);
    auto [values, indices] = call_aten<"aten::topk">(rows, f.g, f.x, 2, arg<"largest">(false));
    CHECK(indices.dtype() == dtype::int64);
    CHECK(values.id() == f.last().outputs[0]);
    auto const parts = call_aten<"aten::split_with_sizes">(rows, f.g, f.x, std::vector<std::int64_t>{5, 3}, 2);
    static_assert(std::is_same_v<decltype(parts), aton::safe_vector<value> const>);
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].size(2) == 5);
    auto [result, other, now] = call_aten<"my::taken">(rows, f.g, f.x); // two results, then the new x
    static_assert(std::is_same_v<decltype(other), optional_value>);
    CHECK_FALSE(other);
    CHECK(now.id() == f.last().outputs[0]);
    CHECK(result.id() + 1 == now.id());
}

TEST_CASE("a call inside a row has a context of its own, and counts against the limits of the row") {
    static constexpr auto outer =
        table(symbolic<"my::outer(Tensor x, int n) -> Tensor">([](graph<13> g, value x, std::int64_t n) -> value {
            value sum = call_aten<"aten::add.Tensor">(rows, g, x, x, arg<"alpha">(n));
            if (g.context().overload != "my::outer" || g.context().expected.size() != 1)
                return g.unsupported("context");
            if (g.context().argument("n") == nullptr || g.context().argument("alpha") != nullptr)
                return g.unsupported("arguments");
            if (n == 5)
                for (;;) sum = call_aten<"aten::add.Tensor">(rows, g, sum, x);
            return sum;
        }));
    fixture f;
    f.data.context.expected = {{dtype::float32, aton::shape{2}}};
    auto const run = [&](int n) {
        return convert(f.data, table_view(outer)[0], 20, {argument::of_tensor(f.x), argument::of_number(n)});
    };
    (void)run(2);
    CHECK(f.data.nodes.size() == 3);
    for (aton::graph_node const& n : f.data.nodes) CHECK(n.source == "my::outer");
    CHECK(f.data.context.nodes_left == node_context::unlimited);
    CHECK(refusal_of([&] { return run(7); }) == "my::outer (opset 20): aten::add.Tensor: alpha 7");
    CHECK(refusal_of([&] { return run(8); }) == "my::outer (opset 20): aten::add.Tensor: the row leaves the call to "
                                                "the row below (g.next()), but there is none");
    CHECK(refusal_of([&] { return run(5); }).find("nodes for one operator") != std::string::npos);
}

TEST_CASE("tables may be searched when the graph is built") {
    fixture f;
    std::array<table_view, 1> const tables{rows};
    (void)call_aten<"aten::gelu">(std::span<table_view const>(tables), f.g, f.x);
    CHECK(f.last().op == "Gelu");
    CHECK(refusal_of([&] { return call_aten<"aten::gelu">(tables, graph<1>(f.data, 12), f.x); }) ==
          "aten::gelu: no mapping at opset 12");
    static constexpr auto other =
        table(symbolic<"my::taken(Tensor x) -> Tensor">([](graph<13>, value x) { return x; }));
    (void)call_aten<"my::taken">(other, f.g, f.x);
}

} // namespace call_aten_test
