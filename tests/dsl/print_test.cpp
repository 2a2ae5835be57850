// SPDX-License-Identifier: MIT
// Printed graphs: types, attributes, tensors, names, and text that is not printable.
#include <aton/ir/print.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <aton/aton.hpp>
#include <aton/core/stored_tensor.hpp>

namespace print_test {

using namespace aton::dsl;

namespace {

struct fixture {
    graph_data data;
    graph<13> g{data, 20};

    fixture() { data.opset = 20; }
    value input(std::string name, dtype type, aton::shape shape) {
        return {data, data.add_input(std::move(name), value_type{type, std::move(shape)})};
    }
    /// The line of the last node, without indentation.
    [[nodiscard]] std::string last() const {
        std::string text = to_string(data);
        text.resize(text.rfind("\n  return"));
        return text.substr(text.rfind('\n') + 3);
    }
};

std::string attribute(aton::node_attribute a) {
    fixture f;
    a.name = "a";
    aton::graph_node n;
    n.op = "Op";
    n.attributes.push_back(std::move(a));
    f.data.nodes.push_back(std::move(n));
    std::string const line = f.last();
    return line.substr(std::string("onnx::Op[a=").size(), line.size() - std::string("onnx::Op[a=]()").size());
}

std::string attribute(float v) {
    aton::node_attribute a;
    a.type = aton::onnx::attr_type::f;
    a.f = v;
    return attribute(std::move(a));
}

std::string attribute(std::string v) {
    aton::node_attribute a;
    a.type = aton::onnx::attr_type::s;
    a.s = std::move(v);
    return attribute(std::move(a));
}

std::string attribute(tensor v) {
    aton::node_attribute a;
    a.type = aton::onnx::attr_type::t;
    a.tensors.push_back(std::move(v));
    return attribute(std::move(a));
}

tensor make(dtype type, std::vector<std::int64_t> sizes, std::vector<scalar> const& numbers) {
    tensor t{type, std::move(sizes), {}};
    for (scalar const& s : numbers) t.append(s);
    return t;
}

} // namespace

TEST_CASE("a graph, whole") {
    fixture f;
    value const x = f.input("x", dtype::float32, {1, 3, 224, 224});
    value const w = f.input("w", dtype::float32, {64, 3, 11, 11});
    value const y = f.g.op<"Conv">(x, w, attr::strides_i({4, 4}), attr::kernel_shape_i({11, 11}));
    value const z = f.g.op<"Reshape">(y, f.g.ints({1, -1}));
    f.data.outputs = {z.id()};
    CHECK(to_string(f.data) == R"(graph(%x : Float(1, 3, 224, 224), %w : Float(64, 3, 11, 11)):
  %2 : Float(1, 64, 54, 54) = onnx::Conv[kernel_shape=[11, 11], strides=[4, 4]](%x, %w)
  %3 : Long(2) = onnx::Constant[value={1, -1}]()
  %4 : Float(1, 186624) = onnx::Reshape(%2, %3)
  return (%4)
)");
}

TEST_CASE("an empty graph") { CHECK(to_string(graph_data{}) == "graph():\n  return ()\n"); }

TEST_CASE("types") {
    CHECK(to_string(value_type{dtype::float32, {}}) == "Float");
    CHECK(to_string(value_type{dtype::int64, aton::shape(std::vector<aton::dim>{})}) == "Long()");
    CHECK(to_string(value_type{dtype::bool_, {2, std::string("batch"), dim()}}) == "Bool(2, batch, *)");
    CHECK(to_string(value_type{}) == "Tensor");
    CHECK(to_string(value_type{dtype::float16, {2}, aton::value_kind::sequence}) == "Half(2)[]");
    CHECK(to_string(value_type{dtype::float16, {2}, aton::value_kind::optional_tensor}) == "Half(2)?");
    CHECK(to_string(value_type{dtype::float16, {}, aton::value_kind::optional_sequence}) == "Half[]?");
    CHECK(to_string(value_type{dtype::float32, {std::string("a b"), std::string("n+1")}}) == R"(Float("a b", n+1))");
}

TEST_CASE("floats are printed as the shortest text that reads back") {
    CHECK(attribute(1.0F) == "1.");
    CHECK(attribute(-0.0F) == "-0.");
    CHECK(attribute(0.1F) == "0.1");
    CHECK(attribute(1e-5F) == "1e-05");
    CHECK(attribute(16777216.0F) == "16777216.");
    CHECK(attribute(std::numeric_limits<float>::infinity()) == "inf");
    CHECK(attribute(-std::numeric_limits<float>::infinity()) == "-inf");
    CHECK(attribute(std::nanf("")) == "nan");
}

TEST_CASE("strings are escaped and stay on one line") {
    CHECK(attribute(std::string("SAME_UPPER")) == R"("SAME_UPPER")");
    CHECK(attribute(std::string("a\"b\\c\n\t\x01\x7f")) == R"("a\"b\\c\n\t\x01\x7f")");
    CHECK(attribute(std::string("größe")) == "\"größe\"");
}

TEST_CASE("lists") {
    aton::node_attribute a;
    a.type = aton::onnx::attr_type::strings;
    CHECK(attribute(a) == "[]");
    a.strings = {"x", "y"};
    CHECK(attribute(a) == R"(["x", "y"])");
    aton::node_attribute b;
    b.type = aton::onnx::attr_type::floats;
    b.floats = {1, 0.5F};
    CHECK(attribute(b) == "[1., 0.5]");
    aton::node_attribute c;
    c.type = aton::onnx::attr_type::ints;
    c.ints.assign(1000, 7);
    std::string const long_list = attribute(c);
    CHECK(long_list.starts_with("[7, 7, 7, "));
    CHECK(long_list.ends_with(", 7, ... 1000 in all]"));
    CHECK(long_list.size() < 300);
}

TEST_CASE("tensors: up to eight elements, larger ones are abbreviated") {
    CHECK(attribute(make(dtype::int64, {2}, {1, -1})) == "{1, -1}");
    CHECK(attribute(make(dtype::float32, {}, {0.5})) == "{0.5}");
    CHECK(attribute(make(dtype::float16, {2}, {0.1, 65504.0})) == "{0.099975586, 65504}");
    CHECK(attribute(make(dtype::float64, {1}, {0.1})) == "{0.1}");
    CHECK(attribute(make(dtype::bool_, {2}, {true, false})) == "{true, false}");
    CHECK(attribute(make(dtype::uint8, {1}, {255})) == "{255}");
    CHECK(attribute(make(dtype::uint64, {1}, {-1})) == "{18446744073709551615}");
    CHECK(attribute(make(dtype::complex64, {2}, {scalar::complex(1, -2), scalar::complex(0.5, 3)})) ==
          "{1-2j, 0.5+3j}");
    CHECK(attribute(make(dtype::float32, {0, 3}, {})) == "{}");
    CHECK(attribute(make(dtype::int32, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})) == "{1, 2, 3, 4, 5, 6, 7, 8}");
    CHECK(attribute(make(dtype::int32, {9}, {1, 2, 3, 4, 5, 6, 7, 8, 9})) == "{1, 2, 3, ... 9 elements}");
    CHECK(attribute(tensor{dtype::float32, {1000, 1000}, {}}) == "{... 1000000 elements}"); // without its bytes
    CHECK(attribute(tensor{dtype::int4, {3}, std::string(2, '\0')}) == "{... 3 elements}");
}

