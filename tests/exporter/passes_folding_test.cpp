// SPDX-License-Identifier: MIT
// Constant folding and arithmetic on sizes: exact results, and none if that of a runtime is not certain.
#include "passes_fixture.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace passes_tests;
using list = std::vector<double>;

namespace {

aton::shape const scalar_shape{std::vector<dim>{}};

/// The result of the passes for one operator on constants.
template <class Make>
optimized<18> folded(Make make, int opset = 20) {
    optimized<18> o(opset);
    o(make(o));
    return o;
}

} // namespace

TEST_CASE("integers: division truncates, Mod has the divisor's sign, everything wraps") {
    auto const div = folded([](auto& o) {
        return o.g.template op<"Div">(o.constant(dtype::int64, {4}, {7, -7, 7, -7}),
                                      o.constant(dtype::int64, {4}, {2, 2, -2, -2}));
    });
    CHECK(div.numbers() == list{3, -3, -3, 3});
    auto const mod = folded([](auto& o) {
        return o.g.template op<"Mod">(o.constant(dtype::int32, {4}, {7, -7, 7, -7}),
                                      o.constant(dtype::int32, {4}, {3, 3, -3, -3}));
    });
    CHECK(mod.numbers() == list{1, 2, -2, -1});
    auto const fmod = folded([](auto& o) {
        return o.g.template op<"Mod">(
            o.constant(dtype::int32, {4}, {7, -7, 7, -7}), o.g.scalar(3, dtype::int32), attr::fmod_i(1));
    });
    CHECK(fmod.numbers() == list{1, -1, 1, -1});
    auto const wrapped = folded([](auto& o) {
        return o.g.template op<"Add">(o.constant(dtype::uint8, {2}, {250, 3}), o.g.scalar(9, dtype::uint8));
    });
    CHECK(wrapped.numbers() == list{3, 12});
    CHECK(wrapped.result().type == dtype::uint8);
}

TEST_CASE("what a runtime refuses or does not define is not folded") {
    CHECK(folded([](auto& o) {
              return o.g.template op<"Div">(o.g.ints({5, 6}), o.g.ints({0, 1}));
          }).data.nodes.size() == 1);
    CHECK(folded([](auto& o) { return o.g.template op<"Mod">(o.g.ints({5}), o.g.ints({0})); }).data.nodes.size() == 1);
    CHECK(folded([](auto& o) {
              return o.g.template op<"Div">(o.g.ints({INT64_MIN}), o.g.ints({-1}));
          }).data.nodes.size() == 1);
    for (double bad : {3e9, -3e9, std::nan(""), HUGE_VAL})
        CHECK(folded([&](auto& o) {
                  return o.g.template op<"Cast">(o.constant(dtype::float32, {2}, {1.5, bad}), attr::to_i(dtype::int32));
              }).data.nodes.size() == 1);
    CHECK(folded([](auto& o) {
              return o.g.template op<"Gather">(o.g.ints({5, 6}), o.g.ints({2}));
          }).data.nodes.size() == 1);
    CHECK(folded([](auto& o) { return o.g.template op<"RandomUniform">(attr::shape_i({2})); }).data.nodes.size() == 1);
    CHECK(folded([](auto& o) {
              return o.g.template op<"Max">(std::vector<value>{o.constant(dtype::float32, {2}, {std::nan(""), 1}),
                                                               o.constant(dtype::float32, {}, {0})});
          }).data.nodes.size() == 1);
    CHECK(folded([](auto& o) { // 4 MiB
              return o.g.template op<"ConstantOfShape">(o.g.ints({1024, 1024}));
          })
              .data.nodes.size() == 1);
    CHECK(folded([](auto& o) { // more elements than fit into any memory
              return o.g.template op<"Expand">(o.g.scalar(1, dtype::int64), o.g.ints({INT64_MAX}));
          })
              .data.nodes.size() == 1);
}

