// SPDX-License-Identifier: MIT
// Tests ONNX operators where ONNX's node tests do not: old versions, random numbers, models of ai.onnx.ml, and invalid
// calls.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/core/error.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/runtime/onnx_model.hpp>

namespace ATON_NAMESPACE::runtime {

namespace {

node_attribute attribute(std::string name, onnx::attr_type type) {
    node_attribute a;
    a.name = std::move(name);
    a.type = type;
    return a;
}
node_attribute integer(std::string name, std::int64_t i) {
    node_attribute a = attribute(std::move(name), onnx::attr_type::i);
    a.i = i;
    return a;
}
node_attribute real(std::string name, float f) {
    node_attribute a = attribute(std::move(name), onnx::attr_type::f);
    a.f = f;
    return a;
}
node_attribute text(std::string name, std::string s) {
    node_attribute a = attribute(std::move(name), onnx::attr_type::s);
    a.s = std::move(s);
    return a;
}
node_attribute integers(std::string name, std::vector<std::int64_t> list) {
    node_attribute a = attribute(std::move(name), onnx::attr_type::ints);
    a.ints = std::move(list);
    return a;
}
node_attribute reals(std::string name, std::vector<float> list) {
    node_attribute a = attribute(std::move(name), onnx::attr_type::floats);
    a.floats = std::move(list);
    return a;
}
node_attribute texts(std::string name, std::vector<std::string> list) {
    node_attribute a = attribute(std::move(name), onnx::attr_type::strings);
    a.strings = std::move(list);
    return a;
}

tensor floats(std::vector<float> const& numbers, sizes to) {
    tensor t = tensor::empty(dtype::float32, std::move(to));
    REQUIRE(t.count() == static_cast<std::int64_t>(numbers.size()));
    for (std::size_t i = 0; i != numbers.size(); ++i) t.data<float>()[i] = numbers[i];
    return t;
}
tensor longs(std::vector<std::int64_t> const& numbers) { return tensor::of_integers(numbers); }
tensor strings(std::vector<std::string> list) {
    auto const count = static_cast<std::int64_t>(list.size());
    return tensor::of_strings(std::move(list), {count});
}

struct operator_call {
    std::string op;
    int opset;
    std::vector<tensor> inputs;
    std::vector<node_attribute> attributes = {};
    std::size_t outputs = 1;
    std::string domain = {};
};

std::vector<tensor> run(operator_call const& c) {
    graph_data g;
    g.opset = c.domain.empty() ? c.opset : 22;
    if (!c.domain.empty()) g.import_domain(c.domain, c.opset);
    graph_node n;
    n.domain = c.domain;
    n.op = c.op;
    n.attributes = c.attributes;
    std::vector<value> values;
    for (tensor const& t : c.inputs) {
        n.inputs.push_back(t ? g.add_input({}, value_type{}) : no_value);
        if (t) values.emplace_back(t);
    }
    for (std::size_t i = 0; i != c.outputs; ++i) {
        n.outputs.push_back(g.add_value(value_type{}));
        g.outputs.push_back(n.outputs.back());
    }
    g.nodes.push_back(n);
    std::vector<tensor> out;
    for (value const& v : onnx_model(std::move(g)).run(values)) out.push_back(v.one());
    return out;
}

std::vector<double> numbers(tensor const& t) {
    tensor const wide = cast(t, dtype::float64).contiguous();
    return {wide.data<double const>(), wide.data<double const>() + wide.count()};
}
std::vector<std::string> words(tensor const& t) { return {t.strings().begin(), t.strings().end()}; }

void check_near(tensor const& t, std::vector<double> const& expected) {
    std::vector<double> const all = numbers(t);
    REQUIRE(all.size() == expected.size());
    for (std::size_t i = 0; i != all.size(); ++i)
        CHECK((all[i] == expected[i] || all[i] == doctest::Approx(expected[i]).epsilon(1e-5)));
}

void check_refused(operator_call const& c, std::string_view why) {
    std::string message;
    try {
        (void)run(c);
    } catch (error const& e) {
        message = e.what();
    }
    INFO(c.op, ": ", message);
    CHECK(message.find(why) != std::string::npos);
}

constexpr char const* ml = "ai.onnx.ml";

} // namespace

TEST_CASE("before opset 7 operands broadcast along dimensions from an axis on") {
    tensor const x = floats({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2});
    tensor const y = floats({10, 20}, {2});
    check_near(run({"Add", 6, {x, y}, {integer("broadcast", 1), integer("axis", 1)}})[0],
               {11, 12, 23, 24, 15, 16, 27, 28});
    check_near(run({"Add", 6, {x, y}, {integer("broadcast", 1)}})[0], {11, 22, 13, 24, 15, 26, 17, 28});
    check_refused({"Add", 6, {x, y}}, "do not broadcast without the attribute");
    check_refused({"Add", 6, {x, y}, {integer("broadcast", 1), integer("axis", 3)}}, "axis 3");
    check_near(run({"PRelu", 6, {floats({-1, -1, -1, -1}, {1, 2, 2}), y}})[0], {-10, -10, -20, -20});
}

TEST_CASE("0 to a negative power is the minimum integer, as in ONNX Runtime") {
    for (dtype const type : {dtype::int32, dtype::int64}) {
        tensor const y = run({"Pow", 15, {cast(longs({0, 0, 0, 2, -1}), type), longs({-1, 3, 0, -1, -3})}})[0];
        double const least = type == dtype::int32 ? -0x1p31 : -0x1p63;
        CHECK(numbers(y) == std::vector<double>{least, 0, 1, 0, -1});
    }
    CHECK(numbers(run({"Pow", 15, {longs({0, 3}), floats({2, 2}, {2})}})[0]) == std::vector<double>{0, 9});
}

TEST_CASE("maxima and minima drop NaN, which ONNX leaves to the runtime") {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    tensor const x = floats({nan, 2, -1, 5, nan, nan}, {1, 1, 2, 3});
    check_near(run({"ReduceMax", 13, {x}, {integers("axes", {3}), integer("keepdims", 0)}})[0], {2, 5});
    check_near(run({"ReduceMin", 13, {x}, {integers("axes", {3}), integer("keepdims", 0)}})[0], {-1, 5});
    check_near(run({"ArgMax", 13, {x}, {integer("axis", 3)}})[0], {1, 0});
    check_near(run({"ArgMin", 13, {x}, {integer("axis", 3)}})[0], {2, 0});
    check_near(run({"GlobalMaxPool", 13, {x}})[0], {5});
    std::vector<tensor> const pooled = run({"MaxPool", 13, {x}, {integers("kernel_shape", {2, 2})}, 2});
    check_near(pooled[0], {5, 2});
    check_near(pooled[1], {3, 1});
    check_near(run({"ScatterElements",
                    18,
                    {floats({1, 2}, {2}), longs({0, 1, 1}), floats({nan, nan, 3}, {3})},
                    {text("reduction", "max")}})[0],
               {1, 3});
}

TEST_CASE("before opset 13 softmax is over all dimensions from its axis on") {
    tensor const x = floats({0, 0, 0, 0, 0, 0, 0, 0}, {2, 2, 2});
    CHECK(numbers(run({"Softmax", 11, {x}})[0])[0] == 0.25);
    CHECK(numbers(run({"Softmax", 13, {x}})[0])[0] == 0.5);
    check_near(run({"Hardmax", 11, {x}})[0], {1, 0, 0, 0, 1, 0, 0, 0});
}

TEST_CASE("equal seeds give equal numbers, and distinct seeds distinct ones") {
    auto const drawn = [](float seed) {
        return numbers(run({"RandomNormal", 22, {}, {integers("shape", {20000}), real("seed", seed)}})[0]);
    };
    std::vector<double> const first = drawn(1);
    CHECK(first == drawn(1));
    CHECK(first != drawn(2));
    double sum = 0;
    double squares = 0;
    for (double x : first) {
        sum += x;
        squares += x * x;
    }
    CHECK(std::abs(sum / 20000) < 0.03);
    CHECK(std::abs(squares / 20000 - 1) < 0.05);
}

TEST_CASE("multinomial never draws an element with probability 0") {
    tensor const x = floats({0, -INFINITY, 1}, {1, 3});
    std::vector<double> const drawn = numbers(run({"Multinomial", 22, {x}, {integer("sample_size", 5000)}})[0]);
    double twos = 0;
    for (double d : drawn) {
        CHECK(d != 1);
        twos += d == 2 ? 1 : 0;
    }
    CHECK(std::abs(twos / 5000 - 0.731) < 0.03);
}

TEST_CASE("numbers are cast to the shortest string, and strings to numbers") {
    auto const to = [](dtype t) { return std::vector{integer("to", static_cast<std::int64_t>(t))}; };
    tensor const x = floats({0.1F, 100000, 1e-7F, -2.5F, INFINITY, NAN}, {6});
    CHECK(words(run({"Cast", 21, {x}, to(dtype::string)})[0]) ==
          std::vector<std::string>{"0.1", "100000", "1e-07", "-2.5", "INF", "NaN"});
    CHECK(words(run({"Cast", 21, {cast(floats({0.1F}, {1}), dtype::float16)}, to(dtype::string)})[0]) ==
          std::vector<std::string>{"0.1"});
    check_near(run({"Cast", 21, {strings({" 7 ", "-2e3", "+1", "-inf"})}, to(dtype::float32)})[0],
               {7, -2000, 1, -static_cast<double>(INFINITY)});
    check_near(run({"Cast", 21, {strings({"9007199254740993", "100.5"})}, to(dtype::int64)})[0],
               {9007199254740993.0, 100});
    check_refused({"Cast", 21, {strings({"word"})}, to(dtype::int32)}, "'word' is not a number");
}

TEST_CASE("float8_e8m0 is rounded up, down or to nearest") {
    tensor const x = floats({1, 1.5F, 1.4F, 0}, {4});
    auto const codes = [&](std::string mode, std::int64_t saturate) {
        tensor const y = run({"Cast",
                              24,
                              {x},
                              {integer("to", static_cast<std::int64_t>(dtype::float8_e8m0)),
                               text("round_mode", std::move(mode)),
                               integer("saturate", saturate)}})[0];
        return numbers(y.reinterpreted(dtype::uint8));
    };
    CHECK(codes("up", 1) == std::vector<double>{127, 128, 128, 0});
    CHECK(codes("down", 1) == std::vector<double>{127, 127, 127, 0});
    CHECK(codes("nearest", 0) == std::vector<double>{127, 128, 127, 255});
}

TEST_CASE("letters of other alphabets have upper and lower case") {
    tensor const x = strings({"Éa", "Жук", "ab", "Σ"});
    CHECK(words(run(
              {"StringNormalizer", 10, {x}, {text("case_change_action", "LOWER"), texts("stopwords", {"AB"})}})[0]) ==
          std::vector<std::string>{"éa", "жук", "σ"});
    CHECK(words(run({"StringNormalizer", 10, {x}, {text("case_change_action", "UPPER")}})[0]) ==
          std::vector<std::string>{"ÉA", "ЖУК", "AB", "Σ"});
}

TEST_CASE("patterns do not take exponential time or recursion") {
    tensor const x = strings({std::string(20000, 'a')});
    CHECK(numbers(run({"RegexFullMatch", 20, {x}, {text("pattern", "(a*)*b")}})[0]) == std::vector<double>{0});
    check_refused({"RegexFullMatch", 20, {x}, {text("pattern", std::string(3000, '('))}}, "too long");
    check_refused({"RegexFullMatch", 20, {x}, {text("pattern", "(?i)a")}}, "not supported");
}

TEST_CASE("trees of the older operators") {
    std::vector<node_attribute> const tree = {integers("nodes_treeids", {0, 0, 0}),
                                              integers("nodes_nodeids", {0, 1, 2}),
                                              integers("nodes_featureids", {0, 0, 0}),
                                              reals("nodes_values", {0.5F, 0, 0}),
                                              texts("nodes_modes", {"BRANCH_LEQ", "LEAF", "LEAF"}),
                                              integers("nodes_truenodeids", {1, 0, 0}),
                                              integers("nodes_falsenodeids", {2, 0, 0})};
    auto const with = [&](std::vector<node_attribute> more) {
        more.insert(more.begin(), tree.begin(), tree.end());
        return more;
    };
    tensor const x = floats({0, 1}, {2, 1});
    std::vector<node_attribute> const votes = {integer("n_targets", 1),
                                               integers("target_treeids", {0, 0}),
                                               integers("target_nodeids", {1, 2}),
                                               integers("target_ids", {0, 0}),
                                               reals("target_weights", {3, -4}),
                                               reals("base_values", {10})};
    check_near(run({"TreeEnsembleRegressor", 3, {x}, with(votes), 1, ml})[0], {13, 6});
    std::vector<tensor> const classes = run({"TreeEnsembleClassifier",
                                             3,
                                             {x},
                                             with({integers("class_treeids", {0, 0}),
                                                   integers("class_nodeids", {1, 2}),
                                                   integers("class_ids", {0, 0}),
                                                   reals("class_weights", {0.25F, 0.75F}),
                                                   texts("classlabels_strings", {"no", "yes"})}),
                                             2,
                                             ml});
    CHECK(words(classes[0]) == std::vector<std::string>{"no", "yes"});
    check_near(classes[1], {0.75, 0.25, 0.25, 0.75});
    check_refused({"TreeEnsembleRegressor", 3, {floats({}, {2, 0})}, with(votes), 1, ml},
                  "a feature that does not exist");
}

TEST_CASE("linear models and support vectors") {
    tensor const x = floats({1, 2}, {1, 2});
    check_near(run({"LinearRegressor",
                    1,
                    {x},
                    {integer("targets", 2), reals("coefficients", {1, 1, 2, 0}), reals("intercepts", {0, 5})},
                    1,
                    ml})[0],
               {3, 7});
    std::vector<tensor> const classes = run({"LinearClassifier",
                                             1,
                                             {x},
                                             {reals("coefficients", {1, 1, 2, 0}),
                                              integers("classlabels_ints", {4, 9}),
                                              text("post_transform", "LOGISTIC")},
                                             2,
                                             ml});
    check_near(classes[0], {4});
    check_near(classes[1], {1 / (1 + std::exp(-3.0)), 1 / (1 + std::exp(-2.0))});
    std::vector<node_attribute> const machine = {text("kernel_type", "RBF"),
                                                 reals("kernel_params", {0.5F, 0, 0}),
                                                 reals("support_vectors", {1, 2, 1, 0}),
                                                 reals("coefficients", {1, -2}),
                                                 reals("rho", {0.5F})};
    std::vector<node_attribute> regressor = machine;
    regressor.push_back(integer("n_supports", 2));
    check_near(run({"SVMRegressor", 1, {x}, regressor, 1, ml})[0], {1.5 - 2 * std::exp(-2.0)});
    std::vector<node_attribute> classifier = machine;
    classifier.push_back(integers("vectors_per_class", {1, 1}));
    classifier.push_back(integers("classlabels_ints", {0, 1}));
    check_near(run({"SVMClassifier", 1, {x}, classifier, 2, ml})[0], {0});
}

TEST_CASE("features are mapped, scaled and imputed") {
    check_near(run({"CategoryMapper",
                    1,
                    {strings({"cat", "cow"})},
                    {texts("cats_strings", {"cat"}), integers("cats_int64s", {5}), integer("default_int64", -9)},
                    1,
                    ml})[0],
               {5, -9});
    CHECK(words(run({"LabelEncoder",
                     2,
                     {floats({NAN, 1, 2}, {3})},
                     {reals("keys_floats", {1, NAN, 1}), texts("values_strings", {"first", "nan", "last"})},
                     1,
                     ml})[0]) == std::vector<std::string>{"nan", "last", "_Unused"});
    tensor const x = floats({1, NAN, 3, 4}, {2, 2});
    check_near(
        run({"Imputer", 1, {x}, {reals("imputed_value_floats", {7, 8}), real("replaced_value_float", NAN)}, 1, ml})[0],
        {1, 8, 3, 4});
    check_near(run({"Scaler", 1, {longs({1, 2})}, {reals("offset", {1}), reals("scale", {3})}, 1, ml})[0], {0, 3});
    check_near(run({"OneHotEncoder", 1, {longs({2, 5})}, {integers("cats_int64s", {1, 2})}, 1, ml})[0], {0, 1, 0, 0});
    check_refused({"OneHotEncoder", 1, {longs({5})}, {integers("cats_int64s", {1}), integer("zeros", 0)}, 1, ml},
                  "not one of the categories");
    check_near(run({"Normalizer", 1, {floats({3, -4, 0, 0}, {2, 2})}, {text("norm", "L2")}, 1, ml})[0],
               {0.6, -0.8, 0, 0});
}

TEST_CASE("invalid calls are refused in one line") {
    tensor const x = floats({1, 2, 3, 4, 5, 6}, {2, 3});
    check_refused({"Add", 14, {x, floats({1, 2}, {2})}}, "do not broadcast");
    check_refused({"Add", 14, {x, longs({1, 2, 3})}}, "cannot be combined");
    check_refused({"ReduceSum", 13, {x, longs({5})}}, "axis 5");
    check_refused({"QuantizeLinear", 21, {x, floats({1, 2}, {2})}}, "does not fit");
    check_refused({"NegativeLogLikelihoodLoss", 13, {x, longs({0, 3})}}, "out of range: 3");
    check_refused({"RandomNormal", 22, {}, {integers("shape", {1099511627776, 1099511627776})}}, "too large");
    check_refused({"TfIdfVectorizer",
                   9,
                   {longs({1})},
                   {text("mode", "TF"),
                    integers("ngram_counts", {0}),
                    integers("ngram_indexes", {4611686018427387904}),
                    integers("pool_int64s", {1}),
                    integer("min_gram_length", 1),
                    integer("max_gram_length", 1),
                    integer("max_skip_count", 0)}},
                  "too large");
    check_refused({"Gradient", 1, {x}, {}, 1, "ai.onnx.preview.training"}, "does not differentiate");
}

TEST_CASE("axes and sizes at the limits of int64 are refused before any arithmetic") {
    tensor const x = floats({1, 2, 3, 4, 5, 6}, {2, 3});
    std::int64_t const most = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t batch : {most, -most, std::int64_t{2}})
        check_refused(
            {"ReverseSequence", 10, {x, longs({1, 2})}, {integer("batch_axis", batch), integer("time_axis", 1)}},
            "batch_axis and time_axis must be 0 and 1");
    check_refused({"ReverseSequence", 10, {x, longs({1, 2})}, {integer("batch_axis", 1), integer("time_axis", -most)}},
                  "batch_axis and time_axis must be 0 and 1");
    std::vector const window = {integers("kernel_shape", {2}), integers("strides", {2})};
    tensor const pooled = floats({5, 6}, {1, 1, 2});
    tensor const places = reshape(longs({1, 3}), {1, 1, 2});
    check_refused({"MaxUnpool", 22, {pooled, places, longs({1, 1, -most - 1})}, window}, "cannot have shape");
    tensor const kernel = floats({1, 2}, {1, 1, 2});
    check_refused({"ConvTranspose", 22, {pooled, kernel}, {integers("output_padding", {most - 1})}}, "output padding");
    check_refused({"ConvTranspose", 22, {pooled, kernel}, {integers("output_shape", {most})}},
                  "output_shape is out of range");
}

} // namespace ATON_NAMESPACE::runtime
