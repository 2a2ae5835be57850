// SPDX-License-Identifier: MIT
// Tests the interpreter of ONNX graphs: nested graphs, functions and their attributes, sequences, loops, and invalid
// models.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "onnx_text.hpp"

using namespace aton::tests;

TEST_CASE("values go from node to node") {
    auto const out = run(simple("g (float[N] x) => (float[N] y, float[N] x2) { a, b = Split <num_outputs = 2> (x)\n"
                                "y = Concat <axis = 0> (b, a)\n x2 = Identity (x) }"),
                         {floats({1, 2, 3})});
    CHECK(numbers_of(out[0]) == numbers{3, 1, 2});
    CHECK(numbers_of(out[1]) == numbers{1, 2, 3});
}

TEST_CASE("an input with an initializer is optional") {
    std::string const text = "g (float[N] x, float[2] w = {10, 20}) => (float[M] y) { y = Concat <axis = 0> (x, w) }";
    CHECK(numbers_of(run(simple(text), {floats({1})})[0]) == numbers{1, 10, 20});
    CHECK(numbers_of(run(simple(text), {floats({1}), floats({5, 6})})[0]) == numbers{1, 5, 6});
    CHECK(has(refusal(simple(text)), "input 'x' is missing"));
    CHECK(has(refusal(simple(text), {floats({1}), floats({1}), floats({1})}), "takes 2 inputs, not 3"));
    CHECK(has(refusal(simple(text), {integer(1)}), "input 'x' is int64, expected float32"));
}

TEST_CASE("nested graphs capture outer values") {
    std::string const text = R"(g (bool p, bool q, float[N] x, float[M] z) => (float[K] y) {
        s = Identity (x)
        y = If (p) <
            then_branch = yes () => (float[K] a) {
                t = Concat <axis = 0> (s, z)
                a = If (q) <
                    then_branch = both () => (float[K] b) { b = Concat <axis = 0> (t, x) },
                    else_branch = one () => (float[K] c) { c = Identity (z) }
                >
            },
            else_branch = no () => (float[K] d) { d = Concat <axis = 0> (z, s) }
        >
    })";
    auto const with = [&](bool p, bool q) {
        return numbers_of(run(simple(text), {truth(p), truth(q), floats({1}), floats({2, 3})})[0]);
    };
    CHECK(with(true, true) == numbers{1, 2, 3, 1});
    CHECK(with(true, false) == numbers{2, 3});
    CHECK(with(false, true) == numbers{2, 3, 1});
    CHECK(has(refusal(simple(text), {floats({1}), truth(true), floats({1}), floats({1})}), "input 'p' is float32"));
}

TEST_CASE("loops carry tensors and sequences") {
    std::string const text = R"(g (int64 most, float[1] x) => (float[N] last, seq(float[K]) all, float[I, N] each) {
        none = SequenceEmpty ()
        last, all, each = Loop (most, , x, none) <
            body = step (int64 i, bool go, float[N] v, seq(float[K]) s) => (bool on, float[N] w, seq(float[K]) r, float[3] e) {
                on = Identity (go)
                w = Concat <axis = 0> (v, x)
                r = SequenceInsert (s, w)
                e = Constant <value_floats = [1.0, 2.0, 3.0]> ()
            }
        >
    })";
    auto const out = run(simple(text), {integer(2), floats({7})});
    CHECK(numbers_of(out[0]) == numbers{7, 7, 7});
    REQUIRE(out[1].many().size() == 2);
    CHECK(out[1].many()[1].sizes() == aton::runtime::sizes{3});
    CHECK(out[2].one().sizes() == aton::runtime::sizes{2, 3});
    auto const none = run(simple(text), {integer(0), floats({7})});
    CHECK(numbers_of(none[0]) == numbers{7});
    CHECK(none[1].is_sequence());
    CHECK(none[1].many().empty());
    CHECK(none[2].one().sizes() == aton::runtime::sizes{0, 3});
}

TEST_CASE("a loop continues while its condition is true") {
    std::string const text = R"(g (bool start) => (int64 count, int64[N] each) {
        zero = Constant <value_int = 0> ()
        count, each = Loop (, start, zero) <
            body = step (int64 i, bool go, int64 v) => (bool on, int64 w, int64 e) {
                one = Constant <value_int = 1> ()
                three = Constant <value_int = 3> ()
                w = Add (v, one)
                on = Less (w, three)
                e = Identity (i)
            }
        >
    })";
    auto const out = run(simple(text), {truth(true)});
    CHECK(out[0].one().item().to<std::int64_t>() == 3);
    CHECK(out[1].one().integers() == std::vector<std::int64_t>{0, 1, 2});
    auto const none = run(simple(text), {truth(false)});
    CHECK(none[0].one().item().to<std::int64_t>() == 0);
    CHECK(none[1].one().sizes() == aton::runtime::sizes{0});
}

