// SPDX-License-Identifier: MIT
// The harness of ONNX's backend tests finds errors: values that differ, impossible draws, and calls that crash.
#include <array>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <aton/core/error.hpp>

#include "compare_values.hpp"
#include "guarded_run.hpp"

namespace aton::tests {

namespace {

using runtime::tensor;
using runtime::value;

tensor floats(std::vector<double> const& of, dtype type = dtype::float32) {
    aton::tensor t{type, {static_cast<std::int64_t>(of.size())}, {}};
    for (double x : of) t.append(x);
    return tensor::from_constant(t);
}

std::string differ(value const& got, value const& expected) { return difference(got, expected, {}); }

std::string draw(char const* check, std::vector<value> const& in, std::vector<value> const& got,
                 std::vector<value> const& like) {
    return draw_problem(check, in, got, like);
}

} // namespace

TEST_CASE("values within the tolerance are equal, and NaN and infinities equal themselves") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    double const inf = std::numeric_limits<double>::infinity();
    tensor const x = floats({1, -2, nan, inf, 0});
    CHECK(differ(x, x).empty());
    CHECK(differ(floats({1.0009, -2.0019, nan, inf, -1e-8}), x).empty());
    CHECK(differ(floats({1, -2, nan, inf, 1e-6}), x) == "1 of 5 elements are wrong, the first at 4: 1e-06, expected 0");
    CHECK(differ(floats({1, -2, 0, -inf, 0}), x) == "2 of 5 elements are wrong, the first at 2: 0, expected nan");
    CHECK(!differ(floats({nan, -2, nan, inf, 0}), x).empty());
    CHECK(differ(floats({1.015}, dtype::bfloat16), floats({1}, dtype::bfloat16)).empty());
    CHECK(!differ(floats({1.015}, dtype::float16), floats({1}, dtype::float16)).empty());
    CHECK(differ(floats({1, 2}), floats({1, 2}, dtype::float64)) == "float32, expected float64");
    CHECK(differ(floats({1, 2}), floats({1, 2}).reshaped({2, 1})) == "sizes [2], expected [2, 1]");
}

TEST_CASE("integers, strings and narrow types are compared exactly, complex numbers by their distance") {
    std::int64_t const large = std::int64_t{1} << 62;
    CHECK(differ(tensor::of_integers(std::array{large + 1}), tensor::of_integers(std::array{large})) ==
          "1 of 1 elements are wrong, the first at 0: 4611686018427387905, expected 4611686018427387904");
    CHECK(!differ(tensor::of_strings({"a"}, {1}), tensor::of_strings({"b"}, {1})).empty());
    CHECK(differ(tensor::of_strings({"a"}, {1}), tensor::of_strings({"a"}, {1})).empty());
    for (dtype const t : {dtype::int4, dtype::uint2, dtype::float8_e4m3fn, dtype::float4_e2m1, dtype::float8_e8m0}) {
        tensor const x =
            tensor::from_constant({t, {2}, std::string(bits(t) == 8 ? "qr" : "\x06", (2 * bits(t) + 7) / 8)});
        tensor const y =
            tensor::from_constant({t, {2}, std::string(bits(t) == 8 ? "qz" : "\x02", (2 * bits(t) + 7) / 8)});
        CAPTURE(std::string(name(t)));
        CHECK(differ(x, x).empty());
        CHECK(!differ(x, y).empty());
    }
    aton::tensor z{dtype::complex64, {1}, {}};
    z.append(scalar::complex(100, 0));
    aton::tensor w{dtype::complex64, {1}, {}};
    w.append(scalar::complex(100, 0.05));
    CHECK(differ(tensor::from_constant(w), tensor::from_constant(z)).empty());
    w.bytes[3] = 0;
    CHECK(!differ(tensor::from_constant(w), tensor::from_constant(z)).empty());
}

TEST_CASE("sequences, empty optionals and the number of outputs are compared") {
    value const one = floats({1});
    value const many = std::vector<tensor>{floats({1}), floats({2})};
    CHECK(differ(many, many).empty());
    CHECK(differ(value(), value()).empty());
    CHECK(differ(value(), one) == "nothing, expected a tensor");
    CHECK(differ(one, many) == "a tensor, expected a sequence");
    CHECK(differ(std::vector<tensor>{floats({1})}, many) == "1 elements, expected 2");
    CHECK(differ(std::vector<tensor>{floats({1}), floats({3})}, many).starts_with("element 1: 1 of 1 elements"));
    CHECK(difference(std::array{one}, std::array{one, one}, {}) == "1 outputs, expected 2");
    CHECK(difference(std::array{one, value(floats({3}))}, std::array{one, one}, {}).starts_with("output 1: "));
}

TEST_CASE("draws must have the right dtype and a likely number of successes") {
    std::vector<double> half(1000, 0.5);
    std::vector<double> drawn(1000, 0);
    for (std::size_t i = 0; i != 500; ++i) drawn[i] = 1;
    value const p = floats(half);
    value const like = floats(half);
    CHECK(draw("bernoulli", {p}, {floats(drawn)}, {like}).empty());
    CHECK(!draw("bernoulli", {p}, {floats(half)}, {like}).empty());
    CHECK(!draw("bernoulli", {p}, {floats(std::vector<double>(1000, 1))}, {like}).empty());
    CHECK(!draw("bernoulli", {floats(std::vector<double>(1000, 0))}, {floats(drawn)}, {like}).empty());
    CHECK(draw("bernoulli", {p}, {floats(drawn, dtype::float64)}, {like}) == "output 0: float64, expected float32");

    value const ratio = floats({0.5});
    std::vector<double> kept(1000, 0);
    for (std::size_t i = 0; i != 500; ++i) kept[i] = 1;
    CHECK(draw("dropout", {p, ratio}, {floats(kept)}, {like}).empty());
    CHECK(draw("dropout", {p, ratio}, {floats(kept), floats(drawn, dtype::bool_)}, {like, floats(half, dtype::bool_)})
              .empty());
    CHECK(!draw("dropout", {p, ratio}, {p}, {like}).empty());
    std::vector<double> other = drawn;
    std::swap(other[0], other[999]);
    CHECK(
        draw("dropout", {p, ratio}, {floats(kept), floats(other, dtype::bool_)}, {like, floats(half, dtype::bool_)}) ==
        "the mask at 0 is not what is dropped");
}

TEST_CASE("a call that crashes, exits, hangs or throws is one result among others") {
    auto const job = [](std::size_t i) -> std::string {
        if (i == 1) std::raise(SIGKILL);
        if (i == 2) std::_Exit(3);
        if (i == 3)
            for (;;) ::raise(SIGSTOP);
        if (i == 4) throw error("refused");
        return std::string(i == 5 ? 100000 : 1, static_cast<char>('a' + i));
    };
    for (std::size_t const processes : {std::size_t{1}, std::size_t{3}}) {
        std::vector<std::string> const got = guarded_run(8, job, processes, 1);
        CHECK(got[0] == "a");
        CHECK(got[1] == "crashed: Killed");
        CHECK(got[2] == "ended the program with 3");
        CHECK(got[3] == "has not come back after 1 s");
        CHECK(got[4] == "refused");
        CHECK(got[5] == std::string(100000, 'f'));
        CHECK(got[7] == "h");
    }
    CHECK(guarded_run(1, job, 0)[0] == "a");
    CHECK(guarded_run(0, job).empty());
}

} // namespace aton::tests
