// SPDX-License-Identifier: MIT
// What a target refuses: each kind of limit, with the sentence, and next to it a graph that it accepts.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <aton/aton.hpp>
#include <aton/passes/passes.hpp>
#include <aton/targets/built_in.hpp>
#include <aton/targets/onnx_runtime.hpp>

#include "exporter/missing_kernels.hpp"
#include "exporter/target_limits.hpp"

using namespace aton::dsl;
using aton::dim;
using aton::dtype;

namespace {

/// The reasons that a target has against the graph that `make` builds.
template <class Make>
std::string against(aton::targets::target const& t, Make const& make, aton::shape const& s = aton::shape({2, 3, 8, 9}),
                    dtype type = dtype::float32) {
    aton::graph_data data;
    data.opset = 20;
    graph<18, 20> const g(data, 20);
    value const x(data, data.add_input("x", {type, s}));
    data.outputs = {value(make(g, x)).id()};
    try {
        aton::exporter::require_target(data, t, "m.pt2");
    } catch (aton::export_error const& e) {
        std::string all;
        for (aton::unconvertible const& u : e.nodes()) all += (all.empty() ? "" : "; ") + u.op + ": " + u.reason;
        return all;
    }
    return "";
}

aton::targets::target const& trt = *aton::targets::find_target("tensorrt:10.1");
aton::targets::target const& newest_trt = *aton::targets::find_target("tensorrt");
aton::targets::target const& qnn = *aton::targets::find_target("qnn");

} // namespace

TEST_CASE("operators that a target does not have") {
    auto const relu = [](auto g, value x) { return g.template op<"Relu">(x); };
    auto const det = [](auto g, value x) { return g.template op<"Det">(x); };
    CHECK(against(trt, relu) == "");
    CHECK(against(trt, det, aton::shape({2, 3, 3})) == "Det: Det is not supported");
    CHECK(against(aton::targets::onnx_runtime, det, aton::shape({2, 3, 3})) == "");
}

TEST_CASE("types that a target does not have") {
    auto const add = [](auto g, value x) { return g.template op<"Add">(x, x); };
    auto const erf = [](auto g, value x) { return g.template op<"Erf">(x); };
    CHECK(against(trt, add, aton::shape({3}), dtype::int64) == "");
    CHECK(against(trt, add, aton::shape({3}), dtype::float64) ==
          "input x: is float64; Add: Add of float64 is not supported");
    CHECK(against(trt, add, aton::shape({3}), dtype::uint8) == "Add: Add of uint8 is not supported");
    CHECK(against(trt, erf, aton::shape({3}), dtype::float16) == "");
    auto const places = [](auto g, value x) { return g.template op<"NonZero">(x); };
    CHECK(against(trt, places, aton::shape({3}), dtype::bool_) == "NonZero: NonZero of bool is not supported");
    CHECK(against(trt, places) == "");
}

TEST_CASE("attributes and operands that a target does not have") {
    auto const pool = [](std::vector<std::int64_t> kernel, std::vector<std::int64_t> dilations) {
        return [=](auto g, value x) {
            return std::get<0>(
                g.template op<"MaxPool">(x, attr::kernel_shape_i(kernel), attr::dilations_i(dilations), outputs<2>));
        };
    };
    auto const plain_pool = [](auto g, value x) { return g.template op<"MaxPool">(x, attr::kernel_shape_i({2, 3})); };
    CHECK(against(trt, plain_pool) == "");
    CHECK(against(trt, pool({2, 3}, {1, 1})) == "MaxPool: MaxPool has no result Indices");
    auto const dilated = [](auto g, value x) {
        return g.template op<"MaxPool">(x, attr::kernel_shape_i({2, 3}), attr::dilations_i({1, 2}));
    };
    CHECK(against(trt, dilated) == "MaxPool: MaxPool has only dilations of 1");
    auto const line = [](auto g, value x) { return g.template op<"MaxPool">(x, attr::kernel_shape_i({2})); };
    CHECK(against(trt, line, aton::shape({2, 3, 8})) == "MaxPool: MaxPool takes only X of rank 4 or 5");

    auto const top = [](std::int64_t sorted) {
        return [sorted](auto g, value x) {
            return std::get<0>(g.template op<"TopK">(x, g.ints({2}), attr::sorted_i(sorted), outputs<2>));
        };
    };
    CHECK(against(trt, top(1)) == "");
    CHECK(against(trt, top(0)) == "TopK: TopK has only sorted 1");

    auto const sum = [](bool computed) {
        return [computed](auto g, value x) {
            value const best = g.template op<"ReduceMax">(x, attr::keepdims_i(0));
            value const place = g.template op<"Cast">(best, attr::to_i(dtype_c<dtype::int64>));
            value const axes = computed ? g.template op<"Unsqueeze">(place, g.ints({0})) : g.ints({1});
            return g.template op<"ReduceSum">(x, axes);
        };
    };
    CHECK(against(trt, sum(false)) == "");
    CHECK(against(trt, sum(true)) == "ReduceSum: ReduceSum needs a constant axes");
}