TEST_CASE("a loop whose scan outputs change their sizes is refused") {
    CHECK(has(refusal(simple(R"(g (int64 most, float[1] x) => (float[N] last, float[I, N] each) {
        last, each = Loop (most, , x) <
            body = step (int64 i, bool go, float[N] v) => (bool on, float[N] w, float[N] e) {
                on = Identity (go)
                w = Concat <axis = 0> (v, x)
                e = Identity (w)
            }
        >
    })"),
                      {integer(3), floats({1})}),
              "in one iteration"));
}

TEST_CASE("a scan iterates over an axis in both directions") {
    auto const out = run(simple(R"(g (float[1] start, float[2, 3] x) => (float[1] last, float[2, 3] each) {
        last, each = Scan (start, x) <
            num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1], scan_input_directions = [1],
            body = step (float[1] v, float[2] e) => (float[1] w, float[2] f) {
                zero = Constant <value_ints = [0]> ()
                w = Gather <axis = 0> (e, zero)
                f = Identity (e)
            }
        >
    })"),
                         {floats({0}), aton::runtime::reshape(floats({1, 2, 3, 4, 5, 6}), {2, 3})});
    CHECK(numbers_of(out[0]) == numbers{1});
    CHECK(numbers_of(out[1]) == numbers{3, 2, 1, 6, 5, 4});
}

TEST_CASE("sequences and optionals are inputs and outputs") {
    std::string const text = R"(g (seq(float[N]) s, optional(float[N]) o) => (float[M] y, bool has) {
        y = ConcatFromSequence <axis = 0> (s)
        has = OptionalHasElement (o)
    })";
    value const all = std::vector<tensor>{floats({1}), floats({2, 3})};
    auto const out = run(simple(text), {all, value()});
    CHECK(numbers_of(out[0]) == numbers{1, 2, 3});
    CHECK_FALSE(out[1].one().item().to<bool>());
    CHECK(run(simple(text), {all, floats({1})})[1].one().item().to<bool>());
    CHECK(has(refusal(simple(text), {floats({1}), value()}), "input 's' is not a sequence"));
    CHECK(has(refusal(simple(text), {all, all}), "input 'o' is a sequence"));
    CHECK(has(refusal(simple(text), {std::vector<tensor>{integer(1)}, value()}), "input 's' is int64"));
}

TEST_CASE("functions call functions with their own attributes, those of the call, and defaults") {
    std::string const text = R"(<ir_version: 9, opset_import: ["" : 18, "local" : 1]>
        g (float[N] x) => (float[M] a, float[M] b, float[M] c) {
            a = local.outer <first = 5.0> (x)
            b = local.outer <first = 6.0, second = 8.0> (x)
            c = local.inner (x)
        }
        <domain: "local", opset_import: ["" : 18, "local" : 1]>
        outer <first, second: float = 7.0> (x) => (y) {
            t = local.inner <value: float = @first> (x)
            y = local.inner <value: float = @second> (t)
        }
        <domain: "local", opset_import: ["" : 18]>
        inner <value: float = 9.0> (x) => (y) {
            yes = Constant <value = bool {1}> ()
            y = If (yes) <
                then_branch = add () => (float[M] z) {
                    k = Constant <value_float: float = @value> ()
                    shape = Constant <value_ints = [1]> ()
                    k1 = Reshape (k, shape)
                    z = Concat <axis = 0> (x, k1)
                },
                else_branch = leave () => (float[M] w) { w = Identity (x) }
            >
        })";
    auto const out = run(graph_of(text), {floats({1})});
    CHECK(numbers_of(out[0]) == numbers{1, 5, 7});
    CHECK(numbers_of(out[1]) == numbers{1, 6, 8});
    CHECK(numbers_of(out[2]) == numbers{1, 9});
}

