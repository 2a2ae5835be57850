// SPDX-License-Identifier: MIT
// Reductions, scans, sorting, products, and elements by position, against plain loops and numbers that are known, in every dtype and in
// several layouts.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/dsl/error.hpp>
#include <aton/runtime/kernels.hpp>
#include <aton/runtime/kernels/elementwise.hpp>

#include "../faults.hpp"
#include "layouts.hpp"

namespace aton::runtime {

namespace {

using tests::contains;
using tests::doubles;
using tests::elements;
using tests::fault_of;
using tests::filled;
using tests::floats;
using tests::integers;
using tests::layouts;

device_kernels const& k() { return cpu_kernels(); }

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

constexpr std::array numbers = {dtype::uint8,
                                dtype::int8,
                                dtype::uint16,
                                dtype::int16,
                                dtype::uint32,
                                dtype::int32,
                                dtype::uint64,
                                dtype::int64,
                                dtype::float16,
                                dtype::bfloat16,
                                dtype::float32,
                                dtype::float64};

/// An element as plain loops see it: integers as 64 bits that wrap around, floats as double.
struct number {
    std::uint64_t whole = 0;
    double real = 0;

    friend number operator+(number x, number y) { return {x.whole + y.whole, x.real + y.real}; }
    friend number operator*(number x, number y) { return {x.whole * y.whole, x.real * y.real}; }
};

template <class T>
number number_of(T x) {
    if constexpr (std::is_integral_v<T>) return {static_cast<std::uint64_t>(x), 0};
    else if constexpr (std::is_same_v<T, double>) return {0, x};
    else return {0, double{static_cast<float>(x)}};
}
template <class T>
T to(number x) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(x.whole);
    else if constexpr (std::is_same_v<T, double>) return x.real;
    else return T(static_cast<float>(x.real));
}

/// Calls `f(type_tag<T>())` for a dtype that arithmetic knows.
template <class Function>
void with_type(dtype t, Function const& f) {
    visit(t, [&]<class T>(type_tag<T> tag) {
        if constexpr (kernels::is_number<T> && !std::is_same_v<T, bool>) f(tag);
    });
}

std::vector<number> numbers_of(tensor const& x) {
    std::vector<number> out;
    with_type(x.dtype(), [&]<class T>(type_tag<T> /*of*/) {
        for (T v : elements<T>(x)) out.push_back(number_of(v));
    });
    return out;
}
/// As the dtype has it.
number rounded(number x, dtype t) {
    with_type(t, [&]<class T>(type_tag<T> /*of*/) { x = number_of(to<T>(x)); });
    return x;
}
bool below(number x, number y, dtype t) {
    if (is_floating(t)) return x.real < y.real;
    if (!is_signed_integral(t)) return x.whole < y.whole;
    return static_cast<std::int64_t>(x.whole) < static_cast<std::int64_t>(y.whole);
}
bool equal(number x, number y) { return x.whole == y.whole && x.real == y.real; }

/// Small numbers, positive and negative ones where the dtype has them, none of them 0.
tensor small_numbers(dtype t, sizes of, int seed = 1) {
    tensor x = tensor::empty(t, std::move(of));
    bool const has_negative = is_floating(t) || is_signed_integral(t);
    with_type(t, [&]<class T>(type_tag<T> /*of*/) {
        for (std::int64_t i = 0; i != x.count(); ++i) {
            std::int64_t const v = (i * 7919 + seed * std::int64_t{104729}) % 11 - (has_negative ? 4 : 0);
            std::int64_t const some = v == 0 ? 2 : v;
            x.data<T>()[i] = to<T>({static_cast<std::uint64_t>(some), static_cast<double>(some)});
        }
    });
    return x;
}

/// Whether a tensor has these numbers, as its dtype rounds them: sums are not made in the same order.
bool has(tensor const& x, std::vector<number> const& expected) {
    dtype const t = x.dtype();
    double const error = t == dtype::float16 ? 1e-3 : t == dtype::bfloat16 ? 8e-3 : t == dtype::float32 ? 3e-7 : 1e-14;
    std::vector<number> const found = numbers_of(x);
    return std::equal(found.begin(), found.end(), expected.begin(), expected.end(), [&](number a, number b) {
        if (!is_floating(t)) return a.whole == rounded(b, t).whole;
        double const r = rounded(b, t).real;
        return a.real == r || std::abs(a.real - r) <= error * std::abs(r);
    });
}

struct named_reduction {
    reduce_op op;
    number start;
    number (*f)(number, number, dtype);
};

number larger(number x, number y, dtype t) { return below(x, y, t) ? y : x; }
number smaller(number x, number y, dtype t) { return below(y, x, t) ? y : x; }

std::vector<named_reduction> reductions(dtype t) {
    number least;
    number most;
    with_type(t, [&]<class T>(type_tag<T> /*of*/) {
        using limits = std::numeric_limits<T>;
        if constexpr (std::is_integral_v<T>) {
            least = number_of(limits::lowest());
            most = number_of(limits::max());
        } else {
            least.real = -std::numeric_limits<double>::infinity();
            most.real = std::numeric_limits<double>::infinity();
        }
    });
    return {{reduce_op::sum, {0, 0}, [](number x, number y, dtype) { return x + y; }},
            {reduce_op::prod, {1, 1}, [](number x, number y, dtype) { return x * y; }},
            {reduce_op::max, least, larger},
            {reduce_op::min, most, smaller}};
}

/// x[..., i, ...] by `r` over these axes.
std::vector<number> reduced(tensor const& x, std::vector<std::size_t> const& axes, named_reduction const& r) {
    sizes to = x.sizes();
    for (std::size_t a : axes) to[a] = 1;
    std::vector<std::int64_t> const strides = contiguous_strides(to);
    std::vector<number> sums(static_cast<std::size_t>(count_of(to)), r.start);
    std::vector<number> const from = numbers_of(x);
    for (std::int64_t i = 0; i != x.count(); ++i) {
        std::int64_t rest = i;
        std::int64_t at = 0;
        for (std::size_t d = x.rank(); d-- != 0; rest /= x.size(d))
            if (to[d] != 1) at += rest % x.size(d) * strides[d];
        number& sum = sums[static_cast<std::size_t>(at)];
        sum = r.f(sum, from[static_cast<std::size_t>(i)], x.dtype());
    }
    return sums;
}

void check_reductions(dtype t, sizes const& of) {
    CAPTURE(std::string(name(t)));
    tensor const x = small_numbers(t, of);
    for (unsigned subset = 0; subset != 1U << x.rank(); ++subset) {
        std::vector<std::size_t> axes;
        for (std::size_t a = 0; a != x.rank(); ++a)
            if ((subset >> a & 1U) != 0) axes.push_back(a);
        for (named_reduction const& r : reductions(t)) {
            if (r.op == reduce_op::prod && x.count() > 1000) continue;
            CAPTURE(subset);
            CAPTURE(static_cast<int>(r.op));
            std::vector<number> const expected = reduced(x, axes, r);
            for (tensor const& view : layouts(x)) CHECK(has(k().reduce(r.op, view, axes), expected));
        }
    }
}

std::vector<std::size_t> const first_axis{0};
std::vector<std::size_t> const second_axis{1};
std::vector<std::size_t> const no_axis;

tensor bools(std::vector<int> const& values) {
    return filled<bool>(dtype::bool_, {static_cast<std::int64_t>(values.size())}, [&](std::int64_t i) {
        return values[static_cast<std::size_t>(i)] != 0;
    });
}

} // namespace

