// SPDX-License-Identifier: MIT
// Enabled regions of torch.autocast: which operands are cast to which dtype, and what is refused.
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "program_builder.hpp"

namespace ATON_NAMESPACE::program {

namespace {

using aton::dtype;

constexpr dtype f32 = dtype::float32;
constexpr dtype bf16 = dtype::bfloat16;

/// y = op(x, w) in a region, with the dtypes that the file records.
struct region : program_builder {
    value_index x = input(input_kind::user, "x", {2, 4});
    value_index w = input(input_kind::parameter, "w", {3, 4});
    value_index result = value_of("result", {2, 3});
    value_index inside = value_of("inside", {2, 3});
    graph inner;

    region() {
        p.torch_version = "2.13.0";
        value_index const a = value_of("arg0", {2, 4});
        value_index const b = value_of("arg1", {3, 4});
        inner.inputs = {a, b};
        inner.outputs = {tensor("", inside)};
    }
    void set_types(dtype of_x, dtype of_w, dtype of_result) {
        for (value_index v : {x, inner.inputs[0]}) p.values[v].type = of_x;
        for (value_index v : {w, inner.inputs[1]}) p.values[v].type = of_w;
        for (value_index v : {result, inside}) p.values[v].type = of_result;
    }
    /// The operator applied to both operands, or only to the first.
    void apply(std::string op, bool both = true, std::vector<argument> more = {}) {
        std::vector<argument> arguments{tensor(both ? "input" : "self", inner.inputs[0])};
        if (both) arguments.push_back(tensor("weight", inner.inputs[1]));
        arguments.insert(arguments.end(), more.begin(), more.end());
        inner.nodes = {make(std::move(op), std::move(arguments), {inside})};
    }
    static std::vector<argument> flags(std::string device, argument type, bool enabled) {
        return {text("", std::move(device)), std::move(type), boolean("", enabled), boolean("", true)};
    }
    /// The region, inside another one if `around` has its arguments.
    void enter(std::vector<argument> arguments, std::vector<argument> around = {}) {
        p.subgraphs.push_back(inner);
        arguments.push_back(subgraph(0));
        if (around.empty()) {
            for (value_index v : {x, w}) arguments.push_back(tensor("", v));
            add_node("higher_order::wrap_with_autocast", arguments, {result});
        } else {
            graph outer;
            for (char const* name : {"arg2", "arg3"}) {
                outer.inputs.push_back(value_of(name, {2, 4}));
                arguments.push_back(tensor("", outer.inputs.back()));
            }
            value_index const out = value_of("nested", {2, 3});
            outer.nodes = {make("higher_order::wrap_with_autocast", arguments, {out})};
            outer.outputs = {tensor("", out)};
            p.subgraphs.push_back(outer);
            around.push_back(subgraph(1));
            for (value_index v : {x, w}) around.push_back(tensor("", v));
            add_node("higher_order::wrap_with_autocast", around, {result});
        }
        output(result);
    }
    void enter() { enter(flags("cpu", type("", bf16), true)); }
    /// The operands of the operator: "x", or "bfloat16(x)" if it is cast.
    [[nodiscard]] strings operands() {
        inline_wrappers(p);
        strings out;
        for (argument const& a : p.main.nodes.back().arguments)
            for (value_index v : tensors_of(a)) {
                node const* const made = producer(v);
                out.push_back(made == nullptr ? p.values[v].name
                                              : std::string(aton::name(p.values[v].type)) + "(" +
                                                    p.values[argument_of(*made, "self").tensor].name + ")");
                if (made != nullptr) CHECK(made->op == "aten::_to_copy");
                if (made != nullptr) CHECK(argument_of(*made, "dtype").type == p.values[v].type);
            }
        return out;
    }
};

} // namespace

TEST_CASE("an enabled region casts the operands of operators on torch's lists") {
    region b;
    SUBCASE("of products to the lower precision") {
        b.set_types(f32, f32, bf16);
        b.apply("aten::linear");
        b.enter();
        CHECK(b.operands() == strings{"bfloat16(x)", "bfloat16(w)"});
        CHECK(b.ops() == strings{"aten::_to_copy", "aten::_to_copy", "aten::linear"});
        CHECK(b.p.main.nodes[2].results[0].values[0] == b.result);
    }
    SUBCASE("but not those that already have the dtype") {
        b.set_types(bf16, f32, bf16);
        b.apply("aten::linear");
        b.enter();
        CHECK(b.operands() == strings{"x", "bfloat16(w)"});
    }
    SUBCASE("of logarithms and similar functions to float32") {
        b.set_types(bf16, f32, f32);
        b.apply("aten::softmax.int", false, {integer("dim", -1)});
        b.enter();
        CHECK(b.operands() == strings{"float32(x)"});
    }
    SUBCASE("unless the recorded dtype shows that the device's list does not have the operator") {
        b.set_types(bf16, f32, bf16);
        b.apply("aten::softmax.int", false, {integer("dim", -1)});
        b.enter();
        CHECK(b.operands() == strings{"x"});
    }
    SUBCASE("in lists of tensors to the widest dtype") {
        b.set_types(bf16, f32, f32);
        b.inner.nodes = {b.make("aten::cat", {tensors("tensors", {b.inner.inputs[0], b.inner.inputs[1]})}, {b.inside})};
        b.enter();
        CHECK(b.operands() == strings{"float32(x)", "w"});
    }
    SUBCASE("to float16, if requested") {
        b.set_types(f32, f32, dtype::float16);
        b.apply("aten::matmul");
        b.enter(region::flags("cuda", type("", dtype::float16), true));
        CHECK(b.operands() == strings{"float16(x)", "float16(w)"});
    }
    SUBCASE("to float16, the default of CUDA") {
        b.set_types(f32, f32, dtype::float16);
        b.apply("aten::matmul");
        b.enter(region::flags("cuda", argument(), true));
        CHECK(b.operands() == strings{"float16(x)", "float16(w)"});
    }
}

TEST_CASE("operands that torch does not cast are unchanged") {
    region b;
    SUBCASE("operators on no list") {
        b.set_types(f32, f32, f32);
        b.apply("aten::mul.Tensor");
        b.enter();
        CHECK(b.operands() == strings{"x", "w"});
    }
    SUBCASE("tensors of another device, as the recorded dtype shows") {
        b.set_types(f32, f32, f32);
        b.apply("aten::linear");
        b.enter(region::flags("cuda", type("", dtype::float16), true));
        CHECK(b.operands() == strings{"x", "w"});
    }
    SUBCASE("float64 and integers") {
        b.set_types(dtype::float64, dtype::int64, dtype::float64);
        b.apply("aten::linear");
        b.enter();
        CHECK(b.operands() == strings{"x", "w"});
    }
    SUBCASE("casts by the user") {
        b.set_types(f32, f32, bf16);
        b.apply("aten::to.dtype", false, {type("dtype", bf16)});
        b.enter();
        CHECK(b.operands() == strings{"x"});
    }
    SUBCASE("a nested region that is disabled") {
        b.set_types(f32, f32, f32);
        b.apply("aten::linear");
        b.enter(region::flags("cpu", type("", bf16), false), region::flags("cpu", type("", bf16), true));
        CHECK(b.operands() == strings{"x", "w"});
    }
}

TEST_CASE("a region for another device type does not end the outer region") {
    region b;
    b.set_types(f32, f32, bf16);
    b.apply("aten::linear");
    b.enter(region::flags("cuda", type("", dtype::float16), false), region::flags("cpu", type("", bf16), true));
    CHECK(b.operands() == strings{"bfloat16(x)", "bfloat16(w)"});
}

TEST_CASE("files of torch before 2.6 do not record regions, and the recorded dtypes show what was cast") {
    program_builder b;
    value_index const x = b.input(input_kind::user, "x", {2, 4});
    value_index const w = b.input(input_kind::parameter, "w", {3, 4});
    value_index const y = b.add("aten::linear", {tensor("input", x), tensor("weight", w)}, {2, 3}, bf16);
    b.output(b.add("aten::lstm_like", {tensor("self", y)}, {2, 3}));
    SUBCASE("2.4 does not record its version") { b.p.torch_version = ""; }
    SUBCASE("2.5") { b.p.torch_version = "2.5.1+cu124"; }
    SUBCASE("2.6") { b.p.torch_version = "2.6.0"; }
    inline_wrappers(b.p);
    bool const is_old = b.p.torch_version != "2.6.0";
    CHECK(b.ops() == (is_old ? strings{"aten::_to_copy", "aten::_to_copy", "aten::linear", "aten::lstm_like"}
                             : strings{"aten::linear", "aten::lstm_like"}));
}

TEST_CASE("casts that no list explains are refused") {
    region b;
    SUBCASE("inside an operator") {
        b.set_types(f32, f32, bf16);
        b.apply("aten::lstm.input");
        b.enter();
        CHECK(is_said(message_of(inline_wrappers, b.p),
                      "model.pt2: aten::lstm.input (node inside, at model.py:12 in forward): torch.autocast casts "
                      "inside it, from float32 to bfloat16; cast with .to(), or disable autocast"));
    }
    SUBCASE("in branches") {
        b.apply("higher_order::cond");
        b.enter();
        CHECK(is_said(message_of(inline_wrappers, b.p), "higher_order::cond"));
        CHECK(is_said(message_of(inline_wrappers, b.p), "is inside torch.autocast"));
    }
    SUBCASE("if it is not recorded whether the region is enabled") {
        b.apply("aten::linear");
        b.enter({text("", "cpu"), type("", bf16), integer("", 1)});
        CHECK(is_said(message_of(inline_wrappers, b.p), "its device or whether it is enabled is not recorded"));
    }
}

} // namespace ATON_NAMESPACE::program
