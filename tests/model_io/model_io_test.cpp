// SPDX-License-Identifier: MIT
// Models written and read back: same graph, same bytes, accepted by ONNX's checker; versions, domains, names, and files.
#include <aton/model_io/model_io.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <unistd.h>

#include <onnx/onnx_pb.h>

#include <aton/aton.hpp>

namespace model_io_test {

using namespace aton::dsl;

namespace {

aton::shape const scalar_shape{std::vector<aton::dim>{}};

value input(graph_data& data, std::string name, dtype type, aton::shape shape) {
    return {data, data.add_input(std::move(name), value_type{type, std::move(shape)})};
}

/// A graph with most features.
graph_data rich_graph(int opset) {
    graph_data data;
    data.name = "rich";
    data.opset = opset;
    graph<13> const g(data, opset);
    value const x = input(data, "x", dtype::float32, {std::string("batch"), 3, 8, dim()});
    value const w(data, data.add_value(value_type{dtype::float32, {4, 3, 3, 3}}, "weight"));
    tensor weights{dtype::float32, {4, 3, 3, 3}, {}};
    for (int i = 0; i != 4 * 27; ++i) weights.append(0.01 * i);
    data.set_initializer(w.id(), std::move(weights));
    data.context.overload = "aten::conv2d";
    value const y = g.op<"Conv">(x, w, attr::pads_i({1, 1, 1, 1}));
    data.context.overload = "aten::clamp";
    value const z = g.op<"Clip">(y, absent, g.scalar(6.0, dtype::float32));
    data.context.overload = {};
    value const h = g.op<"Cast">(z, attr::to_i(dtype::float16));
    auto const [values, indices] = g.op<"TopK">(h, g.ints({1}), attr::axis_i(1), outputs<2>);
    value const s = g.op<"SequenceConstruct">(values, values);
    data.outputs = {values.id(), indices.id(), s.id()};
    return data;
}

::onnx::ModelProto proto(std::string const& bytes) {
    ::onnx::ModelProto model;
    REQUIRE(model.ParseFromString(bytes));
    return model;
}

/// A temporary folder.
struct temporary_folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("aton_model_io_test." + std::to_string(::getpid()));
    temporary_folder() { std::filesystem::create_directories(path); }
    ~temporary_folder() { std::filesystem::remove_all(path); }
    temporary_folder(temporary_folder const&) = delete;
    temporary_folder& operator=(temporary_folder const&) = delete;
    [[nodiscard]] std::string file(char const* name) const { return (path / name).string(); }
};

} // namespace

TEST_CASE("written models are legal and read back as the same graph, at every opset") {
    for (int opset = 13; opset <= aton::onnx::newest_opset; ++opset) {
        CAPTURE(opset);
        graph_data const data = rich_graph(opset);
        std::string const bytes = to_model_proto(data);
        CHECK(bytes == to_model_proto(data));
        CHECK_NOTHROW(aton::check_model_bytes(bytes));
        aton::model const again = aton::parse_model(bytes);
        CHECK(again.producer_name == "aton");
        CHECK(again.graph.name == "rich");
        CHECK(to_string(again.graph) == to_string(data));
        CHECK(to_model_proto(again.graph) == bytes);
        REQUIRE(again.graph.initializers.size() == 1);
        CHECK(again.graph.initializers[0].data == data.initializers[0].data);
    }
}

TEST_CASE("the IR version is the lowest that is legal") {
    struct row {
        int opset, ir;
    };
    for (auto const& [opset, ir] : {row{7, 3},
                                    row{9, 4},
                                    row{13, 7},
                                    row{14, 7},
                                    row{15, 8},
                                    row{18, 8},
                                    row{20, 9},
                                    row{21, 10},
                                    row{23, 11},
                                    row{24, 12},
                                    row{25, 13},
                                    row{27, 13},
                                    row{28, 14}}) {
        CAPTURE(opset);
        graph_data data;
        data.opset = opset;
        value const x = input(data, "x", dtype::float32, {2});
        data.outputs = {graph<7>(data, opset).op<"Neg">(x).id()};
        CHECK(proto(to_model_proto(data)).ir_version() == ir);
        // Since IR 4, an initializer need not be an input.
        tensor one{dtype::float32, {1}, std::string("\0\0\x80\x3f", 4)};
        data.set_initializer(data.add_value(value_type{dtype::float32, {1}}, "one"), std::move(one));
        ::onnx::ModelProto const model = proto(to_model_proto(data));
        CHECK(model.ir_version() == ir);
        CHECK(model.graph().input_size() == (ir < 4 ? 2 : 1));
        CHECK(model.graph().input(model.graph().input_size() - 1).name() == (ir < 4 ? "one" : "x"));
    }
    graph_data data; // a dtype may be newer than the opset
    data.opset = 13;
    value const x = input(data, "x", dtype::float8_e5m2, {2});
    data.outputs = {x.id()};
    CHECK(proto(to_model_proto(data)).ir_version() == 9);
}

