// SPDX-License-Identifier: MIT
// The passes in nested graphs and functions: captured values are updated, constant conditions inlined, unused values removed.
#include "passes_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/ir/print.hpp>

#include "function_graph.hpp"

using namespace passes_tests;

namespace {

using ops = graph<14>;
aton::shape const no_dims(std::vector<dim>{});

std::string ops_of(aton::graph_data const& g) {
    std::string out;
    for (auto const& n : g.nodes) out += (out.empty() ? "" : " ") + n.op;
    return out;
}

aton::graph_data const& body_of(aton::graph_data const& g, std::size_t node, std::size_t i = 0) {
    return g.nodes.at(node).attributes.at(i).graphs.at(0);
}

std::size_t captures(aton::graph_data const& g) {
    std::size_t n = 0;
    for (aton::graph_value const& v : g.values) n += v.outer != aton::no_value ? 1 : 0;
    return n;
}

} // namespace

TEST_CASE("a captured value follows its replacement") {
    optimized<> o;
    value const x = o.input("x", {3, 5});
    value const yes = o.input("yes", no_dims, dtype::bool_);
    value const a = o.g.op<"Identity">(x);
    value const first = o.g.op<"Exp">(a);
    value const second = o.g.op<"Exp">(x);
    value const y = o.g.op<"If">(yes,
                                 attr::then_branch_g([&](ops b) -> value { return b.op<"Add">(first, second); }),
                                 attr::else_branch_g([&](ops b) -> value { return b.op<"Mul">(a, second); }));
    CHECK(o({y, o.g.op<"Neg">(second)}) == "Exp If Neg");
    aton::graph_data const& then = body_of(o.data, 1);
    CHECK(captures(then) == 1); // both are the same now
    CHECK(then.nodes[0].inputs[0] == then.nodes[0].inputs[1]);
    aton::graph_data const& otherwise = body_of(o.data, 1, 1);
    CHECK(otherwise.values[otherwise.nodes[0].inputs[0]].outer == x.id());
    check_consistent(o.data);
}

TEST_CASE("values that only dead nodes of a body capture are removed from all graphs in between") {
    optimized<> o;
    value const x = o.input("x", {3, 5});
    value const yes = o.input("yes", no_dims, dtype::bool_);
    value const only_dead = o.g.op<"Exp">(x);
    value const deep = o.g.op<"Log">(x);
    value const y = o.g.op<"If">(yes,
                                 attr::then_branch_g([&](ops b) -> value {
                                     (void)b.op<"Neg">(only_dead);
                                     return b.op<"If">(yes,
                                                       attr::then_branch_g([&](ops c) -> value {
                                                           (void)c.op<"Abs">(only_dead);
                                                           return c.op<"Abs">(deep);
                                                       }),
                                                       attr::else_branch_g([&](ops) -> value { return x; }));
                                 }),
                                 attr::else_branch_g([&](ops b) -> value { return b.op<"Abs">(x); }));
    CHECK(o(y) == "Log If");
    CHECK(captures(body_of(o.data, 1)) == 3); // yes, deep, x
    check_consistent(o.data);
}

TEST_CASE("constants of outer graphs are constants in a body, and its own are shared") {
    optimized<> o;
    value const x = o.input("x", {3, 5});
    value const yes = o.input("yes", no_dims, dtype::bool_);
    value const one = o.g.op<"Sub">(o.g.scalar(3, dtype::float32), o.g.scalar(2, dtype::float32));
    value const y = o.g.op<"If">(yes,
                                 attr::then_branch_g([&](ops b) -> value {
                                     value const same = b.op<"Mul">(x, one);
                                     value const four = b.op<"Add">(one, b.scalar(3, dtype::float32));
                                     value const five = b.op<"Add">(one, b.scalar(4, dtype::float32));
                                     return b.op<"Pow">(b.op<"Add">(same, four), b.op<"Sub">(five, one));
                                 }),
                                 attr::else_branch_g([&](ops b) -> value {
                                     return b.op<"Reshape">(b.op<"Exp">(x), b.op<"Shape">(x)); // sizes are known
                                 }));
    CHECK(o(y) == "If");
    aton::graph_data const& then = body_of(o.data, 0);
    CHECK(ops_of(then) == "Add Pow");
    CHECK(then.initializers.size() == 1);
    CHECK(then.nodes[0].inputs[1] == then.nodes[1].inputs[1]);
    CHECK(o.numbers_of(*then.constant(then.nodes[0].inputs[1])) == std::vector<double>{4});
    CHECK(ops_of(body_of(o.data, 0, 1)) == "Exp");
    CHECK(o.data.initializers.empty());
    check_consistent(o.data);
}