TEST_CASE("sizes and control flow that a static graph does not have") {
    auto const relu = [](auto g, value x) { return g.template op<"Relu">(x); };
    aton::shape const dynamic(std::vector<dim>{dim("batch"), dim(3)});
    CHECK(against(qnn, relu, aton::shape({2, 3})) == "");
    CHECK(against(qnn, relu, dynamic) == "input x: has a dimension 'batch', but all sizes must be known");
    CHECK(against(trt, relu, dynamic) == "");
    auto const places = [](auto g, value x) { return g.template op<"NonZero">(x); };
    CHECK(against(qnn, places) == "NonZero: NonZero is not supported");
    auto const branches = [](auto g, value x) {
        value const condition = g.template op<"Equal">(g.template op<"Size">(x), g.scalar(7, dtype::int64));
        return g.template op<"If">(condition,
                                   attr::then_branch_g([&](graph<18, 20> b) {
                                       return b.op<"LpPool">(x, attr::kernel_shape_i({2}), attr::dilations_i({2}));
                                   }),
                                   attr::else_branch_g([&](graph<18, 20> b) { return b.op<"Relu">(x); }));
    };
    CHECK(against(qnn, branches, aton::shape({2, 3, 9})).find("If: If is not supported") != std::string::npos);
    CHECK(against(trt, branches, aton::shape({2, 3, 9})) ==
          "LpPool: LpPool has only dilations of 1"); // inside a branch
}

TEST_CASE("conditions on numbers of constants, and on the results of nested graphs") {
    auto const top = [](std::int64_t k) {
        return [k](auto g, value x) { return std::get<0>(g.template op<"TopK">(x, g.ints({k}), outputs<2>)); };
    };
    aton::shape const wide({2, 5000});
    CHECK(against(trt, top(3839), wide) == "");
    CHECK(against(trt, top(3840), wide) == "TopK: TopK takes only K under 3840");
    auto const quantized = [](std::int8_t zero) {
        return [zero](auto g, value x) {
            return g.template op<"QuantizeLinear">(x, g.scalar(0.5, dtype::float32), g.scalar(int{zero}, dtype::int8));
        };
    };
    // A Constant of int8 is refused, too: zero points are left out for TensorRT.
    CHECK(against(trt, quantized(0)) == "Constant: Constant of int8 is not supported");
    CHECK(against(trt, quantized(3)).ends_with("; QuantizeLinear: QuantizeLinear takes only zeros as y_zero_point"));
    auto const squeezed = [](auto g, value x) { return g.template op<"Squeeze">(x); };
    CHECK(against(trt, squeezed, aton::shape({1, 3})) == "Squeeze: Squeeze needs its input axes");
    CHECK(against(newest_trt, squeezed, aton::shape({1, 3})) == "");
    auto const branches = [](bool differ) {
        return [differ](auto g, value x) {
            value const condition = g.template op<"Equal">(g.template op<"Size">(x), g.scalar(7, dtype::int64));
            return g.template op<"If">(condition,
                                       attr::then_branch_g([&](graph<18, 20> b) { return b.op<"Relu">(x); }),
                                       attr::else_branch_g([&](graph<18, 20> b) {
                                           return differ ? b.op<"Unsqueeze">(x, b.ints({0})) : b.op<"Neg">(x);
                                       }));
        };
    };
    CHECK(against(trt, branches(false)) == "");
    CHECK(against(trt, branches(true)).find("If takes only branches whose results have the same rank") !=
          std::string::npos);
}

