// SPDX-License-Identifier: MIT
// Elements of stored tensors: every layout against a loop over its indices, factors against hand-computed floating point.
#include <aton/model_io/weights.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/tensor.hpp>

#include "stored_fixture.hpp"

namespace stored_tensor_test {

using namespace aton;

namespace {

using fixture = noise_fixture;

std::string elements(stored_tensor const& t) {
    std::string out;
    read_stored(t, [&](std::byte const* bytes, std::size_t n) {
        CHECK(n <= std::size_t{8} << 20);
        out.append(reinterpret_cast<char const*>(bytes), n); // NOLINT(*-reinterpret-cast)
    });
    return out;
}

} // namespace

TEST_CASE("elements are in row-major order for all strides") {
    fixture const f;
    file_span const all = f.mapped.all();
    struct row {
        char const* what = nullptr;
        stored_tensor tensor;
    };
    for (auto const& [what, t] : {
             row{"0-d", stored(dtype::float32, all, {}, {}, 5)},
             row{"plain from an odd byte", stored(dtype::int64, f.mapped.span(3, 8000), {7, 11}, {11, 1}, 2)},
             row{"transposed", stored(dtype::float16, all, {129, 65}, {1, 129})},
             row{"transposed, tiles that do not fit", stored(dtype::float32, all, {35, 67}, {1, 41}, 3)},
             row{"transposed bytes", stored(dtype::int8, all, {131, 197}, {1, 140})},
             row{"transposed wide", stored(dtype::complex128, f.mapped.span(1, 299'000), {33, 70}, {2, 99}, 1)},
             row{"channels_last", stored(dtype::float32, all, {5, 6, 7, 3}, {126, 1, 18, 6}, 1)},
             row{"every other element", stored(dtype::float32, all, {9, 13}, {40, 2}, 1)},
             row{"both strides small", stored(dtype::bfloat16, all, {37, 41}, {2, 75})},
             row{"expanded inside", stored(dtype::int16, all, {4, 1000, 3}, {3, 0, 1}, 9)},
             row{"expanded last", stored(dtype::float64, all, {17, 250}, {3, 0})},
             row{"expanded from one", stored(dtype::uint8, all, {3, 5, 7}, {0, 0, 0}, 100)},
             row{"overlapping windows", stored(dtype::float32, all, {50, 8}, {1, 1})},
             row{"backwards", stored(dtype::int32, all, {6, 11}, {-11, -1}, 70)},
             row{"sizes of one", stored(dtype::float32, all, {1, 12, 1, 5, 1}, {999, 1, -7, 12, 0})},
             row{"six dimensions", stored(dtype::bool_, all, {2, 3, 4, 5, 2, 3}, {1, 2, 180, 6, 90, 30}, 11)},
         }) {
        CAPTURE(what);
        CHECK(elements(t) == expected(t));
        CHECK(load(t).bytes == expected(t));
        CHECK(load(t).sizes == t.sizes);
    }
}

TEST_CASE("a tensor without elements reads nothing, even if its other sizes overflow") {
    fixture const f;
    std::int64_t const huge = std::int64_t{1} << 40;
    for (stored_tensor const& t : {stored(dtype::float32, f.mapped.all(), {0, 3}, {3, 1}),
                                   stored(dtype::float32, {}, {huge, huge, 0}, {0, 0, 1}),
                                   stored(dtype::float32, {}, {0, huge, huge}, {1, 1, 1}),
                                   stored_tensor{dtype::float32, {4, 0}, {}}})
        CHECK(elements(t).empty());
}

TEST_CASE("random layouts, larger and smaller than the buffer") {
    fixture const f(18 << 20);
    std::mt19937 random(11);
    auto const below = [&](std::int64_t n) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    };
    dtype const types[] = {dtype::int8, dtype::float16, dtype::float32, dtype::float64, dtype::complex128};
    for (int round = 0; round != 600; ++round) {
        dtype const type = types[below(5)];
        std::vector<std::int64_t> sizes(static_cast<std::size_t>(below(6)));
        std::vector<std::int64_t> strides(sizes.size());
        std::int64_t reach = 0;
        std::int64_t offset = below(50);
        for (std::size_t i = 0; i != sizes.size(); ++i) {
            sizes[i] = 1 + below(round % 3 == 0 ? 3 : 12);
            strides[i] = below(4) == 0 ? below(2) : below(400);
            if (below(8) == 0) {
                strides[i] = -strides[i];
                offset -= strides[i] * (sizes[i] - 1);
            } else {
                reach += strides[i] * (sizes[i] - 1);
            }
        }
        if (below(2) == 0 && sizes.size() > 1) { // a permutation of a dense block
            std::vector<std::size_t> order(sizes.size());
            for (std::size_t i = 0; i != order.size(); ++i) order[i] = i;
            std::shuffle(order.begin(), order.end(), random);
            std::int64_t step = 1;
            for (std::size_t d : order) {
                strides[d] = step;
                step *= sizes[d];
            }
            offset = below(50);
            reach = step;
        }
        CAPTURE(round);
        REQUIRE(static_cast<std::uint64_t>(offset + reach + 1) * bits(type) / 8 <= f.mapped.all().size);
        stored_tensor const t = stored(type, f.mapped.all(), sizes, strides, offset);
        REQUIRE(elements(t) == expected(t));
    }
    // several buffers, which end between and inside rows
    for (stored_tensor const& t : {stored(dtype::float32, f.mapped.all(), {1031, 4127}, {1, 1031}),
                                   stored(dtype::float32, f.mapped.all(), {3, 2'100'003}, {7, 1}),
                                   stored(dtype::float32, f.mapped.all(), {2, 3, 700'001}, {700'001, 0, 1}, 9),
                                   stored(dtype::int16, f.mapped.all(), {2, 5, 450'001, 2}, {1, 7, 3, 1'500'000})})
        CHECK(elements(t) == expected(t));
}

TEST_CASE("factors apply to the first dimension, also if a buffer ends inside a row") {
    fixture const f(18 << 20);
    std::int64_t const n = 1'500'001;
    std::vector<double> const factors{2, -0.5, 3};
    for (std::int64_t stride : {n, n - 9}) {
        stored_tensor const scaled = stored(dtype::float32, f.mapped.all(), {3, n}, {stride, 1}, 5, factors);
        std::string const plain = expected(scaled);
        std::string const got = elements(scaled);
        REQUIRE(got.size() == plain.size());
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i != 3 * n; ++i) {
            auto const at = static_cast<std::size_t>(i);
            double const factor = factors[static_cast<std::size_t>(i / n)];
            auto const want = static_cast<float>(static_cast<double>(detail::read_bytes<float>(plain, at)) * factor);
            auto const is = detail::read_bytes<float>(got, at);
            wrong += is == want || (std::isnan(is) && std::isnan(want)) ? 0 : 1;
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("factors multiply in double and round once") {
    temporary_folder const folder;
    std::string bytes;
    for (float v : {1.5F, -0.1F, 3e38F, 1e-40F, 0.F, 7.F}) detail::append_bytes(bytes, v);
    for (unsigned v : {0x3c00U, 0x0001U, 0x7bffU, 0xfc00U, 0x7e01U, 0x3555U})
        detail::append_bytes(bytes, static_cast<std::uint16_t>(v));
    for (double v : {0.1, -3.0}) detail::append_bytes(bytes, v);
    std::ofstream(folder.file("f"), std::ios::binary) << bytes;
    mapped_file const mapped(folder.file("f"));
    double const third = 1.0 / 3;

    tensor const single = load(stored(dtype::float32, mapped.span(0, 24), {2, 3}, {1, 2}, 0, {third, 10}));
    float const want[] = {static_cast<float>(1.5 * third),
                          static_cast<float>(static_cast<double>(3e38F) * third),
                          0.F, // row 0
                          static_cast<float>(static_cast<double>(-0.1F) * 10),
                          static_cast<float>(static_cast<double>(1e-40F) * 10),
                          70.F};
    for (std::size_t i = 0; i != 6; ++i) CHECK(detail::read_bytes<float>(single.bytes, i) == want[i]);

    // 1 + 2^-11 is a tie between 1 and the next binary16; numbers just above it round to it in binary32
    double const above = 1 + 0x1p-11 + 0x1p-40;
    tensor const half = load(stored(dtype::float16, mapped.span(24, 12), {6}, {1}, 0, {above, 0.5, 2, 3, 1, 1}));
    CHECK(detail::read_bytes<std::uint16_t>(half.bytes, 0) == 0x3c01);
    CHECK(detail::read_bytes<std::uint16_t>(half.bytes, 1) == 0);      // 2^-25: to even
    CHECK(detail::read_bytes<std::uint16_t>(half.bytes, 2) == 0x7c00); // beyond the largest
    CHECK(detail::read_bytes<std::uint16_t>(half.bytes, 3) == 0xfc00);
    CHECK((detail::read_bytes<std::uint16_t>(half.bytes, 4) & 0x7fffU) > 0x7c00);
    CHECK(detail::read_bytes<std::uint16_t>(half.bytes, 5) == 0x3555);

    // the same bits are 2^-7 as bfloat16
    double const above_brain = 1 + 0x1p-8 + 0x1p-30;
    tensor const brain = load(stored(dtype::bfloat16, mapped.span(24, 2), {1}, {1}, 0, {above_brain}));
    CHECK(detail::read_bytes<std::uint16_t>(brain.bytes, 0) == 0x3c01);

    tensor const twice = load(stored(dtype::float64, mapped.span(36, 16), {2}, {1}, 0, {third, -third}));
    CHECK(detail::read_bytes<double>(twice.bytes, 0) == 0.1 * third);
    CHECK(detail::read_bytes<double>(twice.bytes, 1) == -3.0 * -third);
}

} // namespace stored_tensor_test