TEST_CASE("an If with a constant condition becomes its branch, at any depth, with its captures and initializers") {
    optimized<> o;
    value const x = o.input("x", {3, 5});
    value const yes = o.input("yes", no_dims, dtype::bool_);
    value const w = o.weight("w", {3, 5});
    value const always = o.g.op<"Greater">(o.g.scalar(3, dtype::int64), o.g.scalar(2, dtype::int64));
    std::vector<value> const y = o.g.op<"If">(
        always,
        attr::then_branch_g([&](ops b) -> std::vector<value> {
            value const sum = b.op<"Add">(x, w);
            value const inner =
                b.op<"If">(yes,
                           attr::then_branch_g([&](ops c) -> value { return c.op<"Mul">(sum, w); }),
                           attr::else_branch_g([&](ops c) -> value {
                               return c.op<"If">(c.op<"Not">(always),
                                                 attr::then_branch_g([&](ops d) -> value { return d.op<"Exp">(x); }),
                                                 attr::else_branch_g([&](ops d) -> value { return d.op<"Neg">(sum); }));
                           }));
            return {inner, x, inner, b.scalar(2, dtype::float32)};
        }),
        attr::else_branch_g([&](ops b) -> std::vector<value> {
            value const gone = b.op<"Log">(x);
            return {gone, gone, gone, gone};
        }),
        output_list(4));
    CHECK(o({y[0], y[1], y[2], y[3]}) == "Add If");
    CHECK(ops_of(body_of(o.data, 1, 0)) == "Mul");
    CHECK(ops_of(body_of(o.data, 1, 1)) == "Neg");
    CHECK(o.data.outputs[0] == o.data.outputs[2]);
    CHECK(o.data.outputs[1] == x.id());
    CHECK(o.numbers(3) == std::vector<double>{2});
    check_consistent(o.data);
}

TEST_CASE("an If whose condition only looks constant stays") {
    optimized<> o;
    value const x = o.input("x", {3, 5});
    value const y = o.input("yes", no_dims, dtype::bool_);
    o.data.set_initializer(y.id(), aton::scalar_tensor(true, dtype::bool_)); // a default, which a caller may change
    value const z = o.g.op<"If">(y,
                                 attr::then_branch_g([&](ops b) -> value { return b.op<"Exp">(x); }),
                                 attr::else_branch_g([&](ops b) -> value { return b.op<"Neg">(x); }));
    CHECK(o(z) == "If");
}

TEST_CASE("a Loop drops captures that its body does not use; carried values are not constants") {
    optimized<> o;
    value const x = o.input("x", {3, 5});
    value const unused = o.g.op<"Exp">(x);
    value const zero = o.g.scalar(0, dtype::float32);
    value const always = o.g.constant(aton::scalar_tensor(true, dtype::bool_));
    value const total =
        o.g.op<"Loop">(o.g.scalar(4, dtype::int64), always, zero, attr::body_g([&](ops b, value, value go, value sum) {
                           (void)b.op<"Neg">(unused);
                           sum.set_shape(no_dims);
                           value const more = b.op<"Add">(sum, b.scalar(1, dtype::float32));
                           return std::vector<value>{go, b.op<"Mul">(more, b.scalar(1, dtype::float32))};
                       }));
    CHECK(o({o.g.op<"Mul">(x, total)}) == "Loop Mul");
    aton::graph_data const& body = body_of(o.data, 0);
    CHECK(ops_of(body) == "Add");
    CHECK(captures(body) == 0);
    CHECK(body.outputs[0] == body.inputs[1]); // becomes an Identity when it is written
    check_consistent(o.data);
}

TEST_CASE("a weight that a body captures is not rewritten") {
    optimized<> o;
    value const x = o.input("x", {900, 900});
    value const yes = o.input("yes", no_dims, dtype::bool_);
    value const w = o.weight("w", {900, 900});
    value const t = o.g.op<"Transpose">(w);
    value const y = o.g.op<"If">(yes,
                                 attr::then_branch_g([&](ops b) -> value { return b.op<"MatMul">(x, w); }),
                                 attr::else_branch_g([&](ops b) -> value { return b.op<"MatMul">(x, t); }));
    CHECK(o(y) == "Transpose If");
    CHECK(o.data.initializers.size() == 1);
    check_consistent(o.data);
}

