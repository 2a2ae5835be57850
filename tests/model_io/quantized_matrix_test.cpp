// SPDX-License-Identifier: MIT
// Matrices that are rounded while they are read: integers, scales and zero points that were computed by hand.
#include <aton/model_io/quantized_matrix.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/core/tensor.hpp>
#include <aton/model_io/weights.hpp>

namespace quantized_matrix_test {

using namespace aton;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float largest = std::numeric_limits<float>::max();

/// Rows of 17 elements: the last one is a block of its own.
std::vector<float> rows_of_17(std::vector<float> const& firsts, float last) {
    std::vector<float> out;
    for (float const first : firsts) {
        out.insert(out.end(), 16, first);
        out.push_back(last);
    }
    return out;
}

stored_tensor in_memory(std::vector<float> const& numbers, std::int64_t rows) {
    auto const width = static_cast<std::int64_t>(numbers.size()) / rows;
    stored_part part;
    part.bytes = {reinterpret_cast<std::byte const*>(numbers.data()), numbers.size() * sizeof(float), 0, -1}; // NOLINT
    part.sizes = {rows, width};
    part.strides = {width, 1};
    return {dtype::float32, part.sizes, {part}};
}

std::vector<int> bytes(stored_tensor const& t) {
    std::vector<int> out;
    for (char const c : load(t).bytes) out.push_back(static_cast<unsigned char>(c));
    return out;
}

std::vector<float> floats(stored_tensor const& t) {
    std::string const loaded = load(t).bytes;
    std::vector<float> out(static_cast<std::size_t>(t.element_count()));
    REQUIRE(loaded.size() == out.size() * sizeof(float));
    std::memcpy(out.data(), loaded.data(), loaded.size());
    return out;
}

} // namespace

TEST_CASE("blocks have the range of their elements and 0") {
    std::vector<float> numbers = rows_of_17({0.75F, -1.5F, 0.0F}, 3.0F);
    for (int i = 0; i != 16; ++i) numbers.push_back(static_cast<float>(i) - 4);
    numbers.push_back(-0.0F);
    quantized_matrix const m(in_memory(numbers, 4), {4, 16, false}, "w");
    CHECK(floats(m.scales()) == std::vector{0.75F / 15, 0.2F, 0.1F, 0.2F, 0.0F, 0.2F, 1.0F, 0.0F});
    CHECK(bytes(m.packed_zero_points()) == std::vector{0x00, 0x0f, 0x00, 0x04});
    CHECK(bytes(m.zero_points()) == std::vector{0x00, 0x0f, 0x00, 0x04});
    std::vector<int> blocks;
    for (int const both : {0xff, 0x00, 0x00, -1}) {
        for (int i = 0; i != 16; i += 2) blocks.push_back(both < 0 ? i | (i + 1) << 4 : both);
        blocks.push_back(both < 0 ? 0x00 : 0x0f); // the last element, and zeros that fill its block
        blocks.insert(blocks.end(), 7, 0x00);
    }
    CHECK(m.packed_blocks().sizes == std::vector<std::int64_t>{4, 2, 8});
    CHECK(bytes(m.packed_blocks()) == blocks);
    CHECK(m.packed_rows().sizes == std::vector<std::int64_t>{4, 9});
    CHECK(m.integers().byte_count() == 34);
    CHECK(bytes(m.integers()).size() == 34); // the rows follow each other in the middle of a byte
    CHECK(m.byte_count() == 4 * 2 * 8 + 4 * 2 * 4 + 4);
    CHECK(m.rounding().largest < 1e-6);
}

TEST_CASE("without zero points the largest magnitude becomes the smallest integer") {
    std::vector<float> const numbers{8, 7.5F, -7, 0.5F, -0.5F, 1.49F, 0, -7.75F, 2, 0, 0, 0, 0, 0, 0, 0};
    quantized_matrix const m(in_memory(numbers, 1), {4, 16, true}, "w");
    CHECK(floats(m.scales()) == std::vector{-1.0F});
    CHECK(m.integers().type == dtype::int4);
    CHECK(bytes(m.integers()) == std::vector{0x98, 0x07, 0xf1, 0x70, 0x0e, 0, 0, 0});
    CHECK(bytes(m.packed_blocks()) == std::vector{0x10, 0x8f, 0x79, 0xf8, 0x86, 0x88, 0x88, 0x88});
    CHECK(m.byte_count() == 8 + 4);
    CHECK(m.rounding().largest == 0.75); // -7.75 becomes -7
}

TEST_CASE("elements that no integer stands for are refused, by the name of the weight") {
    for (float const v : {std::nanf(""), infinity, -infinity}) {
        std::vector<float> numbers(34, 1.0F);
        numbers[33] = v;
        quantized_matrix const m(in_memory(numbers, 2), {8, 16, false}, "layer.\nweight");
        for (stored_tensor const& t : {m.packed_blocks(), m.integers(), m.scales(), m.zero_points()})
            CHECK_THROWS_WITH_AS(load(t), doctest::Contains("which cannot be rounded; leave it as it is"), error);
    }
    std::vector<float> const opposite{-largest, 0.9F * largest, 0, 0}; // 1.9 / 3 * largest, twice
    quantized_matrix const wide(in_memory(opposite, 1), {2, 16, false}, "w");
    CHECK_THROWS_WITH_AS(load(wide.scales()), doctest::Contains("too large to be rounded"), error);
    quantized_matrix const even(in_memory(opposite, 1), {2, 16, true}, "w");
    CHECK(floats(even.scales()) == std::vector{largest / 2});
}

TEST_CASE("only matrices of floats, and whole bytes") {
    std::vector<float> const numbers(24, 1.0F);
    stored_tensor cube = in_memory(numbers, 4);
    cube.sizes = {4, 3, 2};
    CHECK_THROWS_AS(quantized_matrix(cube, {}, "w"), error);
    stored_tensor integers = in_memory(numbers, 4);
    integers.type = dtype::int32;
    CHECK_THROWS_AS(quantized_matrix(integers, {}, "w"), error);
    for (quantization const how : {quantization{3, 32}, {4, 0}, {4, -32}, {2, 2}, {4, 1}})
        CHECK_THROWS_AS(quantized_matrix(in_memory(numbers, 4), how, "w"), error);
}

} // namespace quantized_matrix_test