TEST_CASE("names: numbers for unnamed values, suffixes for duplicates, quotes for special characters") {
    fixture f;
    value const a = f.input("x", dtype::float32, {2});
    value const b = f.input("x", dtype::float32, {2});
    value const c = f.input("3", dtype::float32, {2}); // the default name of the fourth value
    value const d = f.g.op<"Add">(a, b);
    value const e = f.g.op<"Add">(c, d);
    f.data.values[e.id()].name = "the sum";
    f.data.outputs = {e.id()};
    CHECK(to_string(f.data) == R"(graph(%x : Float(2), %x.1 : Float(2), %3 : Float(2)):
  %3.1 : Float(2) = onnx::Add(%x, %x.1)
  %"the sum" : Float(2) = onnx::Add(%3, %3.1)
  return (%"the sum")
)");
}

TEST_CASE("skipped inputs, several outputs, other domains, sources") {
    fixture f;
    value const x = f.input("x", dtype::float32, {1, 1, 4, 4});
    f.data.context.overload = "aten::upsample_nearest2d";
    value const sizes = f.g.ints({1, 1, 8, 8});
    value const y = f.g.op<"Resize">(x, absent, absent, sizes);
    CHECK(f.last() == "%2 : Float(1, 1, 8, 8) = onnx::Resize(%x, none, none, %1)   # aten::upsample_nearest2d");
    f.data.context.overload = {};
    (void)f.g.op<"TopK">(y, f.g.ints({2}), outputs<2>);
    CHECK(f.last() == "%4 : Float(1, 1, 8, 2), %5 : Long(1, 1, 8, 2) = onnx::TopK(%2, %3)");
    aton::graph_node n;
    n.domain = "custom_domain";
    n.op = "Foo";
    n.inputs = {x.id()};
    n.source = "model.py:7\nmodel.py:8";
    f.data.nodes.push_back(n);
    CHECK(f.last() == "custom_domain::Foo(%x)   # model.py:7 model.py:8");
}

