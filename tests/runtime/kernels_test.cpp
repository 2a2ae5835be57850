// SPDX-License-Identifier: MIT
// Compares matrix products, gather and scatter in every dtype and several layouts with plain loops.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "kernel_numbers.hpp"

namespace ATON_NAMESPACE::runtime {

using namespace kernel_tests;

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

TEST_CASE("matrix products of every dtype and layout") {
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
                   "[2, 3] and [2, 3] cannot be multiplied"));
    CHECK(contains(fault_of([] { return k().matmul(floats({1}), floats({1})); }), "cannot be multiplied"));
    CHECK(contains(fault_of([] { return k().matmul(floats({1}).unsqueezed(0), integers({1}).unsqueezed(0)); }),
                   "float32 and int64 cannot be combined"));
    CHECK(contains(fault_of([] { return k().matmul(bools({1}).unsqueezed(0), bools({1}).unsqueezed(0)); }),
                   "not support bool"));
    float const inf_product =
        k().matmul(floats({infinity, 1}).unsqueezed(0), floats({0, 1}).unsqueezed(1)).data<float>()[0];
    CHECK(std::isnan(inf_product));
}

TEST_CASE("elements of every size and layout are taken by position") {
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
    CHECK(
        contains(fault_of([&] { return k().take(x, integers({0, 3})); }), "position 3 is out of range for 3 elements"));
    CHECK(contains(fault_of([&] { return k().take(x, integers({0, -1, 9})); }),
                   "position -1 is out of range for 3 elements"));
    CHECK(contains(fault_of([&] { return k().take(x, x); }), "positions must be int64, not float32"));
}

TEST_CASE("values are written to positions in order") {
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
                   "position 4 is out of range for 3"));
    CHECK(contains(fault_of([&] { return (k().put(into, integers({0}), integers({1}), put_op::add), 0); }),
                   "cannot be combined"));
    CHECK(contains(
        fault_of([&] { return (k().put(complexes, integers({0}), complexes.sliced(0, 0, 1), put_op::mul), 0); }),
        "not support complex64"));
    CHECK(contains(
        fault_of([&] { return (k().put(into.sliced(0, 0, 2, 2), integers({0}), floats({1}), put_op::assign), 0); }),
        "contiguous"));
}

TEST_CASE("strings are copied like numbers") {
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
        "strings do not support arithmetic"));
    CHECK(contains(fault_of([&] { return k().unary(unary_op::neg, x); }), "does not support string"));
    CHECK(contains(fault_of([&] { return (k().copy(floats({1}), into), 0); }), "cannot change the dtype"));
}

TEST_CASE("copies, selections and conversions of views") {
    tensor const x = doubles({3, 4, 5}, [](std::int64_t i) { return double(i); });
    for (tensor const& view : layouts(x)) CHECK(elements<double>(k().contiguous(view)) == elements<double>(x));
    for (tensor const& view : layouts(x)) CHECK(elements<float>(k().cast(view, dtype::float32, true))[59] == 59);
    CHECK(k().contiguous(x).data<double>() == x.data<double>());
    CHECK(contains(fault_of([&] { return k().select(x, x, x); }), "select requires a bool"));
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
    CHECK(contains(fault_of([] { return k().nonzero(integers({1})); }), "requires a bool"));
}

TEST_CASE("ranges and random numbers") {
    CHECK(elements<std::int64_t>(k().range(3)) == std::vector<std::int64_t>{0, 1, 2});
    CHECK(k().range(0).sizes() == sizes{0});
    CHECK(k().range(100000).data<std::int64_t>()[99999] == 99999);
    CHECK(contains(fault_of([] { return k().range(-1); }), "cannot have shape [-1]"));
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
    CHECK(contains(fault_of([] { return kernels_of({device_kind::cpu, 1}).range(1); }),
                   "the device does not exist: cpu:1"));
}

} // namespace ATON_NAMESPACE::runtime