TEST_CASE("a weight that only one body uses is rewritten, in the outermost graph") {
    optimized<> o;
    value const x = o.input("x", {2, 900, 900}); // no Gemm
    value const yes = o.input("yes", no_dims, dtype::bool_);
    value const w = o.weight("layer.weight", {900, 900});
    value const both = o.weight("both", {900, 900});
    value const y =
        o.g.op<"If">(yes,
                     attr::then_branch_g([&](ops b) -> value {
                         value const z = b.op<"MatMul">(x, b.op<"Transpose">(both));
                         return b.op<"If">(yes,
                                           attr::then_branch_g(
                                               [&](ops c) -> value { return c.op<"MatMul">(z, c.op<"Transpose">(w)); }),
                                           attr::else_branch_g([&](ops) -> value { return z; }));
                     }),
                     attr::else_branch_g([&](ops b) -> value { return b.op<"MatMul">(x, b.op<"Transpose">(both)); }));
    CHECK(o(y) == "If");
    aton::graph_data const& outer = body_of(o.data, 0);
    CHECK(ops_of(outer) == "Transpose MatMul If"); // otherwise the file would have two layouts of it
    aton::graph_data const& inner = body_of(outer, 2);
    REQUIRE(ops_of(inner) == "MatMul");
    aton::value_id const through = inner.values[inner.nodes[0].inputs[1]].outer;
    aton::value_id const weight = outer.values[through].outer;
    CHECK(o.data.values[weight].name == "layer.weight");
    REQUIRE(o.data.values[weight].initializer >= 0);
    aton::graph_initializer const& made =
        o.data.initializers[static_cast<std::size_t>(o.data.values[weight].initializer)];
    REQUIRE(made.stored != nullptr);
    CHECK(made.stored->parts[0].strides == sizes{1, 900});
    CHECK(o.data.initializers.size() == 2);
    CHECK(inner.initializers.empty());
    check_consistent(o.data);

    optimized<> p;
    value const a = p.input("a", {2, 4, 5});
    value const go = p.input("go", no_dims, dtype::bool_);
    value const v = p.weight("v", {3, 5});
    value const r = p.g.op<"If">(
        go,
        attr::then_branch_g([&](ops b) -> value { return b.op<"MatMul">(a, b.op<"Transpose">(v)); }),
        attr::else_branch_g([&](ops b) -> value { return b.op<"MatMul">(b.op<"Neg">(a), b.op<"Transpose">(v)); }));
    CHECK(p(r) == "If"); // small ones may be duplicated
    CHECK(ops_of(body_of(p.data, 0)) == "MatMul");
    CHECK(ops_of(body_of(p.data, 0, 1)) == "Neg MatMul");
}

TEST_CASE(
    "functions: dead nodes and constants are removed, shapes differ between calls, unused functions are removed") {
    aton::graph_data data = random_graphs::function_graph(20, true);
    aton::graph_data& body = data.functions[1].body[0];
    ops const g(body, 20);
    value const in(body, body.inputs[0]);
    value const rows =
        g.op<"Gather">(g.op<"Shape">(in), g.op<"Sub">(g.scalar(3, dtype::int64), g.scalar(3, dtype::int64)));
    value const size = g.op<"Cast">(rows, attr::to_i(dtype::float32));
    body.outputs[0] = value(g.op<"Add">(value(body, body.outputs[0]), size)).id();
    std::deque<aton::stored_tensor> weights;
    aton::optimize(data, weights);
    REQUIRE(data.functions.size() == 4);
    CHECK(ops_of(data.functions[1].body[0]) == "Tanh Mul Add Shape Gather Cast Add");
    CHECK(ops_of(data.functions[3].body[0]) == "Constant Mul Clip");
    check_consistent(data);
    for (auto const& f : data.functions) check_consistent(f.body[0]);
}