TEST_CASE("definitions of operators that a runtime has no kernel for, and notes of documentations") {
    aton::targets::target const& webgpu = *aton::targets::find_target("webgpu");
    auto const sampled = [](auto g, value x) { return g.template op<"GridSample">(x, x); };
    aton::shape const images({2, 3, 8, 2});
    CHECK(against(webgpu, sampled, images) ==
          "GridSample: GridSample of opset 20 is not supported, only of 16"); // 16-19, says the page
    auto const angle = [](auto g, value x) { return g.template op<"Acos">(x); };
    CHECK(against(webgpu, angle) == ""); // at opset 20 since 7; since 22 is another definition
    aton::targets::target const& coreml = *aton::targets::find_target("coreml:1.24");
    auto const power = [](auto g, value x) { return g.template op<"Pow">(x, x); };
    CHECK(against(coreml, power) == "");
    CHECK(against(coreml, power, aton::shape({3}), dtype::float16) == "Pow: Pow has only X of float32");
    auto const mean = [](auto g, value x) { return g.template op<"GlobalAveragePool">(x); };
    CHECK(against(coreml, mean, aton::shape({2, 3, 9})) ==
          "GlobalAveragePool: GlobalAveragePool takes only X of rank 4");
}

TEST_CASE("versions of a runtime") {
    namespace targets = aton::targets;
    CHECK(newest_trt.title == "TensorRT 11.5");
    CHECK(newest_trt.is_strongly_typed);
    CHECK(!trt.is_strongly_typed);
    CHECK(targets::find_target("onnx") == nullptr);
    CHECK(targets::find_target("onnxruntime:1.31.1") == targets::find_target("onnxruntime"));
    CHECK_THROWS_WITH((void)targets::find_target("tensorrt:9.3"),
                      "there is no table of tensorrt 9.3; choose tensorrt:10.1, tensorrt:10.6, tensorrt:10.15, "
                      "tensorrt:11.1 or tensorrt:11.5");
    CHECK_THROWS_WITH((void)targets::find_target("onnxruntime:1.0"), "the table of onnxruntime is of version 1.31.1");
    CHECK_THROWS_WITH((void)targets::find_target("tensorrr"),
                      "no target has the name tensorrr; did you mean tensorrt?");
    for (targets::target const* t : targets::built_in_targets()) CHECK(t->since <= t->until);
    // What 10.1 does not have and the newest does, and the reverse.
    std::string added;
    for (targets::operator_support const& o : newest_trt.operators) {
        bool const had = std::any_of(trt.operators.begin(), trt.operators.end(), [&](auto const& old) {
            return old.op == o.op && !old.is_excluded;
        });
        if (!had && !o.is_excluded) added += std::string(o.op) + ' ';
    }
    CHECK(added == "Attention BlackmanWindow DFT HammingWindow HannWindow RMSNormalization RotaryEmbedding STFT Swish "
                   "TensorScatter ");
}

TEST_CASE("opsets that a target does not read") {
    CHECK_NOTHROW(aton::exporter::require_opset_of(trt, 20));
    try {
        aton::exporter::require_opset_of(trt, 23);
        FAIL("nothing was thrown");
    } catch (aton::error const& e) {
        CHECK(std::string(e.what()) == "TensorRT 10.1 reads models of opset 9 to 20, not 23; choose one with --opset");
    }
}

