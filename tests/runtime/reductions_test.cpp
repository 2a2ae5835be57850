// SPDX-License-Identifier: MIT
// Compares reductions in every dtype and layout with plain loops.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "kernel_numbers.hpp"

namespace ATON_NAMESPACE::runtime {

using namespace kernel_tests;

namespace {

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

} // namespace

TEST_CASE("reductions over any axes, of every dtype and layout") {
    for (dtype t : numbers) check_reductions(t, {3, 1, 5, 4});
    for (dtype t : numbers) check_reductions(t, {});
    check_reductions(dtype::float32, {2, 300, 7});
    check_reductions(dtype::int8, {5, 2, 290});
    check_reductions(dtype::float64, {67, 0, 3});
}

TEST_CASE("long reductions are split into chunks and stay exact") {
    check_reductions(dtype::int64, {200001});
    check_reductions(dtype::int32, {70001, 3});
    check_reductions(dtype::float32, {3, 70001});
    check_reductions(dtype::float32, {2, 40001, 5});
    check_reductions(dtype::uint8, {150, 700});
    tensor const tenths = filled<float>(dtype::float32, {1 << 22}, [](std::int64_t) { return 0.1F; });
    CHECK(k().reduce(reduce_op::sum, tenths, first_axis).data<float>()[0] == 419430.4F);
    // Expanded: all elements are the same one in memory.
    tensor const one = floats({1.5F}).expanded({100000});
    CHECK(k().reduce(reduce_op::sum, one, first_axis).data<float>()[0] == 150000.0F);
    CHECK(elements<float>(k().reduce(reduce_op::max, floats({1, 5, 2}).unsqueezed(0).expanded({40, 3}), first_axis)) ==
          std::vector<float>{1, 5, 2});
}

TEST_CASE("reductions of zero elements return the identity") {
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

TEST_CASE("bools support any, all, max and min, but not sum") {
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
    CHECK(contains(fault_of([&] { return k().reduce(reduce_op::sum, x, first_axis); }), "not support bool"));
    CHECK(contains(fault_of([&] { return k().reduce(reduce_op::any, integers({1}), first_axis); }),
                   "does not support int64"));
    CHECK(contains(fault_of([&] { return k().reduce(reduce_op::sum, integers({1}), second_axis); }),
                   "axis 1 is out of range"));
    CHECK(
        contains(fault_of([&] { return k().reduce(reduce_op::sum, tensor::empty(dtype::complex64, {2}), first_axis); }),
                 "not support complex64"));
    CHECK(contains(fault_of([&] { return k().reduce(reduce_op::sum, tensor::of_strings({"a"}, {1}), first_axis); }),
                   "does not support string"));
}

TEST_CASE("NaN is maximum and minimum at every position") {
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

TEST_CASE("the index of the first or last maximum or minimum") {
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
        "shape [2, 0] has no maximum or minimum"));
    CHECK(contains(fault_of([] { return k().arg_reduce(reduce_op::sum, floats({1}), 0, false); }), "does not support"));
    CHECK(k().arg_reduce(reduce_op::max, tensor::empty(dtype::float32, {0, 2}), 1, false).sizes() == sizes{0});
}

} // namespace ATON_NAMESPACE::runtime