TEST_CASE("reductions over any axes, of every dtype and layout") {
    for (dtype t : numbers) check_reductions(t, {3, 1, 5, 4});
    for (dtype t : numbers) check_reductions(t, {});
    check_reductions(dtype::float32, {2, 300, 7});
    check_reductions(dtype::int8, {5, 2, 290});
    check_reductions(dtype::float64, {67, 0, 3});
}

TEST_CASE("long reductions are cut and still exact") {
    check_reductions(dtype::int64, {200001});
    check_reductions(dtype::int32, {70001, 3});
    check_reductions(dtype::float32, {3, 70001});
    check_reductions(dtype::float32, {2, 40001, 5});
    check_reductions(dtype::uint8, {150, 700});
    tensor const tenths = filled<float>(dtype::float32, {1 << 22}, [](std::int64_t) { return 0.1F; });
    CHECK(k().reduce(reduce_op::sum, tenths, first_axis).data<float>()[0] == 419430.4F);
    // Expanded: every element is the same one.
    tensor const one = floats({1.5F}).expanded({100000});
    CHECK(k().reduce(reduce_op::sum, one, first_axis).data<float>()[0] == 150000.0F);
    CHECK(elements<float>(k().reduce(reduce_op::max, floats({1, 5, 2}).unsqueezed(0).expanded({40, 3}), first_axis)) ==
          std::vector<float>{1, 5, 2});
}