TEST_CASE("an initializer in a file is printed with its number of bytes") {
    fixture f;
    aton::stored_tensor const somewhere;
    auto const add = [&](char const* name, value_type type) {
        f.data.set_initializer(f.data.add_value(std::move(type), name), {}, &somewhere);
    };
    add("weight", {dtype::float16, {64, 3, 7, 5}});
    add("flag", {dtype::bool_, aton::shape(std::vector<dim>{})});
    add("none", {dtype::float32, {0, 5}});
    add("open", {dtype::float32, {5, dim()}});
    add("anything", {dtype::float32, {}});
    CHECK(to_string(f.data) == "graph():\n"
                               "  %weight : Half(64, 3, 7, 5) = stored(13440 bytes)\n"
                               "  %flag : Bool() = stored(1 bytes)\n"
                               "  %none : Float(0, 5) = stored(0 bytes)\n"
                               "  %open : Float(5, *) = stored\n"
                               "  %anything : Float = stored\n"
                               "  return ()\n");
}

TEST_CASE("initializers are printed before the nodes") {
    fixture f;
    aton::value_id const w = f.data.add_value(value_type{dtype::float32, {2}}, "weight");
    f.data.set_initializer(w, make(dtype::float32, {2}, {0.25, 1.0}));
    value const y = f.g.op<"Neg">(value(f.data, w));
    f.data.outputs = {y.id()};
    CHECK(to_string(f.data) ==
          "graph():\n  %weight : Float(2) = {0.25, 1}\n  %1 : Float(2) = onnx::Neg(%weight)\n  return (%1)\n");
}