TEST_CASE("domains: always the default one, others if nodes use them, also in subgraphs") {
    graph_data data;
    data.opset = 20;
    value const x = input(data, "x", dtype::float32, {2});
    value const y = graph<13>(data, 20).op<"ai.onnx.ml::Scaler">(x, attr::offset_f({0.5}), attr::scale_f({2.0}));
    y.set_shape({2}); // ONNX cannot infer it, but its checker requires it
    data.outputs = {y.id()};
    data.import_domain(std::string("never.used"), 3);
    ::onnx::ModelProto const model = proto(to_model_proto(data));
    REQUIRE(model.opset_import_size() == 2);
    CHECK(model.opset_import(0).domain().empty());
    CHECK(model.opset_import(0).version() == 20);
    CHECK(model.opset_import(1).domain() == "ai.onnx.ml");
    CHECK(model.opset_import(1).version() == aton::onnx::newest_version("ai.onnx.ml"));
    CHECK_NOTHROW(aton::check_model_bytes(to_model_proto(data)));
}

TEST_CASE("origins of nodes are kept: metadata_props since IR 10, doc strings before") {
    for (int opset : {13, 21}) {
        ::onnx::ModelProto const model = proto(to_model_proto(rich_graph(opset)));
        ::onnx::NodeProto const& conv = model.graph().node(0);
        CHECK(conv.op_type() == "Conv");
        CHECK(conv.name() == "Conv_0");
        if (opset < 21) CHECK(conv.doc_string() == "aten::conv2d");
        else CHECK(conv.metadata_props(0).value() == "aten::conv2d");
    }
}

TEST_CASE("nodes are named after the program's, and have the user's source lines") {
    for (int opset : {13, 21}) {
        CAPTURE(opset);
        graph_data data;
        data.opset = opset;
        graph<13> const g(data, opset);
        data.origins.push_back({"linear", "fc.inner", "model.py:12 in forward (twice), here"});
        data.origins.push_back({"relu_1", "", "model.py:13 in forward"});
        data.origins.push_back({"Neg_3", "head", ""});
        value const x = input(data, "x", dtype::float32, {2, 3});
        auto const from = [&](std::uint32_t origin, char const* overload) {
            data.context.origin = origin;
            data.context.overload = overload;
        };
        from(1, "aten::linear");
        value const a = g.op<"Add">(g.op<"Mul">(x, x), x);
        from(2, "aten::relu");
        value const b = g.op<"Relu">(a);
        from(0, "");
        value const c = g.op<"Neg">(b);
        from(3, "aten::neg");
        value const d = g.op<"Neg">(c);
        data.nodes.back().origin = 3;
        from(0, "aten::abs");
        data.outputs = {g.op<"Abs">(d).id()};
        std::string const bytes = to_model_proto(data);
        auto const nodes = proto(bytes).graph();
        REQUIRE(nodes.node_size() == 6);
        CHECK(nodes.node(0).name() == "linear/Mul_0");
        CHECK(nodes.node(1).name() == "linear/Add_1");
        CHECK(nodes.node(2).name() == "relu_1");
        CHECK(nodes.node(3).name() == "Neg_3");
        CHECK(nodes.node(4).name() == "Neg_3.1");
        CHECK(nodes.node(5).name() == "Abs_5");
        if (opset == 13) {
            CHECK(nodes.node(1).doc_string() == "aten::linear, fc.inner (model.py:12 in forward (twice), here)");
            CHECK(nodes.node(2).doc_string() == "aten::relu (model.py:13 in forward)");
            CHECK(nodes.node(4).doc_string() == "aten::neg, head");
        } else {
            REQUIRE(nodes.node(1).metadata_props_size() == 4);
            for (auto const& [i, key, text] :
                 {std::tuple{0, "source", "aten::linear"},
                  std::tuple{1, "namespace", "fc.inner"},
                  std::tuple{2, "pkg.torch.onnx.stack_trace", "model.py:12 in forward (twice), here"},
                  std::tuple{3, "pkg.torch.onnx.fx_node", "linear"}}) {
                CHECK(nodes.node(1).metadata_props(i).key() == key);
                CHECK(nodes.node(1).metadata_props(i).value() == text);
            }
            CHECK(nodes.node(2).metadata_props_size() == 3);
            CHECK(nodes.node(3).metadata_props_size() == 0);
        }
        aton::graph_data const again = aton::parse_model(bytes).graph;
        CHECK(to_string(again) == to_string(data));
        REQUIRE(again.origins.size() == 4);
        CHECK(again.nodes[1].origin == again.nodes[0].origin);
        CHECK(again.origins[again.nodes[1].origin].module == "fc.inner");
        CHECK(again.origins[again.nodes[1].origin].source == "model.py:12 in forward (twice), here");
        CHECK(again.origins[again.nodes[2].origin].name == "relu_1");
        CHECK(again.nodes[5].origin == 0);
        if (opset == 21) CHECK(to_model_proto(again) == bytes);
    }
}

