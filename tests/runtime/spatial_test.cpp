// SPDX-License-Identifier: MIT
// Compares convolution, pooling, sampling, Fourier transforms and einsum with plain loops, in sizes that ONNX's backend
// tests do not have.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/compute/contraction.hpp"
#include "runtime/compute/fourier.hpp"
#include "runtime/compute/sampling.hpp"
#include "runtime/compute/spatial.hpp"
#include <aton/core/error.hpp>

#include "../faults.hpp"
#include "layouts.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

using tests::contains;
using tests::doubles;
using tests::elements;
using tests::fault_of;

/// Numbers without a pattern.
tensor random_numbers(sizes of, std::int64_t seed) {
    return doubles(std::move(of),
                   [seed](std::int64_t i) { return static_cast<double>((i * 7919 + seed * 104729) % 211) / 97 - 1; });
}

double furthest(std::vector<double> const& a, std::vector<double> const& b) {
    REQUIRE(a.size() == b.size());
    double most = 0;
    for (std::size_t i = 0; i != a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
    return most;
}

/// A convolution of [N, C, H, W] by its definition.
std::vector<double> plain_convolution(tensor const& x, tensor const& weight, window const& w, std::int64_t groups) {
    sizes const counts = window_counts(w, x);
    std::vector<double> out;
    std::int64_t const each = weight.size(0) / groups;
    auto const at = [](tensor const& t, sizes const& i) {
        std::int64_t offset = 0;
        for (std::size_t k = 0; k != i.size(); ++k) offset += i[k] * t.strides()[k];
        return t.data<double>()[offset];
    };
    for (std::int64_t n = 0; n != x.size(0); ++n)
        for (std::int64_t m = 0; m != weight.size(0); ++m)
            for (std::int64_t i = 0; i != counts[0]; ++i)
                for (std::int64_t j = 0; j != counts[1]; ++j) {
                    double sum = 0;
                    for (std::int64_t c = 0; c != weight.size(1); ++c)
                        for (std::int64_t a = 0; a != w.kernel[0]; ++a)
                            for (std::int64_t b = 0; b != w.kernel[1]; ++b) {
                                std::int64_t const row = i * w.strides[0] + a * w.dilations[0] - w.before[0];
                                std::int64_t const column = j * w.strides[1] + b * w.dilations[1] - w.before[1];
                                if (row < 0 || row >= x.size(2) || column < 0 || column >= x.size(3)) continue;
                                sum +=
                                    at(x, {n, m / each * weight.size(1) + c, row, column}) * at(weight, {m, c, a, b});
                            }
                    out.push_back(sum);
                }
    return out;
}

struct convolution_case {
    sizes input;
    sizes weight;
    window w;
    std::int64_t groups;
};

std::vector<convolution_case> convolution_cases() {
    return {
        {{2, 4, 9, 8}, {6, 4, 3, 2}, {{3, 2}, {1, 1}, {1, 1}, {1, 0}, {1, 1}}, 1},
        {{2, 4, 9, 8}, {6, 2, 3, 3}, {{3, 3}, {2, 3}, {2, 1}, {2, 1}, {0, 2}}, 2},
        {{3, 6, 7, 7}, {6, 1, 3, 3}, {{3, 3}, {1, 2}, {1, 2}, {1, 2}, {1, 2}}, 6},
        {{2, 3, 7, 7}, {6, 1, 2, 2}, {{2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, 3},
        {{2, 5, 6, 4}, {3, 5, 1, 1}, {{1, 1}, {2, 1}, {1, 1}, {0, 0}, {0, 0}}, 1},
        {{1, 2, 14, 13}, {3, 2, 3, 3}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 1},
        {{0, 2, 5, 5}, {3, 2, 3, 3}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 1},
    };
}

} // namespace

TEST_CASE("convolution: its definition, in every layout") {
    for (convolution_case const& c : convolution_cases()) {
        tensor const weight = random_numbers(c.weight, 3);
        for (tensor const& x : tests::layouts(random_numbers(c.input, 1))) {
            INFO(to_string(c.input), " ", to_string(c.weight));
            CHECK(furthest(elements<double>(convolution(x, weight, {}, c.w, c.groups)),
                           plain_convolution(x, weight, c.w, c.groups)) < 1e-12);
        }
    }
}

TEST_CASE("convolution: columns that are too large are computed in parts") {
    auto const floats = [](sizes const& of, std::int64_t seed) {
        return cast(random_numbers(of, seed), dtype::float32);
    };
    window const w{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
    tensor const weight = floats({2, 8, 3, 3}, 2);
    tensor const images = floats({24, 8, 210, 210}, 1); // 305 MB of columns
    tensor const all = convolution(images, weight, {}, w, 1);
    tensor const last = convolution(images.sliced(0, 23, 1), weight, {}, w, 1);
    CHECK(elements<float>(all.sliced(0, 23, 1)) == elements<float>(last));

    tensor const tall = floats({1, 8, 12000, 90}, 1); // 311 MB
    tensor const rows = convolution(tall, weight, {}, w, 1);
    tensor const end = convolution(tall.sliced(2, 11900, 100), weight, {}, w, 1);
    auto const wide = [](tensor const& t) { return elements<double>(cast(t, dtype::float64)); };
    CHECK(furthest(wide(rows.sliced(2, 11901, 99)), wide(end.sliced(2, 1, 99))) < 1e-4);
}

TEST_CASE("transposed convolution: the transpose of convolution") {
    for (convolution_case const& c : convolution_cases()) {
        tensor const x = random_numbers(c.input, 1);
        tensor const weight = random_numbers(c.weight, 3);
        tensor const y = convolution(x, weight, {}, c.w, c.groups);
        tensor const other = random_numbers(y.sizes(), 5);
        sizes extra; // elements that strides skip at the end
        for (std::size_t i = 0; i != 2; ++i)
            extra.push_back(x.size(i + 2) + c.w.before[i] + c.w.after[i] - c.w.extent(i) -
                            (y.size(i + 2) - 1) * c.w.strides[i]);
        tensor const back = transposed_convolution(other, weight, {}, c.w, extra, c.groups);
        REQUIRE(back.sizes() == x.sizes());
        auto const dot = [](tensor const& a, tensor const& b) { return sum(a * b, all_axes(a)).item().to<double>(); };
        CHECK(dot(y, other) == doctest::Approx(dot(x, back)));
    }
}

TEST_CASE("pooling: floats, which have a kernel, agree with integers, which do not") {
    auto const few = [](sizes of) {
        return doubles(std::move(of), [](std::int64_t i) { return double(i * 31 % 11); });
    };
    for (window const& w : {window{{3, 2}, {2, 1}, {1, 2}, {1, 1}, {1, 0}},
                            window{{2, 3}, {1, 2}, {2, 1}, {0, 1}, {1, 1}},
                            window{{3, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true}})
        for (tensor const& x : tests::layouts(few({2, 3, 9, 300}))) {
            pooled const integers = max_pool_with_indices(cast(x, dtype::int64), w);
            for (dtype t : {dtype::float32, dtype::float64}) {
                pooled const floats = max_pool_with_indices(cast(x, t), w);
                CHECK(elements<std::int64_t>(floats.indices) == elements<std::int64_t>(integers.indices));
                CHECK(elements<std::int64_t>(cast(floats.values, dtype::int64)) ==
                      elements<std::int64_t>(integers.values));
            }
        }
}

TEST_CASE("pooling: large windows, NaN, and windows past the end") {
    tensor x = random_numbers({1, 2, 50, 40}, 1).contiguous();
    window w{{33, 40}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}; // more elements than are reduced one by one
    CHECK(elements<double>(max_pool(x, w)) == elements<double>(max_pool_with_indices(x, w).values));
    pooled const p = max_pool_with_indices(x, w);
    CHECK(elements<double>(take(x.sliced(1, 0, 1), p.indices.sliced(1, 0, 1))) ==
          elements<double>(p.values.sliced(1, 0, 1)));
    CHECK(furthest(elements<double>(average_pool(x, w, false)),
                   elements<double>(sum_pool(x, w) * scalar(1.0 / (33 * 40)))) < 1e-12);
    x.data<double>()[7] = std::nan("");
    CHECK(std::isnan(elements<double>(max_pool(x, w))[0]));
    CHECK(elements<std::int64_t>(max_pool_with_indices(x, w).indices)[0] == 7);

    tensor const line = doubles({1, 1, 5}, [](std::int64_t i) { return static_cast<double>(i + 1); });
    window over{{2}, {2}, {1}, {0}, {0}, true};
    CHECK(elements<double>(max_pool(line, over)) == std::vector<double>{2, 4, 5});
    CHECK(elements<double>(average_pool(line, over, true)) == std::vector<double>{1.5, 3.5, 5});
    CHECK(elements<double>(average_pool(line, over, true, 4)) == std::vector<double>{0.75, 1.75, 1.25});
    CHECK(contains(fault_of([&] { return max_pool(line, {{7}, {1}, {1}, {0}, {0}}); }), "a window of 7 elements"));
    CHECK(contains(fault_of([&] { return max_pool(line, {{2}, {0}, {1}, {0}, {0}}); }), "strides [0]"));
}

TEST_CASE("resampling and sampling: integer coordinates return the elements") {
    tensor const x = random_numbers({2, 3, 4, 5}, 1);
    tensor const rows = cast(range(5), dtype::float64).expanded({2, 4, 5});
    tensor const columns = cast(range(4), dtype::float64).unsqueezed(1).expanded({2, 4, 5});
    std::vector<tensor> const at = {reshape(columns, {2, 20}), reshape(rows, {2, 20})};
    for (interpolation const mode : {interpolation::nearest, interpolation::linear, interpolation::cubic})
        for (outside const padding : {outside::zeros, outside::border, outside::reflection}) {
            tensor const y = sample(x, at, {mode, padding, true});
            CHECK(furthest(elements<double>(y), elements<double>(x)) < 1e-12);
        }
    axis_taps const reversed{1, {4, 3, 2, 1, 0}, {}};
    CHECK(elements<double>(resample(x, -1, reversed)) == elements<double>(x.sliced(3, 4, 5, -1)));
}

TEST_CASE("fourier: lengths with small factors, with large ones, and primes") {
    for (std::int64_t const n : {1, 2, 30, 64, 100, 127, 521, 1009, 67 * 71, 4096, 3 * 521}) {
        INFO("length ", n);
        tensor const re = random_numbers({2, n}, 1);
        tensor const im = random_numbers({2, n}, 2);
        complex_parts const y = fourier({re, im}, 1, false);
        std::vector<double> const a = elements<double>(re);
        std::vector<double> const b = elements<double>(im);
        std::vector<double> const c = elements<double>(y.real);
        std::vector<double> const d = elements<double>(y.imaginary);
        for (std::int64_t const k : {std::int64_t{0}, n / 3, n - 1}) {
            std::complex<double> sum = 0;
            for (std::int64_t i = 0; i != n; ++i) {
                auto const at = static_cast<std::size_t>(n + i); // of the second row
                double const turn = -2 * std::numbers::pi * static_cast<double>(i * k % n) / static_cast<double>(n);
                sum += std::complex<double>(a[at], b[at]) * std::polar(1.0, turn);
            }
            CHECK(c[static_cast<std::size_t>(n + k)] == doctest::Approx(sum.real()).epsilon(1e-8));
            CHECK(d[static_cast<std::size_t>(n + k)] == doctest::Approx(sum.imag()).epsilon(1e-8));
        }
        complex_parts const back = fourier(y, 1, true);
        CHECK(furthest(elements<double>(back.real * scalar(1.0 / static_cast<double>(n))), a) < 1e-10);
        complex_parts const half = fourier({re, {}}, 1, false);
        auto const front = [&](tensor const& t) { return t.sliced(1, 0, n / 2 + 1); };
        tensor const real = fourier_to_real({front(half.real), front(half.imaginary)}, 1, n);
        CHECK(furthest(elements<double>(real * scalar(1.0 / static_cast<double>(n))), a) < 1e-10);
    }
}

TEST_CASE("einsum: diagonals, broadcasts, sums of one operand, and several operands") {
    tensor const a = random_numbers({3, 3}, 1);
    tensor const b = random_numbers({3, 4}, 2);
    tensor const c = random_numbers({4, 5}, 3);
    auto const run = [](char const* equation, std::vector<tensor> const& of) { return einsum(equation, of); };
    CHECK(furthest(elements<double>(run("ij, jk, kl -> il", {a, b, c})), elements<double>(matmul(matmul(a, b), c))) <
          1e-12);
    CHECK(run("ii", {a}).item().to<double>() ==
          doctest::Approx(elements<double>(a)[0] + elements<double>(a)[4] + elements<double>(a)[8]));
    CHECK(elements<double>(run("ba", {b})) == elements<double>(transpose(b, 0, 1)));
    CHECK(elements<double>(run("ij->ji", {b})) == elements<double>(transpose(b, 0, 1)));
    CHECK(furthest(elements<double>(run("ij,kl->i", {a, b})), elements<double>(sum(a, {1}) * sum(b, {0, 1}))) < 1e-12);
    tensor const batch = random_numbers({2, 3, 4}, 4);
    CHECK(furthest(elements<double>(run("...ij,jk", {batch, c})), elements<double>(matmul(batch, c))) < 1e-12);
    CHECK(contains(fault_of([&] { return run("ij,jk", {a}); }), "1 operands"));
    CHECK(contains(fault_of([&] { return run("ij,jk->ik", {b, a}); }), "has the sizes"));
    CHECK(contains(fault_of([&] { return run("i?->i", {a}); }), "not a valid term"));
    CHECK(contains(fault_of([&] { return run("ij->iz", {a}); }), "the result"));
}

TEST_CASE("determinant: row swaps, singular and empty matrices") {
    tensor const m = doubles({2, 3, 3}, [](std::int64_t i) {
        constexpr double values[] = {0, 2, 1, 3, -1, 4, 1, 5, 2, 1, 2, 3, 2, 4, 6, 0, 1, 7};
        return values[i];
    });
    std::vector<double> const d = elements<double>(determinant(m));
    CHECK(d[0] == doctest::Approx(12));
    CHECK(d[1] == doctest::Approx(0));
    CHECK(elements<double>(determinant(tensor::empty(dtype::float64, {2, 0, 0}))) == std::vector<double>{1, 1});
    CHECK(contains(fault_of([] { return determinant(tensor::empty(dtype::float64, {2, 3})); }), "square matrices"));
}

} // namespace ATON_NAMESPACE::runtime