TEST_CASE("nested graphs are indented, and use the names of the graph around them") {
    fixture f;
    value const condition = f.input("condition", dtype::bool_, aton::shape(std::vector<aton::dim>{}));
    value const x = f.input("x", dtype::float32, {2});
    aton::graph_node branch;
    branch.op = "If";
    branch.inputs = {condition.id()};
    for (char const* const side : {"then_branch", "else_branch"}) {
        graph_data nested;
        nested.opset = 20;
        nested.around = &f.data;
        value const y = graph<13>(nested, 20).op<"Neg">(x);
        nested.around = nullptr;
        nested.outputs = {y.id()};
        aton::node_attribute a;
        a.name = side;
        a.type = aton::onnx::attr_type::g;
        a.graphs.push_back(std::move(nested));
        branch.attributes.push_back(std::move(a));
    }
    aton::value_id const result = f.data.add_value(value_type{dtype::float32, {2}});
    branch.outputs = {result};
    f.data.nodes.push_back(std::move(branch));
    f.data.outputs = {result};
    CHECK(to_string(f.data) == R"(graph(%condition : Bool(), %x : Float(2)):
  %2 : Float(2) = onnx::If(%condition)
    else_branch():
      %1 : Float(2) = onnx::Neg(%x)
      return (%1)
    then_branch():
      %1.1 : Float(2) = onnx::Neg(%x)
      return (%1.1)
  return (%2)
)");
}

TEST_CASE("a value of the outermost graph has one name in all graphs that capture it, and theirs get suffixes") {
    fixture f;
    value const condition = f.input("condition", dtype::bool_, aton::shape(std::vector<aton::dim>{}));
    value const x = f.input("x", dtype::float32, {2});
    value const y = f.g.op<"If">(
        condition,
        attr::then_branch_g([&](graph<13> outer) -> value {
            value const mine = outer.op<"Abs">(x);
            mine.owner().values[mine.id()].name = "x";
            return outer.op<"If">(condition,
                                  attr::then_branch_g([&](graph<13> g) -> value { return g.op<"Add">(x, mine); }),
                                  attr::else_branch_g([&](graph<13> g) -> value { return g.op<"Neg">(x); }));
        }),
        attr::else_branch_g([&](graph<13>) -> value { return x; }));
    f.data.outputs = {y.id()};
    CHECK(to_string(f.data) == R"(graph(%condition : Bool(), %x : Float(2)):
  %2 : Float(2) = onnx::If(%condition)
    else_branch():
      %1 : Float(2) = onnx::Identity(%x)
      return (%1)
    then_branch():
      %x.1 : Float(2) = onnx::Abs(%x)
      %3 : Float(2) = onnx::If(%condition)
        else_branch():
          %1.1 : Float(2) = onnx::Neg(%x)
          return (%1.1)
        then_branch():
          %2.1 : Float(2) = onnx::Add(%x, %x.1)
          return (%2.1)
      return (%3)
  return (%2)
)");
    // Alone, a nested graph does not know the names around it.
    CHECK(to_string(f.data.nodes[0].attributes[1].graphs[0]) ==
          "graph():\n  %1 : Float(2) = onnx::Identity(%0)\n  return (%1)\n");
}

TEST_CASE("functions are printed after the graph, with their own names") {
    fixture f;
    value const x = f.input("x", dtype::float32, {2});
    aton::graph_node n;
    n.domain = "custom_domain";
    n.op = "Foo";
    n.overload = "half";
    n.inputs = {x.id()};
    n.outputs = {f.data.add_value(value_type{})};
    f.data.outputs = n.outputs;
    f.data.nodes.push_back(std::move(n));
    aton::graph_function foo{"custom_domain", "Foo", "half", {"alpha", "n"}, {graph_data{}}};
    graph_data& body = foo.body[0];
    body.opset = 20;
    value const inner(body, body.add_input("x", value_type{}));
    value const y = graph<13>(body, 20).op<"Elu">(inner, attr::alpha_f(0.5));
    body.nodes[0].attributes[0].reference = "alpha";
    body.outputs = {y.id()};
    f.data.functions.push_back(std::move(foo));
    CHECK(to_string(f.data) == R"(graph(%x : Float(2)):
  %1 : Tensor = custom_domain::Foo.half(%x)
  return (%1)
function custom_domain::Foo.half[alpha, n](%x : Tensor):
  %1 : Tensor = onnx::Elu[alpha=@alpha](%x)
  return (%1)
)");
}

} // namespace print_test
