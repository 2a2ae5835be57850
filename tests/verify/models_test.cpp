// SPDX-License-Identifier: MIT
// Whole models: exported programs give the program's numbers, and a planted error is reported at the node where it was planted.
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <aton/exporter/exporter.hpp>
#include <aton/frontend/pt2/read_program.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/model_io/weights.hpp>
#include <aton/verify/models.hpp>

#include "../faults.hpp"
#include "../program/program_builder.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

namespace fs = std::filesystem;
using tests::contains;
using tests::fault_of;

/// A program and its exported graph.
struct pair {
    program::program p;
    graph_data graph;
};

pair exported(fs::path const& file, weight_mode weights = weight_mode::embed) {
    fs::path const folder = fs::temp_directory_path() / "aton_models_test";
    fs::create_directories(folder);
    std::string const to = (folder / file.filename().replace_extension(".onnx")).string();
    export_options options;
    options.weights = weights;
    export_file(file.string(), to, options);
    model m = read_model(to);
    load_external(m, to);
    pair out{pt2::read_program(file.string()), std::move(m.graph)};
    fs::remove_all(folder);
    return out;
}

pair digits() { return exported(fs::path(ATON_EXAMPLES) / "digits" / "digits.pt2"); }

graph_node& node_for(graph_data& g, std::string_view value) {
    for (graph_node& n : g.nodes)
        if (g.values[n.outputs[0]].name == value) return n;
    FAIL("no value " << value);
    return g.nodes.front();
}

} // namespace

TEST_CASE("exported programs give the program's numbers") {
    int compared = 0;
    for (char const* folder : {"pt2", "pt2_control_flow"})
        for (fs::directory_entry const& each : fs::directory_iterator(fs::path(ATON_SAMPLES) / folder)) {
            std::string const name = each.path().filename().string();
            // complex numbers, several models in one file, and a missing weight
            bool const refused = name.starts_with("dtypes") || name.starts_with("multi_model") ||
                                 name.starts_with("legacy_dtypes") || name.starts_with("custom_op");
            if (!name.ends_with(".pt2") || refused) continue;
            INFO(name);
            pair const both = exported(each.path());
            model_report const report = compare_models(both.p, both.graph);
            CHECK(report.difference.empty());
            CHECK(report.first_divergence.node.empty());
            CHECK(!report.outputs.empty());
            ++compared;
        }
    CHECK(compared >= 15);
}

TEST_CASE("external weights are read for the comparison") {
    pair const both = exported(fs::path(ATON_SAMPLES) / "pt2" / "lstm.pt2", weight_mode::external);
    CHECK(compare_models(both.p, both.graph).passed());
}

TEST_CASE("a divergence behind NaN says so") {
    using program::tensor;
    for (bool const has_nan : {true, false}) {
        program::program_builder b;
        program::value_index const x = b.input(program::input_kind::user, "x", {9, 2});
        program::value_index const y = b.add(has_nan ? "aten::sqrt" : "aten::sigmoid", {tensor("self", x)}, {9, 2});
        program::value_index const best = b.add(
            "aten::amax", {tensor("self", y), program::integers("dim", {1}), program::boolean("keepdim", false)}, {9});
        b.output(best);
        prepare(b.p, {});
        graph_data graph = export_graph(b.p).graph;
        node_for(graph, b.p.values[best].name).op = "ReduceMin";
        model_report const report = compare_models(b.p, graph);
        CHECK(!report.passed());
        CHECK(report.first_divergence.reads_nan == has_nan);
        CHECK(contains(report.to_text(), "it reads NaN, which a graph of aton export --nan fast") == has_nan);
        CHECK(contains(report.to_json(), has_nan ? "\"reads_nan\": true" : "\"reads_nan\": false"));
    }
}

