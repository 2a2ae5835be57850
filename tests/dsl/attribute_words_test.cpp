// SPDX-License-Identifier: MIT
// Values of attributes: a word that ONNX does not list at an opset is refused when the node is made (S5), and defaults of declared operators
// are written (S6).
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/onnx/attribute_words.hpp>

#include "../faults.hpp"

namespace attribute_words_test {

namespace {

using namespace aton::dsl;
using aton::dtype;
using aton::graph_data;
using aton::shape;
using aton::tests::fault_of;

/// What is said about a scatter of 5 values into 7 with this reduction.
std::string scattered(int opset, std::string const& reduction) {
    graph_data data;
    graph<16> const g(data, opset);
    value const x(data, data.add_input("x", {dtype::float32, shape{7}}));
    value const at(data, data.add_input("at", {dtype::int64, shape{5}}));
    value const by(data, data.add_input("by", {dtype::float32, shape{5}}));
    return fault_of([&] { (void)g.op<"ScatterElements">(x, at, by, attr::reduction_s(reduction)); });
}

std::string refused(std::string_view op, int opset, std::string_view attribute, std::string_view word,
                    std::string_view domain = "") {
    return aton::onnx::refused_word(aton::onnx::find(domain, op, opset), attribute, word);
}

// ONNX Runtime's own default is 1.702.
constexpr auto quick_gelu = [](graph<13> g, value x, double alpha) {
    return g.op<"Mul">(x, g.op<"Sigmoid">(g.op<"Mul">(x, alpha)));
};
constexpr auto contrib =
    domain<"com.microsoft", 1, op<"QuickGelu(T X, float alpha=1.0) -> (T Y = like(X))", "T: float", body<quick_gelu>>,
           op<"Other(T X, int n=3, float[] s=[0.5, 2.0], string mode=\"a b\", int? k, int m) -> (T Y = like(X))",
              "T: float">>{};

} // namespace

TEST_CASE("S6: attributes of declared operators are written at their defaults, and others only if given") {
    graph_data data;
    graph<13, contrib> const g(data, 20);
    value const x(data, data.add_input("x", {dtype::float32, shape{3, 2}}));
    (void)g.op<"com.microsoft::QuickGelu">(x);
    (void)g.op<"com.microsoft::QuickGelu">(x, attr_f<"alpha">(2.5));
    (void)g.op<"com.microsoft::Other">(x, attr_i<"m">(7));
    (void)g.op<"com.microsoft::Other">(x, attr_i<"m">(7), attr_i<"n">(std::optional<int>()));
    auto const& nodes = data.nodes;
    REQUIRE(nodes.size() == 4);
    REQUIRE(nodes[0].attributes.size() == 1);
    CHECK(nodes[0].attribute("alpha")->f == 1.0F);
    REQUIRE(nodes[1].attributes.size() == 1);
    CHECK(nodes[1].attribute("alpha")->f == 2.5F);
    for (std::size_t i : {std::size_t{2}, std::size_t{3}}) {
        CHECK(nodes[i].attributes.size() == 4);
        CHECK(nodes[i].attribute("n")->i == 3);
        CHECK(nodes[i].attribute("s")->floats == std::vector{0.5F, 2.0F});
        CHECK(nodes[i].attribute("mode")->s == "a b");
        CHECK(nodes[i].attribute("m")->i == 7);
        CHECK(nodes[i].attribute("k") == nullptr);
    }
}

TEST_CASE("S5: a word of no opset, and one of a later opset, are refused") {
    CHECK(scattered(16, "add") == "nothing was thrown");
    CHECK(scattered(18, "max") == "nothing was thrown");
    CHECK(scattered(28, "none") == "nothing was thrown");
    CHECK(scattered(18, "sum") ==
          "onnx::ScatterElements (opset 18): attribute 'reduction' is 'sum'; allowed: add, max, "
          "min, mul, none");
    CHECK(scattered(17, "max") ==
          "onnx::ScatterElements (opset 17): attribute 'reduction' is 'max', which exists since "
          "opset 18; allowed: add, mul, none");
    CHECK(scattered(16, "") ==
          "onnx::ScatterElements (opset 16): attribute 'reduction' is ''; allowed: add, mul, none");
    CHECK(scattered(16, "Add") ==
          "onnx::ScatterElements (opset 16): attribute 'reduction' is 'Add'; did you mean 'add'? "
          "allowed: add, mul, none");
}

TEST_CASE("S5: every word of a list is checked") {
    graph_data data;
    graph<14> const g(data, 20);
    value const x(data, data.add_input("x", {dtype::float32, shape{3, 2, 5}}));
    value const w(data, data.add_input("w", {dtype::float32, shape{2, 4, 5}}));
    value const r(data, data.add_input("r", {dtype::float32, shape{2, 4, 4}}));
    auto const said = [&](std::vector<std::string> const& activations, std::string const& direction) {
        return fault_of([&] {
            (void)g.op<"RNN">(
                x, w, r, attr::hidden_size_i(4), attr::activations_s(activations), attr::direction_s(direction));
        });
    };
    CHECK(said({"Tanh", "Relu"}, "bidirectional") == "nothing was thrown");
    CHECK(said({"tanh", "RELU"}, "bidirectional") == "nothing was thrown"); // runtimes ignore their case
    CHECK(said({"Tanh", "Gelu"}, "bidirectional").find("attribute 'activations' is 'Gelu'; did you mean 'Elu'?") !=
          std::string::npos);
    CHECK(said({"Tanh", "Relu"}, "both")
              .find("attribute 'direction' is 'both'; allowed: bidirectional, forward, reverse") != std::string::npos);
}

TEST_CASE("S5: words come and go with versions, and free text is any text") {
    CHECK(refused("GridSample", 19, "mode", "bilinear").empty());
    CHECK(refused("GridSample", 20, "mode", "bilinear") ==
          "attribute 'mode' is 'bilinear', which exists only until opset 19; allowed: cubic, linear, nearest");
    CHECK(refused("Resize", 11, "coordinate_transformation_mode", "tf_half_pixel_for_nn").empty());
    CHECK(refused("Resize", 13, "coordinate_transformation_mode", "tf_half_pixel_for_nn").find("only until opset 12") !=
          std::string::npos);
    CHECK(refused("Resize", 18, "coordinate_transformation_mode", "half_pixel_symmetric").find("since opset 19") !=
          std::string::npos);
    CHECK(refused("Resize", 13, "mode", "bilinear") ==
          "attribute 'mode' is 'bilinear'; did you mean 'linear'? allowed: cubic, linear, nearest");
    CHECK(refused("Pad", 13, "mode", "wrap").find("since opset 19") != std::string::npos);
    CHECK(refused("Einsum", 20, "equation", "ij,jk->ik").empty());
    CHECK(refused("SVMClassifier", 1, "kernel_type", "rbf", "ai.onnx.ml").find("did you mean 'RBF'?") !=
          std::string::npos);
    CHECK(refused("LabelEncoder", 4, "default_string", "anything", "ai.onnx.ml").empty());
}

TEST_CASE("S5: every string attribute with a default has it among its words, in every version") {
    std::set<std::string> lists;
    for (int i = 0; i != aton::onnx::schema_count(); ++i) {
        aton::onnx::op_schema const schema = aton::onnx::schema_at(i);
        for (int k = 0; k != schema.attribute_count(); ++k) {
            aton::onnx::attribute const a = schema.attr(k);
            if (a.type != aton::onnx::attr_type::s || aton::onnx::attribute_words(schema, a.name).empty()) continue;
            CAPTURE(schema.name());
            CAPTURE(schema.since());
            CAPTURE(a.name);
            lists.emplace(std::string(schema.name()) + '.' + std::string(a.name));
            bool const misspelled = schema.name() == "GRU" && schema.since() < 3; // 'foward' in ONNX
            if (!a.default_text.empty())
                CHECK(aton::onnx::refused_word(schema, a.name, a.default_text).empty() != misspelled);
        }
    }
    CHECK(lists.size() > 40);
}

} // namespace attribute_words_test
