// SPDX-License-Identifier: MIT
// Branches of hand-made programs, and properties shared with loops: the resulting nodes, captured values, rewrites in nested graphs, and
// refusals.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/exporter/exporter.hpp>
#include <aton/ir/print.hpp>
#include <aton/model_io/model_io.hpp>

#include "control_flow_fixture.hpp"

namespace ATON_NAMESPACE::program {

namespace {

/// cond(which, relu(x), x), with a result that is used afterwards.
struct cond_program : builder {
    index a = value_of("a", {2, 3});
    index b = value_of("b", {2, 3});
    index out = value_of("out", {2, 3});

    explicit cond_program(std::vector<argument> condition = {}) {
        argument const yes = inner({a}, "aten::relu", {tensor("self", a)}, {2, 3});
        argument const no = inner({b}, "", {}, {});
        if (condition.empty()) condition = {tensor("", which)};
        add_node("higher_order::cond", {condition[0], yes, no, tensors("", {x})}, {out});
        output(add("aten::neg", {tensor("self", out)}, {2, 3}));
    }
};

} // namespace

TEST_CASE("cond is an If whose branches capture their operands") {
    cond_program const b;
    graph_data const g = b.convert();
    CHECK(ops_of(g) == strings{"If", "Neg"});
    graph_node const& n = g.nodes[0];
    CHECK(n.source == "higher_order::cond");
    REQUIRE(n.inputs.size() == 1);
    CHECK(g.values[n.inputs[0]].name == "which");
    CHECK(g.values[n.outputs.at(0)].name == "out");
    CHECK(g.values[n.outputs[0]].type.dtype == dtype::float32);
    graph_data const& yes = graph_attribute(n, "then_branch");
    graph_data const& no = graph_attribute(n, "else_branch");
    CHECK(ops_of(yes) == strings{"Relu"});
    CHECK(ops_of(no).empty());
    CHECK(yes.inputs.empty());
    CHECK(captures_of(yes, g) == strings{"x"});
    CHECK(captures_of(no, g) == strings{"x"});
    CHECK(no.outputs.size() == 1);
    CHECK(yes.around == nullptr);
}

TEST_CASE("a known condition keeps only its branch") {
    SUBCASE("a number of Python") {
        cond_program const b({boolean("", true)});
        CHECK(ops_of(b.convert()) == strings{"Relu", "Neg"});
    }
    SUBCASE("the other one") {
        cond_program const b({boolean("", false)});
        graph_data const g = b.convert();
        CHECK(ops_of(g) == strings{"Neg"});
        CHECK(g.values[g.nodes[0].inputs[0]].name == "x");
    }
    SUBCASE("a comparison of constant sizes") {
        builder b;
        index const size = b.number_of("size", value_kind::sym_int);
        index const small = b.number_of("small", value_kind::sym_bool);
        index const out = b.value_of("out", {2, 3});
        b.add_node("aten::sym_size.int", {tensor("self", b.x), integer("dim", 1)}, {size});
        b.add_node("_operator.lt", {tensor("a", size), integer("b", 3)}, {small});
        index const a = b.value_of("a", {2, 3});
        argument const yes = b.inner({a}, "aten::relu", {tensor("self", a)}, {2, 3});
        argument const no = b.inner({a}, "aten::sin", {tensor("self", a)}, {2, 3});
        b.add_node("higher_order::cond", {tensor("", small), yes, no, tensors("", {b.x})}, {out});
        b.output(out);
        graph_data const g = b.convert();
        CHECK(g.nodes.back().op == "Sin");
    }
}

TEST_CASE("branches return numbers, None and several values") {
    builder b;
    index const a = b.value_of("a", {2, 3});
    graph yes;
    yes.inputs = {a};
    yes.outputs = {tensor("", a), integer("", 3), argument(), tensor("", a)};
    graph no = yes;
    no.outputs[1].number = 4;
    index const first = b.value_of("first", {2, 3});
    index const count = b.number_of("count", value_kind::sym_int);
    index const same = b.value_of("same", {2, 3});
    b.add_node("higher_order::cond",
               {tensor("", b.which), b.add(yes), b.add(no), tensors("", {b.x})},
               {first, count, first, same});
    b.p.main.nodes[0].results[2] = result();
    index const doubled = b.value_of("doubled", {2, 3});
    b.add_node("aten::mul.Tensor", {tensor("self", first), tensor("other", count)}, {doubled});
    b.output(doubled);
    b.output(same);
    graph_data const g = b.convert();
    graph_node const& n = only_node(g, "If");
    REQUIRE(n.outputs.size() == 3);
    CHECK(g.values[n.outputs[1]].type.dtype == dtype::int64);
    CHECK(g.values[n.outputs[1]].type.shape == shape(std::vector<dim>()));
    for (auto const& [name, number] : {std::pair("then_branch", 3), std::pair("else_branch", 4)}) {
        graph_data const& branch = graph_attribute(n, name);
        REQUIRE(branch.outputs.size() == 3);
        REQUIRE(branch.constant(branch.outputs[1]) != nullptr);
        CHECK(branch.constant(branch.outputs[1])->at(0).to<std::int64_t>() == number);
    }
    CHECK_NOTHROW(check_model_bytes(to_model_proto(g)));
}

TEST_CASE("a branch inside a branch captures through both, also sizes and numbers") {
    builder b;
    index const size = b.number_of("size", value_kind::sym_int);
    b.p.values[b.x].sizes[0] = {0, 0};
    b.p.expressions.emplace_back();
    b.p.expressions[0].kind = expression_kind::symbol;
    b.p.expressions[0].symbol = "s0";
    for (int i = 0; i != 40; ++i)
        b.add("aten::sin", {tensor("self", b.y)}, {3}); // ids beyond those of the inner graphs
    b.add_node("aten::sym_size.int", {tensor("self", b.x), integer("dim", 0)}, {size});
    index const n1 = b.number_of("n1", value_kind::sym_int);
    index const n2 = b.number_of("n2", value_kind::sym_int);
    index const y1 = b.value_of("y1", {3});
    index const y2 = b.value_of("y2", {3});
    argument const scaled = b.inner({y2, n2}, "aten::mul.Tensor", {tensor("self", y2), tensor("other", n2)}, {3});
    argument const same = b.inner({y2, n2}, "aten::sin", {tensor("self", y2)}, {3});
    argument operands = tensors("", {y1, n1});
    argument const deep = b.inner({y1, n1}, "higher_order::cond", {tensor("", b.which), scaled, same, operands}, {3});
    index const given = b.value_of("given", {}, dtype::bool_);
    b.graph_of(deep).inputs.push_back(given);
    b.graph_of(deep).nodes[0].arguments[0] = tensor("", given);
    argument const plain = b.inner({y1, n1, given}, "aten::cos", {tensor("self", y1)}, {3});
    index const out = b.value_of("out", {3});
    b.add_node("higher_order::cond", {tensor("", b.which), deep, plain, tensors("", {b.y, size, b.which})}, {out});
    b.output(out);
    graph_data const g = b.convert();
    graph_data const& outer = graph_attribute(only_node(g, "If"), "then_branch");
    CHECK(captures_of(outer, g).size() == 3);
    graph_data const& innermost = graph_attribute(only_node(outer, "If"), "then_branch");
    CHECK(captures_of(innermost, outer).size() == 2);
    CHECK(ops_of(innermost) == strings{"Identity", "Cast", "Mul"});
    CHECK_NOTHROW(check_model_bytes(to_model_proto(g)));
}

TEST_CASE("everything without a mapping is found at once, in all branches, at the calling line") {
    builder b;
    b.p.origins.push_back({{}, {}, "<eval_with_key>.7:5 in forward", {}});
    index const a = b.value_of("a", {2, 3});
    argument const yes = b.inner({a}, "aten::_fused_adam_of_tests", {tensor("self", a)}, {2, 3});
    argument const no = b.inner({a}, "aten::reluu", {tensor("self", a)}, {2, 3});
    b.graph_of(yes).nodes[0].origin = 2;
    b.graph_of(no).nodes[0].origin = 0;
    index const out = b.value_of("out", {2, 3});
    b.add_node("higher_order::cond", {tensor("", b.which), yes, no, tensors("", {b.x})}, {out});
    b.output(b.add("aten::also_unknown", {tensor("self", out)}, {2, 3}));
    std::vector<unconvertible> const found = find_unconvertible(b.p);
    REQUIRE(found.size() == 3);
    CHECK(found[0].op == "aten::_fused_adam_of_tests");
    CHECK(found[1].op == "aten::reluu");
    CHECK(found[1].nearest == "aten::relu");
    CHECK(found[2].op == "aten::also_unknown");
    for (unconvertible const& u : found) CHECK(u.places == strings{"model.py:12 in forward"});
}

TEST_CASE("kept operators capture their operands, and the model imports their domain") {
    builder b;
    index const a = b.value_of("a", {2, 3});
    argument const yes = b.inner({a}, "my_ops::act", {tensor("self", a)}, {2, 3});
    argument const no = b.inner({a}, "aten::relu", {tensor("self", a)}, {2, 3});
    index const out = b.value_of("out", {2, 3});
    b.add_node("higher_order::cond", {tensor("", b.which), yes, no, tensors("", {b.x})}, {out});
    b.output(out);
    export_options options;
    options.operators = operator_mode::keep;
    graph_data const g = b.convert(options);
    graph_data const& branch = graph_attribute(only_node(g, "If"), "then_branch");
    CHECK(captures_of(branch, g) == strings{"x"});
    CHECK(branch.nodes.at(0).domain == "my_ops");
    CHECK(g.opset_imports == std::vector<std::pair<std::string, int>>{{"my_ops", 1}});
}

TEST_CASE("graphs that do not fit their node are refused") {
    SUBCASE("another higher-order operator") {
        builder b;
        b.output(b.add("higher_order::flex_attention", {tensor("", b.x)}, {2, 3}));
        CHECK(is_said(message_of(b), "higher_order::flex_attention (no mapping"));
    }
    SUBCASE("fewer operands than the graph takes") {
        cond_program b;
        b.p.main.nodes[0].arguments[3] = tensors("", {});
        CHECK(is_said(message_of(b), "its graph takes 1 values, but the program passes 0"));
    }
    SUBCASE("fewer results than the node has") {
        cond_program b;
        b.p.subgraphs[1].outputs.clear();
        CHECK(is_said(message_of(b), "a branch returns 0 values, but the program has 1"));
    }
    SUBCASE("no graph") {
        cond_program b;
        b.p.main.nodes[0].arguments[1] = tensor("", b.x);
        CHECK(is_said(message_of(b), "argument 1 is not a graph"));
        b.p.main.nodes[0].arguments = {};
        CHECK(is_said(message_of(b), "it has no condition"));
    }
    SUBCASE("a condition that is not one bool") {
        cond_program const number({real("", 0.5)});
        CHECK(is_said(message_of(number), "its condition is float64[], but must be a single bool"));
        cond_program const floats({tensor("", 2)});
        CHECK(is_said(message_of(floats), "its condition is float32[3], but must be a single bool"));
        cond_program bools;
        bools.p.values[bools.which].sizes = {{2, extent::none}};
        CHECK(is_said(message_of(bools), "its condition is bool[2], but must be a single bool"));
    }
    SUBCASE("a branch of another kind or shape") {
        cond_program b;
        b.p.values[b.out].type = dtype::int64;
        CHECK(is_said(message_of(b), "a branch returns float32[2, 3], but the program records int64[2, 3]"));
        cond_program known({boolean("", true)});
        known.p.values[known.out].sizes = {{2, extent::none}};
        CHECK(is_said(message_of(known), "a branch returns float32[2, 3], but the program records float32[2]"));
    }
    SUBCASE("a loop with another type of initial state") {
        while_program b;
        b.loop("higher_order::while_loop", {2, 3});
        b.p.values[b.graph_of(b.body).inputs[0]].sizes.pop_back();
        CHECK(is_said(message_of(b), "its initial state is float32[2, 3], but the program records float32[2]"));
    }
    SUBCASE("a loop whose body returns too few values, or that has too many results") {
        while_program b;
        b.loop("higher_order::while_loop", {2, 3});
        while_program c = b;
        c.graph_of(c.body).outputs.clear();
        CHECK(is_said(message_of(c), "its graph returns 0 values, but the program needs 1"));
        b.p.main.nodes[0].results.push_back({{b.value_of("more", {2, 3})}, false});
        CHECK(is_said(message_of(b), "it has 2 results, but carries only 1"));
    }
}

TEST_CASE("branches are rewritten like the main graph: wrappers, writes and dead nodes") {
    builder b;
    index const w = b.value_of("w", {2, 3});
    argument const wrapped = b.inner({w}, "aten::sin", {tensor("self", w)}, {2, 3});
    index const a = b.value_of("a", {2, 3});
    index const sine = b.value_of("sine", {2, 3});
    index const part = b.value_of("part", {2, 1}, {3, 1});
    index const written = b.value_of("written", {2, 1}, {3, 1});
    index const unused = b.value_of("unused", {2, 3});
    graph yes;
    yes.inputs = {a};
    yes.nodes = {
        b.make("higher_order::wrap_with_set_grad_enabled", {boolean("", false), wrapped, tensor("", a)}, {sine}),
        b.make("aten::slice.Tensor", {tensor("self", sine), integer("dim", 1), integer("end", 1)}, {part}),
        b.make("aten::add_.Tensor", {tensor("self", part), integer("other", 1)}, {written}),
        b.make("aten::exp", {tensor("self", a)}, {unused})};
    yes.outputs = {tensor("", sine)};
    argument const no = b.inner({a}, "", {}, {});
    index const out = b.value_of("out", {2, 3});
    b.add_node("higher_order::cond", {tensor("", b.which), b.add(yes), no, tensors("", {b.x})}, {out});
    b.output(out);
    prepare(b.p, {});
    strings ops;
    for (node const& n : b.p.subgraphs[2].nodes) ops.push_back(n.op);
    CHECK(ops == strings{"aten::sin", "aten::slice.Tensor", "aten::add.Tensor", "aten::slice_scatter"});
    CHECK(b.p.outputs.size() == 1);
    CHECK_NOTHROW(check_model_bytes(to_model_proto(b.convert())));
}

TEST_CASE("a branch or a body that writes to its inputs is refused") {
    builder b;
    index const a = b.value_of("state", {2, 3});
    argument const yes = b.inner({a}, "aten::add_.Tensor", {tensor("self", a), integer("other", 1)}, {2, 3});
    argument const no = b.inner({a}, "aten::relu", {tensor("self", a)}, {2, 3});
    index const out = b.value_of("out", {2, 3});
    b.add_node("higher_order::cond", {tensor("", b.which), yes, no, tensors("", {b.x})}, {out});
    b.output(out);
    auto const prepared = [](aton::program::program& p) { prepare(p, {}); };
    std::string const said = message_of(prepared, b.p);
    CHECK(is_said(said, "model.pt2: aten::add_.Tensor (node inner, at model.py:12 in forward)"));
    CHECK(is_said(said, "writes to state, which comes from outside"));
    SUBCASE("also through a view") {
        index const view = b.value_of("view", {2, 3});
        graph& g = b.graph_of(yes);
        g.nodes.insert(g.nodes.begin(), b.make("aten::slice.Tensor", {tensor("self", a)}, {view}));
        g.nodes[1].arguments[0] = tensor("self", view);
        CHECK(is_said(message_of(prepared, b.p), "writes to state, which comes from outside"));
    }
}

} // namespace ATON_NAMESPACE::program
