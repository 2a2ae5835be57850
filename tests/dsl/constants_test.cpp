// SPDX-License-Identifier: MIT
// Constants fit their dtype or are refused: numbers beside operands, g.scalar, attributes. Missing values are refused.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <aton/aton.hpp>

namespace constants_test {

using namespace aton::dsl;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t one = 1;

struct fixture {
    graph_data data;
    graph<13> g{data, 20};

    value input(dtype t) { return {data, data.add_input("x", {t, aton::shape{3}})}; }
};

/// The constant that a number becomes beside an input of this dtype.
template <class Number>
tensor beside(dtype t, Number n) {
    fixture f;
    value const y = f.g.op<"Min">(f.input(t), n);
    CHECK(y.dtype() == t);
    return value(f.data, f.data.nodes[0].outputs[0]).constant();
}
template <class Number>
bool refused_beside(dtype t, Number n) {
    try {
        (void)beside(t, n);
    } catch (aton::illegal_call const& e) {
        CHECK(std::string(e.what()).find(std::string(", which does not fit ") + std::string(name(t))) !=
              std::string::npos);
        return true;
    }
    return false;
}
bool refused_scalar(scalar n, dtype t) {
    fixture f;
    try {
        (void)f.g.scalar(n, t);
    } catch (aton::unsupported_error const&) {
        return f.data.nodes.empty();
    }
    return false;
}

// The edges of every dtype, from its width.
static_assert(aton::fits(-128, dtype::int8) && !aton::fits(-129, dtype::int8) && !aton::fits(128, dtype::int8));
static_assert(aton::fits(-32768, dtype::int16) && !aton::fits(32768, dtype::int16));
static_assert(aton::fits((one << 31) - 1, dtype::int32) && !aton::fits(one << 31, dtype::int32));
static_assert(aton::fits(0, dtype::uint8) && aton::fits(255, dtype::uint8) && !aton::fits(256, dtype::uint8));
static_assert(!aton::fits(-1, dtype::uint8) && !aton::fits(-1, dtype::uint64) && !aton::fits(65536, dtype::uint16));
static_assert(aton::fits((one << 32) - 1, dtype::uint32) && !aton::fits(one << 32, dtype::uint32));
static_assert(aton::fits(-0x1p63, dtype::int64) && !aton::fits(0x1p63, dtype::int64) && !aton::fits(0.5, dtype::int64));
static_assert(aton::fits(1.0, dtype::bool_) && !aton::fits(2, dtype::bool_) && !aton::fits(-1, dtype::bool_));
static_assert(aton::fits(65519.0, dtype::float16) && !aton::fits(65520.0, dtype::float16));
static_assert(!aton::fits(65519.9999999999, dtype::float16)); // 65520 in float32, which it rounds through
static_assert(aton::fits(3.3961e38, dtype::bfloat16) && !aton::fits(3.3962e38, dtype::bfloat16));
static_assert(aton::fits(3.4028235677973362e38, dtype::float32) && !aton::fits(0x1.ffffffp127, dtype::float32));
static_assert(aton::fits(1e300, dtype::float64) && aton::fits((one << 53) + 1, dtype::float32)); // rounding is allowed
static_assert(!aton::fits(scalar::complex(1, 1), dtype::float32) && aton::fits(scalar::complex(1, 0), dtype::float32));
static_assert(!aton::fits(scalar::complex(1, 1e39), dtype::complex64) && aton::fits(1e39, dtype::complex128));
static_assert(!aton::fits(1, dtype::float8_e5m2) && !aton::fits(1, dtype::undefined) && !aton::fits(1, dtype::string));

} // namespace