TEST_CASE("reductions of nothing give what changes nothing") {
    tensor const none = tensor::empty(dtype::float32, {0, 3});
    CHECK(elements<float>(k().reduce(reduce_op::sum, none, first_axis)) == std::vector<float>{0, 0, 0});
    CHECK(elements<float>(k().reduce(reduce_op::prod, none, first_axis)) == std::vector<float>{1, 1, 1});
    CHECK(elements<float>(k().reduce(reduce_op::max, none, first_axis))[2] == -infinity);
    CHECK(elements<float>(k().reduce(reduce_op::min, none, first_axis))[0] == infinity);
    CHECK(k().reduce(reduce_op::min, none, second_axis).sizes() == sizes{0});
    tensor const no_integer = tensor::empty(dtype::int16, {0});
    CHECK(elements<std::int16_t>(k().reduce(reduce_op::max, no_integer, first_axis))[0] == -32768);
    CHECK(elements<std::int16_t>(k().reduce(reduce_op::min, no_integer, first_axis))[0] == 32767);
    tensor const no_bool = tensor::empty(dtype::bool_, {0});
    CHECK(!k().reduce(reduce_op::any, no_bool, first_axis).data<bool>()[0]);
    CHECK(k().reduce(reduce_op::all, no_bool, first_axis).data<bool>()[0]);
    CHECK(!k().reduce(reduce_op::max, no_bool, first_axis).data<bool>()[0]);
    CHECK(k().reduce(reduce_op::min, no_bool, first_axis).data<bool>()[0]);
}

TEST_CASE("bools are any, all, largest and smallest, but no sum") {
    tensor const x = bools({0, 0, 1, 1, 0, 1}).reshaped({3, 2});
    for (tensor const& view : layouts(x)) {
        CHECK(elements<bool>(k().reduce(reduce_op::any, view, second_axis)) == std::vector<bool>{false, true, true});
        CHECK(elements<bool>(k().reduce(reduce_op::all, view, second_axis)) == std::vector<bool>{false, true, false});
        CHECK(elements<bool>(k().reduce(reduce_op::max, view, first_axis)) == std::vector<bool>{true, true});
        CHECK(elements<bool>(k().reduce(reduce_op::min, view, first_axis)) == std::vector<bool>{false, false});
    }
    tensor many = filled<bool>(dtype::bool_, {100000}, [](std::int64_t) { return true; });
    CHECK(k().reduce(reduce_op::all, many, first_axis).data<bool>()[0]);
    many.data<bool>()[77777] = false;
    CHECK(!k().reduce(reduce_op::all, many, first_axis).data<bool>()[0]);
    CHECK(contains(fault_of([&] { return k().reduce(reduce_op::sum, x, first_axis); }), "not one of bool"));
    CHECK(
        contains(fault_of([&] { return k().reduce(reduce_op::any, integers({1}), first_axis); }), "not one of int64"));
    CHECK(contains(fault_of([&] { return k().reduce(reduce_op::sum, integers({1}), second_axis); }), "no axis 1"));
    CHECK(
        contains(fault_of([&] { return k().reduce(reduce_op::sum, tensor::empty(dtype::complex64, {2}), first_axis); }),
                 "not one of complex64"));
    CHECK(contains(fault_of([&] { return k().reduce(reduce_op::sum, tensor::of_strings({"a"}, {1}), first_axis); }),
                   "not one of string"));
}

TEST_CASE("NaN is the largest and the smallest wherever it stands") {
    for (std::int64_t at : {0, 5, 63, 64, 130, 199}) {
        for (std::int64_t columns : {1, 3}) {
            tensor x = filled<float>(dtype::float32, {200, columns}, [](std::int64_t i) { return float(i % 17); });
            x.data<float>()[at * columns] = nan;
            for (reduce_op op : {reduce_op::max, reduce_op::min, reduce_op::sum, reduce_op::prod}) {
                std::vector<float> const y = elements<float>(k().reduce(op, x, first_axis));
                CHECK(std::isnan(y[0]));
                if (columns == 3) CHECK(!std::isnan(y[1]));
            }
            CHECK(k().arg_reduce(reduce_op::max, x, 0, false).data<std::int64_t>()[0] == at);
            CHECK(k().arg_reduce(reduce_op::min, x, 0, true).data<std::int64_t>()[0] == at);
        }
    }
    tensor const x = floats({1, nan, 3, nan, 0});
    CHECK(k().arg_reduce(reduce_op::max, x, 0, false).data<std::int64_t>()[0] == 1);
    CHECK(k().arg_reduce(reduce_op::max, x, 0, true).data<std::int64_t>()[0] == 3);
    CHECK(k().arg_reduce(reduce_op::max, floats({-infinity, -infinity}), 0, false).data<std::int64_t>()[0] == 0);
}

