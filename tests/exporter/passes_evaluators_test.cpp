// SPDX-License-Identifier: MIT
// What is computed at export from constants and weights, beside ONNX's node tests (folded_node_tests.cpp): the limits.
#include "passes_fixture.hpp"

#include <doctest/doctest.h>

using namespace passes_tests;
using list = std::vector<double>;

TEST_CASE("an einsum with an ellipsis of weights is computed") {
    optimized<18> o;
    value const outer = o.g.op<"Einsum">(std::vector{o.constant(dtype::float32, {3}, {1, 2, -4}), o.weight("w", {2})},
                                         attr::equation_s("..., f -> ... f"));
    CHECK(o(outer) == "");
    CHECK(o.result().sizes == sizes{3, 2});
    CHECK(o.numbers() == list{0.5, 1, 1, 2, -2, -4});
}

TEST_CASE("an einsum sums over labels that the result lacks, over a diagonal, and broadcasts its ellipsis") {
    optimized<18> o;
    value const a = o.constant(dtype::float64, {2, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 7, 6, 5, 4, 3, 2, 1});
    value const b = o.constant(dtype::float64, {1, 3}, {1, 10, 100});
    CHECK(o(o.g.op<"Einsum">(std::vector{a, b}, attr::equation_s("...ii,...i->..."))) == "");
    CHECK(o.numbers() == list{951, 159});
}

TEST_CASE("an einsum of as many products as a large result is left to the runtime") {
    optimized<18> o;
    std::vector<value> const both{o.weight("a", {90, 90}), o.weight("b", {90, 90})};
    value const trace = o.g.op<"Einsum">(both, attr::equation_s("ij,kl->"));
    CHECK(o(o.typed(trace, aton::shape{std::vector<dim>{}})) == "Einsum");
}

TEST_CASE("tables that are written part by part are computed, but not where two parts have the same place") {
    for (bool const twice : {false, true}) {
        optimized<18> o;
        value const table = o.constant(dtype::float32, {2, 3}, {0, 0, 0, 7, 7, 7});
        value const places = o.constant(dtype::int64, {1, 2}, {twice ? 1.0 : -1.0, 1});
        value const parts = o.constant(dtype::float32, {1, 2}, {5, 6});
        value const written = o.g.op<"ScatterElements">(table, places, parts, attr::axis_i(1));
        CHECK(o(written) == (twice ? "ScatterElements" : ""));
        if (!twice) CHECK(o.numbers() == list{0, 6, 5, 7, 7, 7});
    }
}

TEST_CASE(
    "resizing by a scale with aligned corners is left to the runtime where the size is rounded: runtimes differ") {
    auto const resized = [](double scale) {
        optimized<18> o;
        value const x = o.constant(dtype::float32, {1, 1, 1, 4}, {1, 2, 3, 5});
        return o(o.g.op<"Resize">(x,
                                  std::nullopt,
                                  o.constant(dtype::float32, {4}, {1, 1, 1, scale}),
                                  std::nullopt,
                                  attr::mode_s("linear"),
                                  attr::coordinate_transformation_mode_s("align_corners")));
    };
    CHECK(resized(1.5) == "");
    CHECK(resized(0.6) == "Resize");
}

TEST_CASE("a Fourier transform whose axis depends on the opset is left to the runtime") {
    optimized<20> o;
    value const x = o.constant(dtype::float32, {1, 4, 1, 1}, {1, 2, 3, 5});
    CHECK(o(o.g.op<"DFT">(x)) == "DFT");
}

TEST_CASE("bounds of Clip that are attributes, before opset 11, are not overlooked") {
    optimized<7> o(10);
    graph<7, 10> const g(o.data, 10);
    value const x = o.constant(dtype::float32, {3}, {-5, 0.5, 5});
    CHECK(o(g.op<"Clip">(x, attr::min_f(-1), attr::max_f(1))) == "Clip");
}

TEST_CASE("a reduction without axes that changes each element is no copy") {
    for (bool const squares : {false, true}) {
        optimized<18> o;
        value const x = o.constant(dtype::float32, {3}, {-5, 0.5, 5});
        value const none = o.g.ints({});
        value const y = squares ? value(o.g.op<"ReduceSumSquare">(x, none, attr::noop_with_empty_axes_i(1)))
                                : value(o.g.op<"ReduceSum">(x, none, attr::noop_with_empty_axes_i(1)));
        CHECK(o(y) == (squares ? "ReduceSumSquare" : ""));
    }
}