TEST_CASE("casts truncate, round to even and treat NaN as true") {
    auto const whole = folded([](auto& o) {
        return o.g.template op<"Cast">(o.constant(dtype::float32, {4}, {2.9, -2.9, 0.5, -0.0}),
                                       attr::to_i(dtype::int64));
    });
    CHECK(whole.numbers() == list{2, -2, 0, 0});
    auto const half = folded([](auto& o) {
        return o.g.template op<"Cast">(o.constant(dtype::float32, {3}, {2049, 2051, 70000}),
                                       attr::to_i(dtype::float16));
    });
    CHECK(half.numbers() == list{2048, 2052, HUGE_VAL});
    auto const brain = folded([](auto& o) {
        return o.g.template op<"Cast">(o.constant(dtype::float32, {2}, {257, 259}), attr::to_i(dtype::bfloat16));
    });
    CHECK(brain.numbers() == list{256, 260});
    auto const truth = folded([](auto& o) {
        return o.g.template op<"Cast">(o.constant(dtype::float32, {4}, {0, -0.0, std::nan(""), 0.1}),
                                       attr::to_i(dtype::bool_));
    });
    CHECK(truth.numbers() == list{0, 0, 1, 1});
    auto const narrow = folded([](auto& o) {
        return o.g.template op<"Cast">(o.constant(dtype::int64, {3}, {-1, 300, 4294967297.0}),
                                       attr::to_i(dtype::uint8));
    });
    CHECK(narrow.numbers() == list{255, 44, 1});
}

TEST_CASE("float arithmetic is rounded in its own dtype") {
    auto const third = folded([](auto& o) {
        return o.g.template op<"Div">(o.constant(dtype::float32, {1}, {1}), o.constant(dtype::float32, {}, {3}));
    });
    CHECK(third.numbers()[0] == static_cast<double>(1.0F / 3.0F));
    auto const half = folded([](auto& o) {
        return o.g.template op<"Add">(o.constant(dtype::float16, {1}, {2048}), o.constant(dtype::float16, {}, {1}));
    });
    CHECK(half.numbers() == list{2048});
    auto const root = folded([](auto& o) {
        return o.g.template op<"Reciprocal">(o.g.template op<"Sqrt">(o.constant(dtype::float64, {2}, {2, 0.25})));
    });
    CHECK(root.numbers() == list{1 / std::sqrt(2.0), 2});
    auto const wave = folded([](auto& o) { return o.g.template op<"Cos">(o.constant(dtype::float32, {2}, {0, 2})); });
    CHECK(wave.numbers() == list{1, static_cast<double>(static_cast<float>(std::cos(2.0)))});
}

TEST_CASE("layout: negative axes and steps, broadcasting, empty results") {
    auto const sliced = folded([](auto& o) {
        return o.g.template op<"Slice">(o.constant(dtype::int32, {2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}),
                                        o.g.ints({-1}),
                                        o.g.ints({-6}),
                                        o.g.ints({-1}),
                                        o.g.ints({-2}));
    });
    CHECK(sliced.result().sizes == sizes{2, 2});
    CHECK(sliced.numbers() == list{3, 1, 7, 5});
    auto const none =
        folded([](auto& o) { return o.g.template op<"Slice">(o.g.ints({1, 2, 3}), o.g.ints({2}), o.g.ints({1})); });
    CHECK(none.result().sizes == sizes{0});
    CHECK(none.result().type == dtype::int64);
    auto const turned = folded([](auto& o) {
        return o.g.template op<"Transpose">(o.constant(dtype::uint8, {2, 1, 3}, {1, 2, 3, 4, 5, 6}),
                                            attr::perm_i({2, 0, 1}));
    });
    CHECK(turned.result().sizes == sizes{3, 2, 1});
    CHECK(turned.numbers() == list{1, 4, 2, 5, 3, 6});
    auto const chosen = folded([](auto& o) {
        return o.g.template op<"Where">(o.constant(dtype::bool_, {2, 1}, {1, 0}),
                                        o.constant(dtype::float64, {3}, {1, 2, 3}),
                                        o.constant(dtype::float64, {}, {9}));
    });
    CHECK(chosen.numbers() == list{1, 2, 3, 9, 9, 9});
    auto const tiled = folded([](auto& o) {
        return o.g.template op<"Tile">(o.constant(dtype::int8, {2, 2}, {1, 2, 3, 4}), o.g.ints({1, 2}));
    });
    CHECK(tiled.numbers() == list{1, 2, 1, 2, 3, 4, 3, 4});
    auto const gathered = folded([](auto& o) {
        return o.g.template op<"Gather">(
            o.constant(dtype::int16, {2, 3}, {1, 2, 3, 4, 5, 6}), o.g.ints({-1, 0}), attr::axis_i(-1));
    });
    CHECK(gathered.numbers() == list{3, 1, 6, 4});
    auto const lower = folded([](auto& o) {
        return o.g.template op<"Trilu">(
            o.constant(dtype::int64, {2, 3}, {1, 2, 3, 4, 5, 6}), o.g.scalar(-1, dtype::int64), attr::upper_i(0));
    });
    CHECK(lower.numbers() == list{0, 0, 0, 4, 0, 0});
}

