// SPDX-License-Identifier: MIT
// Weights in files: layout operators and BatchNormalization are fused into them, no byte is moved, nothing is duplicated.
#include "passes_fixture.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include <aton/model_io/weights.hpp>

using namespace passes_tests;

namespace {

/// The written bytes of a weight.
std::vector<float> read(aton::stored_tensor const* t) {
    std::vector<float> out;
    REQUIRE(t != nullptr);
    aton::read_stored(*t, [&](std::byte const* bytes, std::size_t n) {
        std::size_t const have = out.size();
        out.resize(have + n / sizeof(float));
        std::memcpy(out.data() + have, bytes, n);
    });
    CHECK(static_cast<std::int64_t>(out.size()) == t->element_count());
    return out;
}

/// More elements than are loaded for folding.
constexpr std::int64_t rows = 40;
constexpr std::int64_t columns = 30;

float element(std::int64_t row, std::int64_t column) { return 0.5F * static_cast<float>(row * columns + column + 1); }

struct normalization {
    std::vector<double> scale, bias, mean, variance;
    double epsilon = 0.01;

    [[nodiscard]] double factor(std::size_t i) const {
        return scale[i] / std::sqrt(variance[i] + static_cast<double>(static_cast<float>(epsilon)));
    }
};

normalization const three{{1, -2, 0.5}, {0.25, 1, -3}, {-1, 0.5, 2}, {0.5, 4, 1.5}};

template <class Test>
value normalize(Test& o, value x, normalization const& n) {
    auto const c = static_cast<std::int64_t>(n.scale.size());
    return o.g.template op<"BatchNormalization">(x,
                                                 o.constant(dtype::float32, {c}, n.scale),
                                                 o.constant(dtype::float32, {c}, n.bias),
                                                 o.constant(dtype::float32, {c}, n.mean),
                                                 o.constant(dtype::float32, {c}, n.variance),
                                                 attr::epsilon_f(n.epsilon));
}

} // namespace

TEST_CASE("a transposed weight is written transposed") {
    optimized<> o;
    value const x = o.input("x", {2, 7, columns});
    value const w = o.weight("layer.weight", {rows, columns});
    CHECK(o(o.g.op<"MatMul">(x, o.g.op<"Transpose">(w))) == "MatMul");
    aton::stored_tensor const* const t = o.stored_input(0, 1);
    REQUIRE(t != nullptr);
    CHECK(t->sizes == sizes{columns, rows});
    std::vector<float> const all = read(t);
    CHECK(all[0] == element(0, 0));
    CHECK(all[1] == element(1, 0));
    CHECK(all[rows] == element(0, 1));
    CHECK(o.data.values[o.data.nodes[0].inputs[1]].name == "layer.weight");
    CHECK(o.data.initializers.size() == 1);
}

TEST_CASE("a weight that is also used unchanged is not written twice") {
    optimized<> o;
    value const ids = o.input("ids", {2, 7}, dtype::int64);
    value const w = o.weight("embedding", {rows, columns});
    value const x = o.g.op<"Gather">(w, ids, attr::axis_i(0));
    CHECK(o({x, o.g.op<"MatMul">(x, o.g.op<"Transpose">(w))}) == "Gather Transpose MatMul");
    CHECK(o.data.initializers.size() == 1);
    CHECK(o.weights.empty());
}

TEST_CASE("without rewriting the nodes stay") {
    optimized<> o;
    value const x = o.input("x", {2, 7, columns});
    value const w = o.weight("w", {rows, columns});
    value const c =
        o.g.op<"Conv">(o.input("i", {1, 1, 9, 9}), o.weight("k", {3, 1, 20, 20}), attr::pads_i({9, 9, 9, 9}));
    o.data.outputs = {value(o.g.op<"MatMul">(x, o.g.op<"Transpose">(w))).id(), normalize(o, c, three).id()};
    CHECK(o.run({false}) == "Conv Transpose MatMul BatchNormalization");
    CHECK(o.weights.empty());
}

TEST_CASE("equal transposes of one weight become one weight") {
    optimized<> o;
    value const x = o.input("x", {2, 7, columns});
    value const y = o.input("y", {3, 8, columns});
    value const w = o.weight("w", {rows, columns});
    value const a = o.g.op<"MatMul">(x, o.g.op<"Transpose">(w));
    value const b = o.g.op<"MatMul">(y, o.g.op<"Transpose">(w));
    CHECK(o({a, b}) == "MatMul MatMul");
    CHECK(o.data.initializers.size() == 1);
    CHECK(o.data.nodes[0].inputs[1] == o.data.nodes[1].inputs[1]);
}