TEST_CASE("a number beside a narrow dtype fits or is refused; it does not wrap around") {
    CHECK(beside(dtype::int8, 127).at(0) == scalar(127));
    CHECK(beside(dtype::int8, -128L).at(0) == scalar(-128));
    CHECK(beside(dtype::uint8, 255U).at(0) == scalar(255));
    CHECK(beside(dtype::uint64, std::numeric_limits<std::uint64_t>::max()).bytes == std::string(8, '\xff'));
    CHECK(beside(dtype::float32, std::uint64_t{1} << 63).at(0) == scalar(0x1p63));
    CHECK(beside(dtype::int16, scalar(7.0)).at(0) == scalar(7));
    CHECK(refused_beside(dtype::int8, 1000));
    CHECK(refused_beside(dtype::int32, one << 40));
    CHECK(refused_beside(dtype::int32, 0xffffffffU));
    CHECK(refused_beside(dtype::uint8, -1));
    CHECK(refused_beside(dtype::uint64, -1));
    CHECK(refused_beside(dtype::int64, std::numeric_limits<std::size_t>::max()));
    CHECK(refused_beside(dtype::int64, 0.5));
    CHECK(refused_beside(dtype::int64, not_a_number));
    CHECK(refused_beside(dtype::int32, infinity));
    CHECK(refused_beside(dtype::int64, 1e19));
    CHECK(refused_beside(dtype::float32, scalar::complex(0, 1)));
    fixture f;
    value const x = f.input(dtype::int8);
    CHECK_THROWS_WITH_AS(
        (void)f.g.op<"Min">(x, 1000),
        "onnx::Min (opset 20): input 'data_0' is 1000, which does not fit int8; cast the other input first",
        aton::illegal_call);
}

TEST_CASE("a floating-point number rounds, but not to infinity") {
    CHECK(beside(dtype::float16, 65519).at(0) == scalar(65504));
    CHECK(beside(dtype::float16, infinity).at(0) == scalar(infinity));
    CHECK(std::isnan(beside(dtype::float16, not_a_number).at(0).to<double>()));
    CHECK(std::isnan(beside(dtype::bfloat16, not_a_number).at(0).to<double>()));
    CHECK(beside(dtype::float32, (one << 53) + 1).at(0) == scalar(0x1p53));
    CHECK(beside(dtype::float32, 1e-60).at(0) == scalar(0));
    CHECK(refused_beside(dtype::float16, 70000));
    CHECK(refused_beside(dtype::float16, -70000.0F));
    CHECK(refused_beside(dtype::bfloat16, 3.4e38));
    CHECK(refused_beside(dtype::float32, 1e300));
    CHECK(refused_beside(dtype::float16, std::numeric_limits<std::uint64_t>::max()));
}

TEST_CASE("g.scalar and g.scalar_like refuse what does not fit; a cast converts") {
    CHECK(refused_scalar(300, dtype::int8));
    CHECK(refused_scalar(0.5, dtype::int64));
    CHECK(refused_scalar(70000, dtype::float16));
    CHECK(refused_scalar(1, dtype::undefined));
    CHECK(refused_scalar(1, dtype::float8_e4m3fn));
    fixture f;
    value const bytes = f.input(dtype::uint8);
    CHECK_THROWS_WITH_AS((void)f.g.scalar_like(-1, bytes), "the number -1 does not fit uint8", aton::unsupported_error);
    CHECK_THROWS_WITH_AS(
        (void)f.g.scalar(1e300, dtype::float32), "the number 1e+300 does not fit float32", aton::unsupported_error);
    CHECK_THROWS_WITH_AS((void)f.g.scalar(scalar::complex(1, -2.5), dtype::float64),
                         "the number (1-2.5j) does not fit float64",
                         aton::unsupported_error);
    CHECK(f.g.scalar_like(255, bytes).constant<int>() == 255);
    CHECK(f.g.cast(f.g.scalar(300, dtype::int64), dtype::int8).constant<int>() == 44);
    CHECK(std::isinf(f.g.cast(f.g.scalar(1e300, dtype::float64), dtype::float32).constant<double>()));
}

