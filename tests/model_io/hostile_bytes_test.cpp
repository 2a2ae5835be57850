// SPDX-License-Identifier: MIT
// Bytes that are no model, models cut short, and models with bytes changed: each gives a graph or one line of complaint, never more.
// ATON_FUZZ_ROUNDS (default 4000) says how many changed models are tried.
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

using namespace aton::dsl;

namespace {

/// Reads, prints, writes and checks. True: it could be read. Anything but aton::error escapes, and fails the test.
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

    aton::graph_node branch;
    branch.op = "If";
    branch.inputs = {g.constant(aton::scalar_tensor(true, dtype::bool_)).id()};
    for (char const* const side : {"then_branch", "else_branch"}) {
        graph_data nested;
        nested.opset = 20;
        value const outer(nested, nested.add_value(x.type(), "x"));
        nested.outputs = {graph<13>(nested, 20).op<"Neg">(outer).id()};
        aton::node_attribute a;
        a.name = side;
        a.type = aton::onnx::attr_type::g;
        a.graphs.push_back(std::move(nested));
        branch.attributes.push_back(std::move(a));
    }
    branch.outputs = {data.add_value(x.type())};
    data.outputs = {best.id(), where.id(), s.id(), branch.outputs[0]};
    data.nodes.push_back(std::move(branch));
    return to_model_proto(data);
}

} // namespace

TEST_CASE("what is no model at all") {
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

TEST_CASE("a model cut short at every byte") {
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
    CHECK(models > rounds / 10); // many are still read, so the depths are reached
}

TEST_CASE("tensors that lie about their size") {
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

TEST_CASE("names that are empty, twice there, or nowhere; graphs that call themselves in a circle") {
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