TEST_CASE("doc strings of other producers stay unchanged") {
    ::onnx::ModelProto model = proto(to_model_proto(rich_graph(13)));
    auto& node = *model.mutable_graph()->mutable_node(0);
    for (char const* text : {"a convolution (the first)", "x::y z (here)", "(", "::", ", ", " ()"}) {
        node.set_doc_string(text);
        aton::graph_data const read = aton::parse_model(model.SerializeAsString()).graph;
        CAPTURE(text);
        CHECK(read.nodes[0].source == text);
        CHECK(read.nodes[0].origin == 0);
    }
}

TEST_CASE("metadata of the model") {
    graph_data data = rich_graph(20);
    aton::model_options options;
    options.producer_name = "somebody";
    options.producer_version = "7";
    options.doc = "what it is";
    options.metadata = {{"key", "text"}};
    options.ir_version = 10;
    aton::model const m = aton::parse_model(to_model_proto(data, options));
    CHECK(m.producer_name == "somebody");
    CHECK(m.producer_version == "7");
    CHECK(m.doc == "what it is");
    CHECK(m.metadata == options.metadata);
    CHECK(m.ir_version == 10);
}

TEST_CASE("incomplete output types are completed by ONNX's inference; an unknown dtype is refused") {
    graph_data data;
    data.opset = 20;
    value const x = input(data, "x", dtype::float32, {2, 3});
    value const y = graph<13>(data, 20).op<"Neg">(x);
    y.set_type({});
    data.outputs = {y.id()};
    CHECK(to_string(aton::parse_model(to_model_proto(data)).graph.values[1].type) == "Float(2, 3)");

    aton::graph_node custom;
    custom.domain = "custom";
    custom.op = "Foo";
    custom.inputs = {x.id()};
    custom.outputs = {data.add_value(value_type{}, "y")};
    data.outputs = custom.outputs;
    data.nodes.push_back(std::move(custom));
    CHECK_THROWS_WITH_AS(
        (void)to_model_proto(data), "the type of output %y is unknown; set it with set_type", aton::error);
}

TEST_CASE("what ONNX cannot represent is refused with its name") {
    graph_data data;
    CHECK_THROWS_WITH_AS((void)to_model_proto(data), "the graph has no opset", aton::error);
    data.opset = 20;
    value const x = input(data, "x", dtype::undefined, {2});
    CHECK_THROWS_WITH_AS((void)to_model_proto(data), "the dtype of input %x is unknown", aton::error);
    x.set_type({dtype::float32, {2}});
    tensor const cut{dtype::float32, {3}, std::string(8, '\0')};
    CHECK_THROWS_WITH_AS((void)graph<13>(data, 20).constant(cut),
                         "a constant of 3 elements of float32 has 8 bytes",
                         aton::unsupported_error);
    value const c = graph<13>(data, 20).constant(tensor{dtype::float32, {3}, std::string(12, '\0')});
    data.nodes.back().attributes.at(0).tensors.at(0) = cut;
    data.outputs = {c.id()};
    CHECK_THROWS_WITH_AS((void)to_model_proto(data),
                         "Constant_0, attribute 'value': a constant has 8 bytes, but its sizes need 12",
                         aton::error);
}

