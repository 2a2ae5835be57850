// SPDX-License-Identifier: MIT
// Which operators on integers are replaced by exact ones: those whose numbers may be beyond what ONNX Runtime's kernels compute exactly.
#include <doctest/doctest.h>

#include <aton/fusions/built_in.hpp>
#include <aton/onnx/integer_kernels.hpp>

#include "passes_fixture.hpp"

using namespace passes_tests;

namespace {

struct exact : optimized<> {
    using optimized<>::optimized;

    value x = input("x", {3, "n", 5}, dtype::int64);
    value y = input("y", {3, "n", 5}, dtype::int64);

    value range_of(dtype type) { return g.cast(input("narrow", {3, "n", 5}, type), dtype::int64); }
    value sum(value v, std::int64_t axis) { return g.op<"ReduceSum">(v, g.ints({axis}), attr::keepdims_i(0)); }

    /// The operators other than Constant after the replacement: "MatMul".
    std::string operator()(value result) {
        data.outputs = {result.id()};
        aton::remove_unused(data);
        changed = aton::use_exact_integers(
            data, aton::onnx::onnx_runtime_integer_kernels, aton::fusions::build_exact_integers);
        std::string ops;
        for (auto const& n : data.nodes)
            if (n.op != "Constant") ops += (ops.empty() ? "" : " ") + n.op;
        CHECK(data.values[data.outputs[0]].producer + 1 == static_cast<std::int64_t>(data.nodes.size()));
        return ops;
    }
    bool changed = false;
};

} // namespace

TEST_CASE("sums of any int64 become products with ones, those of counts, bytes and sizes stay") {
    exact a, b, c, d, e, f, h;
    CHECK(a(a.sum(a.x, 2)) == "MatMul");
    CHECK(a.changed);
    CHECK(b(b.sum(b.x, 1)) == "Shape Expand MatMul");
    CHECK(c(c.sum(c.x, 0)) == "Transpose MatMul");
    CHECK(d(d.sum(d.range_of(dtype::bool_), 1)) == "Cast ReduceSum");
    CHECK_FALSE(d.changed);
    CHECK(e(e.sum(e.range_of(dtype::int32), 2)) == "Cast ReduceSum"); // 5 numbers below 2^31
    CHECK(f(f.sum(f.range_of(dtype::int32), 1)) == "Cast Shape Expand MatMul");
    value const bytes = h.range_of(dtype::uint8);
    value const mask = h.g.op<"Cast">(h.g.op<"Less">(h.x, h.y), attr::to_i(dtype::int64));
    CHECK(h(h.sum(h.g.op<"Mul">(bytes, mask), 1)) == "Cast Less Cast Mul ReduceSum");
}

TEST_CASE("a factor that is large, or computed, makes a sum of bytes large") {
    exact a, b;
    CHECK(a(a.sum(a.g.op<"Mul">(a.range_of(dtype::uint8), a.g.scalar(std::int64_t{1} << 46, dtype::int64)), 2)) ==
          "Cast Mul MatMul");
    CHECK(b(b.sum(b.g.op<"Mul">(b.range_of(dtype::uint8), b.x), 2)) == "Cast Mul MatMul");
}

TEST_CASE("extremes of int64 are compared whole, those of 32 bits, sizes and indices stay") {
    exact a, b, c, d, e;
    CHECK(a(a.g.op<"Max">(a.x, a.y)) == "Greater Where");
    CHECK(b(b.g.op<"Clip">(b.x, b.g.scalar(0, dtype::int64))) == "Greater Where");
    CHECK(c(c.g.op<"Clip">(c.g.op<"Sub">(c.g.op<"Shape">(c.x), 3), c.g.scalar(0, dtype::int64))) == "Shape Sub Clip");
    CHECK(d(d.g.op<"Min">(d.range_of(dtype::int32), d.g.scalar(9, dtype::int64))) == "Cast Min");
    CHECK(e(e.g.op<"Min">(e.g.op<"Add">(e.range_of(dtype::int32), 1), e.g.scalar(9, dtype::int64))) ==
          "Cast Add Less Where");
}

TEST_CASE("the product of sizes stays, and so do powers of a known range") {
    exact a, b, c;
    CHECK(a(a.g.op<"ReduceProd">(a.g.op<"Shape">(a.x))) == "Shape ReduceProd");
    CHECK(b(b.g.op<"Pow">(b.g.scalar(2, dtype::int64), b.range_of(dtype::bool_))) == "Cast Pow");
    CHECK(c(c.g.op<"Pow">(c.g.scalar(2, dtype::int64), c.range_of(dtype::int8))) != "Cast Pow");
}

TEST_CASE("an index that one operand of Einsum has is summed before the product") {
    exact a, b, c;
    CHECK(a(a.g.op<"Einsum">(a.x, a.y, attr::equation_s("bij,bik->bjk"))) == "Einsum");
    CHECK(b(b.g.op<"Einsum">(b.x, b.y, attr::equation_s("bij,bkl->bi"))) == "MatMul MatMul Shape Expand MatMul Einsum");
    CHECK(c(c.g.op<"Einsum">(c.x, attr::equation_s("...j->..."))) == "MatMul");
}

TEST_CASE("floats and small integers have kernels of their own") {
    exact a, b;
    CHECK(a(a.sum(a.input("f", {3, 4}), 1)) == "ReduceSum");
    CHECK(b(b.g.op<"Max">(b.input("i", {3, 4}, dtype::int32), b.input("k", {3, 4}, dtype::int32))) == "Max");
}
