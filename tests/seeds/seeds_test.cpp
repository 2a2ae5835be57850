// SPDX-License-Identifier: MIT
// The examples of PyTorch's guides to symbolic functions and ATen nodes, in Aton's terms; README.md says where each of the others is tested.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/aton.hpp>
#include <aton/model_io/model_io.hpp>

using namespace aton::dsl;

namespace {

struct fixture {
    graph_data data;

    value input(std::string name, dtype type, aton::shape shape) {
        return {data, data.add_input(std::move(name), {type, std::move(shape)})};
    }
    /// Converts one call and shows its results as the outputs.
    std::vector<value> run(table_view rows, std::string_view overload, std::vector<argument> arguments,
                           int opset = 20) {
        entry const* const row = find(rows, overload, opset);
        REQUIRE(row != nullptr);
        std::vector<value> all;
        for (result const& r : convert(data, *row, opset, std::move(arguments))) all.push_back(*r.single);
        for (value const& v : all) data.outputs.push_back(v.id());
        return all;
    }
    [[nodiscard]] aton::graph_node const& node(std::string_view op) const {
        for (aton::graph_node const& n : data.nodes)
            if (n.op == op) return n;
        FAIL("no node ", std::string(op));
        return data.nodes[0];
    }
};

argument tensor_of(value const& v) { return argument::of_tensor(v); }

// elu(g, input, alpha) of a Function: alpha arrives as a scalar tensor and becomes a number, offset the other way.
inline constexpr auto functions =
    table(symbolic<"functions::elu(Tensor input, Tensor alpha, float offset) -> Tensor">(
              [](graph<7> g, value input, value alpha, double offset) -> value {
                  value const y = g.op<"Elu">(input, attr::alpha_f(alpha.constant<double>()));
                  return g.op<"Add">(y, g.scalar_like(offset, input));
              }),
          // What a symbolic function asks a value: type, sizes.
          symbolic<"functions::flatten_rows(Tensor input) -> Tensor">([](graph<13> g, value input) -> value {
              value_type const& type = input.type();
              if (type.kind != aton::value_kind::tensor || input.rank() < 2)
                  return g.unsupported("an input of rank 2 or more");
              return g.op<"Reshape">(input, g.ints(std::vector<sym_int>{g.size(input, 0), -1}));
          }));

// An operator that no standard has, with everything that an attribute can be.
inline constexpr auto experimental = domain<"experimental", 1,
                                            op<"Anything(T X, float a, int b, string c, tensor d, float[] e, int[] f, "
                                               "string[] g, tensor[] h) -> (T Y = like(X), T Z)",
                                               "T: float16, float">>{};

inline constexpr auto experiments =
    table(symbolic<"experiments::anything(Tensor x, float a, int b, str c) -> (Tensor, Tensor)">(
        [](graph<13, experimental> g, value x, double a, std::int64_t b, std::string_view c) {
            std::vector<std::string> const words{std::string(c), "two"};
            tensor const one = aton::scalar_tensor(1, dtype::int64);
            return g.op<"experimental::Anything">(x,
                                                  attr_f<"a">(a),
                                                  attr_i<"b">(b),
                                                  attr_s<"c">(c),
                                                  attr_t<"d">(one),
                                                  attr_f<"e">({a, -a}),
                                                  attr_i<"f">({b, 2 * b}),
                                                  attr_s<"g">(words),
                                                  attr_t<"h">(std::vector<tensor>{one, one}),
                                                  outputs<2>);
        }));

// An autograd function with a symbolic function of its own.
inline constexpr auto my_relu =
    table(symbolic<"functions::MyRelu(Tensor input) -> Tensor">([](graph<12> g, value input) {
        return g.op<"Clip">(input, g.op<"Constant">(attr::value_t(aton::scalar_tensor(0, dtype::float32))));
    }));

} // namespace

TEST_CASE("001: a scalar tensor becomes a number, a number a tensor of another's dtype") {
    fixture f;
    value const x = f.input("x", dtype::float16, {2, 3});
    value const alpha(f.data, f.data.add_value(value_type{dtype::float64, aton::shape(std::vector<dim>())}, "alpha"));
    f.data.set_initializer(alpha.id(), aton::scalar_tensor(0.25, dtype::float64));
    f.run(functions, "functions::elu", {tensor_of(x), tensor_of(alpha), argument::of_number(-1.5)});
    CHECK(f.node("Elu").attributes.at(0).f == 0.25F);
    value const offset(f.data, f.node("Add").inputs.at(1));
    CHECK(offset.dtype() == dtype::float16);
    CHECK(offset.constant<double>() == -1.5);

    // A tensor that is no constant is no number.
    value const computed = f.input("computed", dtype::float32, aton::shape(std::vector<dim>()));
    CHECK_THROWS_AS(f.run(functions, "functions::elu", {tensor_of(x), tensor_of(computed), argument::of_number(1)}),
                    aton::unsupported_error);
}