TEST_CASE("functions that call each other are refused") {
    CHECK(has(refusal(graph_of(R"(<ir_version: 9, opset_import: ["" : 18, "local" : 1]>
        g (float[N] x) => (float[N] y) { y = local.f (x) }
        <domain: "local", opset_import: ["" : 18, "local" : 1]> f (x) => (y) { y = local.h (x) }
        <domain: "local", opset_import: ["" : 18, "local" : 1]> h (x) => (y) { y = local.f (x) })")),
              "the function local::f calls itself"));
}

TEST_CASE("a function may omit outputs that are not requested") {
    std::string const text = R"(<ir_version: 9, opset_import: ["" : 18, "local" : 1]>
        g (float[N] x) => (float[N] y) { y = local.f (x) }
        <domain: "local", opset_import: ["" : 18]> f (x) => (y, z) { y = Identity (x) })";
    CHECK(numbers_of(run(graph_of(text), {floats({1})})[0]) == numbers{1});
}

TEST_CASE("graphs that cannot run are refused before they run") {
    CHECK(has(refusal(simple("g (float[N] x) => (float[N] y) { y = Frobnicate (x) }")),
              "Frobnicate 'y': the operator does not exist at opset 18"));
    CHECK(has(refusal(graph_of("<ir_version: 9, opset_import: [\"\" : 18, \"acme\" : 3]>\n"
                               "g (float[N] x) => (float[N] y) { y = acme.Frobnicate (x) }")),
              "acme::Frobnicate 'y': the operator does not exist at opset 3"));
    CHECK(has(refusal(simple("g (float[N] x) => (float[N] y) { y = Identity (z)\n z = Identity (x) }")),
              "Identity 'y': no earlier node computes its input 'z'"));
    CHECK(has(refusal(simple("g (float[N] x) => (float[N] y) { y = Identity (z)\n z = Identity (y) }")),
              "no earlier node computes its input 'z'"));
    CHECK(has(refusal(simple("g (float[N] x) => (float[N] y) { y = Identity (nothing) }")), "'nothing'"));
    CHECK(has(refusal(simple("g (float[N] x) => (float[N] y) { z = Identity (x) }")), "no node computes an output"));
    CHECK(has(refusal(graph_of("<ir_version: 9, opset_import: [\"acme\" : 3]>\n"
                               "g (float[N] x) => (float[N] y) { y = Identity (x) }")),
              "the model does not import a version of ai.onnx"));
    CHECK(has(refusal(simple("g (bool p) => (float y) { y = If (p) <then_branch = a () => (float z) { z = "
                             "Frobnicate () }, else_branch = b () => (float w) { w = Constant <value_float = 1.0> () "
                             "}> }")),
              "If 'y': Frobnicate 'z'"));
}

TEST_CASE("hand-made graphs are validated") {
    aton::graph_data const good = simple("g (float[N] x) => (float[N] y) { y = Identity (x) }");
    aton::graph_data g = good;
    g.nodes[0].inputs[0] = 99;
    CHECK(has(refusal(g, {floats({1})}), "has no value 99"));
    g = good;
    g.nodes[0].outputs[0] = 99;
    CHECK(has(refusal(g, {floats({1})}), "has no value 99"));
    g = good;
    g.outputs[0] = 99;
    CHECK(has(refusal(g, {floats({1})}), "has no value 99"));
    g = good;
    g.nodes[0].outputs[0] = g.inputs[0];
    CHECK(has(refusal(g, {floats({1})}), "'x' is defined twice"));
    g = good;
    g.values[0].outer = 0;
    CHECK(has(refusal(g, {floats({1})}), "from a graph around"));
    g = good;
    g.nodes[0].inputs.clear();
    CHECK(refusal(g, {floats({1})}).empty()); // an empty optional is the same
}

TEST_CASE("errors name the input that is missing or has the wrong type") {
    CHECK(has(refusal(simple("g (float[N] x) => (float[N] y) { y = Concat <axis = 0> (, x) }"), {floats({1})}),
              "Concat 'y': input 0 is missing"));
    CHECK(has(refusal(simple("g (float[N] x) => (float[N] y) { y = Reshape (x, x) }"), {floats({1})}), "Reshape 'y'"));
    CHECK(has(refusal(simple("g (float[N] x, int64[N] i) => (float[N] y) { y = Concat <axis = 0> (x, i) }"),
                      {floats({1}), tensor::of_integers(std::vector<std::int64_t>{1})}),
              "Concat 'y'"));
    CHECK(has(refusal(simple("g (float[N] x) => (float[N] y) { y = SequenceAt (x, x) }"), {floats({1})}),
              "input 0 is not a sequence"));
}