TEST_CASE("the first or the last of the largest or smallest elements") {
    for (dtype t : numbers) {
        for (sizes const& of : {sizes{4, 37, 3}, sizes{1, 1, 1}, sizes{2, 300, 1}}) {
            tensor const x = small_numbers(t, of);
            std::vector<number> const e = numbers_of(x);
            for (std::size_t axis = 0; axis != 3; ++axis)
                for (bool largest : {true, false})
                    for (bool last : {true, false}) {
                        std::vector<std::int64_t> const strides = contiguous_strides(of);
                        std::vector<std::int64_t> expected;
                        for (std::int64_t i = 0; i != x.count(); ++i) {
                            if (i / strides[axis] % of[axis] != 0) continue;
                            std::int64_t best = 0;
                            for (std::int64_t j = 1; j != of[axis]; ++j) {
                                number const a = e[static_cast<std::size_t>(i + j * strides[axis])];
                                number const b = e[static_cast<std::size_t>(i + best * strides[axis])];
                                if ((largest ? below(b, a, t) : below(a, b, t)) || (last && equal(a, b))) best = j;
                            }
                            expected.push_back(best);
                        }
                        for (tensor const& view : layouts(x))
                            CHECK(elements<std::int64_t>(k().arg_reduce(
                                      largest ? reduce_op::max : reduce_op::min, view, axis, last)) == expected);
                    }
        }
    }
    tensor const long_one =
        filled<float>(dtype::float32, {100000}, [](std::int64_t i) { return i % 30000 == 29999 ? 5.0F : 1.0F; });
    CHECK(k().arg_reduce(reduce_op::max, long_one, 0, false).data<std::int64_t>()[0] == 29999);
    CHECK(k().arg_reduce(reduce_op::max, long_one, 0, true).data<std::int64_t>()[0] == 89999);
    CHECK(k().arg_reduce(reduce_op::min, bools({1, 0, 0}), 0, true).data<std::int64_t>()[0] == 2);
    CHECK(contains(
        fault_of([] { return k().arg_reduce(reduce_op::max, tensor::empty(dtype::float32, {2, 0}), 1, false); }),
        "no element of [2, 0]"));
    CHECK(contains(fault_of([] { return k().arg_reduce(reduce_op::sum, floats({1}), 0, false); }), "not one of"));
    CHECK(k().arg_reduce(reduce_op::max, tensor::empty(dtype::float32, {0, 2}), 1, false).sizes() == sizes{0});
}

TEST_CASE("scans along every axis, of every dtype and layout") {
    for (dtype t : numbers) {
        for (sizes const& of : {sizes{3, 5, 4}, sizes{2, 1, 300}, sizes{3, 0, 2}}) {
            tensor const x = small_numbers(t, of);
            std::vector<number> const e = numbers_of(x);
            for (std::size_t axis = 0; axis != 3; ++axis)
                for (named_reduction const& r : reductions(t)) {
                    auto const op = static_cast<scan_op>(r.op);
                    if (op == scan_op::prod && of[axis] > 100) continue;
                    std::int64_t const stride = contiguous_strides(of)[axis];
                    std::vector<number> sums;
                    for (std::int64_t i = 0; i != x.count(); ++i) {
                        number const before =
                            i / stride % of[axis] == 0 ? r.start : sums[static_cast<std::size_t>(i - stride)];
                        sums.push_back(r.f(before, e[static_cast<std::size_t>(i)], t));
                    }
                    for (tensor const& view : layouts(x)) CHECK(has(k().scan(op, view, axis), sums));
                }
        }
    }
    static_assert(static_cast<int>(scan_op::min) == static_cast<int>(reduce_op::min));
}

TEST_CASE("scans meet NaN and infinities") {
    std::vector<float> const most = elements<float>(k().scan(scan_op::max, floats({1, nan, 3}), 0));
    CHECK(most[0] == 1);
    CHECK(std::isnan(most[2]));
    std::vector<float> const sums = elements<float>(
        k().scan(scan_op::log_add_exp, floats({-infinity, -infinity, 0, 0, 1000, -1000, infinity, 1}), 0));
    CHECK(sums[1] == -infinity);
    CHECK(sums[2] == 0);
    CHECK(sums[3] == doctest::Approx(std::log(2.0)));
    CHECK(sums[5] == 1000);
    CHECK(sums[7] == infinity);
    CHECK(std::isnan(elements<float>(k().scan(scan_op::log_add_exp, floats({0, nan, 1}), 0))[2]));
    CHECK(elements<bool>(k().scan(scan_op::max, bools({0, 1, 0}), 0)) == std::vector<bool>{false, true, true});
    CHECK(contains(fault_of([] { return k().scan(scan_op::log_add_exp, integers({1}), 0); }), "not one of int64"));
    CHECK(contains(fault_of([] { return k().scan(scan_op::sum, bools({1}), 0); }), "not one of bool"));
    CHECK(contains(fault_of([] { return k().scan(scan_op::sum, floats({1}).squeezed(0), 0); }), "no axis 0"));
}

