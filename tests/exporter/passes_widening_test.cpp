// SPDX-License-Identifier: MIT
// Dtypes without kernels in ONNX Runtime's CPU provider: small integers and bools of some operators, and internal bfloat16 of a program, such
// as the ALiBi tables of transformers' Falcon.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "passes_fixture.hpp"

using namespace passes_tests;
using aton::tensors;

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

TEST_CASE("a choice between bools is made as bytes; the condition stays") {
    optimized<> o;
    value const x = o.input("x", {3, 4}, dtype::bool_);
    value const y = o.input("y", {3, 4}, dtype::bool_);
    CHECK(o(o.g.op<"Where">(x, x, y)) == "Cast Cast Where Cast");
    auto const& where = o.data.nodes[2];
    CHECK(where.inputs[0] == x.id());
    CHECK(o.data.values[where.inputs[1]].type.dtype == dtype::uint8);
    CHECK(o.data.values[where.outputs[0]].type.dtype == dtype::uint8);
    CHECK(o.data.values[o.data.outputs[0]].type.dtype == dtype::bool_);
}

TEST_CASE("small integers are padded, clipped and compared as int32; constants are cast at export") {
    optimized<> o;
    value const x = o.input("x", {3, 4}, dtype::int16);
    value const zero = o.g.scalar(0, dtype::int16);
    CHECK(o(o.g.op<"Pad">(o.g.op<"Clip">(x, zero, o.g.scalar(300, dtype::int16)), o.g.ints({0, 1, 0, 2}), zero)) ==
          "Cast Clip Cast Cast Pad Cast");
    CHECK(operand_type(o, "Clip") == dtype::int32);
    CHECK(operand_type(o, "Pad") == dtype::int32);
    optimized<> bytes;
    value const y = bytes.input("y", {3, 4}, dtype::uint8);
    CHECK(bytes(bytes.g.op<"Trilu">(bytes.g.op<"Max">(y, y))) == "Max Cast Trilu Cast"); // Max has a kernel
}

TEST_CASE("results of another dtype are not cast back") {
    optimized<> o;
    value const x = o.input("x", {3, 4}, dtype::float64);
    CHECK(o(o.g.op<"NonZero">(x)) == "Cast NonZero");
    CHECK(operand_type(o, "NonZero") == dtype::bool_);
    optimized<> unique;
    auto const [values, first, inverse, counts] =
        unique.g.op<"Unique">(unique.input("x", {5}, dtype::int32), outputs<4>);
    CHECK(unique({values, counts}) == "Cast Unique Cast");
}

TEST_CASE("nested graphs are widened too") {
    optimized<> o;
    value const x = o.input("x", {3, 4}, dtype::int16);
    value const yes = o.input("yes", aton::shape(std::vector<dim>{}), dtype::bool_);
    value const y = o.g.op<"If">(yes,
                                 attr::then_branch_g([&](graph<14> b) -> value { return b.op<"Max">(x, x); }),
                                 attr::else_branch_g([&](graph<14>) -> value { return x; }));
    CHECK(o(y) == "If");
    std::string ops;
    for (auto const& n : o.data.nodes[0].attributes[0].graphs[0].nodes) ops += n.op + ' ';
    CHECK(ops == "Cast Max Cast ");
}

TEST_CASE("every operator without a bfloat16 kernel is computed in float32, in bodies too") {
    auto const ops_of = [](auto const& make) {
        optimized<14> o;
        value const x = o.g.op<"Cast">(o.input("x", {2, 3, 8, 9}), attr::to_i(dtype::bfloat16));
        value const y = make(o, x);
        o(o.g.op<"Cast">(y, attr::to_i(dtype::float32)));
        std::string narrow; // operators of bfloat16 that are left
        for (auto const& n : o.data.nodes)
            for (aton::value_id id : n.inputs)
                if (id != aton::no_value && o.data.values[id].type.dtype == dtype::bfloat16 && n.op != "Cast")
                    narrow += n.op + ' ';
        return narrow;
    };
    CHECK(ops_of([](auto& o, value x) { return o.g.template op<"Trilu">(x); }) == "");
    CHECK(ops_of([](auto& o, value x) { return o.g.template op<"Mod">(x, x, attr::fmod_i(1)); }) == "");
    CHECK(ops_of([](auto& o, value x) { return o.g.template op<"ArgMax">(x, attr::axis_i(1)); }) == "");
    CHECK(ops_of([](auto& o, value x) { return o.g.template op<"Pad">(x, o.g.ints({0, 1, 0, 2, 0, 0, 0, 0})); }) == "");
    CHECK(ops_of([](auto& o, value x) { return o.g.template op<"Reshape">(x, o.g.ints({6, 72})); }) == "Reshape ");

    optimized<16> nested;
    value const x = nested.g.op<"Cast">(nested.input("x", {3, 4}), attr::to_i(dtype::bfloat16));
    value const yes = nested.input("yes", aton::shape(std::vector<dim>{}), dtype::bool_);
    value const y = nested.g.op<"If">(yes,
                                      attr::then_branch_g([&](graph<16> b) -> value { return b.op<"Trilu">(x); }),
                                      attr::else_branch_g([&](graph<16>) -> value { return x; }));
    CHECK(nested(nested.g.op<"Cast">(y, attr::to_i(dtype::float32))) == "Cast If Cast");
    std::string ops;
    for (auto const& n : nested.data.nodes[1].attributes[0].graphs[0].nodes) ops += n.op + ' ';
    CHECK(ops == "Cast Trilu Cast ");
}

TEST_CASE("inputs, outputs and weights keep their dtype where they are widened too") {
    optimized<> o;
    value const x = o.input("x", {3, 4}, dtype::bfloat16);
    o.data.outputs = {o.g.op<"Mul">(x, x).id()};
    CHECK(!aton::widen_dtypes(o.data, {}));
    CHECK(aton::needs_wider_dtypes(o.data, tensors(dtype::bfloat16), 20));
    CHECK(aton::widen_dtypes(o.data, tensors(dtype::bfloat16)));
    CHECK(operand_type(o, "Mul") == dtype::float32);
    CHECK(o.data.values[x.id()].type.dtype == dtype::bfloat16);
    CHECK(o.data.values[o.data.outputs[0]].type.dtype == dtype::bfloat16);
    CHECK(!aton::needs_wider_dtypes(o.data, tensors(dtype::bfloat16), 20));
}

TEST_CASE("float16 that ONNX Runtime casts itself has no casts; draws get another dtype at the end") {
    optimized<> o;
    value const x = o.g.op<"Cast">(o.input("x", {3, 4}), attr::to_i(dtype::float16));
    value const drawn = o.g.op<"RandomNormalLike">(x);
    CHECK(o(o.g.op<"Cast">(o.g.op<"Erf">(o.g.op<"Add">(x, drawn)), attr::to_i(dtype::float32))) ==
          "Cast RandomNormalLike Add Erf Cast");
    optimized<> alone;
    auto const sizes = std::vector<std::int64_t>{3, 4};
    value const y = alone.g.op<"RandomNormal">(attr::shape_i(sizes), attr::dtype_i(dtype::float16));
    alone.data.outputs = {y.id()};
    CHECK(aton::widen_dtypes(alone.data, tensors(dtype::float16)));
    CHECK(alone.data.nodes[0].attribute("dtype")->i == static_cast<std::int64_t>(dtype::float32));
    CHECK(alone.data.nodes[1].op == "Cast");
}
