// SPDX-License-Identifier: MIT
// Compares elementwise kernels with recorded results of ATen in every layout, and checks what they refuse.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <aton/core/error.hpp>
#include <aton/runtime/kernels.hpp>

#include "../faults.hpp"
#include "layouts.hpp"
#include "recorded_calls.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

using tests::contains;
using tests::fault_of;
using tests::json;
using tests::scattered;

struct unary_call {
    unary_op op;
    unary_parameters parameters = {};
};

/// Overloads of one tensor, with ATen's default arguments.
std::map<std::string_view, unary_call> const unary_calls = {{"aten::abs", {unary_op::abs}},
                                                            {"aten::acos", {unary_op::acos}},
                                                            {"aten::acosh", {unary_op::acosh}},
                                                            {"aten::asin", {unary_op::asin}},
                                                            {"aten::asinh", {unary_op::asinh}},
                                                            {"aten::atan", {unary_op::atan}},
                                                            {"aten::atanh", {unary_op::atanh}},
                                                            {"aten::bitwise_not", {unary_op::bitwise_not}},
                                                            {"aten::ceil", {unary_op::ceil}},
                                                            {"aten::celu", {unary_op::celu, {1, 0, 0}}},
                                                            {"aten::cos", {unary_op::cos}},
                                                            {"aten::cosh", {unary_op::cosh}},
                                                            {"aten::elu", {unary_op::elu, {1, 1, 1}}},
                                                            {"aten::erf", {unary_op::erf}},
                                                            {"aten::erfc", {unary_op::erfc}},
                                                            {"aten::exp", {unary_op::exp}},
                                                            {"aten::exp2", {unary_op::exp2}},
                                                            {"aten::expm1", {unary_op::expm1}},
                                                            {"aten::floor", {unary_op::floor}},
                                                            {"aten::gelu", {unary_op::gelu}},
                                                            {"aten::hardswish", {unary_op::hard_swish}},
                                                            {"aten::hardsigmoid", {unary_op::hardsigmoid}},
                                                            {"aten::leaky_relu", {unary_op::leaky_relu, {0.01, 0, 0}}},
                                                            {"aten::lgamma", {unary_op::lgamma}},
                                                            {"aten::log", {unary_op::log}},
                                                            {"aten::log10", {unary_op::log10}},
                                                            {"aten::log1p", {unary_op::log1p}},
                                                            {"aten::log2", {unary_op::log2}},
                                                            {"aten::logical_not", {unary_op::logical_not}},
                                                            {"aten::mish", {unary_op::mish}},
                                                            {"aten::neg", {unary_op::neg}},
                                                            {"aten::reciprocal", {unary_op::reciprocal}},
                                                            {"aten::relu", {unary_op::relu}},
                                                            {"aten::round", {unary_op::round}},
                                                            {"aten::rsqrt", {unary_op::rsqrt}},
                                                            {"aten::sigmoid", {unary_op::sigmoid}},
                                                            {"aten::sign", {unary_op::sign}},
                                                            {"aten::silu", {unary_op::swish, {1, 0, 0}}},
                                                            {"aten::sin", {unary_op::sin}},
                                                            {"aten::sinh", {unary_op::sinh}},
                                                            {"aten::softplus", {unary_op::softplus, {1, 20, 0}}},
                                                            {"aten::sqrt", {unary_op::sqrt}},
                                                            {"aten::square", {unary_op::square}},
                                                            {"aten::tan", {unary_op::tan}},
                                                            {"aten::tanh", {unary_op::tanh}},
                                                            {"aten::trunc", {unary_op::trunc}},
                                                            {"aten::isfinite", {unary_op::isfinite}},
                                                            {"aten::isnan", {unary_op::isnan}},
                                                            {"aten::isinf", {unary_op::isinf, {1, 1, 0}}}};