TEST_CASE("errors of a graph are one line, whatever its names are") {
    aton::graph_data g = simple("g (float[N] x, int64[K] i) => (float[N] y) { y = Concat <axis = 0> (x, i) }");
    for (aton::graph_value& v : g.values) v.name = "a\nb" + std::string(5000, 'c');
    CHECK(refusal(g, {floats({1}), tensor::of_integers(std::vector<std::int64_t>{1})}).size() < 2100);
    CHECK(has(refusal(g, {}), "a b"));
}

TEST_CASE("a quantization without its scale is refused") {
    for (std::string const op : {"QuantizeLinear", "DequantizeLinear"})
        CHECK(has(refusal(simple("g (float[N] x) => (float[N] y) { y = " + op + " (x, ) }", 21), {floats({1})}),
                  op + " 'y': input 1 is missing"));
}

TEST_CASE("graphs that are nested too deeply are refused") {
    aton::graph_data inner = simple("g () => (float y) { y = Constant <value_float = 1.0> () }");
    for (int depth = 0; depth != 1000; ++depth) {
        aton::graph_data outer =
            simple("g () => (float y) { p = Constant <value = bool {1}> ()\n y = If (p) <then_branch "
                   "= a () => (float z) { z = Constant <value_float = 1.0> () }, else_branch = b () "
                   "=> (float w) { w = Constant <value_float = 1.0> () }> }");
        outer.nodes[1].attributes[0].graphs[0] = std::move(inner);
        inner = std::move(outer);
    }
    CHECK(has(refusal(std::move(inner)), "nested more than 64 deep"));
}

TEST_CASE("a run knows the opsets at which it takes the same steps") {
    auto const same_opsets = [](std::string const& text, int opset, std::vector<value> const& inputs) {
        aton::runtime::opset_range same{.first = 99, .last = 0}; // is overwritten
        (void)onnx_model(simple(text, opset)).run(inputs, {}, &same);
        CHECK(same.contains(opset));
        return std::pair(same.first, same.last);
    };
    constexpr int any = std::numeric_limits<int>::max();
    std::string const relu = "g (float[N] x) => (float[N] y) { y = Relu (x) }";
    std::string const softmax = "g (float[N] x) => (float[N] y) { y = Softmax <axis = 0> (x) }";
    std::string const two = "g (float[N] x) => (float[N] y) { a = Softmax <axis = 0> (x)\n y = Clip (a) }";
    std::string const window = "g (int64 n) => (float[N] y) { y = HannWindow (n) }";
    CHECK(same_opsets(relu, 18, {floats({1, 2})}) == std::pair(1, any));
    CHECK(same_opsets(softmax, 18, {floats({1, 2})}) ==
          std::pair(13, any)); // over one axis since 13, before over several
    CHECK(same_opsets(softmax, 11, {floats({1, 2})}) == std::pair(1, 12));
    CHECK(same_opsets(two, 12, {floats({1, 2})}) == std::pair(11, 12)); // Clip has its limits as inputs since 11
    CHECK(same_opsets(window, 18, {integer(3)}) == std::pair(18, 18));  // by ONNX's body, which is that of one opset

    std::string const branches = R"(g (bool p, float[N] x) => (float[N] y) {
        y = If (p) <then_branch = yes () => (float[N] a) { a = Softmax <axis = 0> (x) },
                    else_branch = no () => (float[N] b) { b = Relu (x) }>
    })";
    CHECK(same_opsets(branches, 18, {truth(true), floats({1, 2})}) == std::pair(13, any));
    CHECK(same_opsets(branches, 18, {truth(false), floats({1, 2})}) == std::pair(1, any));
}

TEST_CASE("one model runs in several threads concurrently") {
    onnx_model const model(simple(R"(g (int64 most, float[1] x) => (float[N] last) {
        last = Loop (most, , x) <
            body = step (int64 i, bool go, float[N] v) => (bool on, float[N] w) {
                on = Identity (go)
                w = Concat <axis = 0> (v, x)
            }
        >
    })"));
    auto const work = [&](std::int64_t most, bool& right) {
        right = true;
        for (int i = 0; i != 20; ++i) {
            auto const out = model.run(std::vector<value>{integer(most), floats({static_cast<float>(most)})});
            right =
                right && numbers_of(out[0]) == numbers(static_cast<std::size_t>(most) + 1, static_cast<float>(most));
        }
    };
    bool first = false;
    bool second = false;
    std::thread one(work, 3, std::ref(first));
    std::thread other(work, 5, std::ref(second));
    one.join();
    other.join();
    CHECK(first);
    CHECK(second);
}