TEST_CASE("sequences, sums and products") {
    auto const down = folded([](auto& o) {
        return o.g.template op<"Range">(
            o.g.scalar(7, dtype::int64), o.g.scalar(-2, dtype::int64), o.g.scalar(-3, dtype::int64));
    });
    CHECK(down.numbers() == list{7, 4, 1});
    auto const before = folded([](auto& o) {
        return o.g.template op<"CumSum">(o.constant(dtype::int32, {2, 3}, {1, 2, 3, 4, 5, 6}),
                                         o.g.scalar(-1, dtype::int64),
                                         attr::exclusive_i(1),
                                         attr::reverse_i(1));
    });
    CHECK(before.numbers() == list{5, 3, 0, 11, 6, 0});
    auto const product = folded([](auto& o) {
        return o.g.template op<"ReduceProd">(
            o.constant(dtype::int64, {2, 3}, {1, 2, 3, 4, 5, 6}), o.g.ints({0}), attr::keepdims_i(0));
    });
    CHECK(product.numbers() == list{4, 10, 18});
    auto const empty =
        folded([](auto& o) { return o.g.template op<"ReduceMax">(o.constant(dtype::int64, {0}, {}), o.g.ints({0})); });
    CHECK(empty.data.nodes.size() == 1); // no maximum of an empty tensor
    auto const nothing = folded([](auto& o) {
        return o.g.template op<"ReduceSum">(
            o.constant(dtype::int64, {2}, {3, 4}), o.g.ints({}), attr::noop_with_empty_axes_i(1));
    });
    CHECK(nothing.numbers() == list{3, 4});
    // 0.1 is not a whole number: runtimes accumulate it in different ways.
    auto const steps = folded([](auto& o) {
        return o.g.template op<"Range">(o.constant(dtype::float32, {}, {0}),
                                        o.constant(dtype::float32, {}, {1}),
                                        o.constant(dtype::float32, {}, {0.1}));
    });
    CHECK(steps.data.nodes.size() == 1);
    auto const matrix = folded([](auto& o) {
        return o.g.template op<"MatMul">(o.constant(dtype::float32, {1, 2, 1}, {3, 5}),
                                         o.constant(dtype::float32, {2, 1, 2}, {1, 2, 4, 8}));
    });
    CHECK(matrix.result().sizes == sizes{2, 2, 2});
    CHECK(matrix.numbers() == list{3, 6, 5, 10, 12, 24, 20, 40});
}

TEST_CASE("constants of every form are initializers, and equal ones are merged") {
    optimized<> o;
    value const x = o.input("x", {3, 5}, dtype::int64);
    value const a = o.g.op<"Constant">(attr::value_ints_i({1, 2, 3, 4, 5}));
    value const b = o.g.ints({1, 2, 3, 4, 5});
    value const c = o.constant(dtype::int64, {1, 5}, {1, 2, 3, 4, 5}); // other sizes
    CHECK(o({o.g.op<"Add">(o.g.op<"Mul">(x, a), b), o.g.op<"Sub">(x, c)}) == "Mul Add Sub");
    CHECK(o.data.initializers.size() == 2);
    CHECK(o.data.nodes[0].inputs[1] == o.data.nodes[1].inputs[1]);
}

TEST_CASE("static sizes are constants even if others are not") {
    optimized<15> o;
    value const x = o.input("x", {std::string("batch"), 7, 5});
    value const n = o.g.op<"Gather">(o.g.op<"Shape">(x), o.g.scalar(-2, dtype::int64), attr::axis_i(0));
    value const tail = o.g.op<"Slice">(o.g.op<"Shape">(x), o.g.ints({1}), o.g.ints({3}));
    value const part = o.g.op<"Shape">(x, attr::start_i(-1));
    value const all =
        o.g.op<"Concat">(std::vector<value>{tail, part, o.g.op<"Unsqueeze">(n, o.g.ints({0}))}, attr::axis_i(0));
    value const batch = o.g.op<"Gather">(o.g.op<"Shape">(x), o.g.scalar(0, dtype::int64), attr::axis_i(0));
    CHECK(o({all, o.g.op<"Add">(batch, 1)}) == "Shape Squeeze Add");
    CHECK(o.numbers(0) == list{7, 5, 5, 7});
    CHECK(o.attribute(0, "end") == 1);
}

