// SPDX-License-Identifier: MIT
// Compares scans, sorting and softmax in every dtype and layout with plain loops and known numbers.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "kernel_numbers.hpp"

namespace ATON_NAMESPACE::runtime {

using namespace kernel_tests;

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

TEST_CASE("scans of NaN and infinities") {
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
    CHECK(
        contains(fault_of([] { return k().scan(scan_op::log_add_exp, integers({1}), 0); }), "does not support int64"));
    CHECK(contains(fault_of([] { return k().scan(scan_op::sum, bools({1}), 0); }), "not support bool"));
    CHECK(contains(fault_of([] { return k().scan(scan_op::sum, floats({1}).squeezed(0), 0); }),
                   "axis 0 is out of range"));
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

TEST_CASE("NaN is sorted after every number, and zeros of both signs are equal") {
    tensor const x = floats({0.0F, nan, -0.0F, infinity, -infinity, -nan, -1, 0.0F});
    sorted const up = k().sort(x, 0, false);
    CHECK(elements<std::int64_t>(up.indices) == std::vector<std::int64_t>{4, 6, 0, 2, 7, 3, 1, 5});
    CHECK(std::signbit(elements<float>(up.values)[3]));
    sorted const down = k().sort(x, 0, true);
    CHECK(elements<std::int64_t>(down.indices) == std::vector<std::int64_t>{1, 5, 3, 0, 2, 7, 6, 4});
    CHECK(elements<bool>(k().sort(bools({1, 0, 1}), 0, false).values) == std::vector<bool>{false, true, true});
    tensor const half = k().cast(x, dtype::float16, true);
    CHECK(elements<std::int64_t>(k().sort(half, 0, true).indices) == elements<std::int64_t>(down.indices));
    CHECK(contains(fault_of([] { return k().sort(tensor::of_strings({"a"}, {1}), 0, false); }),
                   "does not support string"));
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
    CHECK(contains(fault_of([] { return k().softmax(integers({1}), 0, false); }), "does not support int64"));
}

} // namespace ATON_NAMESPACE::runtime
