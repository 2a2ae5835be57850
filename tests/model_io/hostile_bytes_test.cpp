// SPDX-License-Identifier: MIT
// Bytes that are not a model, truncated models, and models with changed bytes: each gives a graph or an error of one line.
// ATON_FUZZ_ROUNDS (default 4000) is the number of changed models.
#include <aton/model_io/model_io.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include <aton/aton.hpp>

#include "../changed_bytes.hpp"

namespace hostile_bytes_test {

using namespace aton::dsl;

namespace {

/// Reads, prints, writes and checks. True if it could be read. Exceptions other than aton::error fail the test.
bool survives(std::string_view bytes) {
    bool is_model = false;
    try {
        aton::model const m = aton::parse_model(bytes, "hostile.onnx");
        is_model = true;
        (void)to_string(m.graph);
        (void)to_model_proto(m.graph);
    } catch (aton::error const& e) {
        std::string_view const what = e.what();
        CHECK(what.find('\n') == std::string_view::npos);
        CHECK(what.size() < 1000);
    }
    try {
        aton::check_model_bytes(bytes, "hostile.onnx");
    } catch (aton::error const& e) {
        CHECK(std::string_view(e.what()).starts_with("hostile.onnx: "));
        CHECK(std::string_view(e.what()).find('\n') == std::string_view::npos);
    }
    return is_model;
}

value call_foo(graph_data& g, char const* overload, value x) {
    aton::graph_node n;
    n.domain = "custom_domain";
    n.op = "Foo";
    n.overload = overload;
    n.inputs = {g.capture(x.owner(), x.id())};
    n.outputs = {g.add_value(value_type{dtype::float32, {std::string("n"), 3, 8, 8}})};
    g.values[n.outputs[0]].producer = static_cast<std::int64_t>(g.nodes.size());
    g.nodes.push_back(n);
    return {g, n.outputs[0]};
}

template <class Body>
aton::graph_function foo(char const* overload, Body const& body) {
    aton::graph_function f{"custom_domain", "Foo", overload, {"alpha"}, {graph_data{}}};
    f.body[0].opset = 20;
    value const x(f.body[0], f.body[0].add_input("x", value_type{}));
    f.body[0].outputs = {body(graph<13>(f.body[0], 20), x).id()};
    return f;
}

std::string sample() {
    graph_data data;
    data.opset = 20;
    graph<13> const g(data, 20);
    value const x(data, data.add_input("x", value_type{dtype::float32, {std::string("n"), 3, 8, 8}}));
    value const w(data, data.add_value(value_type{dtype::float32, {2, 3, 1, 1}}, "w"));
    data.set_initializer(w.id(), tensor{dtype::float32, {2, 3, 1, 1}, std::string(24, '\1')});
    value const y = g.op<"Conv">(x, w);
    value const z = g.op<"Reshape">(y, g.ints({0, -1}));
    value const e = g.op<"Elu">(z, attr::alpha_f(0.5));
    auto const [best, where] = g.op<"TopK">(e, g.ints({3}), outputs<2>);
    value const s = g.op<"SequenceConstruct">(best, best);

    value const yes = g.constant(aton::scalar_tensor(true, dtype::bool_));
    value const chosen =
        g.op<"If">(yes,
                   attr::then_branch_g([&](graph<13> outer) -> value {
                       value const near = outer.op<"Abs">(x);
                       return outer.op<"If">(
                           yes,
                           attr::then_branch_g([&](graph<13> inner) -> value { return inner.op<"Add">(x, near); }),
                           attr::else_branch_g([&](graph<13>) -> value { return x; }));
                   }),
                   attr::else_branch_g([&](graph<13> outer) -> value { return call_foo(outer.data(), "half", x); }));
    chosen.set_type(x.type());
    data.functions.push_back(foo("", [](graph<13> f, value in) -> value { return call_foo(f.data(), "half", in); }));
    data.functions.push_back(foo("half", [](graph<13> f, value in) -> value {
        return f.op<"If">(f.constant(aton::scalar_tensor(false, dtype::bool_)),
                          attr::then_branch_g([&](graph<13> inner) -> value { return inner.op<"Neg">(in); }),
                          attr::else_branch_g([&](graph<13>) -> value { return in; }));
    }));
    value const text = g.constant(tensor{dtype::string, {2}, {}, {"a", "bc"}});
    data.outputs = {
        best.id(), where.id(), s.id(), chosen.id(), call_foo(data, "", x).id(), g.op<"Identity">(text).id()};
    ::onnx::ModelProto model;
    REQUIRE(model.ParseFromString(to_model_proto(data)));
    auto& few = *model.mutable_graph()->add_sparse_initializer();
    few.add_dims(9);
    few.mutable_values()->set_name("few");
    few.mutable_values()->set_data_type(::onnx::TensorProto_DataType_FLOAT);
    few.mutable_values()->add_dims(1);
    few.mutable_values()->add_float_data(2);
    few.mutable_indices()->set_data_type(::onnx::TensorProto_DataType_INT64);
    few.mutable_indices()->add_dims(1);
    few.mutable_indices()->add_int64_data(8);
    return model.SerializeAsString();
}

} // namespace

TEST_CASE("bytes that are not a model") {
    for (std::string_view const bytes : {std::string_view(""),
                                         std::string_view("\0\0\0\0", 4),
                                         std::string_view("hello"),
                                         std::string_view("PK\3\4", 4),
                                         std::string_view("\x08\x09", 2),
                                         std::string_view("\x3a\x00", 2)})
        CHECK_FALSE(survives(bytes));
    CHECK_THROWS_WITH_AS((void)aton::parse_model("", "a.onnx"), "a.onnx: is empty", aton::error);
    CHECK_THROWS_WITH_AS(
        (void)aton::parse_model("\x08\x09", "a.onnx"), "a.onnx: not an ONNX model (no graph)", aton::error);
    CHECK_THROWS_WITH_AS((void)aton::read_model("/no/such/file.onnx"), "/no/such/file.onnx: no such file", aton::error);
    CHECK_THROWS_WITH_AS((void)aton::read_model("/"), "/: is a folder, not a file", aton::error);
    CHECK_THROWS_WITH_AS(aton::check_model("/no/such/file.onnx"), "/no/such/file.onnx: no such file", aton::error);
}

TEST_CASE("a model truncated at every byte") {
    std::string const bytes = sample();
    REQUIRE(survives(bytes));
    for (std::size_t n = 0; n != bytes.size(); ++n) survives(std::string_view(bytes).substr(0, n));
}

TEST_CASE("a model with bytes changed") {
    int const rounds = aton::tests::fuzz_rounds(4000);
    std::string const bytes = sample();
    std::mt19937_64 rng(20);
    int models = 0;
    for (int i = 0; i != rounds; ++i) models += survives(aton::tests::mutated(bytes, rng)) ? 1 : 0;
    CHECK(models > rounds / 10); // many are still read, so that inner fields are reached
}

TEST_CASE("tensors with false sizes") {
    for (std::vector<std::int64_t> const& sizes :
         {std::vector<std::int64_t>{-1}, {1, -5}, {INT64_MAX, INT64_MAX}, {INT64_MAX / 4, 4, 4}, {3}, {0}}) {
        ::onnx::ModelProto model;
        REQUIRE(model.ParseFromString(sample()));
        auto& w = *model.mutable_graph()->mutable_initializer(0);
        w.clear_dims();
        for (std::int64_t s : sizes) w.add_dims(s);
        CHECK_FALSE(survives(model.SerializeAsString()));
        w.set_data_location(::onnx::TensorProto_DataLocation_EXTERNAL);
        survives(model.SerializeAsString());
    }
}

TEST_CASE("empty, duplicate and undefined names; cyclic graphs") {
    ::onnx::ModelProto model;
    REQUIRE(model.ParseFromString(sample()));
    auto& g = *model.mutable_graph();
    g.mutable_node(1)->set_output(0, g.node(0).output(0));
    g.mutable_node(3)->set_input(0, "nowhere");
    g.mutable_input(0)->set_name("");
    survives(model.SerializeAsString());
    REQUIRE(model.ParseFromString(sample()));
    model.mutable_graph()->mutable_node(0)->set_input(0, model.graph().node(3).output(0));
    survives(model.SerializeAsString());
    model.mutable_graph()->mutable_node()->SwapElements(0, 3);
    survives(model.SerializeAsString());
}

TEST_CASE("functions that are recursive, deeply nested, duplicate, or return undefined values") {
    ::onnx::ModelProto model;
    REQUIRE(model.ParseFromString(sample()));
    auto const refusal = [&] {
        std::string const bytes = model.SerializeAsString();
        survives(bytes);
        try {
            (void)to_model_proto(aton::parse_model(bytes).graph);
        } catch (aton::error const& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(refusal().empty());
    model.mutable_functions(1)->clear_overload();
    CHECK(refusal() == "function custom_domain::Foo is defined twice");
    model.mutable_functions(0)->mutable_node(0)->clear_overload();
    model.mutable_functions()->RemoveLast();
    CHECK(refusal() == "function custom_domain::Foo calls itself, which ONNX does not allow");
    ::onnx::FunctionProto const first = model.functions(0);
    model.clear_functions();
    for (int i = 0; i != 3000; ++i) {
        auto& f = *model.add_functions() = first;
        f.set_overload(std::to_string(i));
        f.mutable_node(0)->set_overload(std::to_string(i + 1));
    }
    CHECK(refusal().ends_with("is called through more than 1000 others"));
    model.clear_functions();
    *model.add_functions() = first;
    model.mutable_functions(0)->mutable_node(0)->set_overload("elsewhere");
    model.mutable_functions(0)->set_output(0, "");
    CHECK(refusal() == "the graph refers to a value that it does not have");
    model.mutable_functions(0)->set_output(0, "nowhere");
    model.mutable_functions(0)->add_input("x");
    survives(model.SerializeAsString());
}

TEST_CASE("graphs nested deeper than protobuf reads") {
    ::onnx::ModelProto model;
    model.set_ir_version(9);
    model.mutable_graph()->set_name("g");
    ::onnx::GraphProto* g = model.mutable_graph();
    for (int depth = 0; depth != 60; ++depth) {
        auto& n = *g->add_node();
        n.set_op_type("If");
        auto& a = *n.add_attribute();
        a.set_name("then_branch");
        a.set_type(::onnx::AttributeProto_AttributeType_GRAPH);
        g = a.mutable_g();
        g->set_name("g");
        if (depth == 10) CHECK(survives(model.SerializeAsString()));
    }
    CHECK_FALSE(survives(model.SerializeAsString()));
}

} // namespace hostile_bytes_test
