// SPDX-License-Identifier: MIT
// export_file on real files: written models, reports, and cleanup after failures.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <unistd.h>

#include <aton/aton.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/frontend/pt2/read_program.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/passes/passes.hpp>

#include "../faults.hpp"

namespace export_file_test {

namespace {

using namespace aton;
namespace fs = std::filesystem;
using tests::contains;
using tests::fault_of;

struct folder {
    fs::path path = fs::temp_directory_path() / ("aton_export_file_test." + std::to_string(::getpid()));
    folder() { fs::create_directory(path); }
    folder(folder const&) = delete;
    folder& operator=(folder const&) = delete;
    ~folder() { fs::remove_all(path); }
    [[nodiscard]] std::string operator/(char const* name) const { return (path / name).string(); }
    [[nodiscard]] std::size_t count() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
    }
};

std::string sample(char const* name) { return std::string(ATON_PT2_SAMPLES "/") + name; }

std::string message_of(std::string const& from, std::string const& to, export_options const& options = {}) {
    return fault_of([&] { return export_file(from, to, options); });
}

/// Says that its result is float16, which it is not.
constexpr auto misstated =
    dsl::table(dsl::override_<"aten::relu(self)">([](dsl::graph<13> g, dsl::value x) -> dsl::value {
        return dsl::value(g.op<"Max">(x, 0)).set_type({dtype::float16, x.shape()});
    }));

} // namespace

TEST_CASE("a dtype that a row states and that its node does not have is refused, not cast to") {
    folder const f;
    export_options options;
    options.tables = {misstated};
    for (bool const optimized : {true, false}) {
        options.optimize = optimized;
        CHECK(contains(message_of(sample("linear_relu_dynbatch.pt2"), f / "m.onnx", options),
                       "onnx::Max (opset 20): output 'max' is float16, but another value of the same type is float32; "
                       "made for aten::relu"));
        CHECK(f.count() == 0);
    }
}

TEST_CASE("a file is exported, with a report") {
    folder const f;
    std::uint64_t calls = 0;
    export_options options;
    options.opset = 17;
    options.dims = {{"x", 0, "batch"}};
    options.renames = {{"relu", "probabilities"}};
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
        CHECK(done <= total);
        ++calls;
    };
    export_report const report = export_file(sample("linear_relu_dynbatch.pt2"), f / "m.onnx", options);
    model const m = read_model(f / "m.onnx");
    CHECK(report.nodes == m.graph.nodes.size());
    CHECK(report.weights == 2);
    CHECK(report.weight_bytes == (3 * 4 + 3) * 4);
    CHECK(m.graph.opset == 17);
    CHECK(m.graph.values[m.graph.inputs.at(0)].name == "x");
    CHECK(m.graph.values[m.graph.inputs[0]].type.shape[0].symbol() == "batch");
    CHECK(m.graph.values[m.graph.outputs.at(0)].name == "probabilities");
    check_model(f / "m.onnx");
}

TEST_CASE("buffers that the model changes are outputs, and inputs if requested") {
    folder const f;
    export_file(sample("kv_cache.pt2"), f / "outputs.onnx");
    export_options options;
    options.state = state_mode::inputs;
    export_file(sample("kv_cache.pt2"), f / "inputs.onnx", options);
    model const outputs = read_model(f / "outputs.onnx");
    model const inputs = read_model(f / "inputs.onnx");
    std::size_t const states = outputs.graph.outputs.size() - 2; // the program returns two tensors
    CHECK(states >= 1);
    CHECK(inputs.graph.inputs.size() == outputs.graph.inputs.size() + states);
    for (std::size_t i = 2; i != outputs.graph.outputs.size(); ++i) {
        std::string const name = outputs.graph.values[outputs.graph.outputs[i]].name;
        REQUIRE(name.ends_with(".out"));
        bool found = false;
        for (value_id id : inputs.graph.inputs) found = found || inputs.graph.values[id].name + ".out" == name;
        CHECK_MESSAGE(found, name);
    }
}

TEST_CASE("one of several models is selected by its name") {
    folder const f;
    export_options options;
    CHECK(contains(message_of(sample("multi_model.pt2"), f / "m.onnx"), "decode"));
    CHECK(f.count() == 0);
    options.model = "decode";
    export_file(sample("multi_model.pt2"), f / "m.onnx", options);
    CHECK(read_model(f / "m.onnx").graph.name == "decode");
    options.model = "nothing";
    CHECK(contains(message_of(sample("multi_model.pt2"), f / "n.onnx", options), "prefill"));
}

