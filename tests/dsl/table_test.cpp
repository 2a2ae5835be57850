// SPDX-License-Identifier: MIT
// Rows and tables: binding of arguments to the ATen schema, defaults, refusals, look-up, and rows that call rows.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <aton/aton.hpp>

namespace table_test {

using namespace aton::dsl;

namespace {

inline constexpr auto rows = table(
    symbolic<"aten::elu(self, alpha, scale)">([](graph<7> g, value self, double alpha, double scale) {
        value y = g.op<"Elu">(self, attr::alpha_f(alpha));
        return scale == 1.0 ? y : g.op<"Mul">(y, g.scalar(scale, y.dtype()));
    }),
    symbolic<"aten::sum.dim_IntList(self, dim, keepdim)">(
        [](graph<13> g, value self, std::optional<std::span<std::int64_t const>> dim, bool keepdim) -> value {
            if (!dim) return g.op<"ReduceSum">(self, attr::keepdims_i(keepdim));
            return g.op<"ReduceSum">(self, g.ints(*dim), attr::keepdims_i(keepdim));
        }),
    symbolic<"aten::sum.dim_IntList(self, dim, keepdim)">(
        [](graph<11, 12> g, value self, std::optional<std::span<std::int64_t const>> dim, bool keepdim) -> value {
            if (!dim) return g.op<"ReduceSum">(self, attr::keepdims_i(keepdim));
            return g.op<"ReduceSum">(self, attr::axes_i(*dim), attr::keepdims_i(keepdim));
        }),
    symbolic<"aten::max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode)">(
        [](graph<13, 21> g, value self, std::span<std::int64_t const> kernel, std::span<std::int64_t const> stride,
           std::span<std::int64_t const> padding, std::span<std::int64_t const> dilation, bool ceil_mode) -> value {
            std::int64_t const pads[] = {padding[0], padding[1], padding[0], padding[1]};
            return g.op<"MaxPool">(self,
                                   attr::kernel_shape_i(kernel),
                                   attr::strides_i(stride.empty() ? kernel : stride),
                                   attr::pads_i(pads),
                                   attr::dilations_i(dilation),
                                   attr::ceil_mode_i(ceil_mode));
        }),
    symbolic<"aten::full(size, fill_value, dtype)">(
        [](graph<9> g, std::span<sym_int const> size, aton::scalar fill, std::optional<dtype> type) {
            return g.op<"Expand">(g.scalar(fill, type.value_or(dtype::float32)), g.ints(size));
        }),
    symbolic<"aten::add.Tensor(self, other, alpha)">(
        [](graph<13> g, value self, value other, aton::scalar alpha) -> value {
            if (!(alpha == 1)) return g.unsupported("alpha");
            return g.op<"Add">(self, g.cast(other, self.dtype()));
        }),
    symbolic<"aten::gelu(self, approximate)">([](graph<20> g, value self, std::string_view approximate) {
        return g.op<"Gelu">(self, attr::approximate_s(approximate));
    }),
    symbolic<"aten::unbind.int(self, dim)">([](graph<13> g, value self, std::int64_t dim) -> std::vector<value> {
        std::vector<value> out;
        for (std::int64_t i = 0; i != self.size(dim).size(); ++i)
            out.push_back(g.op<"Gather">(self, g.scalar(i, dtype::int64), attr::axis_i(dim)));
        return out;
    }),
    symbolic<"aten::sort(self, dim)">([](graph<11> g, value self, std::int64_t dim) {
        return g.op<"TopK">(self, g.ints({self.size(dim).size()}), attr::axis_i(dim), attr::largest_i(0), outputs<2>);
    }),
    symbolic<"aten::native_dropout(input, p, train)">(
        [](graph<13> g, value input, double, std::optional<bool> train) -> std::tuple<value, optional_value> {
            if (train.value_or(true)) return g.unsupported("train=True draws random numbers");
            return {input, absent};
        }),
    symbolic<"my_ops::scale(Tensor x, float factor=2.5, int[2] window=3, *, str mode=\"a b\") -> Tensor">(
        [](graph<13> g, value x, double factor, std::span<std::int64_t const> window, std::string_view mode) -> value {
            if (window.size() != 2 || window[1] != 3 || mode != "a b") return g.unsupported("defaults");
            return g.op<"Mul">(x, factor);
        }));

struct fixture {
    graph_data data;
    value input(std::string name, dtype type, aton::shape shape) {
        return {data, data.add_input(std::move(name), {type, std::move(shape)})};
    }
    std::vector<result> run(std::string_view overload, int opset, std::vector<argument> arguments) {
        entry const* row = find(rows, overload, opset);
        REQUIRE(row != nullptr);
        return convert(data, *row, opset, std::move(arguments));
    }
    aton::graph_node const& last() { return data.nodes.back(); }
};

static_assert(find(rows, "aten::sum.dim_IntList", 28)->since == 13);
static_assert(find(rows, "aten::sum.dim_IntList", 12)->until == 12);
static_assert(find(rows, "aten::sum.dim_IntList", 10) == nullptr);
static_assert(find(rows, "aten::gelu", 19) == nullptr && find(rows, "aten::gelu", 20)->since == 20);
static_assert(find(rows, "aten::no_such", 20) == nullptr);
static_assert(rows.size() == 11);

} // namespace

TEST_CASE("named arguments arrive in the body's order with their schema's defaults") {
    fixture f;
    value const x = f.input("x", dtype::float32, {2, 3, 8, 9});
    f.run("aten::elu", 20, {argument::of_tensor(x), argument::of_number(0.25)});
    CHECK(f.last().op == "Elu");
    CHECK(f.last().attributes[0].f == 0.25F);
    f.run("aten::elu", 20, {argument::of_tensor(x), argument::of_number(0.25), argument::of_number(3)});
    CHECK(f.last().op == "Mul");
}

TEST_CASE("an argument that the row does not name must have its default") {
    fixture f;
    value const x = f.input("x", dtype::float32, {2, 3});
    CHECK_NOTHROW(
        f.run("aten::elu",
              20,
              {argument::of_tensor(x), argument::of_number(1), argument::of_number(1), argument::of_number(1)}));
    CHECK_THROWS_WITH_AS(
        f.run("aten::elu",
              20,
              {argument::of_tensor(x), argument::of_number(1), argument::of_number(1), argument::of_number(2)}),
        "aten::elu: argument 'input_scale' is 2; the mapping supports only the default, 1",
        aton::unsupported_error);
    CHECK_THROWS_WITH_AS(
        f.run(
            "aten::sum.dim_IntList",
            20,
            {argument::of_tensor(x), argument::none(), argument::of_number(false), argument::of_type(dtype::float64)}),
        "aten::sum.dim_IntList: argument 'dtype' is float64; the mapping supports only the default, None",
        aton::unsupported_error);
}

TEST_CASE("a missing argument and a wrong kind are named") {
    fixture f;
    value const x = f.input("x", dtype::float32, {2, 3});
    CHECK_THROWS_WITH_AS(f.run("aten::elu", 20, {}), "aten::elu: argument 'self' is missing", aton::unsupported_error);
    CHECK_THROWS_WITH_AS(f.run("aten::elu", 20, {argument::none()}),
                         "aten::elu: argument 'self' is None, but its type is Tensor",
                         aton::unsupported_error);
    CHECK_THROWS_WITH_AS(f.run("aten::elu", 20, {argument::of_tensor(x), argument::of_text("one")}),
                         "aten::elu: argument 'alpha' is \"one\", but its type is Scalar",
                         aton::unsupported_error);
    std::vector<argument> many(5, argument::of_number(1));
    many[0] = argument::of_tensor(x);
    CHECK_THROWS_WITH_AS(
        f.run("aten::elu", 20, many), "aten::elu: too many arguments; the schema has 4", aton::unsupported_error);
}

TEST_CASE("single numbers expand to lists, empty defaults stay empty") {
    fixture f;
    value const x = f.input("x", dtype::float32, {2, 3, 8, 9});
    f.run("aten::max_pool2d",
          20,
          {argument::of_tensor(x), argument::of_number(3), argument(), argument::of_numbers({1})});
    auto const& attributes = f.last().attributes;
    CHECK(attributes[0].ints == std::vector<std::int64_t>{3, 3});
    CHECK(attributes[1].ints == std::vector<std::int64_t>{3, 3});
    CHECK(attributes[2].ints == std::vector<std::int64_t>{1, 1, 1, 1});
    CHECK(attributes[3].ints == std::vector<std::int64_t>{1, 1});
}

TEST_CASE("None and a list are distinguished in int[]?") {
    fixture f;
    value const x = f.input("x", dtype::float32, {2, 3});
    f.run("aten::sum.dim_IntList", 20, {argument::of_tensor(x), argument::none()});
    CHECK(f.last().inputs.size() == 1);
    f.run("aten::sum.dim_IntList", 20, {argument::of_tensor(x), argument::of_numbers({-1}), argument::of_number(true)});
    CHECK(f.last().inputs.size() == 2);
    f.run("aten::sum.dim_IntList", 12, {argument::of_tensor(x), argument::of_numbers({-1})});
    CHECK(f.last().attributes[0].name == "axes");
}

TEST_CASE("a Python number in the place of a tensor is a weak 0-d constant") {
    fixture f;
    value const x = f.input("x", dtype::float16, {2, 3});
    auto const r = f.run("aten::add.Tensor", 20, {argument::of_tensor(x), argument::of_number(2.5)});
    CHECK(r[0].single->dtype() == dtype::float16);
    value const two_and_a_half(f.data, f.data.nodes[0].outputs[0]);
    CHECK(two_and_a_half.is_wrapped_number());
    CHECK(two_and_a_half.dtype() == dtype::float64);
}

TEST_CASE("sizes may be computed by the graph") {
    fixture f;
    value const n = f.input("n", dtype::int64, aton::shape(std::vector<aton::dim>{}));
    auto const r =
        f.run("aten::full",
              20,
              {argument::of_numbers({sym_int(n), 3}), argument::of_number(7), argument::of_type(dtype::int32)});
    CHECK(f.last().op == "Expand");
    CHECK(r[0].single->dtype() == dtype::int32);
    CHECK(r[0].single->rank() == 2);
    value const x = f.input("x", dtype::float32, {2, 3, 8, 9});
    CHECK_THROWS_WITH_AS(
        f.run("aten::max_pool2d", 20, {argument::of_tensor(x), argument::of_numbers({sym_int(n), 3})}),
        "aten::max_pool2d (opset 20): argument 'kernel_size' is computed by the program; the mapping needs a constant: "
        "use a number that does not depend on the inputs",
        aton::unsupported_error);
}

TEST_CASE("device and layout are ignored, except a sparse layout") {
    fixture f;
    auto const with = [&](char const* layout) {
        return std::vector{argument::of_numbers({2}),
                           argument::of_number(1),
                           argument::none(),
                           argument::of_tag(layout),
                           argument::of_tag("cuda:0"),
                           argument::of_number(true)};
    };
    CHECK_NOTHROW(f.run("aten::full", 20, with("strided")));
    CHECK_THROWS_WITH_AS(f.run("aten::full", 20, with("sparse_coo")),
                         "aten::full: argument 'layout' is sparse_coo; the mapping supports only the default, None",
                         aton::unsupported_error);
}

TEST_CASE("results: several, a list, and one that is not produced") {
    fixture f;
    value const x = f.input("x", dtype::float32, {2, 3});
    auto const sorted = f.run("aten::sort", 20, {argument::of_tensor(x), argument::of_number(1)});
    REQUIRE(sorted.size() == 2);
    CHECK(sorted[1].single->dtype() == dtype::int64);
    auto const list = f.run("aten::unbind.int", 20, {argument::of_tensor(x), argument::of_number(1)});
    REQUIRE(list.size() == 1);
    CHECK(list[0].is_list);
    CHECK(list[0].list.size() == 3);
    auto const dropped = f.run(
        "aten::native_dropout", 20, {argument::of_tensor(x), argument::of_number(0.5), argument::of_number(false)});
    REQUIRE(dropped.size() == 2);
    CHECK_FALSE(dropped[1].single.has_value());
    CHECK_THROWS_WITH_AS(f.run("aten::native_dropout",
                               20,
                               {argument::of_tensor(x), argument::of_number(0.5), argument::of_number(true)}),
                         "aten::native_dropout (opset 20): train=True draws random numbers",
                         aton::unsupported_error);
}

TEST_CASE("a whole schema declares an operator that torch does not declare") {
    fixture f;
    value const x = f.input("x", dtype::float32, {2, 3});
    f.run("my_ops::scale", 20, {argument::of_tensor(x)});
    CHECK(f.last().op == "Mul");
    value const factor(f.data, f.last().inputs[1]);
    CHECK(factor.constant<double>() == 2.5);
}

TEST_CASE("rows call rows, tables are joined") {
    constexpr auto more = table(symbolic<"aten::selu(self)">([](graph<7> g, value self) -> value {
        return call_row<"aten::elu">(rows, g, self, 1.6732632423543772, 1.0507009873554805);
    }));
    constexpr auto both = rows + more;
    static_assert(both.size() == rows.size() + 1);
    fixture f;
    value const x = f.input("x", dtype::float32, {2, 3});
    entry const* row = find(both, "aten::selu", 20);
    REQUIRE(row != nullptr);
    convert(f.data, *row, 20, {argument::of_tensor(x)});
    CHECK(f.last().op == "Mul");
    table_view const tables[] = {more, rows};
    CHECK(find(tables, "aten::elu", 7)->overload == "aten::elu");
    CHECK(find(tables, "aten::elu", 6) == nullptr);
}

TEST_CASE("the context names the overload, and nodes carry it as their source") {
    fixture f;
    value const x = f.input("x", dtype::float32, {2, 3});
    f.run("aten::elu", 20, {argument::of_tensor(x)});
    CHECK(f.last().source == "aten::elu");
}

} // namespace table_test
