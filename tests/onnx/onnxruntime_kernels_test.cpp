// SPDX-License-Identifier: MIT
// Look-up in the table of ONNX Runtime's kernels, and which nodes it runs. tools/generate_onnxruntime_kernels.py --check compares the
// table with ONNX Runtime.
#include <aton/ir/kernels.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string_view>
#include <vector>

#include <aton/onnx/kernels.hpp>

namespace {

namespace ort = aton::onnx::onnxruntime;
using aton::dtype;

/// Whether a kernel takes input 0 of this dtype.
constexpr bool takes(std::string_view domain, std::string_view op, int opset, dtype type) {
    ort::kernel_list const all = ort::kernels_of(domain, op, opset);
    for (int k = 0; k != all.size(); ++k) {
        bool matches = true;
        for (int i = 0; i != all[k].size(); ++i)
            matches = matches && (!all[k][i].has_input(0) || all[k][i].types.contains(type));
        if (matches) return true;
    }
    return false;
}

static_assert(takes("", "Conv", 20, dtype::float32) && !takes("", "Conv", 20, dtype::float64));
static_assert(takes("ai.onnx", "Conv", 22, dtype::float32) && !takes("", "Conv", 22, dtype::bfloat16));
static_assert(takes("", "Reshape", 26, dtype::bfloat16) && takes("", "If", 16, dtype::bool_));
static_assert(takes("", "Elu", 18, dtype::float64) && !takes("", "Elu", 17, dtype::float64), "expanded from 18 on");
static_assert(!takes("", "LSTM", 14, dtype::float64), "registered, but it does not run");
static_assert(takes("com.microsoft", "QuickGelu", 13, dtype::float32));
static_assert(!takes("com.microsoft", "QuickGelu", 13, dtype::float64));
static_assert(ort::kernels_of("", "RandomNormal", 21).size() != 0 &&
              ort::kernels_of("", "RandomNormal", 22).size() == 0);
static_assert(ort::kernels_of("", "QuickGelu", 20).size() == 0 && ort::kernels_of("", "", 20).size() == 0);
static_assert(ort::kernels_of("custom", "Conv", 20).size() == 0 && !ort::knows("custom"));

struct one_node {
    aton::graph_data graph;
    aton::graph_node node;

    one_node(std::string_view op, std::vector<dtype> const& inputs, std::vector<dtype> const& outputs) {
        node.op = op;
        for (dtype t : inputs) node.inputs.push_back(add(t));
        for (dtype t : outputs) node.outputs.push_back(add(t));
    }
    aton::value_id add(dtype t) {
        return t == dtype::string ? aton::no_value : graph.add_value(aton::value_type{t, {}});
    }

    [[nodiscard]] bool runs(int opset) const { return aton::kernels::runs(graph, node, opset); }
    /// The wider dtype of the first operand that changes; undefined if there is none.
    [[nodiscard]] dtype wider(int opset) const {
        auto const found = aton::kernels::wider_kernel(graph, node, opset);
        return found ? found->front().wide : dtype::undefined;
    }
};

} // namespace

TEST_CASE("every row of the table is reached by its name") {
    for (ort::generated::op_row const& row : ort::generated::ops) {
        if (row.domain > 1) continue;
        bool runs = false;
        for (int opset = 7; opset <= ort::newest_opset; ++opset)
            runs = runs || ort::kernels_of(ort::generated::domains[row.domain], row.name, opset).size() != 0;
        CHECK_MESSAGE(runs, row.name);
    }
}

TEST_CASE("a node runs if a kernel takes all of its types, or if ONNX Runtime casts its float16") {
    CHECK(one_node("Add", {dtype::float64, dtype::float64}, {dtype::float64}).runs(20));
    CHECK(!one_node("Add", {dtype::bfloat16, dtype::bfloat16}, {dtype::bfloat16}).runs(20));
    CHECK(one_node("Conv", {dtype::float16, dtype::float16}, {dtype::float16}).runs(20));
    CHECK(!one_node("RandomNormal", {}, {dtype::float16}).runs(20)); // nothing is cast
    CHECK(!one_node("TopK", {dtype::uint16, dtype::int64}, {dtype::uint16, dtype::int64}).runs(20));
    CHECK(one_node("Add", {dtype::undefined, dtype::undefined}, {dtype::undefined}).runs(20));
    one_node sum("ScatterElements", {dtype::float16, dtype::int64, dtype::float16}, {dtype::float16});
    CHECK(sum.runs(18));
    sum.node.attributes.emplace_back().name = "reduction";
    sum.node.attributes[0].s = "add";
    CHECK(!sum.runs(18)); // the kernel is registered, but ends the run
    CHECK(sum.wider(18) == dtype::float32);
    sum.node.attributes[0].s = "max";
    CHECK(sum.runs(18));
    CHECK(!one_node("NoSuchOperator", {dtype::float32}, {dtype::float32}).runs(20));
    one_node custom("Anything", {dtype::bfloat16}, {dtype::bfloat16});
    custom.node.domain = "custom";
    CHECK(custom.runs(20));
}

TEST_CASE("wider dtypes give the same numbers") {
    CHECK(one_node("Add", {dtype::bfloat16, dtype::bfloat16}, {dtype::bfloat16}).wider(20) == dtype::float32);
    CHECK(one_node("TopK", {dtype::uint16, dtype::int64}, {dtype::uint16, dtype::int64}).wider(20) == dtype::int32);
    CHECK(one_node("Unique", {dtype::uint8}, {dtype::uint8}).wider(20) == dtype::int64);
    CHECK(one_node("BitShift", {dtype::uint16, dtype::uint16}, {dtype::uint16}).wider(20) == dtype::uint32);
    CHECK(one_node("NonZero", {dtype::float64}, {dtype::int64}).wider(20) == dtype::bool_);
    CHECK(one_node("Trilu", {dtype::uint64}, {dtype::uint64}).wider(20) == dtype::int64); // moves elements
    CHECK(one_node("TopK", {dtype::uint64, dtype::int64}, {dtype::uint64, dtype::int64}).wider(20) == dtype::undefined);
    CHECK(one_node("Conv", {dtype::float64, dtype::float64}, {dtype::float64}).wider(20) == dtype::undefined);
    one_node const product("QLinearMatMul",
                           {dtype::int8,
                            dtype::float32,
                            dtype::int8,
                            dtype::uint8,
                            dtype::float32,
                            dtype::uint8,
                            dtype::float32,
                            dtype::int8},
                           {dtype::int8});
    CHECK(!product.runs(20));
    CHECK(product.wider(20) == dtype::undefined); // saturates at the range of its dtypes
}
