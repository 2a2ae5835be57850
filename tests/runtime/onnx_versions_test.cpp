// SPDX-License-Identifier: MIT
// Tests layout and indexing operators of ONNX where its own tests do not: older versions, strings, elements below 8
// bits, edge cases.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "onnx_text.hpp"

using namespace aton::tests;
using aton::dtype;
using sizes = aton::runtime::sizes;

namespace {

tensor shaped(std::vector<float> const& numbers, sizes const& to) {
    return aton::runtime::reshape(floats(numbers), to);
}

tensor words(std::vector<std::string> const& text) {
    return tensor::of_strings(text, {static_cast<std::int64_t>(text.size())});
}

std::vector<std::string> words_of(value const& v) {
    tensor const t = v.one().contiguous();
    return {t.strings().begin(), t.strings().end()};
}

/// The only output of a model with the input x and, if given, y.
value one(std::string const& signature, std::string const& nodes, int opset, std::vector<value> const& inputs) {
    return run(simple("g (" + signature + ") => (float[N] out) { " + nodes + " }", opset), inputs)[0];
}

value of_x(std::string const& node, int opset, tensor const& x) { return one("float[N] x", node, opset, {x}); }

std::string refused(std::string const& node, int opset, tensor const& x) {
    return refusal(simple("g (float[N] x) => (float[N] out) { " + node + " }", opset), {x});
}

tensor const matrix = shaped({1, 2, 3, 4, 5, 6}, {2, 3});

} // namespace