TEST_CASE("integers are initializers below opset 9, where Constant does not support them") {
    graph_data data;
    graph<7> const g(data, 7);
    value const x = input(data, "x", dtype::float32, {2, 3});
    value const y = g.op<"Mul">(g.op<"Reshape">(x, g.ints({3, 2})), 0.5);
    data.outputs = {y.id()};
    CHECK(data.initializers.size() == 1);
    CHECK(y.shape() == aton::shape{3, 2});
    CHECK_NOTHROW(aton::check_model_bytes(to_model_proto(data)));
}

TEST_CASE("nested graphs have unique names and see the outer graph") {
    graph_data data;
    data.opset = 20;
    value const condition = input(data, "condition", dtype::bool_, scalar_shape);
    value const x = input(data, "x", dtype::float32, {2});
    aton::graph_node branch;
    branch.op = "If";
    branch.inputs = {condition.id()};
    for (char const* const side : {"then_branch", "else_branch"}) {
        graph_data nested;
        nested.opset = 20;
        nested.around = &data;
        nested.outputs = {graph<13>(nested, 20).op<"Neg">(x).id()};
        nested.around = nullptr;
        aton::node_attribute a;
        a.name = side;
        a.type = aton::onnx::attr_type::g;
        a.graphs.push_back(std::move(nested));
        branch.attributes.push_back(std::move(a));
    }
    branch.outputs = {data.add_value(value_type{dtype::float32, {2}})};
    data.outputs = branch.outputs;
    data.nodes.push_back(std::move(branch));
    std::string const bytes = to_model_proto(data);
    CHECK_NOTHROW(aton::check_model_bytes(bytes));
    CHECK(to_string(aton::parse_model(bytes).graph) == to_string(data));
}

TEST_CASE("the checker's verdict is one line") {
    graph_data data;
    data.opset = 20;
    value const x = input(data, "x", dtype::float32, {2});
    aton::graph_node n;
    n.op = "Softmax";
    n.inputs = {x.id(), x.id()};
    n.outputs = {data.add_value(value_type{dtype::float32, {2}})};
    data.outputs = n.outputs;
    data.nodes.push_back(std::move(n));
    try {
        aton::check_model_bytes(to_model_proto(data), "bad.onnx");
        FAIL("accepted");
    } catch (aton::error const& e) {
        std::string const what = e.what();
        CHECK(what.starts_with("bad.onnx: "));
        CHECK(what.find("Softmax") != std::string::npos);
        CHECK(what.find('\n') == std::string::npos);
    }
}

TEST_CASE("a file is written atomically, replaces another, and leaves nothing else") {
    temporary_folder const folder;
    std::string const path = folder.file("model.onnx");
    std::ofstream(path) << "something else";
    write_model(rich_graph(20), path);
    CHECK_NOTHROW(aton::check_model(path));
    CHECK(to_string(aton::read_model(path).graph) == to_string(rich_graph(20)));
    graph_data bad = rich_graph(20);
    bad.opset = 0;
    CHECK_THROWS_AS(write_model(bad, path), aton::error);
    CHECK_NOTHROW(aton::check_model(path));
    CHECK_THROWS_AS(write_model(rich_graph(20), folder.path.string()), aton::error);
    CHECK_THROWS_AS(write_model(rich_graph(20), folder.file("no/such/folder/model.onnx")), aton::error);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("tensors in other files are shown, not loaded") {
    ::onnx::ModelProto model = proto(to_model_proto(rich_graph(20)));
    auto& weight = *model.mutable_graph()->mutable_initializer(0);
    weight.clear_raw_data();
    weight.set_data_location(::onnx::TensorProto_DataLocation_EXTERNAL);
    for (auto const& [key, text] :
         {std::pair{"location", "weights.bin"}, std::pair{"offset", "64"}, std::pair{"length", "432"}}) {
        auto& entry = *weight.add_external_data();
        entry.set_key(key);
        entry.set_value(text);
    }
    aton::model const m = aton::parse_model(model.SerializeAsString());
    REQUIRE(m.external.size() == 1);
    CHECK(m.external[0].name == "weight");
    CHECK(m.external[0].location == "weights.bin");
    CHECK(m.external[0].offset == 64);
    CHECK(m.external[0].length == 432);
    CHECK(to_string(m.graph).find("%weight : Float(4, 3, 3, 3) = {... 108 elements}") != std::string::npos);
}

} // namespace model_io_test