TEST_CASE("a failure keeps an old file and leaves nothing behind") {
    folder const f;
    std::ofstream(f / "m.onnx") << "old";
    CHECK(contains(message_of(sample("nowhere.pt2"), f / "m.onnx"), "nowhere.pt2"));
    export_options options;
    options.opset = 13;
    CHECK(contains(message_of(sample("dtypes.pt2"), f / "m.onnx", options), "aten::"));
    options.weights = weight_mode::reference;
    CHECK(contains(message_of(sample("tied.pt2"), f / "m.onnx", options), "must be in the folder of"));
    CHECK(f.count() == 1);
    CHECK(fs::file_size(f / "m.onnx") == 3);
}

TEST_CASE("weights that expand a few bytes without bound are refused") {
    program::program p = pt2::read_program(sample("tied.pt2"));
    prepare(p, {});
    for (program::input& in : p.inputs) {
        if (in.data.parts.empty() || in.data.sizes.size() != 2) continue;
        in.data.sizes = {std::int64_t{1} << 20, std::int64_t{1} << 20};
        in.data.parts[0].sizes = in.data.sizes;
        in.data.parts[0].strides = {0, 0};
    }
    CHECK_THROWS_WITH_AS((void)convert_program(p), doctest::Contains("the weights expand"), error);
}

namespace {

std::string metadata(model const& m, std::string_view key) {
    for (auto const& [k, text] : m.metadata)
        if (k == key) return text;
    return {};
}

std::size_t count(model const& m, std::string_view op) {
    return static_cast<std::size_t>(
        std::count_if(m.graph.nodes.begin(), m.graph.nodes.end(), [&](graph_node const& n) { return n.op == op; }));
}

} // namespace

TEST_CASE("a dimension that a guard pins is fixed at its number, with a warning, and cannot be renamed") {
    folder const f;
    export_report const report = export_file(sample("guard_scale.pt2"), f / "m.onnx");
    model const m = read_model(f / "m.onnx");
    CHECK(m.graph.values[m.graph.inputs.at(0)].type.shape == shape({dim(5), dim(4)}));
    REQUIRE(report.warnings.size() == 1);
    CHECK(report.warnings[0].kind == warning_kind::pinned_dimension);
    CHECK(contains(report.warnings[0].text, "dimension 0 of input 'x' is fixed at 5"));
    CHECK(contains(report.warnings[0].text, "(1 / L['x'].size()[0]) == 0.2"));
    CHECK(metadata(m, "aton.guards").empty()); // the fixed size implies it
    CHECK(count(m, "Slice") == 0);

    export_options named;
    named.dims = {{"x", 0, "batch"}};
    std::string const what = message_of(sample("guard_scale.pt2"), f / "named.onnx", named);
    CHECK(contains(what, "dimension 0 of input 'x' can only be 5"));
    CHECK(contains(what, "(1 / L['x'].size()[0]) == 0.2"));
    CHECK(contains(what, "export the model again"));
}

TEST_CASE("a number that several sizes give is checked at run time") {
    folder const f;
    for (int const opset : {13, 18, 23}) {
        export_options options;
        options.opset = opset;
        export_report const report = export_file(sample("guard_half.pt2"), f / "m.onnx", options);
        check_model(f / "m.onnx");
        model const m = read_model(f / "m.onnx");
        CHECK(metadata(m, "aton.guards") == "(L['x'].size()[0] // 2) == 3");
        CHECK(count(m, "Slice") == 1);
        CHECK(m.graph.values[m.graph.inputs.at(0)].type.shape[0].is_symbolic());
        CHECK(m.graph.values[m.graph.outputs.at(0)].name == "pad");
        CHECK(report.nodes == m.graph.nodes.size());
    }
}

TEST_CASE("an unused input is a warning, or an error if warnings are errors") {
    folder const f;
    export_report const report = export_file(sample("guard_half.pt2"), f / "m.onnx");
    REQUIRE(report.warnings.size() == 1);
    CHECK(report.warnings[0].kind == warning_kind::unused_input);
    CHECK(contains(report.warnings[0].text, "input 'unused' is not used by the program"));
    std::size_t const before = f.count();
    export_options options;
    options.warnings_are_errors = true;
    std::string const what = message_of(sample("guard_half.pt2"), f / "e.onnx", options);
    CHECK(contains(what, "guard_half.pt2: input 'unused' is not used"));
    CHECK(contains(what, "warnings are errors"));
    CHECK(f.count() == before);
    CHECK_NOTHROW(export_file(sample("linear_relu_dynbatch.pt2"), f / "w.onnx", options));
}