std::map<std::string_view, binary_op> const binary_calls = {{"aten::add.Tensor", binary_op::add},
                                                            {"aten::sub.Tensor", binary_op::sub},
                                                            {"aten::mul.Tensor", binary_op::mul},
                                                            {"aten::div.Tensor", binary_op::div},
                                                            {"aten::floor_divide", binary_op::floor_div},
                                                            {"aten::fmod.Tensor", binary_op::fmod},
                                                            {"aten::remainder.Tensor", binary_op::remainder},
                                                            {"aten::pow.Tensor_Tensor", binary_op::pow},
                                                            {"aten::maximum", binary_op::maximum},
                                                            {"aten::minimum", binary_op::minimum},
                                                            {"aten::atan2", binary_op::atan2},
                                                            {"aten::bitwise_and.Tensor", binary_op::bitwise_and},
                                                            {"aten::bitwise_or.Tensor", binary_op::bitwise_or},
                                                            {"aten::bitwise_xor.Tensor", binary_op::bitwise_xor},
                                                            {"aten::logical_and", binary_op::logical_and},
                                                            {"aten::logical_or", binary_op::logical_or},
                                                            {"aten::logical_xor", binary_op::logical_xor},
                                                            {"aten::eq.Tensor", binary_op::eq},
                                                            {"aten::ne.Tensor", binary_op::ne},
                                                            {"aten::lt.Tensor", binary_op::lt},
                                                            {"aten::le.Tensor", binary_op::le},
                                                            {"aten::gt.Tensor", binary_op::gt},
                                                            {"aten::ge.Tensor", binary_op::ge}};

/// The recorded tensors of a call; nullopt if it has other arguments.
std::optional<std::vector<tensor>> tensors_of(json c, tests::recorded_tensors const& stored) {
    std::vector<tensor> out;
    if (simdjson::dom::object(c["kwargs"]).size() != 0) return {};
    for (json each : simdjson::dom::array(c["args"])) {
        if (!each.is_object() || each["tensor"].error() != simdjson::SUCCESS) return {};
        out.push_back(stored.get(std::string_view(each["tensor"])));
    }
    return out;
}

/// In units of the last place; ATen's own vectorized functions are up to 1 away from the nearest number.
constexpr double max_units = 4;

std::string path_in(std::string folder, std::string const& file) { return (folder += '/') += file; }

/// The number of compared calls, by overload.
std::map<std::string, int> check_recorded(std::string const& folder) {
    simdjson::dom::parser parser;
    std::map<std::string, tests::recorded_tensors, std::less<>> files;
    std::map<std::string, int> compared;
    for (json c : parser.load_many(folder + "/cases.jsonl", 1 << 22)) {
        auto name = std::string(std::string_view(c["op"]));
        if (std::string_view const overload = c["overload"]; !overload.empty()) (name += '.') += overload;
        auto const unary = unary_calls.find(name);
        auto const binary = binary_calls.find(name);
        if ((unary == unary_calls.end() && binary == binary_calls.end()) || std::string_view(c["compare"]) != "values")
            continue;
        auto const file = std::string(std::string_view(c["file"]));
        tests::recorded_tensors const& stored = files.try_emplace(file, path_in(folder, file)).first->second;
        std::optional<std::vector<tensor>> const given = tensors_of(c, stored);
        std::size_t const wanted = unary != unary_calls.end() ? 1 : 2;
        if (!given.has_value() || given->size() != wanted || is_complex((*given)[0].dtype())) continue;
        tensor const expected = stored.get(std::string_view(c["outputs"].at(0)["tensor"]));
        if (wanted == 2 && (*given)[0].dtype() != (*given)[1].dtype()) continue;
        CAPTURE(std::string(std::string_view(c["case"])));
        device_kernels const& cpu = cpu_kernels();
        // ATen promotes first: integers for functions of reals, bools if the result is a number.
        auto const prepared = [&](tensor const& x) {
            bool const promotes = (is_floating(expected.dtype()) && !is_floating(x.dtype())) ||
                                  (is_integral(expected.dtype()) && x.dtype() == dtype::bool_);
            return promotes ? cpu.cast(x, expected.dtype()) : x;
        };
        auto const compute = [&](tensor const& x, tensor const& y) {
            return wanted == 1 ? cpu.unary(unary->second.op, prepared(x), unary->second.parameters)
                               : cpu.binary(binary->second, prepared(x), prepared(y));
        };
        tensor const& x = (*given)[0];
        tensor const& y = (*given)[wanted - 1];
        tensor const result = compute(x, y);
        CHECK(tests::distance(result, expected) <= max_units);
        CHECK(tests::distance(compute(scattered(x), scattered(y)), result) == 0);
        ++compared[name];
    }
    return compared;
}

void check_counts(std::map<std::string, int> const& compared, int min_calls, std::size_t min_overloads) {
    int calls = 0;
    for (auto const& [name, count] : compared) calls += count;
    MESSAGE(calls << " calls of " << compared.size() << " overloads");
    CHECK(calls >= min_calls);
    CHECK(compared.size() >= min_overloads);
}

} // namespace

