// SPDX-License-Identifier: MIT
// g.constant and g.ints of lists: dtypes, sizes and elements, and lists that are refused.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <aton/aton.hpp>

namespace constant_list_test {

using namespace aton::dsl;

namespace {

struct fixture {
    graph_data data;
    graph<13> g{data, 20};
    value x{data, data.add_input("x", {dtype::float32, aton::shape{2, "n", 5}})};
};

template <class T>
std::string bytes_of(std::vector<T> const& all) {
    return {reinterpret_cast<char const*>(all.data()), all.size() * sizeof(T)}; // NOLINT(*-reinterpret-cast): bytes
}

template <class Make>
std::string refusal_of(Make const& make) {
    fixture f;
    try {
        (void)make(f.g);
    } catch (aton::unsupported_error const& e) {
        CHECK(f.data.nodes.empty());
        return e.what();
    }
    return "accepted";
}

} // namespace

TEST_CASE("the C++ type of the numbers determines the dtype of a constant") {
    fixture f;
    CHECK(f.g.constant({1.0, 2.5}).constant() == tensor{dtype::float64, {2}, bytes_of(std::vector<double>{1.0, 2.5})});
    CHECK(f.g.constant({1.0F, 0.1F, 3.0F}).constant() ==
          tensor{dtype::float32, {3}, bytes_of(std::vector<float>{1.0F, 0.1F, 3.0F})});
    CHECK(f.g.constant({7, -1}).constant() == tensor{dtype::int64, {2}, bytes_of(std::vector<std::int64_t>{7, -1})});
    CHECK(f.g.constant({true, false, true}).constant() == tensor{dtype::bool_, {3}, std::string("\1\0\1", 3)});
    CHECK(f.g.constant({1, 2.5}).dtype() == dtype::float64);
    CHECK(f.g.constant({true, 3}).dtype() == dtype::int64);
    CHECK(f.g.constant({scalar(1), scalar::complex(0, -1)}).dtype() == dtype::complex128);

    std::array<std::uint8_t, 3> const small{0, 200, 255};
    CHECK(f.g.constant(small).constant() ==
          tensor{dtype::int64, {3}, bytes_of(std::vector<std::int64_t>{0, 200, 255})});
    std::vector<bool> const flags{false, true};
    CHECK(f.g.constant(flags).constant() == tensor{dtype::bool_, {2}, std::string("\0\1", 2)});
    std::vector<float> const none;
    CHECK(f.g.constant(none).constant() == tensor{dtype::float32, {0}, {}});
    std::vector<scalar> const numbers{2, 0.5};
    CHECK(f.g.constant(std::span(numbers)).dtype() == dtype::float64);
}

TEST_CASE("a constant from a list has the dtype and the sizes that are given") {
    fixture f;
    CHECK(f.g.constant({1, 0, 2, 5, 4, 3}, dtype::float32, {3, 2}).constant() ==
          tensor{dtype::float32, {3, 2}, bytes_of(std::vector<float>{1, 0, 2, 5, 4, 3})});
    CHECK(f.g.constant({0.25}, dtype::float16, {}).constant() == tensor{dtype::float16, {}, std::string("\0\x34", 2)});
    CHECK(f.g.constant({3, 4}, {1, 2, 1}).shape() == aton::shape{1, 2, 1});
    std::vector<std::int64_t> const sizes{0, 4};
    CHECK(f.g.constant(std::vector<double>(), dtype::int8, sizes).shape() == aton::shape{0, 4});
    // bytes of a tensor, as before
    CHECK(f.g.constant({dtype::uint8, {2}, std::string("\1\2")}).dtype() == dtype::uint8);
}

TEST_CASE("lists that do not fit their dtype or sizes are refused") {
    CHECK(refusal_of([](auto g) { return g.constant({1, 2, 300}, dtype::int8); }) ==
          "the number 300 does not fit int8");
    CHECK(refusal_of([](auto g) { return g.constant({1.0, 2.5}, dtype::int64); }) ==
          "the number 2.5 does not fit int64");
    CHECK(refusal_of([](auto g) { return g.constant({1e39}, dtype::float32); }) ==
          "the number 1e+39 does not fit float32");
    CHECK(refusal_of([](auto g) { return g.constant({1.0, 2.0, 3.0}, {2, 2}); }) ==
          "a list of 3 numbers does not fit the sizes [2, 2]");
    CHECK(refusal_of([](auto g) { return g.constant({1.0, 2.0}, {-1, -2}); }) ==
          "a list of 2 numbers does not fit the sizes [-1, -2]");
    CHECK(refusal_of([](auto g) { return g.constant(std::vector<int>(), {0, -4}); }) ==
          "a list of 0 numbers does not fit the sizes [0, -4]");
    CHECK(refusal_of([](auto g) { return g.constant({1, 2}, dtype::int64, {}); }) ==
          "a list of 2 numbers does not fit the sizes []");
    CHECK(refusal_of([](auto g) { return g.constant({1, 2}, {std::int64_t{1} << 62, 8}); }) ==
          "a list of 2 numbers does not fit the sizes [4611686018427387904, 8]");
    CHECK(refusal_of([](auto g) { return g.constant({1, 2}, dtype::undefined); }) ==
          "the dtype of a list of numbers cannot be undefined");
    CHECK(refusal_of([](auto g) { return g.constant(std::vector<int>(), dtype::string); }) ==
          "the dtype of a list of numbers cannot be string");
    std::vector<std::uint64_t> const large{1, std::numeric_limits<std::uint64_t>::max()};
    CHECK(refusal_of([&](auto g) { return g.constant(large, dtype::uint64); }) ==
          "the number 18446744073709551615 of a constant does not fit int64");
    CHECK(refusal_of([&](auto g) { return g.ints(large); }) ==
          "the number 18446744073709551615 of a constant does not fit int64");
}

TEST_CASE("g.ints takes lists of any integer type, and numbers beside sizes") {
    fixture f;
    std::vector<int> const axes{-1, 3};
    CHECK(f.g.ints(axes).constant() == tensor{dtype::int64, {2}, bytes_of(std::vector<std::int64_t>{-1, 3})});
    CHECK(f.g.ints(std::array<std::uint8_t, 1>{250}).constant().at(0).to<int>() == 250);
    CHECK(f.g.ints({}).shape() == aton::shape{0});
    CHECK(f.g.ints({0, f.g.size(f.x, 2), -1}).constant() ==
          tensor{dtype::int64, {3}, bytes_of(std::vector<std::int64_t>{0, 5, -1})});
    std::size_t const before = f.data.nodes.size();
    value const computed = f.g.ints({7, f.g.size(f.x, 1)});
    CHECK(f.data.nodes.size() > before + 1);
    CHECK(f.data.nodes.back().op == "Concat");
    CHECK_FALSE(computed.is_constant());
    CHECK(computed.shape() == aton::shape{2});
    sym_int const n = f.g.size(f.x, 1);
    CHECK(f.g.ints({n}).shape() == aton::shape{1});
}

} // namespace constant_list_test
