// SPDX-License-Identifier: MIT
// What a call may leave out: optional attributes and optional operands, given or empty.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/aton.hpp>

namespace optionals_test {

using namespace aton::dsl;

namespace {

inline constexpr auto custom = domain<"test", 1, op<"Mixed(T X, int? n, float[]? scales, string? mode) -> (T Y)">>{};

struct fixture {
    graph_data data;
    graph<13, custom> g{data, 20};
    value x{data, data.add_input("x", {dtype::float32, aton::shape{2, 3, 8, 8}})};

    [[nodiscard]] aton::graph_node const& last() const { return data.nodes.back(); }
};

using dims = std::optional<std::span<std::int64_t const>>;

} // namespace

TEST_CASE("an optional attribute is written if it has a value, and leaves no trace if it is empty") {
    fixture f;
    (void)f.g.op<"Softmax">(f.x, attr::axis_i(std::optional<std::int64_t>(2)));
    REQUIRE(f.last().attributes.size() == 1);
    CHECK(f.last().attributes[0].name == "axis");
    CHECK(f.last().attributes[0].type == aton::onnx::attr_type::i);
    CHECK(f.last().attributes[0].i == 2);
    (void)f.g.op<"Softmax">(f.x, attr::axis_i(std::optional<std::int64_t>()));
    CHECK(f.last().attributes.empty());
    (void)f.g.op<"Softmax">(f.x, attr::axis_i(std::optional<int>(-1)));
    CHECK(f.last().attributes[0].i == -1);
}

TEST_CASE("every kind of attribute may be optional") {
    fixture f;
    std::vector<std::int64_t> const two{2, 1};
    value const w = f.g.constant(aton::tensor{dtype::float32, {1, 3, 1, 1}, std::string(12, '\0')});
    auto const conv = [&](dims strides, std::optional<std::string_view> pad, std::optional<std::int64_t> group) {
        (void)f.g.op<"Conv">(f.x, w, attr::strides_i(strides), attr::auto_pad_s(pad), attr::group_i(group));
        return f.last().attributes;
    };
    CHECK(conv({}, {}, {}).empty());
    auto const given = conv(dims(two), "SAME_UPPER", {});
    REQUIRE(given.size() == 2);
    CHECK(given[0].type == aton::onnx::attr_type::ints);
    CHECK(given[0].ints == two);
    CHECK(given[1].s == "SAME_UPPER");
    CHECK(conv({}, {}, 1)[0].name == "group");

    (void)f.g.op<"Elu">(f.x, attr::alpha_f(std::optional<scalar>(0.1)));
    CHECK(f.last().attributes[0].f == 0.1F);
    (void)f.g.op<"Elu">(f.x, attr::alpha_f(std::optional<double>()));
    CHECK(f.last().attributes.empty());
    CHECK_THROWS_AS((void)f.g.op<"Elu">(f.x, attr::alpha_f(std::optional(1e300))), aton::unsupported_error);

    value const sizes = f.g.ints({2});
    value const fives = f.g.op<"ConstantOfShape">(
        sizes, attr::value_t(std::optional(aton::int64_tensor(std::array<std::int64_t, 1>{5}))));
    CHECK(fives.dtype() == dtype::int64);
    CHECK(f.g.op<"ConstantOfShape">(sizes, attr::value_t(std::optional<tensor>())).dtype() == dtype::float32);

    std::optional<std::vector<float>> scales;
    (void)f.g.op<"test::Mixed">(f.x, attr_i<"n">(std::optional(7)), attr_f<"scales">(scales), attr_s<"mode">("up"));
    REQUIRE(f.last().attributes.size() == 2);
    CHECK(f.last().attributes[1].name == "mode");
    scales = {0.5F, 4.0F};
    (void)f.g.op<"test::Mixed">(f.x, attr_f<"scales">(scales));
    CHECK(f.last().attributes[0].floats == *scales);
}

TEST_CASE("an optional dtype makes the result of any type") {
    fixture f;
    auto const same = f.g.op<"RandomNormalLike">(f.x, attr::dtype_i(std::optional<dtype>()));
    CHECK(f.last().attributes.empty());
    CHECK(same.dtype() == dtype::float32);
    value const half = f.g.op<"RandomNormalLike">(f.x, attr::dtype_i(std::optional(dtype::float16)));
    CHECK(half.dtype() == dtype::float16);
}

// What the schema requires cannot be optional, and an optional attribute counts as given where a change of meaning depends on it.
using optional_int = decltype(attr::axis_i(std::optional<std::int64_t>()));
using optional_ceil = decltype(attr::ceil_mode_i(std::optional<bool>()));
using kernel = decltype(attr::kernel_shape_i(std::vector<std::int64_t>()));
static_assert(valid_call<graph<13>, "Softmax", value, optional_int>);
static_assert(!valid_call<graph<13>, "Concat", std::vector<value>, optional_int>);
static_assert(valid_call<graph<13>, "MaxPool", value, kernel>);
static_assert(!valid_call<graph<13>, "MaxPool", value, kernel, optional_ceil>);
static_assert(valid_call<graph<13, 21>, "MaxPool", value, kernel, optional_ceil>);

TEST_CASE("an optional attribute of an ATen node counts as missing where the argument has no default") {
    fixture f;
    (void)f.g.at<"softmax.int">(f.x, attr_i<"dim">(1), attr_i<"dtype">(std::optional<dtype>()));
    CHECK(f.last().attributes.size() == 3); // operator, overload_name, dim
    (void)f.g.at<"add.Tensor">(f.x, f.x, attr_f<"alpha">(std::optional(0.5)));
    CHECK(f.last().attributes.back().f == 0.5F);
}

TEST_CASE("std::nullopt and std::optional are optional inputs") {
    fixture f;
    (void)f.g.op<"Clip">(f.x, std::nullopt, f.x);
    CHECK(f.last().inputs == std::vector<aton::value_id>{f.x.id(), aton::no_value, f.x.id()});
    (void)f.g.op<"Clip">(f.x, std::optional<value>(), std::optional<value>(f.x));
    CHECK(f.last().inputs == std::vector<aton::value_id>{f.x.id(), aton::no_value, f.x.id()});
    (void)f.g.op<"Clip">(f.x, std::optional<value>(), std::nullopt);
    CHECK(f.last().inputs.size() == 1);
    std::optional const typed = f.g.op<"Neg">(f.x);
    (void)f.g.op<"Clip">(f.x, typed);
    CHECK(f.last().inputs[1] == typed->id());
}

// They are refused where the input is required, and a typed one where its types do not fit.
using bool_value = decltype(std::declval<graph<13>>().op<"IsNaN">(std::declval<value>()));
static_assert(valid_call<graph<13>, "Clip", value, std::nullopt_t, std::optional<value>>);
static_assert(!valid_call<graph<13>, "Conv", value, std::nullopt_t>);
static_assert(!valid_call<graph<13>, "Conv", value, std::optional<value>>);
static_assert(!valid_call<graph<13>, "Clip", value, std::optional<bool_value>>);
static_assert(!valid_call<graph<13>, "Clip", value, std::optional<std::string>>);

TEST_CASE("an optional_value is made from std::nullopt and std::optional") {
    fixture f;
    CHECK_FALSE(optional_value(std::nullopt));
    CHECK_FALSE(optional_value(std::optional<value>()));
    CHECK((*optional_value(std::optional(f.x))).same_as(f.x));
    optional_value o = f.x;
    o = std::nullopt;
    CHECK_FALSE(o.has_value());
}

} // namespace optionals_test
