// SPDX-License-Identifier: MIT
// Runs torch.export programs directly, and as graphs whose nodes call ATen. Results must be those that PyTorch recorded
// (NAME.inputs.safetensors, NAME.outputs.safetensors: tensors "0", "1", ... in the order of the program).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <aton/exporter/exporter.hpp>
#include <aton/frontend/pt2/read_program.hpp>
#include <aton/model_io/weights.hpp>
#include <aton/program/arithmetic.hpp>
#include <aton/runtime/aten_program.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/runtime/onnx_model.hpp>

#include "../faults.hpp"
#include "../program/program_builder.hpp"
#include "recorded_calls.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

namespace fs = std::filesystem;
using program::input_kind;
using program::output_kind;
using tests::contains;
using tests::fault_of;
using tests::recorded_tensors;

struct sample {
    fs::path program;
    fs::path inputs;
    fs::path outputs;
};

/// NAME.pt2, and NAME.decomp.pt2 after run_decompositions().
std::vector<sample> samples_in(fs::path const& folder) {
    std::vector<sample> out;
    for (fs::directory_entry const& each : fs::directory_iterator(folder)) {
        std::string const file = each.path().filename().string();
        constexpr std::string_view ending = ".inputs.safetensors";
        if (!file.ends_with(ending)) continue;
        std::string const name = file.substr(0, file.size() - ending.size());
        for (char const* kind : {".pt2", ".decomp.pt2"})
            if (fs::exists(folder / (name + kind)))
                out.push_back({folder / (name + kind), each.path(), folder / (name + ".outputs.safetensors")});
    }
    std::sort(out.begin(), out.end(), [](sample const& a, sample const& b) { return a.program < b.program; });
    return out;
}

std::vector<sample> all_samples() {
    std::vector<sample> out;
    std::vector<fs::path> folders = {fs::path(ATON_SAMPLES) / "pt2", fs::path(ATON_SAMPLES) / "pt2_control_flow"};
#ifdef ATON_MORE_SAMPLES
    folders.emplace_back(ATON_MORE_SAMPLES);
#endif
    for (fs::path const& folder : folders) {
        std::vector<sample> const more = samples_in(folder);
        out.insert(out.end(), more.begin(), more.end());
    }
    return out;
}

/// Operators that only PyTorch has.
bool is_custom(sample const& s) { return s.program.filename().string().starts_with("custom_op"); }

std::vector<value> inputs_of(program::program const& p, sample const& s) {
    recorded_tensors const recorded(s.inputs.string());
    std::vector<value> out;
    for (program::input const& in : p.inputs)
        if (in.kind == input_kind::user) {
            std::string const key = std::to_string(out.size());
            out.emplace_back(recorded.has(key) ? value(recorded.get(key)) : value());
        }
    return out;
}

void check_close(tensor const& got, tensor const& expected) {
    REQUIRE(got.dtype() == expected.dtype());
    REQUIRE(got.sizes() == expected.sizes());
    aton::tensor const x = got.to_constant();
    aton::tensor const y = expected.to_constant();
    double worst = 0;
    for (std::size_t i = 0; i != static_cast<std::size_t>(expected.count()); ++i) {
        auto const a = x.at(i).to<double>();
        auto const b = y.at(i).to<double>();
        bool const same = a == b || (std::isnan(a) && std::isnan(b));
        if (!same) worst = std::max(worst, std::abs(a - b) / (1 + std::abs(b)));
        if (std::isnan(a) != std::isnan(b)) worst = 1;
    }
    CHECK(worst <= 1e-5);
}

/// Checks the user's outputs; only tensors are recorded.
void check_outputs(program::program const& p, std::vector<value> const& got, sample const& s) {
    recorded_tensors const recorded(s.outputs.string());
    std::size_t user = 0;
    std::size_t checked = 0;
    REQUIRE(got.size() == p.outputs.size());
    for (std::size_t i = 0; i != got.size(); ++i) {
        if (p.outputs[i].kind != output_kind::user) continue;
        std::string const key = std::to_string(user++);
        INFO("output ", key);
        if (!recorded.has(key)) continue;
        REQUIRE(got[i].is_tensor());
        check_close(got[i].one(), recorded.get(key));
        ++checked;
    }
    CHECK(checked == recorded.count());
}

} // namespace

TEST_CASE("programs return what PyTorch recorded") {
    std::vector<sample> const samples = all_samples();
    CHECK(samples.size() >= 15);
    for (sample const& s : samples) {
        INFO(s.program.filename().string());
        program::program p = pt2::read_program(s.program.string());
        if (is_custom(s)) {
            CHECK(contains(fault_of([&] { return aten_program(std::move(p)); }), "does not have this operator"));
            continue;
        }
        std::vector<value> const inputs = inputs_of(p, s);
        aten_program const runs(std::move(p));
        std::vector<value> got;
        CHECK(fault_of([&] { return got = runs.run(inputs), 0; }) == "nothing was thrown");
        if (!got.empty()) check_outputs(runs.functional(), got, s);
    }
}