TEST_CASE("ONNX Runtime: a node without a kernel is refused with what would run instead") {
    auto const& ort = aton::targets::onnx_runtime;
    auto const erf = [](auto g, value x) { return g.template op<"Erf">(x); };
    auto const draw = [](auto g, value x) { return g.template op<"RandomNormalLike">(x); };
    auto const top = [](auto g, value x) { return std::get<0>(g.template op<"TopK">(x, g.ints({2}), outputs<2>)); };
    CHECK(against(ort, erf) == "");
    CHECK(against(ort, erf, aton::shape({3}), dtype::float16) == "");
    CHECK(against(ort, erf, aton::shape({3}), dtype::float64) ==
          "Erf: Erf of float64 has no kernel; it has one for float32");
    CHECK(against(ort, draw) == "");
    CHECK(against(ort, erf, aton::shape({3}), dtype::bfloat16) ==
          "Erf: Erf of bfloat16 has no kernel; it has one for float32");
    CHECK(against(ort, top, aton::shape({3}), dtype::uint64) ==
          "TopK: TopK of uint64 has no kernel; it has one for int64");
    auto const branches = [&](auto g, value x) {
        value const condition = g.template op<"Equal">(g.template op<"Size">(x), g.scalar(7, dtype::int64));
        return g.template op<"If">(condition,
                                   attr::then_branch_g([&](graph<18, 20> b) { return b.op<"Sinh">(x); }),
                                   attr::else_branch_g([&](graph<18, 20>) { return x; }));
    };
    CHECK(against(ort, branches, aton::shape({3}), dtype::float64) ==
          "Sinh: Sinh of float64 has no kernel; it has one for float32");
    CHECK_THROWS_WITH(aton::exporter::require_opset_of(ort, 27),
                      "ONNX Runtime 1.31.1 reads models of opset 7 to 26, not 27; choose one with --opset");
}

TEST_CASE("warnings name each combination of dtypes and remedy once, with a count") {
    aton::graph_data data;
    data.opset = 20;
    graph<18, 20> const g(data, 20);
    value const x(data, data.add_input("x", {dtype::bfloat16, aton::shape({3})}));
    value const y(data, data.add_input("y", {dtype::float64, aton::shape({3})}));
    value const sum = g.op<"Sub">(g.op<"Add">(x, x), g.op<"Add">(x, g.op<"Identity">(x)));
    data.outputs = {sum.id(), g.op<"Sinh">(y).id(), g.op<"Sin">(y).id()};
    std::vector<aton::warning> found;
    aton::exporter::find_missing_kernels(data, found);
    REQUIRE(found.size() == 2);
    CHECK(found[0].text ==
          "ONNX Runtime 1.31.1 has no kernel for Add, Sub of bfloat16; --target onnxruntime computes in "
          "another dtype (3 times)");
    CHECK(found[1].text == "ONNX Runtime 1.31.1 has no kernel for Sinh of float64; it has one for float32");
    data.opset = 27;
    found.clear();
    aton::exporter::find_missing_kernels(data, found);
    REQUIRE(found.size() == 1);
    CHECK(found[0].text == "ONNX Runtime 1.31.1 loads models up to opset 26");
}

TEST_CASE("functions are replaced by their bodies where these must be computed in wider dtypes") {
    auto const calls = [](dtype type) {
        aton::graph_data data;
        data.opset = 20;
        aton::graph_function f{"custom", "Twice", "", {}, {}};
        aton::graph_data& body = f.body.emplace_back();
        body.opset = 20;
        value const in(body, body.add_input("a", {type, aton::shape({3})}));
        body.outputs = {graph<18, 20>(body, 20).op<"Add">(in, in).id()};
        data.functions.push_back(std::move(f));
        aton::graph_node n;
        n.domain = "custom";
        n.op = "Twice";
        n.inputs = {data.add_input("x", {type, aton::shape({3})})};
        n.outputs = {data.add_value(aton::value_type{type, aton::shape({3})})};
        data.values[n.outputs[0]].producer = 0;
        data.outputs = n.outputs;
        data.nodes.push_back(std::move(n));
        aton::exporter::inline_narrow_functions(data, aton::tensors(dtype::bfloat16));
        aton::widen_dtypes(data, aton::tensors(dtype::bfloat16));
        std::string ops;
        for (aton::graph_node const& each : data.nodes) ops += each.op + ' ';
        return ops;
    };
    CHECK(calls(dtype::float32) == "Twice ");
    CHECK(calls(dtype::float16) == "Twice ");
    CHECK(calls(dtype::bfloat16) == "Cast Add Cast ");
}