TEST_CASE("the parts of a split weight are views of it") {
    optimized<> o;
    value const x = o.input("x", {rows, columns});
    value const w = o.weight("in_proj", {3 * rows, columns});
    auto const third = [&](std::int64_t i) {
        return value(o.g.op<"Slice">(w, o.g.ints({i * rows}), o.g.ints({(i + 1) * rows}), o.g.ints({0})));
    };
    CHECK(o({o.g.op<"Add">(x, third(0)), o.g.op<"Mul">(x, third(1)), o.g.op<"Sub">(x, third(2))}) == "Add Mul Sub");
    CHECK(read(o.stored_input(2, 1))[1] == element(2 * rows, 1));

    optimized<> p;
    value const v = p.weight("v", {rows, columns});
    auto const [a, b] = p.g.op<"Split">(v, p.g.ints({10, 20}), attr::axis_i(1), outputs<2>);
    value const y = p.input("y", {rows, 1});
    CHECK(p({p.g.op<"Add">(y, a), p.g.op<"Mul">(y, b)}) == "Add Mul");
    CHECK(p.stored_input(1, 1)->sizes == sizes{rows, 20});
    CHECK(read(p.stored_input(1, 1))[21] == element(1, 11));

    optimized<> q; // overlapping parts would need more bytes
    value const u = q.weight("u", {3 * rows, columns});
    value const m = q.input("m", {2 * rows + 1, columns});
    value const low = q.g.op<"Slice">(u, q.g.ints({0}), q.g.ints({2 * rows + 1}), q.g.ints({0}));
    value const high = q.g.op<"Slice">(u, q.g.ints({rows - 1}), q.g.ints({3 * rows}), q.g.ints({0}));
    CHECK(q({q.g.op<"Add">(m, low), q.g.op<"Mul">(m, high)}) == "Slice Slice Add Mul");
}

TEST_CASE("one row, reshaped and transposed again, with a step") {
    optimized<> o;
    value const w = o.weight("w", {2, rows, columns});
    value const row = o.g.op<"Gather">(w, o.g.scalar(-1, dtype::int64), attr::axis_i(0));
    value const wide = o.g.op<"Reshape">(row, o.g.ints({rows / 2, 2, columns}));
    value const turned = o.g.op<"Transpose">(wide, attr::perm_i({2, 0, 1}));
    value const some = o.g.op<"Slice">(turned, o.g.ints({1}), o.g.ints({columns}), o.g.ints({0}), o.g.ints({7}));
    value const x = o.input("x", {5, rows / 2, 2});
    CHECK(o(o.g.op<"Add">(x, some)) == "Add");
    std::vector<float> const all = read(o.stored_input(0, 1));
    CHECK(o.stored_input(0, 1)->sizes == sizes{5, rows / 2, 2});
    CHECK(all[0] == element(rows, 1));
    CHECK(all[1] == element(rows + 1, 1));
    CHECK(all[rows] == element(rows, 8));
}

TEST_CASE("weights are joined along the first dimension that is not 1") {
    optimized<> o;
    value const a = o.weight("a", {1, rows, columns});
    value const b = o.weight("b", {1, 2 * rows, columns});
    value const joined = o.g.op<"Concat">(std::vector<value>{a, b, a}, attr::axis_i(-2));
    CHECK(o(o.g.op<"HardSwish">(joined)) == "Concat HardSwish"); // a would be written twice, and is not small

    optimized<> p;
    value const c = p.weight("c", {1, rows, columns});
    value const d = p.weight("d", {1, 2 * rows, columns});
    CHECK(p(p.g.op<"HardSwish">(p.g.op<"Concat">(std::vector<value>{d, c}, attr::axis_i(-2)))) == "HardSwish");
    aton::stored_tensor const* const t = p.stored_input(0, 0);
    REQUIRE(t != nullptr);
    CHECK(t->sizes == sizes{1, 3 * rows, columns});
    CHECK(read(t)[2 * rows * columns] == element(0, 0));

    optimized<> q; // along another dimension the elements alternate
    value const e = q.weight("e", {2, rows, columns});
    value const f = q.weight("f", {2, 2 * rows, columns});
    CHECK(q(q.g.op<"HardSwish">(q.g.op<"Concat">(std::vector<value>{e, f}, attr::axis_i(1)))) == "Concat HardSwish");
}

TEST_CASE("small weights take part in folding") {
    optimized<> o;
    value const w = o.weight("inv_freq", {4});
    value const x = o.input("x", {3, 4});
    value const c = o.g.op<"Cos">(o.g.op<"Mul">(w, o.constant(dtype::float32, {3, 1}, {0, 1, 2})));
    CHECK(o(o.g.op<"Add">(x, c)) == "Add");
    CHECK(o.data.constant(o.data.nodes[0].inputs[1])->at(4).to<float>() == static_cast<float>(std::cos(0.5)));
}

