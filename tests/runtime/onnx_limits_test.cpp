// SPDX-License-Identifier: MIT
// Limits of the interpreter of ONNX graphs: memory of tensors and strings, and the number of steps.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "onnx_text.hpp"

using namespace aton::tests;

TEST_CASE("sizes that exceed memory are refused without an attempt to allocate") {
    std::string const huge = "h = Constant <value_ints = [1152921504606846976]> ()\n";
    auto const all = [&](std::string const& nodes) {
        return refusal(simple("g (float[1] x) => (float[N] y) { " + huge + nodes + " }"), {floats({1})});
    };
    CHECK(has(all("y = ConstantOfShape (h)"), "too large"));
    CHECK(has(all("y = Expand (x, h)"), "too large"));
    CHECK(has(all("y = Tile (x, h)"), "too large"));
    CHECK(has(all("y = Reshape (x, h)"), "Reshape 'y'"));
    CHECK(has(all("z = Constant <value_int = 0> ()\n o = Constant <value_int = 1> ()\n s = Squeeze (h)\n y = Range "
                  "(z, s, o)"),
              "Range 'y'"));
    CHECK(has(all("p = Concat <axis = 0> (h, h)\n y = Pad (x, p)"), "Pad 'y'"));
    CHECK(has(all("y = CenterCropPad (x, h)"), "CenterCropPad 'y'"));
    CHECK(has(all("b = Constant <value_ints = [549755813888]> ()\n y = Expand (x, b)"), "does not fit into memory"));
    CHECK(has(all("v = Constant <value_floats = [0.0, 1.0]> ()\n i = Constant <value_ints = [0]> ()\n s = Squeeze "
                  "(h)\n y = OneHot (i, s, v)"),
              "OneHot 'y'"));
    CHECK(has(all("y, i = TopK (x, h)"), "TopK 'y'"));
}

namespace {

/// Limits the memory of all tensors during its lifetime.
struct memory_limit {
    explicit memory_limit(std::size_t bytes) { aton::runtime::limit_cpu_memory(bytes); }
    ~memory_limit() { aton::runtime::limit_cpu_memory(0); }
    memory_limit(memory_limit const&) = delete;
    memory_limit& operator=(memory_limit const&) = delete;
};
constexpr std::size_t two_mebibytes = std::size_t{2} << 20U;

} // namespace

TEST_CASE("the total memory of tensors is limited") {
    std::string const text = R"(g (float[N] x) => (float[M] y) {
        a = Concat <axis = 0> (x, x)
        b = Concat <axis = 0> (a, a)
        y = Concat <axis = 0> (b, a)
    })";
    tensor const x = floats(std::vector<float>(1 << 16)); // 256 KiB
    {
        memory_limit const here(two_mebibytes);
        CHECK(has(refusal(simple(text), {x}), "Concat 'y': a tensor of 1572864 bytes does not fit into memory"));
    }
    CHECK(refusal(simple(text), {x}).empty());
}

TEST_CASE("the memory of strings is limited") {
    // It doubles with each iteration.
    std::string const doubled = R"(g (int64 most, string[N] x) => (string[N] y) {
        yes = Constant <value = bool {1}> ()
        y = Loop (most, yes, x) <body = step (int64 i, bool go, string[N] v) => (bool on, string[N] w) {
            on = Identity (go)
            w = StringConcat (v, v) }>
    })";
    tensor const words = tensor::of_strings({"ab", "c"}, {2});
    memory_limit const here(two_mebibytes);
    CHECK(run(simple(doubled), {integer(3), words})[0].one().strings()[0] == "abababababababab");
    CHECK(has(refusal(simple(doubled), {integer(60), words}), "StringConcat 'w': a tensor of "));

    tensor const text = tensor::of_strings({std::string(1 << 18, 'a'), "b"}, {2});
    auto const refused = [&](std::string const& node, std::vector<value> const& inputs) {
        return refusal(simple("g (string[N] x, int64[K] i, bool[K] c) => (string[K] y) { y = " + node + " }"), inputs);
    };
    tensor const often = tensor::of_integers(std::vector<std::int64_t>(9, 0));
    tensor const once = tensor::of_integers(std::vector<std::int64_t>{0, 1});
    tensor const all = aton::runtime::full(true, aton::dtype::bool_, {9, 1});
    tensor const none = aton::runtime::full(true, aton::dtype::bool_, {1});
    CHECK(has(refused("Gather (x, i)", {text, often, none}), "Gather 'y': a tensor of "));
    CHECK(has(refused("Where (c, x, x)", {text, once, all}), "Where 'y': a tensor of "));
    CHECK(has(refused("Tile (x, i)", {text, tensor::of_integers(std::vector<std::int64_t>{9}), none}), "Tile 'y': "));
    CHECK(refused("Gather (x, i)", {text, once, none}).empty());
    CHECK(refused("Where (c, x, x)", {text, once, none}).empty());
}

TEST_CASE("a loop whose scan outputs do not fit into memory is refused at its first iteration") {
    std::string const text = R"(g (int64 most) => (int64[N] each) {
        each = Loop (most, ) <body = step (int64 i, bool go) => (bool on, int64 e) { on = Identity (go)
            e = Identity (i) }>
    })";
    CHECK(has(refusal(simple(text), {integer(std::int64_t{1} << 60)}), "is too large"));
    CHECK(run(simple(text), {integer(3)})[0].one().integers() == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("the number of steps of a run is limited") {
    std::string const text = R"(g (int64 most, seq(float[N]) s) => (seq(float[N]) all) {
        yes = Constant <value = bool {1}> ()
        all = Loop (most, yes, s) <body = step (int64 i, bool go, seq(float[N]) v) => (bool on, seq(float[N]) w) {
            on = Identity (go)
            x = Constant <value_floats = [1.0]> ()
            w = SequenceInsert (v, x) }>
    })";
    aton::runtime::onnx_options options;
    options.max_steps = 1000;
    onnx_model const model(simple(text), options);
    value const none = std::vector<tensor>();
    CHECK(model.run(std::vector<value>{integer(20), none})[0].many().size() == 20);
    // 100 iterations of two nodes, which copy 4950 tensors.
    CHECK_THROWS_WITH_AS((void)model.run(std::vector<value>{integer(100), none}),
                         "Loop 'all': SequenceInsert 'w': the run takes more than 1000 steps",
                         aton::error);
}

TEST_CASE("a loop with an empty body takes steps, too") {
    std::string const text = R"(g (int64 most, float x) => (float y) {
        yes = Constant <value = bool {1}> ()
        y = Loop (most, yes, x) <body = step (int64 i, bool on, float v) => (bool on, float v) { }>
    })";
    aton::runtime::onnx_options options;
    options.max_steps = 1000;
    onnx_model const model(simple(text), options);
    tensor const x = tensor::of_scalar(2, aton::dtype::float32);
    CHECK(model.run(std::vector<value>{integer(10), x})[0].one().item().to<double>() == 2);
    CHECK_THROWS_WITH_AS((void)model.run(std::vector<value>{integer(std::int64_t{1} << 60), x}),
                         "Loop 'y': the run takes more than 1000 steps",
                         aton::error);
}