TEST_CASE("graphs of ATen nodes return the same as programs") {
    std::size_t compared = 0;
    for (sample const& s : all_samples()) {
        INFO(s.program.filename().string());
        program::program p = pt2::read_program(s.program.string());
        if (is_custom(s)) continue;
        std::vector<value> const inputs = inputs_of(p, s);
        aten_program const runs(p);
        prepare(p, {});
        export_options options;
        options.operators = operator_mode::aten;
        graph_data g;
        try {
            g = convert_program(p, options);
        } catch (error const&) {
            continue; // complex numbers cannot be attributes
        }
        for (graph_initializer& i : g.initializers) {
            if (i.stored == nullptr) continue;
            i.data = load(*i.stored);
            i.stored = nullptr;
        }
        std::vector<value> given;
        std::size_t next = 0;
        for (program::input const& in : p.inputs) {
            if (in.kind != input_kind::user) continue;
            if (in.value != program::no_value) given.push_back(inputs[next]);
            ++next;
        }
        std::vector<value> got;
        CHECK(fault_of([&] { return got = onnx_model(std::move(g)).run(given), 0; }) == "nothing was thrown");
        std::vector<value> expected;
        std::vector<value> const all = runs.run(inputs);
        for (bool const user : {true, false}) // as the exporter passes them
            for (std::size_t i = 0; i != all.size(); ++i)
                if ((runs.functional().outputs[i].kind == output_kind::user) == user && all[i].is_tensor())
                    expected.push_back(all[i]);
        if (got.empty()) continue;
        REQUIRE(got.size() == expected.size());
        for (std::size_t i = 0; i != got.size(); ++i) check_close(got[i].one(), expected[i].one());
        ++compared;
    }
    CHECK(compared >= 12);
}

TEST_CASE("inputs that do not fit are refused") {
    std::string const file = (fs::path(ATON_SAMPLES) / "pt2" / "linear_relu_dynbatch.pt2").string();
    aten_program const runs(pt2::read_program(file));
    CHECK(fault_of([&] { return runs.run({}); }) == "too few inputs: 0");
    std::vector<value> const wrong = {value(tensor::of_scalar(1, dtype::int64))};
    CHECK(contains(fault_of([&] { return runs.run(wrong); }), "is int64[], the program expects float32[*, "));
}

TEST_CASE("a token that a program returns has no value") {
    program::program_builder b;
    program::value_index const x = b.input(input_kind::user, "x", {2, 3});
    b.output(b.value_of("token", {0}), output_kind::token);
    b.output(b.add("aten::neg", {program::tensor("self", x)}, {2, 3}));
    value const given(full(1.5, dtype::float32, {2, 3}));
    std::vector<value> const out = aten_program(b.p).run(std::span(&given, 1));
    REQUIRE(out.size() == 2);
    CHECK_FALSE(out[0].is_tensor());
    check_close(out[1].one(), full(-1.5, dtype::float32, {2, 3}));
}

TEST_CASE("errors name the node and the user's source line") {
    std::string const file = (fs::path(ATON_SAMPLES) / "pt2" / "multi_out.pt2").string();
    program::program p = pt2::read_program(file);
    for (program::node& n : p.main.nodes)
        for (program::argument& a : n.arguments)
            if (a.name == "dim" && program::integer_of(a)) a.number = 77;
    std::vector<value> const inputs = {tensor::empty(dtype::float32, {2, 4}), tensor::empty(dtype::float32, {3, 5})};
    aten_program const runs(std::move(p));
    std::string const fault = fault_of([&] { return runs.run(inputs); });
    CHECK(contains(fault, "multi_out.pt2: aten::"));
    CHECK(contains(fault, " in forward"));
    CHECK(contains(fault, "77"));
}

TEST_CASE("arithmetic on sizes is Python's") {
    auto const of = [](std::string_view op, std::vector<scalar> const& operands) {
        return program::compute(op, operands);
    };
    CHECK(of("_operator.floordiv", {-7, 2}) == scalar(-4));
    CHECK(of("_operator.mod", {-7, 2}) == scalar(1));
    CHECK(of("_operator.floordiv", {7, -1}) == scalar(-7));
    constexpr std::int64_t least =
        std::numeric_limits<std::int64_t>::min(); // whose distance to a multiple below it overflows
    CHECK(of("_operator.floordiv", {least, 3}) == scalar(std::int64_t{-3074457345618258603}));
    CHECK(of("_operator.floordiv", {std::numeric_limits<std::int64_t>::max(), -3}) ==
          scalar(std::int64_t{-3074457345618258603}));
    CHECK(of("_operator.floordiv", {-7.5, 2}) == scalar(-4.0));
    CHECK(of("_operator.mod", {-7.5, 2}) == scalar(0.5));
    CHECK(of("_operator.lshift", {3, 4}) == scalar(48));
    CHECK(of("_operator.rshift", {-3, 1}) == scalar(-2));
    CHECK(of("torch.sym_sum", {1, 2, 3}) == scalar(6));
    CHECK(of("torch.sym_ite", {false, 2, 3}) == scalar(3));
    CHECK(of("round", {2.5}) == scalar(2));
    CHECK_FALSE(of("_operator.floordiv", {1, 0}));
    CHECK_FALSE(of("_operator.mul", {scalar(std::int64_t{1} << 62), 4}));
    CHECK_FALSE(of("_operator.matmul", {1, 2}));
}

} // namespace ATON_NAMESPACE::runtime