TEST_CASE("sorting is stable in both orders, of every dtype and layout") {
    for (dtype t : numbers) {
        for (sizes const& of : {sizes{3, 40, 2}, sizes{2, 3, 700}, sizes{1, 0, 2}}) {
            tensor const x = small_numbers(t, of, 3);
            for (std::size_t axis = 0; axis != 3; ++axis)
                for (bool descending : {false, true})
                    for (tensor const& view : layouts(x)) {
                        sorted const s = k().sort(view, axis, descending);
                        REQUIRE(s.values.sizes() == of);
                        std::vector<number> const from = numbers_of(x);
                        std::vector<number> const values = numbers_of(s.values);
                        std::vector<std::int64_t> const at = elements<std::int64_t>(s.indices);
                        std::int64_t const stride = contiguous_strides(of)[axis];
                        bool right = true;
                        for (std::int64_t i = 0; i != x.count(); ++i) {
                            auto const n = static_cast<std::size_t>(i);
                            std::int64_t const place = i / stride % of[axis];
                            right = right && at[n] >= 0 && at[n] < of[axis] &&
                                    equal(values[n], from[static_cast<std::size_t>(i + (at[n] - place) * stride)]);
                            if (place == 0) continue;
                            auto const p = static_cast<std::size_t>(i - stride);
                            right =
                                right && (equal(values[p], values[n]) ? at[p] < at[n]
                                                                      : below(values[p], values[n], t) != descending);
                        }
                        CHECK(right);
                    }
        }
    }
}

TEST_CASE("NaN is sorted behind every number, zeros of both signs are equal") {
    tensor const x = floats({0.0F, nan, -0.0F, infinity, -infinity, -nan, -1, 0.0F});
    sorted const up = k().sort(x, 0, false);
    CHECK(elements<std::int64_t>(up.indices) == std::vector<std::int64_t>{4, 6, 0, 2, 7, 3, 1, 5});
    CHECK(std::signbit(elements<float>(up.values)[3]));
    sorted const down = k().sort(x, 0, true);
    CHECK(elements<std::int64_t>(down.indices) == std::vector<std::int64_t>{1, 5, 3, 0, 2, 7, 6, 4});
    CHECK(elements<bool>(k().sort(bools({1, 0, 1}), 0, false).values) == std::vector<bool>{false, true, true});
    tensor const half = k().cast(x, dtype::float16, true);
    CHECK(elements<std::int64_t>(k().sort(half, 0, true).indices) == elements<std::int64_t>(down.indices));
    CHECK(contains(fault_of([] { return k().sort(tensor::of_strings({"a"}, {1}), 0, false); }), "not one of string"));
}

TEST_CASE("softmax and its logarithm along every axis") {
    for (sizes const& of : {sizes{3, 5, 4}, sizes{2, 130, 70}, sizes{1, 3, 1}, sizes{2, 0, 2}}) {
        tensor const x = doubles(of, [](std::int64_t i) { return std::sin(double(i)) * 20; });
        for (dtype t : {dtype::float64, dtype::float32, dtype::float16, dtype::bfloat16}) {
            tensor const rounded = k().cast(x, t, true);
            std::vector<double> const e = elements<double>(k().cast(rounded, dtype::float64, true));
            double const error = t == dtype::float64 ? 1e-14 : t == dtype::float32 ? 4e-6 : 1e-2;
            for (std::size_t axis = 0; axis != 3; ++axis)
                for (tensor const& view : layouts(rounded)) {
                    std::vector<double> const y =
                        elements<double>(k().cast(k().softmax(view, axis, false), dtype::float64, true));
                    std::vector<double> const z =
                        elements<double>(k().cast(k().softmax(view, axis, true), dtype::float64, true));
                    std::int64_t const stride = contiguous_strides(of)[axis];
                    bool right = true;
                    for (std::int64_t i = 0; i != x.count(); ++i) {
                        double sum = 0;
                        std::int64_t const first = i - i / stride % of[axis] * stride;
                        for (std::int64_t j = 0; j != of[axis]; ++j)
                            sum += std::exp(e[static_cast<std::size_t>(first + j * stride)]);
                        auto const n = static_cast<std::size_t>(i);
                        double const expected = std::exp(e[n]) / sum;
                        double const logarithm = e[n] - std::log(sum);
                        right = right && std::abs(y[n] - expected) <= error * (expected + 1e-4) &&
                                std::abs(z[n] - logarithm) <= error * (std::abs(logarithm) + 1);
                    }
                    CHECK(right);
                }
        }
    }
}

TEST_CASE("softmax of infinities and NaN") {
    tensor const x =
        floats({-infinity, 0, 0, -infinity, -infinity, -infinity, 1, nan, 2, infinity, 1, 1, 1000, 1000, -1000})
            .reshaped({5, 3});
    for (tensor const& view : {x, x.permuted(std::array<std::size_t, 2>{1, 0}).contiguous()}) {
        bool const turned = view.size(0) == 3;
        tensor y = k().softmax(view, turned ? 0 : 1, false);
        if (turned) y = y.permuted(std::array<std::size_t, 2>{1, 0});
        std::vector<float> const e = elements<float>(y);
        CHECK(e[0] == 0);
        CHECK(e[1] == 0.5F);
        for (std::size_t i = 3; i != 12; ++i) CHECK(std::isnan(e[i]));
        CHECK(e[12] == 0.5F);
        CHECK(e[14] == 0);
    }
    CHECK(contains(fault_of([] { return k().softmax(integers({1}), 0, false); }), "not one of int64"));
}