TEST_CASE("the size of a symbol is computed once, from an input, for all uses") {
    for (int opset : {14, 15, 20}) {
        CAPTURE(opset);
        optimized<> o(opset);
        value const x = o.input("x", {std::string("batch"), std::string("time"), 5});
        value const y = o.g.op<"Relu">(x);
        value const z = o.g.op<"Exp">(y);
        auto const size = [&](value v, std::int64_t i) {
            return value(o.g.op<"Gather">(o.g.op<"Shape">(v), o.g.scalar(i, dtype::int64), attr::axis_i(0)));
        };
        value const one = o.g.op<"Reshape">(size(y, 1), o.g.ints({1}));
        value const other = o.g.op<"Unsqueeze">(size(z, 1), o.g.ints({0}));
        value const number = o.g.op<"Mul">(size(z, 1), 2);
        value const w =
            o.g.op<"ConstantOfShape">(o.g.op<"Concat">(std::vector<value>{one, other, o.g.ints({3})}, attr::axis_i(0)));
        std::string const left = o({w, number, z});
        CHECK(left == (opset < 15 ? "Shape Gather Gather Relu Exp Mul Concat ConstantOfShape"
                                  : "Shape Squeeze Relu Exp Mul Concat ConstantOfShape"));
        CHECK(o.data.nodes[0].inputs[0] == x.id());
    }
}

TEST_CASE("all sizes of a tensor, one by one, are its Shape; the Size of a list is its length") {
    optimized<15> o;
    value const x = o.input("x", {std::string("batch"), 4});
    value const list = o.input("list", {std::string("batch")});
    value const filled = o.g.op<"ConstantOfShape">(o.g.op<"Concat">(
        std::vector<value>{o.g.op<"Reshape">(o.g.op<"Size">(list), o.g.ints({1})), o.g.ints({4})}, attr::axis_i(0)));
    CHECK(o({filled}) == "Shape ConstantOfShape");
    CHECK(o.data.nodes[0].inputs[0] == x.id());
    CHECK(o.data.nodes[0].attributes.empty());
    optimized<15> other;
    value const y = other.input("x", {std::string("batch"), 4});
    CHECK(other(other.g.op<"ConstantOfShape">(other.g.op<"Concat">(
              std::vector<value>{other.g.ints({4}), other.g.op<"Shape">(y, attr::end_i(1))}, attr::axis_i(0)))) ==
          "Shape Concat ConstantOfShape");
}

TEST_CASE("an initializer that is also an input is not a constant") {
    optimized<> o;
    value const w = o.input("w", {2}, dtype::int64);
    o.data.set_initializer(w.id(), aton::int64_tensor(sizes{3, 4}));
    CHECK(o(o.g.op<"Add">(w, 1)) == "Add");
    CHECK(o.data.initializers.size() == 2);
}

TEST_CASE("a result that contradicts the program's types is not folded") {
    optimized<> o;
    value const y = o.g.op<"Add">(o.g.ints({1, 2}), o.g.ints({3, 4}));
    o.data.values[y.id()].type.dtype = dtype::int32;
    CHECK(o(y) == "Add");
}