TEST_CASE("inlined functions: overloads, nested calls, attributes, omitted inputs, outputs that are inputs") {
    aton::graph_data data = random_graphs::function_graph(20, true);
    aton::inline_functions(data);
    CHECK(data.functions.empty());
    check_consistent(data);
    std::string const text = to_string(data);
    CHECK(text.find("custom_domain") == std::string::npos);
    CHECK(text.find("onnx::Constant[value_float=-3.]()") != std::string::npos);
    CHECK(text.find("onnx::Constant[value_float=2.]()") != std::string::npos);
    CHECK(text.find('@') == std::string::npos);
    CHECK(text.find("onnx::Log") == std::string::npos);
    std::deque<aton::stored_tensor> weights;
    aton::optimize(data, weights);
    check_consistent(data);
    CHECK(ops_of(data) == "Tanh Mul Add Sub Mul Mul Clip If ReduceSum Greater If");
    CHECK(data.outputs[2] == data.inputs[1]); // the second result of Foo.half is its second operand
    CHECK(data.outputs[1] == data.outputs[3]);
    for (auto const& n : data.nodes)
        if (n.op == "Clip") CHECK(n.inputs.size() == 1);
}

TEST_CASE("inlined nodes have the source of the call, but keep their own origin") {
    aton::graph_data data;
    data.opset = 20;
    value const x(data, data.add_input("x", {dtype::float32, {4}}));
    data.origins.push_back({"foo_1", "layer1", "model.py:12 in forward"});
    data.functions.push_back(random_graphs::function(
        20, "Foo", "", {"x"}, {}, [](ops g, std::vector<value> const& in) -> std::vector<value> {
            value const y = g.op<"Neg">(in[0]);
            g.data().origins.push_back({"inner", {}, "kernel.cpp:3"});
            g.data().context.origin = 1;
            g.data().context.overload = "aten::exp";
            return {g.op<"Exp">(y)};
        }));
    value const y = random_graphs::call(data, "Foo", "", {x}, 1)[0];
    data.nodes[0].origin = 1;
    data.nodes[0].source = "custom_ops::foo";
    y.set_type({dtype::float32, {4}});
    data.outputs = {y.id()};
    aton::inline_functions(data);
    REQUIRE(ops_of(data) == "Neg Exp");
    CHECK(data.origins[data.nodes[0].origin].name == "foo_1");
    CHECK(data.nodes[0].source == "custom_ops::foo");
    CHECK(data.origins[data.nodes[1].origin].source == "kernel.cpp:3");
    CHECK(data.nodes[1].source == "aten::exp");
    CHECK(data.values[data.nodes[0].outputs[0]].type.shape == aton::shape{4}); // not the body's 2 x 3
    CHECK(data.nodes[1].outputs[0] == y.id());
}

TEST_CASE("functions that cannot be inlined are refused with a reason") {
    auto const refusal = [](auto const& change) {
        aton::graph_data data = random_graphs::function_graph(20, true);
        change(data);
        try {
            aton::inline_functions(data);
        } catch (aton::error const& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(refusal([](auto& d) { d.functions[1].body[0].opset = 18; }) ==
          "function custom_domain::Foo has opset 18, but the graph has opset 20, so it cannot be inlined");
    CHECK(refusal([](auto& d) { d.functions[3].body.clear(); }) ==
          "function custom_domain::Scale has no body to inline");
    CHECK(refusal([](auto& d) { d.nodes[0].inputs.push_back(0); }) ==
          "function custom_domain::Foo has 2 inputs and 1 outputs, but a call has 3 and 1");
    CHECK(refusal([](auto& d) {
              d.functions[1].body[0].nodes[1].domain = "custom_domain"; // Foo calls Bar, which calls Foo
              d.functions[1].body[0].nodes[1].op = "Bar";
          }).ends_with("calls itself, so it cannot be inlined"));
}

TEST_CASE("many nodes with nested graphs take linear time") {
    auto const seconds = [](int count) {
        optimized<> o;
        value const yes = o.input("yes", no_dims, dtype::bool_);
        value y = o.input("x", {3, 5});
        for (int i = 0; i != count; ++i) {
            value const before = y;
            y = o.g.op<"If">(yes,
                             attr::then_branch_g([&](ops b) -> value { return b.op<"Neg">(before); }),
                             attr::else_branch_g([&](ops b) -> value { return b.op<"Identity">(before); }));
        }
        auto const start = std::chrono::steady_clock::now();
        (void)o(y);
        CHECK(o.data.nodes.size() == static_cast<std::size_t>(count));
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    double const few = seconds(2000);
    double const many = seconds(16000);
    MESSAGE("2,000: " << few << " s, 16,000: " << many << " s");
    CHECK(many < 24 * few + 0.5);
}