TEST_CASE("001: a value is asked for its type and sizes") {
    fixture f;
    value const x = f.input("x", dtype::int64, {"rows", 3, 5});
    CHECK(f.run(functions, "functions::flatten_rows", {tensor_of(x)}).at(0).dtype() == dtype::int64);
    CHECK(f.data.nodes.back().op == "Reshape");
    CHECK(f.data.nodes.back().inputs.at(0) == x.id());
    value const flat = f.input("flat", dtype::int64, {4});
    CHECK_THROWS_WITH_AS(f.run(functions, "functions::flatten_rows", {tensor_of(flat)}),
                         "functions::flatten_rows (opset 20): an input of rank 2 or more",
                         aton::unsupported_error);
}

TEST_CASE("001: an experimental operator with attributes of every type, one and a list, and several outputs") {
    fixture f;
    value const x = f.input("x", dtype::float32, {2, 3});
    std::vector<value> const results =
        f.run(experiments,
              "experiments::anything",
              {tensor_of(x), argument::of_number(0.5), argument::of_number(-3), argument::of_text("one")});
    REQUIRE(results.size() == 2);
    CHECK(results[0].type() == x.type());
    CHECK(results[1].dtype() == dtype::float32);
    CHECK_FALSE(results[1].has_rank());

    aton::graph_node const& n = f.node("Anything");
    CHECK(n.domain == "experimental");
    REQUIRE(n.attributes.size() == 8);
    CHECK(n.attributes[0].f == 0.5F);
    CHECK(n.attributes[1].i == -3);
    CHECK(n.attributes[2].s == "one");
    CHECK(n.attributes[3].tensors.size() == 1);
    CHECK(n.attributes[4].floats == std::vector<float>{0.5F, -0.5F});
    CHECK(n.attributes[5].ints == std::vector<std::int64_t>{-3, -6});
    CHECK(n.attributes[6].strings == std::vector<std::string>{"one", "two"});
    CHECK(n.attributes[7].tensors.size() == 2);
    f.data.outputs = {results[0].id()}; // a file says the rank of each output
    aton::check_model_bytes(to_model_proto(f.data));
    CHECK(f.data.opset_imports == std::vector<std::pair<std::string, int>>{{"experimental", 1}});
}

TEST_CASE("003: MyRelu has a symbolic function of its own") {
    fixture f;
    value const x = f.input("x", dtype::float32, {2, 3});
    f.run(my_relu, "functions::MyRelu", {tensor_of(x)});
    CHECK(to_string(f.data) == "graph(%x : Float(2, 3)):\n"
                               "  %1 : Float() = onnx::Constant[value={0}]()   # functions::MyRelu\n"
                               "  %2 : Float(2, 3) = onnx::Clip(%x, %1)   # functions::MyRelu\n"
                               "  return (%2)\n");
    aton::check_model_bytes(to_model_proto(f.data));
}

TEST_CASE("004: x * x + y after Relu, with ATen nodes") {
    fixture f;
    value const x = f.input("x", dtype::float32, {3, 4});
    value const y = f.input("y", dtype::float32, {3, 4});
    graph<13> const g(f.data, 20);
    value const positive = g.op<"Relu">(x);
    value const square = g.at<"mul">(positive, positive);
    value const sum = value(g.at<"add">(square, y)).set_type(y.type());
    f.data.outputs = {sum.id()};
    CHECK(to_string(f.data) == "graph(%x : Float(3, 4), %y : Float(3, 4)):\n"
                               "  %2 : Float(3, 4) = onnx::Relu(%x)\n"
                               "  %3 : Tensor = org.pytorch.aten::ATen[operator=\"mul\"](%2, %2)\n"
                               "  %4 : Float(3, 4) = org.pytorch.aten::ATen[operator=\"add\"](%3, %y)\n"
                               "  return (%4)\n");
    aton::check_model_bytes(to_model_proto(f.data));
}

TEST_CASE("004: numbers are attributes, and a type is its name") {
    fixture f;
    value const x = f.input("x", dtype::float32, {3, 4});
    graph<13> const g(f.data, 20);
    value const square = g.at<"pow">(x, attr_f<"exponent">(2.0));
    value const ones = g.at<"ones">(attr_s<"type">("float"), attr_i<"size">({2, 4}));
    f.data.outputs = {square.id(), ones.id()};
    CHECK(to_string(f.data) ==
          "graph(%x : Float(3, 4)):\n"
          "  %1 : Tensor = org.pytorch.aten::ATen[exponent=2., operator=\"pow\"](%x)\n"
          "  %2 : Tensor = org.pytorch.aten::ATen[operator=\"ones\", size=[2, 4], type=\"float\"]()\n"
          "  return (%1, %2)\n");
    CHECK(f.data.opset_imports == std::vector<std::pair<std::string, int>>{{"org.pytorch.aten", 1}});
}