namespace {

void check_product(dtype t, sizes const& a_sizes, sizes const& b_sizes) {
    CAPTURE(std::string(name(t)));
    tensor const a = small_numbers(t, a_sizes, 1);
    tensor const b = small_numbers(t, b_sizes, 2);
    auto const batch_of = [](sizes const& of) { return std::span(of).first(of.size() - 2); };
    sizes const batch = broadcast(batch_of(a_sizes), batch_of(b_sizes));
    std::int64_t const m = a_sizes[a_sizes.size() - 2];
    std::int64_t const depth = a_sizes.back();
    std::int64_t const n = b_sizes.back();
    auto const whole = [&](tensor const& x) {
        sizes to = batch;
        to.insert(to.end(), x.sizes().end() - 2, x.sizes().end());
        return numbers_of(x.expanded(to));
    };
    std::vector<number> const x = whole(a);
    std::vector<number> const y = whole(b);
    std::vector<number> expected;
    for (std::int64_t i = 0; i != count_of(batch) * m * n; ++i) {
        std::int64_t const matrix = i / (m * n);
        number sum;
        for (std::int64_t j = 0; j != depth; ++j)
            sum = sum + x[static_cast<std::size_t>((matrix * m + i / n % m) * depth + j)] *
                            y[static_cast<std::size_t>((matrix * depth + j) * n + i % n)];
        expected.push_back(sum);
    }
    for (tensor const& left : layouts(a))
        for (tensor const& right : layouts(b)) CHECK(has(k().matmul(left, right), expected));
    auto const transposed = [](tensor const& v) {
        std::vector<std::size_t> order(v.rank());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::swap(order[v.rank() - 2], order[v.rank() - 1]);
        return v.permuted(order);
    };
    tensor const by_columns = transposed(transposed(a).contiguous());
    CHECK(has(k().matmul(by_columns, transposed(transposed(b).contiguous())), expected));
    CHECK(has(k().matmul(by_columns, b), expected));
}

} // namespace

TEST_CASE("products of matrices, of every dtype and layout") {
    for (dtype t : numbers) {
        check_product(t, {3, 5}, {5, 2});
        check_product(t, {1, 7}, {7, 1});
        check_product(t, {4, 1}, {1, 6});
        check_product(t, {2, 1, 3, 4}, {5, 4, 2});
        check_product(t, {3, 2, 6}, {6, 5});
        check_product(t, {2, 6}, {3, 6, 5});
        check_product(t, {3, 0}, {0, 2});
        check_product(t, {0, 3}, {3, 2});
        check_product(t, {0, 3, 3}, {3, 2});
    }
    check_product(dtype::float32, {70, 130}, {130, 90});
    check_product(dtype::float64, {40, 33, 65}, {40, 65, 34});
    CHECK(contains(fault_of([] {
                       return k().matmul(doubles({2, 3}, [](auto) { return 0; }),
                                         doubles({2, 3}, [](auto) { return 0; }));
                   }),
                   "[2, 3] and [2, 3] have no product"));
    CHECK(contains(fault_of([] { return k().matmul(floats({1}), floats({1})); }), "no product"));
    CHECK(contains(fault_of([] { return k().matmul(floats({1}).unsqueezed(0), integers({1}).unsqueezed(0)); }),
                   "float32 and int64 do not meet"));
    CHECK(contains(fault_of([] { return k().matmul(bools({1}).unsqueezed(0), bools({1}).unsqueezed(0)); }),
                   "not one of bool"));
    float const inf_product =
        k().matmul(floats({infinity, 1}).unsqueezed(0), floats({0, 1}).unsqueezed(1)).data<float>()[0];
    CHECK(std::isnan(inf_product));
}

TEST_CASE("elements are taken by position, of every width and layout") {
    tensor const at = integers({11, 0, 3, 3}).reshaped({2, 2});
    for (dtype t : {dtype::bool_,
                    dtype::int8,
                    dtype::float16,
                    dtype::float32,
                    dtype::int64,
                    dtype::complex128,
                    dtype::int4,
                    dtype::float8_e5m2}) {
        tensor const x = k().cast(doubles({3, 4}, [](std::int64_t i) { return double(i % 7); }), t, true);
        std::vector<double> const e = elements<double>(k().cast(x, dtype::float64, true));
        std::vector<double> const expected{e[11], e[0], e[3], e[3]};
        for (tensor const& view : layouts(x))
            for (tensor const& positions : layouts(at)) {
                tensor const y = k().take(view, positions);
                CHECK(y.dtype() == t);
                CHECK(y.sizes() == sizes{2, 2});
                CHECK(elements<double>(k().cast(y, dtype::float64, true)) == expected);
            }
    }
    tensor const x = floats({1, 2, 3});
    CHECK(k().take(x, integers({})).sizes() == sizes{0});
    CHECK(k().take(tensor::empty(dtype::float32, {0}), integers({})).count() == 0);
    CHECK(elements<float>(k().take(x, integers({2}).squeezed(0))) == std::vector<float>{3});
    CHECK(contains(fault_of([&] { return k().take(x, integers({0, 3})); }), "position 3 is outside of 3 elements"));
    CHECK(
        contains(fault_of([&] { return k().take(x, integers({0, -1, 9})); }), "position -1 is outside of 3 elements"));
    CHECK(contains(fault_of([&] { return k().take(x, x); }), "positions are int64, not float32"));
}