TEST_CASE("relations between sizes are written, other guards are metadata, and checked if requested") {
    folder const f;
    export_report const report = export_file(sample("guard_twice.pt2"), f / "m.onnx");
    model const m = read_model(f / "m.onnx");
    std::string const x(m.graph.values[m.graph.inputs.at(0)].type.shape[0].symbol());
    std::string const y(m.graph.values[m.graph.inputs.at(1)].type.shape[0].symbol());
    CHECK(y == "(" + x + " + 1)//2");
    CHECK(contains(metadata(m, "aton.guards"), "L['x'].size()[0] > 4"));
    CHECK(contains(metadata(m, "aton.ranges"), " or more"));
    CHECK(count(m, "Where") == 0);
    REQUIRE(report.warnings.size() == 1);
    CHECK(report.warnings[0].kind == warning_kind::unchecked_guard);
    CHECK(contains(report.warnings[0].text, "--check-guards"));

    export_options all;
    all.guards = guard_mode::all;
    CHECK(export_file(sample("guard_twice.pt2"), f / "all.onnx", all).warnings.empty());
    check_model(f / "all.onnx");
    CHECK(count(read_model(f / "all.onnx"), "Where") == 1);

    export_options named; // names given by the user are kept
    named.dims = {{"x", 0, "rows"}, {"y", 0, "pairs"}};
    export_file(sample("guard_twice.pt2"), f / "named.onnx", named);
    model const n = read_model(f / "named.onnx");
    CHECK(n.graph.values[n.graph.inputs.at(0)].type.shape[0].symbol() == "rows");
    CHECK(n.graph.values[n.graph.inputs.at(1)].type.shape[0].symbol() == "pairs");
}

TEST_CASE("checks of several guards have an order that the program determines") {
    using program::expression;
    using kind = program::expression_kind;
    export_options options;
    options.guards = guard_mode::all;
    program::program p = read_program(sample("guard_twice.pt2"), options);
    prepare(p, options);
    auto const made = [](kind k, std::vector<expression> operands) {
        expression e;
        e.kind = k;
        e.operands = std::move(operands);
        return e;
    };
    auto const number = [](std::int64_t n) {
        expression e;
        e.number = n;
        return e;
    };
    auto const half = [] {
        expression e;
        e.kind = kind::real;
        e.real = 0.5;
        return e;
    };
    REQUIRE(p.guard_sources.size() == 2);
    std::vector<expression> sizes;
    for (auto const& [name, source] : p.guard_sources) {
        sizes.push_back(made(kind::symbol, {}));
        sizes.back().symbol = name;
    }
    expression const ratio = made(kind::true_div, {sizes[0], sizes[1]}); // two Casts
    expression const both = made(kind::all_of, {made(kind::mod, {sizes[0], sizes[1]}), sizes[1]});
    expression const chosen =
        made(kind::piecewise, {half(), both, sizes[0], made(kind::negation, {both})}); // Where of three
    expression always;
    always.kind = kind::boolean;
    always.number = 1;
    expression const other = made(kind::piecewise, {sizes[1], made(kind::less, {half(), ratio}), half(), always});
    p.guards.clear();
    for (expression const& e : {made(kind::less, {ratio, number(7)}),
                                made(kind::unequal, {chosen, number(-1)}),
                                made(kind::greater, {other, half()})})
        p.guards.push_back({"guard", e, program::guard_state::open});
    graph_data const graph = export_graph(p, options).graph;
    graph_data ordered = graph;
    order_canonically(ordered);
    CHECK(to_model_proto(graph) == to_model_proto(ordered));
    std::string found;
    for (graph_node const& n : graph.nodes)
        if (graph.origins.at(n.origin).name.starts_with("guard")) found += n.op + ' ';
    CHECK(
        found ==
        "Shape Gather Cast Shape Gather Cast Div Less Equal Where Mod Cast Cast And Cast Where Equal Not And Less Cast "
        "Where Greater And GreaterOrEqual And GreaterOrEqual And Not And Where Reshape Slice ");
}

} // namespace export_file_test