TEST_CASE("attributes hold their numbers or refuse them") {
    CHECK_THROWS_WITH_AS(
        (void)attr::alpha_f(1e300), "attribute alpha: 1e+300 does not fit float32", aton::unsupported_error);
    CHECK_THROWS_AS((void)attr::alpha_f(scalar(-1e39)), aton::unsupported_error);
    CHECK_THROWS_AS((void)attr::alpha_f(scalar::complex(0, 1)), aton::unsupported_error);
    CHECK_THROWS_AS((void)attr::alpha_f(std::numeric_limits<long double>::max()), aton::unsupported_error);
    CHECK_THROWS_AS((void)attr::scales_f({1.0, 1e39}), aton::unsupported_error);
    CHECK_THROWS_AS((void)attr_f<"own">(std::vector<double>{-1e39}), aton::unsupported_error);
    CHECK_THROWS_WITH_AS((void)attr::axis_i(std::numeric_limits<std::size_t>::max()),
                         "attribute axis: 18446744073709551615 does not fit int64",
                         aton::unsupported_error);
    CHECK_THROWS_AS((void)attr::axes_i(std::vector<std::uint64_t>{1, std::uint64_t{1} << 63}), aton::unsupported_error);
    CHECK(attr::alpha_f(infinity).payload == std::numeric_limits<float>::infinity());
    CHECK(std::isnan(attr::alpha_f(scalar(not_a_number)).payload));
    CHECK(attr::alpha_f(3.4028235e38).payload == std::numeric_limits<float>::max());
    CHECK(attr::scales_f({1, 2}).payload == std::vector<float>{1, 2});
    CHECK(attr::axis_i(std::size_t{5}).payload == 5);
    CHECK(attr::axis_i(-5).payload == -5);
    CHECK(attr::keepdims_i(true).payload == 1);
    CHECK(attr::axes_i(std::vector<bool>{true, false}).payload == std::vector<std::int64_t>{1, 0});
    static_assert(attr::alpha_f(0.5).payload == 0.5F && attr::to_i(dtype::int64).payload == 7);
}

TEST_CASE("the use of an absent optional value is refused, and names the argument") {
    fixture f;
    value const x = f.input(dtype::float32);
    optional_value const none;
    CHECK_THROWS_WITH_AS((void)f.g.op<"Add">(x, *none),
                         "an optional value is absent, but the mapping uses it without a check",
                         aton::unsupported_error);
    CHECK_THROWS_AS((void)none->dtype(), aton::unsupported_error);
    CHECK_THROWS_AS((void)sym_int(*none), aton::unsupported_error);
    static constexpr auto rows = table(
        symbolic<"aten::linear(input, weight, bias)">([](graph<13> g, value input, value weight, optional_value bias) {
            return g.op<"Add">(g.op<"MatMul">(input, weight), *bias);
        }));
    value const w(f.data, f.data.add_input("w", {dtype::float32, aton::shape{3, 3}}));
    entry const* const row = find(rows, "aten::linear", 20);
    REQUIRE(row != nullptr);
    CHECK_THROWS_WITH_AS((void)convert(f.data, *row, 20, {argument::of_tensor(x), argument::of_tensor(w)}),
                         doctest::Contains("'bias' is absent, but the mapping uses it without a check"),
                         aton::unsupported_error);
}

TEST_CASE("a value that was never set cannot be an operand, and has no type") {
    fixture f;
    value const x = f.input(dtype::float32);
    CHECK_THROWS_WITH_AS((void)f.g.op<"Add">(x, value()),
                         "onnx::Add (opset 20): operand 2 is a value that was never set",
                         aton::illegal_call);
    CHECK_THROWS_AS((void)f.g.op<"Concat">(std::vector<value>{x, value()}, attr::axis_i(0)), aton::illegal_call);
    CHECK_THROWS_AS((void)f.g.at<"relu">(value()), aton::illegal_call);
    CHECK_THROWS_AS((void)value().dtype(), aton::illegal_call);
    CHECK(!value().is_constant());
    CHECK_THROWS_AS((void)value().set_shape({}), aton::illegal_call);
    CHECK_NOTHROW((void)f.g.op<"Clip">(x, optional_value(), x)); // a missing operand is different
}

TEST_CASE("handles are the same or not, values are compared by the graph") {
    fixture f;
    fixture other;
    value const x = f.input(dtype::float32);
    CHECK(x.same_as(x));
    CHECK(!x.same_as(f.g.op<"Neg">(x)));
    CHECK(!x.same_as(other.input(dtype::float32))); // the same id
}

TEST_CASE("a number takes the only dtype that a type variable has") {
    fixture f;
    value const x = f.input(dtype::float32);
    value const y = f.g.op<"Loop">(
        5, true, x, attr::body_g([](graph<13>, value, value go_on, value sum) { return std::tuple(go_on, sum); }));
    CHECK(y.dtype() == dtype::float32);
    CHECK(f.data.nodes[0].attributes[0].tensors[0] == aton::scalar_tensor(5, dtype::int64));
    CHECK(f.data.nodes[1].attributes[0].tensors[0] == aton::scalar_tensor(true, dtype::bool_));
}

} // namespace constants_test
