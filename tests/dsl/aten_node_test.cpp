// SPDX-License-Identifier: MIT
// g.at: nodes that call ATen itself, checked against ATen's schemas.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include <aton/aton.hpp>

namespace aten_node_test {

using namespace aton::dsl;

namespace {

struct fixture {
    graph_data data;
    graph<13> g{data, 18};
    value x = input("x", {2, 3});
    value y = input("y", {3});

    value input(std::string name, aton::shape shape) {
        return {data, data.add_input(std::move(name), {dtype::float32, std::move(shape)})};
    }
    [[nodiscard]] aton::graph_node const& node() const { return data.nodes.back(); }
    [[nodiscard]] aton::node_attribute const* attribute(std::string const& name) const {
        for (auto const& a : node().attributes)
            if (a.name == name) return &a;
        return nullptr;
    }
    [[nodiscard]] std::string text(std::string const& name) const {
        auto const* const a = attribute(name);
        return a == nullptr ? "absent" : a->s;
    }
};

template <aton::fixed_string Name, class... Args>
inline constexpr bool legal = detail::aten_call<Name, Args...>::legal;
template <aton::fixed_string Name>
using f_of = decltype(attr_f<Name>(1.0));
template <aton::fixed_string Name>
using i_of = decltype(attr_i<Name>(1));
template <aton::fixed_string Name>
using s_of = decltype(attr_s<Name>(""));
template <aton::fixed_string Name>
using ints_of = decltype(attr_i<Name>({1}));
using list = std::vector<value>;

static_assert(legal<"mul", value, value> && legal<"aten::mul", value, value> && legal<"mul.Tensor", value, value>);
static_assert(!legal<"mul", value> && !legal<"mul.Tensor", value, value, value> && !legal<"mull", value, value>);
static_assert(!legal<"mul.Tensr", value, value> && !legal<"prims::mul.Tensor", value, value>);
// A number is an attribute of the Scalar overload; a tensor cannot be an attribute.
static_assert(legal<"mul", value, f_of<"other">> && legal<"mul.Scalar", value, f_of<"other">>);
static_assert(legal<"mul.Scalar", value, i_of<"other">> && !legal<"mul.Scalar", value, s_of<"other">>);
static_assert(!legal<"mul.Tensor", value, f_of<"other">>);
static_assert(!legal<"mul", value, double>); // a bare number is not an operand of an ATen node
// Attributes by the argument's type.
static_assert(legal<"transpose.int", value, i_of<"dim0">, i_of<"dim1">> &&
              !legal<"transpose.int", value, i_of<"dim0">>);
static_assert(!legal<"transpose.int", value, f_of<"dim0">, i_of<"dim1">>);
static_assert(!legal<"transpose.int", value, i_of<"dim0">, i_of<"dim0">>);
static_assert(legal<"sum.dim_IntList", value, ints_of<"dim">, i_of<"keepdim">, i_of<"dtype">>);
static_assert(legal<"sum.dim_IntList", value, ints_of<"dim">, s_of<"dtype">> &&
              !legal<"sum.dim_IntList", value, f_of<"dim">>);
static_assert(legal<"gelu", value, s_of<"approximate">> && !legal<"gelu", value, i_of<"approximate">>);
static_assert(legal<"ones", ints_of<"size">> &&
              legal<"ones", ints_of<"size">, s_of<"type">>); // Caffe2 says type for dtype
static_assert(!legal<"relu", value, s_of<"type">>);
// Optional tensors and lists of tensors.
static_assert(legal<"clamp.Tensor", value, value> && legal<"clamp.Tensor", value, absent_t, value>);
static_assert(legal<"clamp.Tensor", value, optional_value, optional_value> &&
              !legal<"clamp.Tensor", optional_value, value>);
static_assert(legal<"cat", list, i_of<"dim">> && !legal<"cat", value, i_of<"dim">> && !legal<"relu", list>);
// Results: as many as ATen returns.
static_assert(legal<"max.dim", value, i_of<"dim">, outputs_t<2>> && !legal<"max.dim", value, i_of<"dim">>);
static_assert(!legal<"max.dim", value, i_of<"dim">, outputs_t<3>> && !legal<"relu", value, outputs_t<2>>);
static_assert(legal<"unbind.int", value, output_list> && !legal<"unbind.int", value> &&
              !legal<"relu", value, output_list>);
static_assert(std::is_same_v<decltype(std::declval<graph<13>>().at<"relu">(std::declval<value>())), value>);

} // namespace

TEST_CASE("the operator is an attribute, and so is the overload if it is named") {
    fixture f;
    value const m = f.g.at<"mul">(f.x, f.y);
    CHECK(f.node().op == "ATen");
    CHECK(f.node().domain == "org.pytorch.aten");
    CHECK(f.text("operator") == "mul");
    CHECK(f.attribute("overload_name") == nullptr);
    CHECK(f.node().inputs == std::vector<aton::value_id>{f.x.id(), f.y.id()});
    CHECK(m.dtype() == dtype::undefined);
    CHECK(!m.has_rank());
    (void)f.g.at<"aten::add.Tensor">(m, f.y, attr_f<"alpha">(2.5));
    CHECK(f.text("operator") == "add");
    CHECK(f.text("overload_name") == "Tensor");
    CHECK(f.attribute("alpha")->f == 2.5F);
    REQUIRE(f.data.opset_imports.size() == 1);
    CHECK(f.data.opset_imports[0] == std::pair<std::string, int>("org.pytorch.aten", 1));
}

TEST_CASE("attributes keep name, type and value") {
    fixture f;
    (void)f.g.at<"pow">(f.x, attr_f<"exponent">(2.0));
    CHECK(f.text("operator") == "pow");
    CHECK(f.attribute("exponent")->f == 2.0F);
    CHECK(f.attribute("exponent")->type == aton::onnx::attr_type::f);
    (void)f.g.at<"ones">(attr_s<"type">("float"), attr_i<"size">({2, 4}));
    CHECK(f.node().inputs.empty());
    CHECK(f.text("type") == "float");
    CHECK(f.attribute("size")->ints == std::vector<std::int64_t>{2, 4});
    (void)f.g.at<"transpose.int">(f.x, attr_i<"dim1">(-1), attr_i<"dim0">(0));
    CHECK(f.attribute("dim1")->i == -1);
}

TEST_CASE("omitted tensors, lists and several results") {
    fixture f;
    (void)f.g.at<"clamp.Tensor">(f.x, absent, f.y);
    CHECK(f.node().inputs == std::vector<aton::value_id>{f.x.id(), aton::no_value, f.y.id()});
    (void)f.g.at<"clamp.Tensor">(f.x, f.y, optional_value());
    CHECK(f.node().inputs == std::vector<aton::value_id>{f.x.id(), f.y.id()});
    (void)f.g.at<"cat">(std::vector<value>{f.x, f.x, f.x}, attr_i<"dim">(1));
    CHECK(f.node().inputs.size() == 3);
    CHECK(f.attribute("tensors")->i == 3); // as the exporter writes lists
    auto const [most, where] = f.g.at<"max.dim">(f.x, attr_i<"dim">(1), outputs<2>);
    CHECK(f.node().outputs == std::vector<aton::value_id>{most.id(), where.id()});
    std::vector<value> const rows = f.g.at<"unbind.int">(f.x, output_list(2));
    CHECK(rows.size() == 2);
    CHECK(f.node().outputs.size() == 2);
}

TEST_CASE("a result has the type that is set, and can be used like any value") {
    fixture f;
    value const r = f.g.at<"relu">(f.x).set_type(f.x.type());
    CHECK(f.g.op<"Neg">(r).type() == f.x.type());
    value const unknown = f.g.at<"relu">(f.x);
    CHECK(f.g.op<"Add">(unknown, f.x).dtype() == dtype::float32);
    // In a branch, with captures.
    value const c(f.data, f.data.add_input("c", {dtype::bool_, aton::shape(std::vector<dim>())}));
    (void)f.g.op<"If">(c,
                       attr::then_branch_g([&](graph<13> b) { return b.at<"relu">(f.x); }),
                       attr::else_branch_g([&](graph<13>) { return f.x; }));
    CHECK(f.node().attributes[0].graphs[0].nodes[0].op == "ATen");
    CHECK(f.data.opset_imports.size() == 1);
}

} // namespace aten_node_test