TEST_CASE("attributes of older versions that became inputs") {
    CHECK(of_x("out = Reshape <shape = [3, -1]> (x)", 1, matrix).one().sizes() == sizes{3, 2});
    CHECK(of_x("out = Squeeze <axes = [0]> (x)", 1, shaped({1, 2}, {1, 2})).one().sizes() == sizes{2});
    CHECK(of_x("out = Squeeze <axes = [-1]> (x)", 11, shaped({1, 2}, {2, 1})).one().sizes() == sizes{2});
    CHECK(of_x("out = Unsqueeze <axes = [2, 0]> (x)", 1, floats({1, 2})).one().sizes() == sizes{1, 2, 1});
    CHECK(numbers_of(of_x("out = Slice <starts = [1, -2], ends = [100, 3]> (x)", 1, matrix)) == numbers{5, 6});
    CHECK(numbers_of(of_x("out = Slice <starts = [0], ends = [-1], axes = [1]> (x)", 1, matrix)) ==
          numbers{1, 2, 4, 5});
    CHECK(numbers_of(of_x("out = Pad <paddings = [0, 1, 0, 0], value = 9.0> (x)", 1, matrix)) ==
          numbers{9, 1, 2, 3, 9, 4, 5, 6});
    CHECK(numbers_of(of_x("out = Pad <pads = [0, 2, 0, -1], mode = \"reflect\"> (x)", 2, matrix)) ==
          numbers{1, 2, 1, 2, 4, 5, 4, 5});
    CHECK(of_x("out = Concat (x, x)", 1, matrix).one().sizes() == sizes{2, 6});
    CHECK(numbers_of(of_x("a, out = Split <split = [1, 2], axis = 1> (x)", 2, matrix)) == numbers{2, 3, 5, 6});
    CHECK(numbers_of(of_x("a, out = Split (x)", 2, matrix)) == numbers{4, 5, 6});
    CHECK(numbers_of(of_x("out, i = TopK <k = 2, axis = 1> (x)", 1, matrix)) == numbers{3, 2, 6, 5});
    tensor const two = tensor::of_scalar(std::int64_t{2}, dtype::int64);
    CHECK(numbers_of(one("float[N] x, int64 k", "out, i = TopK <sorted = 1> (x, k)", 11, {matrix, two})) ==
          numbers{3, 2, 6, 5});
    CHECK(numbers_of(one("float[N] x, int64 k", "out, i = TopK <sorted = 0> (x, k)", 11, {matrix, two})) ==
          numbers{2, 3, 5, 6}); // any order but the sorted one, which verify would not miss
    CHECK(numbers_of(one("float[N] x, int64 k",
                         "o, i = TopK <sorted = 0, largest = 0> (x, k) out = Cast <to = 1> (i)",
                         11,
                         {matrix, two})) == numbers{1, 0, 1, 0});
    CHECK(numbers_of(one("float[N] x, float t, float a",
                         "out = Tile (x, t, a)",
                         1,
                         {matrix, tensor::of_scalar(2.0F, dtype::float32), tensor::of_scalar(0.0F, dtype::float32)})) ==
          numbers{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("negative indices of OneHot count from the end since version 11") {
    std::string const nodes = "v = Constant <value = float[2] {0, 1}> ()\n d = Constant <value = int64 {3}> ()\n"
                              "out = OneHot (x, d, v)";
    CHECK(numbers_of(of_x(nodes, 9, floats({-1}))) == numbers{0, 0, 0});
    CHECK(numbers_of(of_x(nodes, 11, floats({-1}))) == numbers{0, 0, 1});
    CHECK(numbers_of(of_x(nodes, 11, floats({3}))) == numbers{0, 0, 0});
}

TEST_CASE("version 8 of Scan has a batch") {
    std::string const text =
        R"(g (int64[2] lengths, float[2, 1] start, float[2, 3, 1] x) => (float[2, 1] last, float[2, 3, 1] each) {
        last, each = Scan (lengths, start, x) <
            num_scan_inputs = 1,
            body = step (float[1] v, float[1] e) => (float[1] w, float[1] f) {
                w = Add (v, e)
                f = Identity (w)
            }
        >
    })";
    std::vector<std::int64_t> const lengths = {3, 2};
    auto const out =
        run(simple(text, 8),
            {tensor::of_integers(lengths), shaped({0, 10}, {2, 1}), shaped({1, 2, 3, 4, 5, 6}, {2, 3, 1})});
    CHECK(numbers_of(out[0]) == numbers{6, 19});
    CHECK(numbers_of(out[1]) == numbers{1, 3, 6, 14, 19, 0});
}

TEST_CASE("slices are clamped, whatever their steps") {
    auto const sliced = [](std::string const& start, std::string const& end, std::string const& step) {
        return numbers_of(of_x("s = Constant <value_ints = [" + start + "]> ()\n e = Constant <value_ints = [" + end +
                                   "]> ()\n a = Constant <value_ints = [0]> ()\n p = Constant <value_ints = [" + step +
                                   "]> ()\n out = Slice (x, s, e, a, p)",
                               13,
                               floats({0, 1, 2, 3, 4})));
    };
    std::string const least = "-9223372036854775808";
    std::string const most = "9223372036854775807";
    CHECK(sliced(least, most, "1") == numbers{0, 1, 2, 3, 4});
    CHECK(sliced(most, least, "-1") == numbers{4, 3, 2, 1, 0});
    CHECK(sliced("0", most, most) == numbers{0});
    CHECK(sliced("-1", least, least) == numbers{4});
    CHECK(sliced("3", "1", "1").empty());
    CHECK(sliced("1", "3", "-1").empty());
    CHECK(sliced("4", "0", "-2") == numbers{4, 2});
    CHECK(has(refused("z = Constant <value_ints = [0]> ()\n out = Slice (x, z, z, z, z)", 13, floats({1})), "step"));
}

TEST_CASE("padding wraps around repeatedly") {
    auto const padded = [](std::string const& mode, std::string const& pads, std::vector<float> const& x) {
        return numbers_of(
            of_x("p = Constant <value_ints = [" + pads + "]> ()\n out = Pad <mode = \"" + mode + "\"> (x, p)",
                 19,
                 floats(x)));
    };
    CHECK(padded("reflect", "3, 5", {1, 2, 3}) == numbers{2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2});
    CHECK(padded("reflect", "2, 1", {7}) == numbers{7, 7, 7, 7});
    CHECK(padded("wrap", "4, 2", {1, 2, 3}) == numbers{3, 1, 2, 3, 1, 2, 3, 1, 2});
    CHECK(padded("edge", "2, -1", {1, 2, 3}) == numbers{1, 1, 1, 2});
    CHECK(padded("constant", "-1, 2", {1, 2, 3}) == numbers{2, 3, 0, 0});
    CHECK(has(refused("p = Constant <value_ints = [1, 0]> ()\n out = Pad <mode = \"edge\"> (x, p)", 19, floats({})),
              "no element"));
    CHECK(has(refused("p = Constant <value_ints = [-2, -2]> ()\n out = Pad (x, p)", 19, floats({1, 2, 3})), "padded"));
}

TEST_CASE("strings are copied like other elements") {
    tensor const x = words({"b", "a", "b", ""});
    auto const of = [&](std::string const& nodes) {
        return words_of(run(simple("g (string[N] x) => (string[M] out) { " + nodes + " }"), {x})[0]);
    };
    using text = std::vector<std::string>;
    CHECK(of("i = Constant <value_ints = [-3, 0]> ()\n out = Gather (x, i)") == text{"a", "b"});
    CHECK(of("out = Concat <axis = 0> (x, x)").size() == 8);
    CHECK(of("out, i, j, k = Unique (x)") == text{"", "a", "b"});
    CHECK(of("out, i, j, k = Unique <sorted = 0> (x)") == text{"b", "a", ""});
    CHECK(of("p = Constant <value_ints = [1, 0]> ()\n out = Pad (x, p)") == text{"", "b", "a", "b", ""});
    CHECK(of("i = Constant <value_ints = [1]> ()\n u = Constant <value_strings = [\"new\"]> ()\n"
             "out = ScatterElements (x, i, u)") == text{"b", "new", "b", ""});
    CHECK(
        of("s = Constant <value_ints = [2, 2]> ()\n m = Reshape (x, s)\n t = Transpose (m)\n f = Constant <value_ints "
           "= [-1]> ()\n out = Reshape (t, f)") == text{"b", "b", "a", ""});
    CHECK(of("r = Constant <value_ints = [2]> ()\n out = Tile (x, r)").size() == 8);
}

TEST_CASE("unique slices along an axis are in lexicographic order") {
    auto const out =
        run(simple("g (float[N, M] x) => (float[N, K] y, int64[K] i, int64[M] j, int64[K] c) { y, i, j, c = "
                   "Unique <axis = 1> (x) }"),
            {shaped({2, 1, 2, 1, 0, 5, 0, 4}, {2, 4})});
    CHECK(numbers_of(out[0]) == numbers{1, 1, 2, 4, 5, 0});
    CHECK(out[1].one().integers() == std::vector<std::int64_t>{3, 1, 0});
    CHECK(out[2].one().integers() == std::vector<std::int64_t>{2, 1, 2, 0});
    CHECK(out[3].one().integers() == std::vector<std::int64_t>{1, 1, 2});
}

TEST_CASE("empty tensors stay empty") {
    tensor const none = shaped({}, {0, 3});
    CHECK(of_x("out = Flatten (x)", 13, none).one().sizes() == sizes{0, 3});
    CHECK(
        of_x("s = Constant <value_ints = [3, 0]> ()\n out = Reshape <allowzero = 1> (x, s)", 14, none).one().sizes() ==
        sizes{3, 0});
    CHECK(of_x("i = Constant <value_ints = [2, 0]> ()\n out = Gather <axis = 1> (x, i)", 13, none).one().sizes() ==
          sizes{0, 2});
    CHECK(of_x("out, i, j, k = Unique (x)", 11, none).one().sizes() == sizes{0});
    CHECK(of_x("out = NonZero (x)", 13, none).one().sizes() == sizes{2, 0});
    CHECK(has(refused("s = Constant <value_ints = [0, -1]> ()\n out = Reshape <allowzero = 1> (x, s)", 14, none),
              "cannot be reshaped"));
    CHECK(has(refused("i = Constant <value_ints = [0]> ()\n out = Gather (x, i)", 13, none), "out of range"));
}

TEST_CASE("axes and indices out of range are refused") {
    CHECK(has(refused("out = Concat <axis = 2> (x, x)", 13, matrix), "axis 2 is out of range for rank 2"));
    CHECK(has(refused("out = Transpose <perm = [0, 0]> (x)", 13, matrix), "twice"));
    CHECK(has(refused("out = Transpose <perm = [0]> (x)", 13, matrix), "perm"));
    CHECK(has(refused("a = Constant <value_ints = [0, -3]> ()\n out = Unsqueeze (x, a)", 13, floats({1})), "twice"));
    CHECK(has(refused("a = Constant <value_ints = [0]> ()\n out = Squeeze (x, a)", 13, matrix), "size 1"));
    CHECK(has(refused("i = Constant <value_ints = [2]> ()\n out = Gather (x, i)", 13, matrix), "out of range: 2"));
    CHECK(has(refused("i = Constant <value_ints = [-3]> ()\n out = Gather (x, i)", 13, matrix), "out of range: -3"));
    CHECK(has(refused("i = Constant <value_floats = [0.0]> ()\n out = Gather (x, i)", 13, matrix),
              "not a dtype of indices"));
    CHECK(has(refused("out = DepthToSpace <blocksize = 0> (x)", 13, shaped({1}, {1, 1, 1, 1})), "blocksize"));
}