TEST_CASE("the first diverging node is the one that was changed") {
    pair both = digits();
    REQUIRE(compare_models(both.p, both.graph).passed());

    SUBCASE("another operator") {
        node_for(both.graph, "relu_1").op = "Abs";
        model_report const report = compare_models(both.p, both.graph);
        CHECK(contains(report.difference, "output 'log_softmax': "));
        CHECK(contains(report.first_divergence.node, "aten::relu (node relu_1, "));
        CHECK(report.first_divergence.graph_node == "Abs (value relu_1)");
        CHECK(contains(report.first_divergence.why, "elements differ"));
        CHECK(report.first_divergence.same_before == std::vector<std::string>{"batch_norm_1"});
        CHECK(contains(report.to_text(), "the first diverging node: "));
        CHECK(contains(report.to_text(), "same up to: batch_norm_1\n"));
        CHECK(contains(report.to_json(), "\"passed\": false"));
    }
    SUBCASE("every node") {
        node_for(both.graph, "relu_1").op = "Abs";
        CHECK(compare_models(both.p, both.graph).nodes.empty());
        model_options options;
        options.nodes = true;
        model_report const report = compare_models(both.p, both.graph, options);
        std::vector<std::string> names;
        bool is_before = true;
        for (node_report const& n : report.nodes) {
            INFO(n.name);
            names.push_back(n.name);
            CHECK(n.is_first_divergence == (n.name == "relu_1"));
            if (n.name == "relu_1") is_before = false;
            if (is_before) CHECK(n.verdict != node_verdict::different);
            if (n.verdict == node_verdict::different) CHECK(n.worst_error > 1);
            if (n.verdict == node_verdict::same) CHECK(n.worst_error <= 1);
            CHECK(n.why.empty() == (n.verdict != node_verdict::different));
        }
        std::vector<std::string> wanted;
        for (program::node const& n : both.p.main.nodes) wanted.push_back(n.name);
        CHECK(names == wanted);
        CHECK(contains(report.to_json(), "\"verdict\": \"different\""));
        node_for(both.graph, "relu_1").op = "Relu";
        model_report const same = compare_models(both.p, both.graph, options);
        CHECK(same.passed());
        CHECK(same.nodes.size() == wanted.size());
        for (node_report const& n : same.nodes) CHECK(n.verdict != node_verdict::different);
    }
    SUBCASE("a weight that was folded into another") {
        auto const& n = node_for(both.graph, "batch_norm_2");
        graph_initializer& bias =
            both.graph.initializers[static_cast<std::size_t>(both.graph.values[n.inputs[2]].initializer)];
        aton::tensor changed{bias.data.type, bias.data.sizes, {}};
        for (std::size_t i = 0; i != 48; ++i) changed.append(bias.data.at(i).to<double>() + (i == 17 ? 0.5 : 0.0));
        bias.data = changed;
        model_report const report = compare_models(both.p, both.graph);
        CHECK(contains(report.first_divergence.node, "node batch_norm_2, "));
        CHECK(report.first_divergence.same_before == std::vector<std::string>{"max_pool2d"});
    }
    SUBCASE("without names") {
        node_for(both.graph, "adaptive_avg_pool2d").op = "MaxPool";
        for (graph_value& v : both.graph.values)
            if (v.producer >= 0) v.name.clear();
        model_report const report = compare_models(both.p, both.graph);
        CHECK(contains(report.first_divergence.node, "node adaptive_avg_pool2d, "));
        CHECK(report.first_divergence.graph_node.empty());
        CHECK(report.first_divergence.same_before == std::vector<std::string>{"relu_2"});
    }
    SUBCASE("a node that does not run") {
        node_for(both.graph, "linear").op = "MatMul";
        model_report const report = compare_models(both.p, both.graph);
        CHECK(contains(report.difference, "the graph does not run: "));
        CHECK(contains(report.first_divergence.node, "node linear, "));
        CHECK(contains(report.to_text(), "the graph stops before it"));
    }
}

TEST_CASE("a float32 value of a float16 program has float16's tolerance") {
    using program::tensor;
    constexpr std::int64_t n = 64;
    for (dtype const narrow : {dtype::float16, dtype::float32}) {
        program::program_builder b;
        program::value_index const x = b.input(program::input_kind::user, "x", {n});
        program::value_index const halves =
            b.add("aten::_to_copy", {tensor("self", x), program::type("dtype", narrow)}, {n}, narrow);
        program::value_index const wide =
            b.add("aten::_to_copy", {tensor("self", halves), program::type("dtype", dtype::float32)}, {n});
        b.output(b.add("aten::exp", {tensor("self", wide)}, {n}));
        graph_data data; // rounds at another node
        dsl::graph<13> const g(data, 17);
        dsl::value const input(data, data.add_input("x", {dtype::float32, shape{n}}));
        data.outputs = {g.cast(g.cast(g.op<"Exp">(input), dtype::float16), dtype::float32).id()};
        model_report const report = compare_models(b.p, data);
        CHECK(report.passed() == (narrow == dtype::float16));
    }
}

TEST_CASE("a graph that is not the program's is refused") {
    pair both = digits();
    pair const other = exported(fs::path(ATON_SAMPLES) / "pt2" / "sdpa.pt2"); // three inputs
    CHECK(contains(fault_of([&] { return compare_models(other.p, both.graph); }), "has an input 'image'"));
    both.graph.outputs.push_back(both.graph.outputs[0]);
    CHECK(contains(fault_of([&] { return compare_models(both.p, both.graph); }),
                   "the graph has 2 outputs, but the program has 1"));
}

TEST_CASE("given inputs are used") {
    pair const both = digits();
    model_options options;
    options.inputs = {runtime::tensor::from_constant({dtype::float32, {2, 1, 8, 8}, std::string(512, '\0')})};
    model_report const report = compare_models(both.p, both.graph, options);
    CHECK(report.passed());
    CHECK(report.samples == 1);
    CHECK(report.outputs[0].elements == 20);
    options.inputs = {runtime::tensor::from_constant({dtype::float32, {2, 3}, std::string(24, '\0')})};
    CHECK(contains(fault_of([&] { return compare_models(both.p, both.graph, options); }),
                   "input 'image' is float32[2, 3]"));
}

TEST_CASE("tensors outside the model's folder are not read") {
    model m;
    m.graph.opset = 20;
    value_id const v = m.graph.add_value({dtype::float32, shape({3})});
    m.graph.values[v].name = "w";
    m.graph.set_initializer(v, aton::tensor{dtype::float32, {3}, {}});
    m.graph.outputs = {v};
    auto const fault = [&](std::string const& location, std::int64_t offset) {
        m.external.resize(1);
        m.external[0].name = "w";
        m.external[0].location = location;
        m.external[0].offset = offset;
        return fault_of([&] { return load_external(m, "folder/model.onnx"), 0; });
    };
    CHECK(contains(fault("../w.bin", 0), "outside the model's folder"));
    CHECK(contains(fault("/etc/hostname", 0), "outside the model's folder"));
    CHECK(contains(fault("no_such_file.bin", 0), "cannot be read from "));
    m.external[0].name = "x";
    m.external[0].location = "w.bin";
    CHECK(contains(fault_of([&] { return load_external(m, "model.onnx"), 0; }), "is not an initializer"));
}

} // namespace ATON_NAMESPACE::verify