TEST_CASE("values are put to positions in order") {
    for (dtype t : numbers) {
        CAPTURE(std::string(name(t)));
        tensor const start = small_numbers(t, {2, 3});
        tensor const values = small_numbers(t, {4}, 5);
        std::vector<std::size_t> const at{1, 5, 1, 0};
        std::vector<named_reduction> const arithmetic = reductions(t);
        for (put_op op : {put_op::assign, put_op::add, put_op::mul, put_op::max, put_op::min}) {
            std::vector<number> expected = numbers_of(start);
            std::vector<number> const from = numbers_of(values);
            for (std::size_t i = 0; i != 4; ++i) {
                number& there = expected[at[i]];
                there =
                    op == put_op::assign ? from[i] : arithmetic[static_cast<std::size_t>(op) - 1].f(there, from[i], t);
            }
            for (tensor const& view : layouts(values)) {
                tensor const into = k().contiguous(tests::scattered(start));
                k().put(into, integers({1, 5, 1, 0}), view, op);
                CHECK(has(into, expected));
            }
        }
    }
    tensor const into = floats({1, 2, 3});
    k().put(into, integers({0, 2}), floats({7}), put_op::assign);
    CHECK(elements<float>(into) == std::vector<float>{7, 2, 7});
    k().put(into, integers({}), floats({}), put_op::add);
    k().put(into, integers({1}), floats({nan}), put_op::max);
    CHECK(std::isnan(into.data<float>()[1]));
    tensor const complexes = k().cast(floats({1, 2}), dtype::complex64, true);
    k().put(complexes, integers({1}), complexes.sliced(0, 0, 1), put_op::assign);
    CHECK(complexes.data<complex<float>>()[1].real == 1);
    tensor const truth = bools({0, 1});
    k().put(truth, integers({0, 1}), bools({1, 1}), put_op::add);
    CHECK(truth.data<bool>()[0]);
    CHECK(contains(fault_of([&] { return (k().put(into, integers({4}), floats({1}), put_op::add), 0); }),
                   "position 4 is outside of 3"));
    CHECK(contains(fault_of([&] { return (k().put(into, integers({0}), integers({1}), put_op::add), 0); }),
                   "do not meet"));
    CHECK(contains(
        fault_of([&] { return (k().put(complexes, integers({0}), complexes.sliced(0, 0, 1), put_op::mul), 0); }),
        "not one of complex64"));
    CHECK(contains(
        fault_of([&] { return (k().put(into.sliced(0, 0, 2, 2), integers({0}), floats({1}), put_op::assign), 0); }),
        "contiguous"));
}

TEST_CASE("strings are moved as numbers are") {
    tensor const x = tensor::of_strings({"a", "b", "c", "d", "e", "f"}, {2, 3});
    tensor const turned = x.permuted(std::array<std::size_t, 2>{1, 0});
    auto const text = [](tensor const& t) {
        tensor const dense = k().contiguous(t);
        return std::vector<std::string>(dense.strings().begin(), dense.strings().end());
    };
    using strings = std::vector<std::string>;
    CHECK(text(turned) == strings{"a", "d", "b", "e", "c", "f"});
    CHECK(text(x.sliced(1, 2, 3, -1)) == strings{"c", "b", "a", "f", "e", "d"});
    CHECK(text(k().take(turned, integers({1, 5}))) == strings{"d", "f"});
    CHECK(text(k().take(x.sliced(0, 1, 1), integers({2}))) == strings{"f"});
    CHECK(text(k().select(bools({1, 0, 1}), x, tensor::of_strings({"-"}, {1}))) ==
          strings{"a", "-", "c", "d", "-", "f"});
    CHECK(text(k().select(bools({1, 0}), turned, x.sliced(1, 0, 2).sliced(0, 0, 1))) ==
          strings{"a", "b", "b", "b", "c", "b"});
    tensor const into = tensor::of_strings({"", "", "", ""}, {4});
    k().put(into, integers({3, 0, 3}), tensor::of_strings({"x", "y", "z"}, {3}), put_op::assign);
    CHECK(text(into) == strings{"y", "", "", "z"});
    k().copy(tensor::of_strings({"1", "2"}, {2}), into.sliced(0, 3, 2, -2));
    CHECK(text(into) == strings{"y", "2", "", "1"});
    k().copy(tensor::of_strings({"k"}, {1}), into);
    CHECK(text(into) == strings{"k", "k", "k", "k"});
    CHECK(text(k().to_host(k().from_host(turned))).size() == 6);
    CHECK(k().take(x, integers({})).count() == 0);
    CHECK(text(x.sliced(0, 0, 0)).empty());
    CHECK(contains(
        fault_of([&] { return (k().put(into, integers({4}), x.sliced(0, 0, 1).sliced(1, 0, 1), put_op::assign), 0); }),
        "position 4"));
    CHECK(contains(
        fault_of([&] { return (k().put(into, integers({0}), x.sliced(0, 0, 1).sliced(1, 0, 1), put_op::add), 0); }),
        "assigned"));
    CHECK(contains(fault_of([&] { return k().unary(unary_op::neg, x); }), "not one of string"));
    CHECK(contains(fault_of([&] { return (k().copy(floats({1}), into), 0); }), "keeps its dtype"));
}

