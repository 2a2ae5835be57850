// SPDX-License-Identifier: MIT
// Hand-made programs, converted without passes: arithmetic on sizes, names of dimensions, outputs that are inputs, kept operators, and
// refusals.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aten/function_schema.hpp>
#include <aton/aten/schema_table.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/ir/print.hpp>
#include <aton/mappings/built_in.hpp>
#include <aton/passes/passes.hpp>

#include "../faults.hpp"
#include "graph_ops.hpp"

namespace convert_program_test {

namespace {

using namespace aton;
namespace pr = aton::program;
using tests::contains;
using tests::fault_of;
using tests::used_ops_of;

/// A program with one input x of sizes [s0, 3], built node by node.
struct builder {
    pr::program p;

    builder() {
        p.file = "made.pt2";
        p.origins = {{}, {"net.fc", "torch.nn.Linear", "net.py:7 in forward", "return f(x)"}};
        pr::expression s0;
        s0.kind = pr::expression_kind::symbol;
        s0.symbol = "s0";
        p.expressions.push_back(s0);
        p.ranges["s0"] = {2, 64};
        add_input("x", {pr::extent{0, 0}, pr::extent{3}});
    }

    pr::value_index add_value(std::string name, std::vector<pr::extent> sizes, dtype type = dtype::float32) {
        pr::value v;
        v.name = std::move(name);
        v.has_type = true;
        v.type = type;
        v.sizes = std::move(sizes);
        p.values.push_back(v);
        return static_cast<pr::value_index>(p.values.size() - 1);
    }
    pr::value_index add_number(std::string name, pr::value_kind kind) {
        pr::value v;
        v.name = std::move(name);
        v.kind = kind;
        p.values.push_back(v);
        return static_cast<pr::value_index>(p.values.size() - 1);
    }
    pr::value_index add_input(std::string const& name, std::vector<pr::extent> sizes) {
        pr::value_index const v = add_value(name, std::move(sizes));
        p.main.inputs.push_back(v);
        p.inputs.push_back({pr::input_kind::user, v, name, true, {}});
        return v;
    }
    static pr::argument value(pr::value_index v, std::string name = {}) {
        return pr::argument::of_tensor(v).named(std::move(name));
    }
    static pr::argument integer(std::int64_t n, std::string name = {}) {
        return pr::argument::of_number(n).named(std::move(name));
    }
    /// The argument, where value() of a number is a computed number.
    [[nodiscard]] pr::argument resolved(pr::argument a) const {
        bool const is_number = a.kind == pr::argument_kind::tensor && p.values[a.tensor].kind != pr::value_kind::tensor;
        return is_number ? pr::argument::of_number(pr::number::of_value(a.tensor)).named(a.name) : a;
    }
    pr::value_index call(std::string op, std::vector<pr::argument> arguments, pr::value_index result,
                         pr::node_kind kind = pr::node_kind::aten) {
        pr::node n;
        n.kind = kind;
        n.name = p.values[result].name;
        n.op = std::move(op);
        n.arguments = std::move(arguments);
        for (pr::argument& a : n.arguments) a = resolved(std::move(a));
        n.results = {{{result}, false}};
        n.origin = 1;
        p.main.nodes.push_back(n);
        return result;
    }
    pr::value_index python(std::string op, std::vector<pr::argument> arguments,
                           pr::value_kind kind = pr::value_kind::sym_int) {
        std::string const name = "n" + std::to_string(p.values.size());
        return call(std::move(op), std::move(arguments), add_number(name, kind), pr::node_kind::python);
    }
    pr::value_index size_of_x() {
        return call(
            "aten::sym_size.int", {value(0, "self"), integer(0, "dim")}, add_number("rows", pr::value_kind::sym_int));
    }
    void add_output(pr::argument a, pr::output_kind kind = pr::output_kind::user, std::string target = {}) {
        p.main.outputs.push_back(resolved(std::move(a)));
        p.outputs.push_back({kind, std::move(target)});
    }
    [[nodiscard]] graph_data convert(export_options const& options = {}) const { return convert_program(p, options); }
};

std::string message_of(builder const& b, export_options const& options = {}) {
    return fault_of([&] { return b.convert(options); });
}

} // namespace

TEST_CASE("a node is converted by its mapping, with the file's types, names and origins") {
    builder b;
    b.call("aten::relu", {builder::value(0, "self")}, b.add_value("act", {pr::extent{0, 0}, pr::extent{3}}));
    b.add_output(builder::value(1));
    graph_data const graph = b.convert();
    REQUIRE(graph.nodes.size() == 1);
    CHECK(to_string(graph) ==
          "graph(%x : Float(s0, 3)):\n  %act : Float(s0, 3) = onnx::Relu(%x)   # aten::relu\n  return (%act)\n");
    node_origin const& from = graph.origins.at(graph.nodes[0].origin);
    CHECK(from.name == "act");
    CHECK(from.module == "net.fc");
    CHECK(from.source == "net.py:7 in forward");
}

TEST_CASE("arithmetic on sizes is computed by the graph, or at export if it is known") {
    builder b;
    pr::value_index const n = b.size_of_x();
    SUBCASE("numbers are folded") {
        pr::value_index const k = b.python("_operator.floordiv", {builder::integer(-7), builder::integer(2)});
        b.add_output(builder::value(k));
        graph_data const graph = b.convert();
        REQUIRE(graph.constant(graph.outputs[0]) != nullptr);
        CHECK(graph.constant(graph.outputs[0])->at(0).to<std::int64_t>() == -4);
    }
    SUBCASE("division of non-negative numbers is one node") {
        b.p.values[n].symbolic = pr::extent{0, 0};
        b.add_output(builder::value(b.python("_operator.floordiv", {builder::value(n), builder::integer(2)})));
        CHECK(used_ops_of(b.convert()) == std::vector<std::string>{"Shape", "Gather", "Div"});
    }
    SUBCASE("division of possibly negative numbers rounds down as in Python") {
        b.add_output(builder::value(b.python("_operator.floordiv", {builder::value(n), builder::integer(2)})));
        CHECK(used_ops_of(b.convert()) == std::vector<std::string>{"Shape", "Gather", "Mod", "Sub", "Div"});
    }
    SUBCASE("mixed with floats it is float64") {
        pr::argument const half = pr::argument::of_number(0.5);
        pr::value_index const f = b.python("_operator.mul", {builder::value(n), half}, pr::value_kind::sym_float);
        b.add_output(builder::value(b.python("math.ceil", {builder::value(f)})));
        graph_data const graph = b.convert();
        CHECK(used_ops_of(graph) == std::vector<std::string>{"Shape", "Gather", "Cast", "Mul", "Ceil", "Cast"});
        CHECK(graph.values[graph.outputs[0]].type.dtype == dtype::int64);
    }
    SUBCASE("comparisons give booleans") {
        b.add_output(builder::value(
            b.python("_operator.ne", {builder::value(n), builder::integer(4)}, pr::value_kind::sym_bool)));
        graph_data const graph = b.convert();
        CHECK(used_ops_of(graph) == std::vector<std::string>{"Shape", "Gather", "Equal", "Not"});
        CHECK(graph.values[graph.outputs[0]].type.dtype == dtype::bool_);
    }
    SUBCASE("the closed form of the file is used if it is a number") {
        pr::value_index const k = b.python("_operator.sub", {builder::value(n), builder::value(n)});
        b.p.values[k].symbolic = pr::extent{0};
        b.add_output(builder::value(k));
        graph_data const graph = b.convert();
        REQUIRE(graph.constant(graph.outputs[0]) != nullptr);
        CHECK(graph.constant(graph.outputs[0])->at(0).to<std::int64_t>() == 0);
    }
    SUBCASE("an unknown operator is refused with its position") {
        b.add_output(builder::value(b.python("_operator.matmul", {builder::value(n), builder::value(n)})));
        CHECK(contains(message_of(b), "_operator.matmul"));
        CHECK(contains(message_of(b), "net.py:7 in forward"));
    }
}

TEST_CASE("dynamic dimensions are named") {
    builder b;
    pr::expression twice;
    twice.kind = pr::expression_kind::mul;
    twice.operands = {{}, b.p.expressions[0]};
    twice.operands[0].number = 2;
    b.p.expressions.push_back(twice);
    b.call("aten::relu", {builder::value(0, "self")}, b.add_value("y", {pr::extent{0, 1}, pr::extent{3}}));
    b.add_output(builder::value(1));
    export_options options;
    options.dims = {{"x", 0, "batch"}};
    graph_data const graph = b.convert(options);
    CHECK(graph.values[graph.inputs[0]].type.shape[0].symbol() == "batch");
    CHECK(graph.values[graph.outputs[0]].type.shape[0].symbol() == "2*batch");

    options.dims = {{"x", 1, "batch"}};
    CHECK(contains(message_of(b, options), "dimension 1 of input 'x' is always 3"));
    options.dims = {{"x", 2, "batch"}};
    CHECK(contains(message_of(b, options), "rank 2"));
    options.dims = {{"y", 0, "batch"}};
    CHECK(contains(message_of(b, options), "there is no input 'y'"));
    options.dims = {{"x", 0, "batch"}, {"x", -2, "rows"}};
    CHECK(contains(message_of(b, options), "already named 'batch'"));
    for (char const* sum : {"rows + 1", "2*rows", "-rows", "7"}) { // names of sizes that are sums mean the sums
        options.dims = {{"x", 0, sum}};
        CHECK(contains(message_of(b, options), std::string("'") + sum + "' is not a name"));
    }
    options.dims = {{"x", 0, "batch-size"}};
    CHECK(b.convert(options).values[0].type.shape[0].symbol() == "batch-size");
}

TEST_CASE("outputs: an input, duplicate values, numbers, None, state") {
    builder b;
    pr::value_index const y =
        b.call("aten::relu", {builder::value(0, "self")}, b.add_value("y", {pr::extent{0, 0}, pr::extent{3}}));
    b.add_output(builder::value(y), pr::output_kind::input_mutation, "x");
    b.add_output(builder::value(0));
    b.add_output(builder::value(y));
    b.add_output(builder::value(y), pr::output_kind::user, "again");
    b.add_output(pr::argument::none());
    b.add_output(builder::integer(5));
    graph_data const graph = b.convert();
    std::vector<std::string> names;
    for (value_id id : graph.outputs) names.push_back(graph.values[id].name);
    CHECK(names == std::vector<std::string>{"x.out", "y", "again", "output_5", "x.out.out"});
    CHECK(used_ops_of(graph) == std::vector<std::string>{"Relu", "Identity", "Identity", "Identity"});
    CHECK(graph.values[graph.outputs[3]].type.dtype == dtype::int64);

    export_options options;
    options.renames = {{"y", "result"}, {"x", "input_ids"}};
    graph_data const renamed = b.convert(options);
    CHECK(renamed.values[renamed.inputs[0]].name == "input_ids");
    CHECK(renamed.values[renamed.outputs[1]].name == "result");
    options.renames = {{"y", "x"}, {"x", "y"}};
    graph_data const swapped = b.convert(options);
    CHECK(swapped.values[swapped.inputs[0]].name == "y");
    CHECK(swapped.values[swapped.outputs[1]].name == "x");
    options.renames = {{"y", "a"}, {"y", "b"}};
    CHECK(contains(fault_of([&] { return b.convert(options); }), "'y' is renamed twice"));
    options.renames = {{"z", "result"}};
    CHECK(contains(message_of(b, options), "'z'"));
}

TEST_CASE(
    "the nearest row is another overload of the operator, or has a name with a typo; it is never another operator") {
    auto const nearest = [](std::string const& op) {
        builder b;
        b.add_output(builder::value(b.call(op, {builder::value(0, "self")}, b.add_value("a", {pr::extent{3}}))));
        return find_unconvertible(b.p).at(0).nearest;
    };
    CHECK(nearest("aten::reluu") == "aten::relu");
    CHECK(nearest("aten::add.Tensr") == "aten::add.Tensor");
    CHECK(nearest("mylib::relu").empty()); // of another namespace
    CHECK(nearest("aten::zzz").empty());
    // Every operator of torch without a row: other operators may have similar names, but mean something else.
    export_options const options;
    int found = 0;
    for (std::size_t i = 0; i != aton::aten::schema_count(); ++i) {
        std::string_view const name = aton::aten::parse_head(aton::aten::schema_at(i)).qualified;
        if (find(aton::mappings::built_in_tables(), name, options.opset) != nullptr) continue;
        std::string const near = nearest(std::string(name));
        CAPTURE(name);
        CAPTURE(near);
        CHECK((near.empty() || near.substr(0, near.find('.')) == name.substr(0, name.find('.'))));
        found += near.empty() ? 0 : 1;
    }
    CHECK(found > 100);
}

TEST_CASE("S7: the nearest row of a custom operator is any other overload, or the user's row in another namespace") {
    static constexpr auto mine = dsl::table(dsl::symbolic<"my_ops::twice.out_of_place(Tensor a) -> Tensor">(
        [](dsl::graph<13> g, dsl::value a) { return g.op<"Add">(a, a); }));
    auto const nearest = [](std::string const& op) {
        builder b;
        b.add_output(builder::value(b.call(op, {builder::value(0, "a")}, b.add_value("y", {pr::extent{3}}))));
        export_options options;
        options.tables = {mine};
        return find_unconvertible(b.p, options).at(0).nearest;
    };
    CHECK(nearest("my_ops::twice") == "my_ops::twice.out_of_place");
    CHECK(nearest("other::twice.out_of_place") == "my_ops::twice.out_of_place");
    CHECK(nearest("other::once").empty());
}

TEST_CASE("everything that cannot be converted is named at once") {
    builder b;
    pr::value_index const a =
        b.call("aten::no_such_thing", {builder::value(0, "self")}, b.add_value("a", {pr::extent{0, 0}, pr::extent{3}}));
    pr::value_index const c =
        b.call("aten::rellu", {builder::value(a, "self")}, b.add_value("c", {pr::extent{0, 0}, pr::extent{3}}));
    b.call("aten::rellu", {builder::value(c, "self")}, b.add_value("d", {pr::extent{0, 0}, pr::extent{3}}));
    b.add_output(builder::value(c));
    std::vector<unconvertible> const all = find_unconvertible(b.p);
    REQUIRE(all.size() == 2);
    CHECK(all[0].op == "aten::no_such_thing");
    CHECK(all[0].count == 1);
    CHECK(all[1].count == 2);
    CHECK(all[1].nearest == "aten::relu");
    CHECK(all[1].places == std::vector<std::string>{"net.py:7 in forward"});
    std::string const message = message_of(b);
    CHECK(contains(message, "made.pt2: 2 operators cannot be converted at opset 20: aten::no_such_thing (no mapping"));
    CHECK(contains(message, "aten::rellu (no mapping; nearest: aten::relu; 2 times"));
    CHECK(message.find('\n') == std::string::npos);
    try {
        (void)convert_program(b.p);
        FAIL("converted");
    } catch (export_error const& e) {
        CHECK(e.what() == message);
        REQUIRE(e.nodes().size() == 2);
        CHECK(e.nodes()[1].op == "aten::rellu");
        CHECK(e.nodes()[1].reason == "no mapping");
        CHECK(e.nodes()[1].count == 2);
        CHECK(e.nodes()[1].places == all[1].places);
    }
}

TEST_CASE("a mapping that starts at a later opset is named with it") {
    builder b;
    b.call(
        "aten::scatter_add",
        {builder::value(0, "self"), builder::integer(0, "dim"), builder::value(0, "index"), builder::value(0, "src")},
        b.add_value("y", {pr::extent{0, 0}, pr::extent{3}}));
    b.add_output(builder::value(1));
    export_options options;
    options.opset = 9;
    CHECK(contains(message_of(b, options), "aten::scatter_add (has a mapping since opset 11"));
    options.opset = 6;
    CHECK(contains(message_of(b, options), "opset 6 is not supported for export; choose 7 to 28"));
}

TEST_CASE("a refusal ends with the lowest opset at which every operator can be converted") {
    builder b;
    pr::value_index const sum = b.call("aten::cumsum",
                                       {builder::value(0, "self"), builder::integer(0, "dim")},
                                       b.add_value("y", {pr::extent{0, 0}, pr::extent{3}}));
    b.add_output(builder::value(sum));
    export_options options;
    options.opset = 9;
    CHECK(message_of(b, options).ends_with("; export with --opset 11"));
    b.call("aten::no_such_thing", {builder::value(sum, "self")}, b.add_value("z", {pr::extent{0, 0}, pr::extent{3}}));
    b.add_output(builder::value(2));
    CHECK(!contains(message_of(b, options), "--opset"));
}

TEST_CASE("a custom operator is kept only if requested") {
    builder b;
    pr::argument const scale = pr::argument::of_number(0.5).named("scale");
    b.call("my_ops::blend.pair",
           {builder::value(0, "a"), scale, builder::integer(7, "count")},
           b.add_value("y", {pr::extent{0, 0}, pr::extent{3}}));
    b.add_output(builder::value(1));
    CHECK(contains(message_of(b), "my_ops::blend.pair (no mapping"));
    export_options options;
    options.operators = operator_mode::keep;
    graph_data const graph = b.convert(options);
    REQUIRE(graph.nodes.size() == 1);
    graph_node const& n = graph.nodes[0];
    CHECK(n.domain == "my_ops");
    CHECK(n.op == "blend.pair");
    REQUIRE(n.attributes.size() == 2);
    CHECK(n.attributes[0].name == "scale");
    CHECK(n.attributes[0].f == 0.5F);
    CHECK(n.attributes[1].i == 7);
    CHECK(graph.opset_imports == std::vector<std::pair<std::string, int>>{{"my_ops", 1}});
    CHECK(graph.values[graph.outputs[0]].type.shape.rank() == 2);
}

TEST_CASE("a kept operator's number that is out of range for a float attribute is refused, not made infinite") {
    auto const refusal_of = [](double scale_value, std::vector<double> const& list) {
        builder b;
        pr::argument const scale = pr::argument::of_number(scale_value).named("scale");
        pr::argument const knots = pr::argument::of_numbers({list.begin(), list.end()}).named("knots");
        b.call("my_ops::blend.pair",
               {builder::value(0, "a"), scale, knots},
               b.add_value("y", {pr::extent{0, 0}, pr::extent{3}}));
        b.add_output(builder::value(1));
        export_options options;
        options.operators = operator_mode::keep;
        return message_of(b, options);
    };
    CHECK(contains(refusal_of(-1e300, {0.5}), "argument 'scale' is out of range for a float attribute"));
    CHECK(contains(refusal_of(0.25, {0.5, 1e39}), "argument 'knots' is out of range"));
    CHECK(refusal_of(std::numeric_limits<double>::infinity(), {-3e38}) == "nothing was thrown");
}

TEST_CASE("a user's table comes before the built-in ones") {
    using namespace aton::dsl;
    static constexpr auto mine = dsl::table(
        override_<"aten::relu(self)">([](dsl::graph<13> g, dsl::value x) { return g.op<"Abs">(x); }),
        symbolic<"my_ops::twice(Tensor a, float by=2.0) -> Tensor">(
            [](dsl::graph<13> g, dsl::value a, double by) { return g.op<"Mul">(a, g.scalar(by, a.dtype())); }));
    builder b;
    pr::value_index const y =
        b.call("aten::relu", {builder::value(0, "self")}, b.add_value("y", {pr::extent{0, 0}, pr::extent{3}}));
    b.call("my_ops::twice", {builder::value(y, "a")}, b.add_value("z", {pr::extent{0, 0}, pr::extent{3}}));
    b.add_output(builder::value(2));
    export_options options;
    options.tables = {mine};
    CHECK(used_ops_of(b.convert(options)) == std::vector<std::string>{"Abs", "Mul"});
}

} // namespace convert_program_test