TEST_CASE("parameters that share their storage are one initializer") {
    optimized<> o;
    value const x = o.input("x", {2, rows, columns});
    value const w = o.weight("wte", {rows, columns});
    value const tied = o.stored("lm_head", {dtype::float32, {rows, columns}, {}}, o.files[0], 3);
    value const other = o.stored("behind", {dtype::float32, {rows, columns - 1}, {}}, o.files[0], 3);
    value const z = o.g.op<"Add">(o.g.op<"Mul">(x, w), tied);
    CHECK(o({z, o.g.op<"HardSwish">(other)}) == "Mul Add HardSwish");
    CHECK(o.data.initializers.size() == 2);
    CHECK(o.data.nodes[1].inputs[1] == w.id());
}

TEST_CASE("BatchNormalization is fused into the preceding Conv") {
    optimized<> o;
    value const x = o.input("x", {std::string("batch"), 4, 6, 7});
    value const w = o.weight("conv.weight", {3, 4, 2, 5});
    value const b = o.constant(dtype::float32, {3}, {10, 20, 30});
    value const y = o.g.op<"Conv">(x, w, b, attr::strides_i({2, 1}));
    value const z = normalize(o, y, three);
    o.data.values[z.id()].name = "bn";
    CHECK(o(z) == "Conv");
    CHECK(o.data.nodes[0].attributes[0].ints == sizes{2, 1});
    CHECK(o.data.values[o.data.outputs[0]].name == "bn");
    CHECK(o.data.values[o.data.nodes[0].inputs[1]].name == "conv.weight");
    std::vector<float> const weight = read(o.stored_input(0, 1));
    auto const bias = o.numbers_of(*o.data.constant(o.data.nodes[0].inputs[2]));
    for (std::size_t c = 0; c != 3; ++c) {
        double const f = three.factor(c);
        for (std::size_t i = 0; i != 40; ++i)
            CHECK(weight[c * 40 + i] == static_cast<float>(0.5 * static_cast<double>(c * 40 + i + 1) * f));
        CHECK(bias[c] ==
              doctest::Approx((10.0 * static_cast<double>(c + 1) - three.mean[c]) * f + three.bias[c]).epsilon(1e-6));
    }
}

TEST_CASE("BatchNormalization after ConvTranspose scales dimension 1 of each group, after Gemm rows or columns") {
    optimized<> o;
    normalization const six{{1, 2, 3, 4, 5, 6}, {0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1}, 0.0};
    value const x = o.input("x", {2, 4, 5, 5});
    value const w = o.weight("up.weight", {4, 3, 2, 1}); // two groups of 2 -> 3
    CHECK(o(normalize(o, o.g.op<"ConvTranspose">(x, w, attr::group_i(2)), six)) == "ConvTranspose");
    std::vector<float> const up = read(o.stored_input(0, 1));
    for (std::size_t in = 0; in != 4; ++in)
        for (std::size_t c = 0; c != 3; ++c)
            for (std::size_t k = 0; k != 2; ++k) {
                std::size_t const at = (in * 3 + c) * 2 + k;
                CHECK(up[at] == 0.5F * static_cast<float>(at + 1) * static_cast<float>((in < 2 ? 0 : 3) + c + 1));
            }

    for (bool flip : {false, true}) {
        optimized<> p;
        value const a = p.input("a", {2, 4});
        value const v = p.weight("v", flip ? sizes{3, 4} : sizes{4, 3});
        value const y = p.g.op<"Gemm">(a, v, attr::transB_i(flip ? 1 : 0));
        CHECK(p(normalize(p, y, three)) == "Gemm");
        CHECK(p.attribute(0, "transB") == (flip ? 1 : 0));
        CHECK(read(p.stored_input(0, 1))[5] == static_cast<float>(3.0 * three.factor(flip ? 1 : 2)));
    }
}

TEST_CASE("BatchNormalization stays if the Conv has other uses, or the preceding node is not linear") {
    optimized<> o;
    value const x = o.input("x", {2, 4, 6, 7});
    value const y = o.g.op<"Conv">(x, o.weight("w", {3, 4, 2, 5}));
    CHECK(o({normalize(o, y, three), y}) == "Conv BatchNormalization");

    optimized<> p; // a weight that two layers share would need two scales
    value const w = p.weight("w", {3, 4, 2, 5});
    value const a = p.g.op<"Conv">(p.input("x", {2, 4, 6, 7}), w);
    value const b = p.g.op<"Conv">(p.input("y", {3, 4, 6, 7}), w);
    CHECK(p({normalize(p, a, three), b}) == "Conv Conv BatchNormalization");

    optimized<> q; // training: batch statistics
    value const c = q.g.op<"Conv">(q.input("x", {2, 4, 6, 7}), q.weight("w", {3, 4, 2, 5}));
    value const n = normalize(q, c, three);
    auto& training = q.data.nodes[static_cast<std::size_t>(q.data.values[n.id()].producer)].attributes.emplace_back();
    training.name = "training_mode";
    training.type = aton::onnx::attr_type::i;
    training.i = 1;
    CHECK(q(n) == "Conv BatchNormalization");

    optimized<> r;
    value const relu = r.g.op<"Relu">(r.g.op<"Conv">(r.input("x", {2, 4, 6, 7}), r.weight("w", {3, 4, 2, 5})));
    CHECK(r(normalize(r, relu, three)) == "Conv Relu BatchNormalization");

    optimized<> s; // 1 / sqrt(0) is not finite
    normalization flat = three;
    flat.variance[1] = flat.epsilon = 0;
    value const d = s.g.op<"Conv">(s.input("x", {2, 4, 6, 7}), s.weight("w", {3, 4, 2, 5}));
    CHECK(s(normalize(s, d, flat)) == "Conv BatchNormalization");
}