TEST_CASE("functions of one and two numbers agree with recorded calls of ATen") {
    check_counts(check_recorded(ATON_RECORDED_CALLS), 237, 63);
}

#if defined(ATON_MORE_RECORDED_CALLS)
TEST_CASE("functions of one and two numbers agree with all recorded calls of ATen") {
    check_counts(check_recorded(ATON_MORE_RECORDED_CALLS), 1000, 63);
}
#endif

TEST_CASE("operands broadcast, and a 0-d operand is a number") {
    device_kernels const& cpu = cpu_kernels();
    tensor const column = tensor::of_integers(std::array<std::int64_t, 3>{10, 20, 30}).reshaped({3, 1});
    tensor const line = tensor::of_integers(std::array<std::int64_t, 4>{1, 2, 3, 4});
    tensor const sum = cpu.binary(binary_op::add, column, line);
    CHECK(sum.sizes() == sizes{3, 4});
    CHECK(sum.integers() == std::vector<std::int64_t>{11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 34});
    tensor const two = tensor::of_scalar(2, dtype::int64);
    CHECK(cpu.binary(binary_op::sub, two, line).integers() == std::vector<std::int64_t>{1, 0, -1, -2});
    CHECK(cpu.binary(binary_op::sub, line, two).integers() == std::vector<std::int64_t>{-1, 0, 1, 2});
    CHECK(cpu.binary(binary_op::mul, tensor::empty(dtype::int64, {0, 4}), line).sizes() == sizes{0, 4});
    sizes const empty = {aton::runtime::max_elements / 2, 0, 2};
    CHECK(cpu.unary(unary_op::neg, tensor::empty(dtype::int64, empty)).sizes() == empty);
    CHECK(contains(fault_of([&] { return cpu.binary(binary_op::add, sum, tensor::empty(dtype::int64, {3})); }),
                   "shapes [3, 4] and [3] do not broadcast"));
}

TEST_CASE("integers wrap around, and division by zero or of the minimum by -1 does not crash") {
    device_kernels const& cpu = cpu_kernels();
    std::int64_t const least = std::numeric_limits<std::int64_t>::min();
    tensor const x = tensor::of_integers(std::array<std::int64_t, 4>{least, 7, -7, least});
    tensor const y = tensor::of_integers(std::array<std::int64_t, 4>{-1, 0, 2, 1});
    CHECK(cpu.binary(binary_op::div, x, y).integers() == std::vector<std::int64_t>{least, 0, -3, least});
    CHECK(cpu.binary(binary_op::floor_div, x, y).integers() == std::vector<std::int64_t>{least, 0, -4, least});
    CHECK(cpu.binary(binary_op::remainder, x, y).integers() == std::vector<std::int64_t>{0, 0, 1, 0});
    CHECK(cpu.binary(binary_op::fmod, x, y).integers() == std::vector<std::int64_t>{0, 0, -1, 0});
    CHECK(cpu.binary(binary_op::sub, x, tensor::of_scalar(1, dtype::int64)).integers()[0] ==
          std::numeric_limits<std::int64_t>::max());
    CHECK(cpu.unary(unary_op::neg, x).integers()[0] == least);
    tensor const shifts = tensor::of_integers(std::array<std::int64_t, 4>{1, 63, 64, -1});
    CHECK(cpu.binary(binary_op::shift_left, tensor::of_scalar(3, dtype::int64), shifts).integers() ==
          std::vector<std::int64_t>{6, least, 0, 0});
}

TEST_CASE("the least common multiple of the minimum with a divisor of -1 does not crash") {
    tensor const least = tensor::of_integers(std::array<std::int64_t, 1>{std::numeric_limits<std::int64_t>::min()});
    for (dtype const t : {dtype::int32, dtype::int64}) {
        device_kernels const& cpu = cpu_kernels();
        tensor const x = t == dtype::int64 ? least : cpu.cast(tensor::of_scalar(-2147483648LL, dtype::int64), t);
        for (std::int64_t y : {3, 5, 7, 9, 11, 13})
            CHECK(cpu.binary(binary_op::lcm, x, cpu.cast(tensor::of_integers(std::array<std::int64_t, 1>{y}), t))
                      .count() == 1);
    }
}

