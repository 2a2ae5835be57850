// SPDX-License-Identifier: MIT
// Internal bfloat16 of a program, such as the ALiBi tables of transformers' Falcon: ONNX Runtime's CPU provider has no Mul for it.
#include <doctest/doctest.h>

#include <string>

#include "passes_fixture.hpp"

using namespace passes_tests;

namespace {

/// float32(bfloat16(slopes) * bfloat16(positions)) with computed positions.
value alibi(optimized<>& o, value slopes) {
    value const positions = o.g.op<"Cast">(o.input("positions", {2, 1, 7}, dtype::int64), attr::to_i(dtype::bfloat16));
    value const product = o.g.op<"Mul">(o.g.op<"Cast">(slopes, attr::to_i(dtype::bfloat16)), positions);
    return o.g.op<"Cast">(o.g.op<"Reshape">(product, o.g.ints({8, 1, 7})), attr::to_i(dtype::float32));
}

dtype operand_type(optimized<>& o, std::string const& op) {
    for (auto const& n : o.data.nodes)
        if (n.op == op) return o.data.values[n.inputs[0]].type.dtype;
    return dtype::undefined;
}

} // namespace

TEST_CASE("Falcon: bfloat16 between casts is computed in float32, and rounded after every step") {
    optimized<> o;
    value const slopes = o.input("slopes", {4, 1});
    CHECK(o(alibi(o, slopes)) == "Cast Cast Cast Cast Mul Cast Reshape Cast");
    CHECK(operand_type(o, "Mul") == dtype::float32);
    CHECK(operand_type(o, "Reshape") == dtype::bfloat16);
    CHECK(o.data.nodes[0].attributes[0].i == static_cast<std::int64_t>(dtype::bfloat16)); // operands are rounded too
}

TEST_CASE("comparisons are computed in float32 and return bools") {
    optimized<> o;
    value const x = o.g.op<"Cast">(o.input("x", {3}), attr::to_i(dtype::bfloat16));
    value const y = o.g.op<"Cast">(o.input("y", {3}), attr::to_i(dtype::bfloat16));
    CHECK(o(o.g.op<"Less">(x, y)) == "Cast Cast Cast Cast Less");
    CHECK(operand_type(o, "Less") == dtype::float32);
}

TEST_CASE("programs with inputs, outputs or weights of bfloat16 keep their arithmetic") {
    optimized<> given;
    value const x = given.input("x", {3}, dtype::bfloat16);
    CHECK(given(given.g.op<"Add">(x, x)) == "Add");
    optimized<> result;
    value const y = result.g.op<"Cast">(result.input("y", {3}), attr::to_i(dtype::bfloat16));
    CHECK(result(result.g.op<"Add">(y, y)) == "Cast Add");
    CHECK(operand_type(result, "Add") == dtype::bfloat16);
}