TEST_CASE("a Conv whose weight is a constant in memory also absorbs the scale") {
    optimized<> o;
    value const x = o.input("x", {2, 1, 6});
    value const w = o.constant(dtype::float32, {3, 1, 2}, {1, 2, 3, 4, 5, 6});
    CHECK(o(normalize(o, o.g.op<"Conv">(x, w), three)) == "Conv");
    auto const scaled = o.numbers_of(*o.data.constant(o.data.nodes[0].inputs[1]));
    for (std::size_t i = 0; i != 6; ++i)
        CHECK(scaled[i] == static_cast<double>(static_cast<float>(static_cast<double>(i + 1) * three.factor(i / 2))));
}

TEST_CASE("arithmetic on weights alone is computed") {
    optimized<18> o; // as torch's weight_norm
    value const v = o.weight("v", {128, 64, 3});
    value const g = o.weight("g", {128, 1, 1});
    value const norm = o.g.op<"ReduceL2">(v, o.g.ints({1, 2}), attr::keepdims_i(1));
    value const w = o.g.op<"Mul">(v, o.g.op<"Div">(g, norm));
    CHECK(o(o.g.op<"Conv">(o.input("x", {2, 64, 9}), w)) == "Conv");
    std::vector<double> const got = o.numbers_of(*o.data.constant(o.data.nodes[0].inputs[1]));
    double squares = 0; // of the second row: 96.5, 97, ...
    for (int i = 193; i <= 384; ++i) squares += 0.25 * i * i;
    CHECK(got.size() == 128U * 64 * 3);
    CHECK(got[192] == doctest::Approx(96.5 * 1 / std::sqrt(squares)).epsilon(1e-6));

    optimized<18> p; // a product of matrices, as in adapters of low rank, and a vector
    value const base = p.weight("base", {70, 90});
    value const update = p.g.op<"MatMul">(p.weight("b", {70, 3}), p.weight("a", {3, 90}));
    value const sum = p.g.op<"Add">(base, update);
    value const row = p.g.op<"MatMul">(p.weight("c", {70}), sum);
    CHECK(p(p.g.op<"Add">(p.input("x", {5, 90}), row)) == "Add");
    double expected = 0; // of the first column
    for (int i = 0; i != 70; ++i) {
        double e = 0.5 * (i * 90 + 1);
        for (int k = 0; k != 3; ++k) e += 0.5 * (i * 3 + k + 1) * 0.5 * (k * 90 + 1);
        expected += 0.5 * (i + 1) * e;
    }
    CHECK(p.numbers_of(*p.data.constant(p.data.nodes[0].inputs[1]))[0] == doctest::Approx(expected).epsilon(1e-6));
}

TEST_CASE("arithmetic on weights that would make the file larger stays") {
    optimized<18> o; // the weight is used elsewhere
    value const w = o.weight("w", {200, 200});
    value const x = o.input("x", {5, 200});
    value const twice = o.g.op<"Mul">(w, o.g.scalar(2.0, dtype::float32));
    CHECK(o({value(o.g.op<"MatMul">(x, w)), value(o.g.op<"MatMul">(x, twice))}) == "Mul MatMul MatMul");
    optimized<18> p; // an outer product
    value const table = p.g.op<"Mul">(p.weight("column", {2000, 1}), p.weight("row", {1, 300}));
    CHECK(p(p.g.op<"Add">(p.input("x", {2000, 300}), table)) == "Mul Add");
    optimized<18> q; // weights that stay in their file
    value const half = q.g.op<"Mul">(q.weight("w", {200, 200}), q.g.scalar(0.5, dtype::float32));
    value const y = q.g.op<"MatMul">(q.input("x", {5, 200}), half);
    q.data.outputs.push_back(y.id());
    CHECK(q.run({.rewrite_weights = false}) == "Mul MatMul");
}