TEST_CASE("casts round towards zero or to nearest even, saturate small floats, and convert complex numbers") {
    device_kernels const& cpu = cpu_kernels();
    aton::tensor reals{dtype::float64, {6}, {}};
    for (double d : {-2.9, 2.5, 300.0, 1e300, std::numeric_limits<double>::quiet_NaN(), -0.0}) reals.append(d);
    tensor const x = tensor::from_constant(reals);
    constexpr std::int64_t none =
        std::numeric_limits<std::int64_t>::min(); // for values out of range of int64, as on x86
    CHECK(cpu.cast(x, dtype::int64).integers() == std::vector<std::int64_t>{-2, 2, 300, none, none, 0});
    aton::tensor const bytes = cpu.cast(x, dtype::uint8).to_constant();
    CHECK(bytes.at(0).to<int>() == 254);
    CHECK(bytes.at(2).to<int>() == 44);
    CHECK(cpu.cast(x, dtype::bool_).to_constant().bytes == std::string("\1\1\1\1\1\0", 6));
    aton::tensor const small = cpu.cast(cpu.cast(x, dtype::float8_e4m3fn), dtype::float32).to_constant();
    CHECK(small.at(0).to<double>() == -3.0); // 2.75 and 3 are adjacent
    CHECK(small.at(1).to<double>() == 2.5);
    CHECK(small.at(2).to<double>() == 288.0);
    CHECK(small.at(3).to<double>() == 448.0);
    aton::tensor const unlimited = cpu.cast(cpu.cast(x, dtype::float8_e5m2, false), dtype::float32).to_constant();
    CHECK(unlimited.at(3).to<double>() == std::numeric_limits<double>::infinity());
    tensor const four = cpu.cast(tensor::of_integers(std::array<std::int64_t, 3>{7, 9, -9}), dtype::int4);
    CHECK(cpu.cast(four, dtype::int64).integers() == std::vector<std::int64_t>{7, -7, 7});
    aton::tensor const pairs = cpu.cast(x, dtype::complex64).to_constant();
    CHECK(pairs.at(1) == scalar::complex(2.5, 0));
    CHECK(cpu.cast(cpu.cast(x, dtype::complex128), dtype::float64).to_constant().at(2).to<double>() == 300.0);
}

TEST_CASE("select supports elements of any size, and copies write to views") {
    device_kernels const& cpu = cpu_kernels();
    tensor const condition = cpu.cast(tensor::of_integers(std::array<std::int64_t, 3>{1, 0, 1}), dtype::bool_);
    for (dtype t :
         {dtype::bool_, dtype::int16, dtype::float8_e5m2, dtype::float32, dtype::complex64, dtype::complex128}) {
        CAPTURE(std::string(name(t)));
        tensor const yes = cpu.cast(tensor::of_integers(std::array<std::int64_t, 2>{1, 0}).reshaped({2, 1}), t);
        tensor const no = cpu.cast(tensor::of_scalar(0, dtype::int64), t);
        tensor const chosen = cpu.select(condition, yes, no);
        CHECK(chosen.dtype() == t);
        CHECK(cpu.cast(chosen, dtype::int64).integers() == std::vector<std::int64_t>{1, 0, 1, 0, 0, 0});
    }
    tensor const grid = cpu.cast(tensor::of_scalar(0, dtype::int64).expanded({2, 3}), dtype::int32);
    cpu.copy(cpu.cast(tensor::of_scalar(5, dtype::int64), dtype::int32), grid.sliced(1, 2, 2, -2));
    CHECK(grid.integers() == std::vector<std::int64_t>{5, 0, 5, 5, 0, 5});
}

TEST_CASE("unsupported dtypes are refused, whatever the sizes") {
    device_kernels const& cpu = cpu_kernels();
    tensor const none = tensor::empty(dtype::bool_, {0});
    CHECK(contains(fault_of([&] { return cpu.unary(unary_op::exp, none); }), "not support bool"));
    CHECK(contains(fault_of([&] { return cpu.unary(unary_op::abs, tensor::empty(dtype::complex64, {1})); }),
                   "complex64"));
    CHECK(contains(fault_of([&] { return cpu.unary(unary_op::abs, tensor::of_strings({"a"}, {1})); }), "string"));
    CHECK(contains(fault_of([&] {
                       return cpu.binary(
                           binary_op::atan2, tensor::empty(dtype::int8, {2}), tensor::empty(dtype::int8, {2}));
                   }),
                   "int8"));
    CHECK(contains(fault_of([&] { return cpu.binary(binary_op::add, none, tensor::empty(dtype::int8, {0})); }),
                   "bool and int8"));
    CHECK(contains(fault_of([&] { return cpu.cast(none, dtype::string); }), "string"));
}

} // namespace ATON_NAMESPACE::runtime