// The numbers of ONNX's reference evaluator, which ONNX Runtime gives too.
TEST_CASE("interpolation of a constant") {
    std::vector<double> const picture{1, 2, 4, -3, 0.5, 8, -2, 6, 7, -1, 3, 0};
    auto const resized = [&](auto scales, auto to, auto... attributes) {
        return folded([&](auto& o) {
            return o.g.template within<18>().template op<"Resize">(
                o.constant(dtype::float32, {1, 1, 3, 4}, picture), absent, scales(o), to(o), attributes...);
        });
    };
    auto const none = [](auto&) -> optional_value { return absent; };
    auto const ints = [](std::vector<std::int64_t> list) {
        return [list](auto& o) -> optional_value { return o.g.constant(aton::int64_tensor(list)); };
    };
    auto const factors = [](std::vector<double> list) {
        return [list](auto& o) -> optional_value {
            return o.constant(dtype::float32, {static_cast<std::int64_t>(list.size())}, list);
        };
    };
    auto const check = [](auto const& o, sizes const& to, list const& expected) {
        CHECK(o.result().sizes == to);
        list const found = o.numbers();
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i != found.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-5));
    };
    check(resized(none, ints({2, 6}), attr::axes_i({2, 3}), attr::mode_s("linear")),
          {1, 1, 2, 6},
          {0.875, 2.1875, 3.333333, 2.666667, 0.875, -0.75, 5.375, 3.3125, 1.333333, 1.666667, 1.625, 1.5});
    check(resized(none, ints({1, 1, 5, 3}), attr::mode_s("cubic")),
          {1, 1, 5, 3},
          {1.047243,
           3.826501,
           -2.597981,
           1.067249,
           3.615187,
           0.916076,
           1.75,
           2.953125,
           4.678244,
           4.264,
           1.413562,
           2.599159,
           6.169522,
           0.29875,
           0.098889});
    check(resized(none,
                  ints({1, 1, 5, 3}),
                  attr::mode_s("cubic"),
                  attr::coordinate_transformation_mode_s("align_corners"),
                  attr::cubic_coeff_a_f(-0.5)),
          {1, 1, 5, 3},
          {1, 3.5, -3, 0.34375, 3.376953, 1.875, 0.5, 2.96875, 6, 3.71875, 1.794922, 3.5625, 7, 0.6875, 0});
    check(resized(factors({1, 1, 1.5, 0.6}),
                  none,
                  attr::mode_s("linear"),
                  attr::coordinate_transformation_mode_s("asymmetric")),
          {1, 1, 4, 2},
          {1, 3.333333, 0.666667, 2, 2.666667, 1.444445, 7, 1.666666});
    check(resized(factors({1, 1, 2, 1}),
                  none,
                  attr::mode_s("nearest"),
                  attr::nearest_mode_s("floor"),
                  attr::coordinate_transformation_mode_s("asymmetric")),
          {1, 1, 6, 4},
          {1, 2, 4, -3, 1, 2, 4, -3, 0.5, 8, -2, 6, 0.5, 8, -2, 6, 7, -1, 3, 0, 7, -1, 3, 0});
}

TEST_CASE("an interpolation that runtimes may round to other elements or sizes is not folded") {
    auto const kept = [](std::vector<double> const& factors, std::vector<double> const& numbers, auto... attributes) {
        return folded([&](auto& o) {
                   return o.g.template within<18>().template op<"Resize">(
                       o.constant(dtype::float32, {1, 1, 3}, numbers),
                       absent,
                       o.constant(dtype::float32, {3}, factors),
                       absent,
                       attributes...);
               }).data.nodes.size() == 1;
    };
    CHECK_FALSE(kept({1, 1, 1.5}, {1, 2, 3}, attr::mode_s("linear")));
    CHECK(kept({1, 1, 1.5}, {1, HUGE_VAL, 3}, attr::mode_s("linear"))); // a factor of 0 times infinity
    CHECK(kept({1, 1, 1.3333334}, {1, 2, 3}, attr::mode_s("linear")));  // 4 or 3 elements
    CHECK(kept({1, 1, 1.5}, {1, 2, 3}, attr::mode_s("nearest"), attr::nearest_mode_s("floor")));
    CHECK(kept({1, 1, 1.5}, {1, 2, 3}, attr::mode_s("linear"), attr::antialias_i(1)));
    CHECK(kept({1, 1, 1.5}, {1, 2, 3}, attr::mode_s("cubic"), attr::exclude_outside_i(1)));
    CHECK(kept({1, 1, 1.5},
               {1, 2, 3},
               attr::mode_s("linear"),
               attr::coordinate_transformation_mode_s("half_pixel_symmetric")));
    CHECK(kept({1, 1, 1e6}, {1, 2, 3}, attr::mode_s("linear"))); // too large
    CHECK(kept({1, 1, 0.1}, {1, 2, 3}, attr::mode_s("linear"))); // no element
}