TEST_CASE("copies, selections and conversions of views") {
    tensor const x = doubles({3, 4, 5}, [](std::int64_t i) { return double(i); });
    for (tensor const& view : layouts(x)) CHECK(elements<double>(k().contiguous(view)) == elements<double>(x));
    for (tensor const& view : layouts(x)) CHECK(elements<float>(k().cast(view, dtype::float32, true))[59] == 59);
    CHECK(k().contiguous(x).data<double>() == x.data<double>());
    CHECK(contains(fault_of([&] { return k().select(x, x, x); }), "select takes a bool"));
    tensor deep = x;
    for (int i = 0; i != 20; ++i) deep = deep.unsqueezed(1);
    CHECK(k().reduce(reduce_op::sum, deep, first_axis).rank() == 22);
}

TEST_CASE("positions of true elements") {
    CHECK(elements<std::int64_t>(k().nonzero(bools({0, 1, 1, 0, 1}))) == std::vector<std::int64_t>{1, 2, 4});
    CHECK(k().nonzero(bools({0})).sizes() == sizes{0});
    CHECK(k().nonzero(bools({})).sizes() == sizes{0});
    CHECK(elements<std::int64_t>(k().nonzero(bools({1}).squeezed(0))) == std::vector<std::int64_t>{0});
    tensor const turned = bools({0, 1, 1, 0, 0, 1}).reshaped({2, 3}).permuted(std::array<std::size_t, 2>{1, 0});
    CHECK(elements<std::int64_t>(k().nonzero(turned)) == std::vector<std::int64_t>{2, 4, 5});
    tensor const many = filled<bool>(dtype::bool_, {100003}, [](std::int64_t i) { return i % 3 == 0; });
    tensor const at = k().nonzero(many);
    REQUIRE(at.count() == 33335);
    bool right = true;
    for (std::int64_t i = 0; i != at.count(); ++i) right = right && at.data<std::int64_t>()[i] == 3 * i;
    CHECK(right);
    CHECK(contains(fault_of([] { return k().nonzero(integers({1})); }), "those of a bool"));
}

TEST_CASE("numbers in order, and random ones") {
    CHECK(elements<std::int64_t>(k().range(3)) == std::vector<std::int64_t>{0, 1, 2});
    CHECK(k().range(0).sizes() == sizes{0});
    CHECK(k().range(100000).data<std::int64_t>()[99999] == 99999);
    CHECK(contains(fault_of([] { return k().range(-1); }), "cannot have the sizes [-1]"));
    // Counter 0, key 0: the first known answer of Random123.
    using words = std::vector<std::uint32_t>;
    CHECK(elements<std::uint32_t>(k().random_bits(4, 0)) == words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    tensor const many = k().random_bits(100001, 0x123456789abcdefULL);
    CHECK(elements<std::uint32_t>(k().random_bits(7, 0x123456789abcdefULL)) ==
          words(many.data<std::uint32_t>(), many.data<std::uint32_t>() + 7));
    double sum = 0;
    for (std::uint32_t bits : elements<std::uint32_t>(many)) sum += bits;
    CHECK(sum / 100001 == doctest::Approx(2147483648.0).epsilon(0.01));
}

TEST_CASE("devices are found by their kind") {
    CHECK(&kernels_of({}) == &cpu_kernels());
    CHECK(contains(fault_of([] { return kernels_of({device_kind::cuda, 0}).range(1); }),
                   "this build has no kernels for cuda:0"));
    CHECK(contains(fault_of([] { return kernels_of({device_kind::cpu, 1}).range(1); }), "there is no device cpu:1"));
}

} // namespace aton::runtime
