// SPDX-License-Identifier: MIT
// `--operators aten` and `aten-fallback`: the form of ATen nodes, and when they are created. Users' rows for Python operators.
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/passes/passes.hpp>

#include "../faults.hpp"
#include "../program/program_builder.hpp"

namespace aten_nodes_test {

namespace {

using namespace aton;
namespace pr = aton::program;
using pr::input_kind;
using pr::value_index;
using tests::contains;
using tests::fault_of;

struct fixture : pr::program_builder {
    value_index x = input(input_kind::user, "x", {2, 3});
    value_index y = input(input_kind::user, "y", {2, 3});
    export_options options;

    fixture() {
        options.operators = operator_mode::aten;
        p.origins[1].module = "net.fc";
    }

    [[nodiscard]] graph_data convert() const { return convert_program(p, options); }
    [[nodiscard]] std::string fault() const {
        return fault_of([&] { return convert(); });
    }
    /// A size of the program that is known only at run time.
    value_index rows() {
        if (p.expressions.empty()) {
            pr::expression s0;
            s0.kind = pr::expression_kind::symbol;
            s0.symbol = "s0";
            p.expressions.push_back(s0);
            p.values[x].sizes[0] = {0, 0};
        }
        value_index const n = number_value("rows", pr::value_kind::sym_int);
        add_node("aten::sym_size.int", {pr::tensor("self", x), pr::integer("dim", 0)}, {n});
        return n;
    }
};

/// "add.Tensor(%x, %y) alpha=2": attributes in their order.
std::string shown(graph_data const& g, graph_node const& n) {
    if (n.domain != "org.pytorch.aten" || n.op != "ATen") return n.domain + "::" + n.op;
    std::string out;
    std::string attributes;
    for (node_attribute const& a : n.attributes) {
        if (a.name == "operator" || a.name == "overload_name") {
            out += (a.name == "operator" ? "" : ".") + a.s;
            continue;
        }
        attributes += " " + a.name + "=";
        using onnx::attr_type;
        if (a.type == attr_type::i) attributes += std::to_string(a.i);
        if (a.type == attr_type::f) attributes += std::to_string(a.f);
        if (a.type == attr_type::s) attributes += '"' + a.s + '"';
        for (std::int64_t i : a.ints) attributes += std::to_string(i) + ',';
        for (float f : a.floats) attributes += std::to_string(f) + ',';
        for (std::string const& s : a.strings) attributes += s + ',';
        if (a.type == attr_type::ints) attributes += "ints";
    }
    out += '(';
    for (value_id id : n.inputs) {
        if (id == no_value) {
            out += "_ ";
            continue;
        }
        std::int64_t const producer = g.values[id].producer;
        out += g.values[id].name.empty() && producer >= 0 ? '<' + g.nodes[static_cast<std::size_t>(producer)].op + '>'
                                                          : g.values[id].name;
        out += ' ';
    }
    if (out.back() == ' ') out.pop_back();
    return out + ')' + attributes;
}

std::string last(graph_data const& g) { return shown(g, g.nodes.back()); }

} // namespace

TEST_CASE("every ATen operator becomes a node ATen, and imports its domain once") {
    fixture f;
    value_index const squared = f.add("aten::mul.Tensor", {pr::tensor("self", f.x), pr::tensor("other", f.x)}, {2, 3});
    value_index const sum = f.add("aten::add.Tensor",
                                  {pr::tensor("self", squared), pr::tensor("other", f.y), pr::integer("alpha", 2)},
                                  {2, 3},
                                  dtype::float64);
    f.output(f.add("aten::relu", {pr::tensor("self", sum)}, {2, 3}));
    graph_data const g = f.convert();
    REQUIRE(g.nodes.size() == 3);
    CHECK(shown(g, g.nodes[0]) == "mul.Tensor(x x)");
    CHECK(shown(g, g.nodes[1]) == "add.Tensor(2 y) alpha=2");
    CHECK(shown(g, g.nodes[2]) == "relu(3)");
    CHECK(g.nodes[2].attributes.size() == 1); // no overload_name
    CHECK(g.nodes[1].source == "aten::add.Tensor");
    CHECK(g.origins.at(g.nodes[1].origin).module == "net.fc");
    CHECK(g.opset_imports == std::vector<std::pair<std::string, int>>{{"org.pytorch.aten", 1}});
    CHECK(g.values[g.nodes[1].outputs[0]].type.dtype == dtype::float64); // as recorded
}

TEST_CASE("no ATen node is created unless requested") {
    for (operator_mode mode : {operator_mode::standard, operator_mode::keep}) {
        fixture f;
        f.options.operators = mode;
        f.output(f.add("aten::no_such_thing", {pr::tensor("self", f.x)}, {2, 3}));
        CHECK(contains(f.fault(), "aten::no_such_thing (no mapping"));
    }
}

TEST_CASE("the fallback is for operators without a mapping, or whose mapping refuses them") {
    using namespace aton::dsl;
    static constexpr auto refusing = dsl::table(
        override_<"aten::relu(self)">([](dsl::graph<13> g, dsl::value) -> dsl::value { return g.unsupported("no"); }),
        override_<"aten::neg(self)">([](dsl::graph<13> g, dsl::value x) -> dsl::value {
            return g.op<"Neg">(g.cast(x, dtype::bool_)); // illegal, at every opset
        }));
    fixture f;
    f.options.operators = operator_mode::aten_fallback;
    value_index const a = f.add("aten::abs", {pr::tensor("self", f.x)}, {2, 3});
    value_index const b = f.add("aten::no_such_thing", {pr::tensor("self", a), pr::real("scale", 0.5)}, {2, 3});
    value_index const c = f.add("aten::relu", {pr::tensor("self", b)}, {2, 3});
    f.output(f.add("aten::neg", {pr::tensor("self", c)}, {2, 3}));
    graph_data g = f.convert();
    remove_unused(g);
    REQUIRE(g.nodes.size() == 4);
    CHECK(shown(g, g.nodes[0]) == "::Abs");
    CHECK(shown(g, g.nodes[1]) == "no_such_thing(2) scale=0.500000");
    CHECK(shown(g, g.nodes[2]) == "::Relu");
    CHECK(shown(g, g.nodes[3]) == "::Neg");
    f.options.tables = {refusing};
    g = f.convert();
    remove_unused(g);
    CHECK(shown(g, g.nodes[2]) == "relu(3)");
    CHECK(shown(g, g.nodes[3]) == "neg(4)");

    f.add_node("my_ops::unknown", {pr::tensor("x", f.x)}, {f.value_of("u", {2, 3})}); // not ATen's
    CHECK(contains(f.fault(), "my_ops::unknown (no mapping"));
}

TEST_CASE("a call that cannot become an ATen node either is refused with the reason of the mapping") {
    using namespace aton::dsl;
    static constexpr auto refusing = dsl::table(override_<"aten::add.Tensor(self, other, alpha)">(
        [](dsl::graph<13> g, dsl::value, dsl::value, scalar) -> dsl::value { return g.unsupported("not this one"); }));
    fixture f;
    f.options.operators = operator_mode::aten_fallback;
    f.options.tables = {refusing};
    f.output(f.add(
        "aten::add.Tensor", {pr::tensor("self", f.x), pr::tensor("other", f.y), pr::real("alpha", 1e300)}, {2, 3}));
    CHECK(contains(f.fault(), "aten::add.Tensor (not this one"));
    f.options.operators = operator_mode::aten;
    CHECK(contains(f.fault(), "aten::add.Tensor (argument 'alpha' is out of range for a float attribute"));
}

TEST_CASE("tensors are inputs in the order of the schema; None in the middle is an empty input") {
    fixture f;
    pr::argument const none = pr::argument::none().named("weight");
    value_index const bias = f.input(input_kind::user, "bias", {3});
    f.add("aten::layer_norm",
          {pr::tensor("input", f.x), pr::integers("normalized_shape", {3}), none, pr::tensor("bias", bias)},
          {2, 3});
    f.add("aten::layer_norm",
          {pr::tensor("bias", bias),
           pr::integers("normalized_shape", {3}),
           pr::tensor("input", f.x),
           pr::real("eps", 0.25)},
          {2, 3});
    f.output(
        f.add("aten::layer_norm", {pr::tensor("input", f.x), pr::integers("normalized_shape", {3}), none}, {2, 3}));
    graph_data const g = f.convert();
    REQUIRE(g.nodes.size() == 3);
    CHECK(shown(g, g.nodes[0]) == "layer_norm(x _ bias) normalized_shape=3,ints");
    CHECK(shown(g, g.nodes[1]) == "layer_norm(x _ bias) normalized_shape=3,ints eps=0.250000");
    CHECK(last(g) == "layer_norm(x) normalized_shape=3,ints");
}

TEST_CASE("a Tensor[] becomes its elements and their number") {
    fixture f;
    value_index const i = f.input(input_kind::user, "i", {2}, dtype::int64);
    f.add("aten::cat", {pr::tensors("tensors", {f.x, f.y, f.x}), pr::integer("dim", -1)}, {2, 9});
    f.add("aten::index.Tensor", {pr::tensor("self", f.x), pr::tensors("indices", {pr::no_value, i})}, {2, 2});
    f.output(f.add("aten::index.Tensor", {pr::tensor("self", f.x), pr::tensors("indices", {i, pr::no_value})}, {2, 3}));
    graph_data const g = f.convert();
    CHECK(shown(g, g.nodes[0]) == "cat(x y x) tensors=3 dim=-1");
    CHECK(shown(g, g.nodes[1]) == "index.Tensor(x _ i) indices=2");
    CHECK(last(g) == "index.Tensor(x i) indices=2");
}

TEST_CASE("everything else is an attribute with its name in the schema") {
    fixture f;
    pr::argument const device = pr::argument::of_tag("cuda:0").named("device");
    pr::argument const format = pr::argument::of_tag("channels_last").named("memory_format");
    f.add(
        "aten::_to_copy",
        {pr::tensor("self", f.x), pr::type("dtype", dtype::float16), device, pr::boolean("non_blocking", true), format},
        {2, 3},
        dtype::float16);
    f.add("aten::gelu", {pr::tensor("self", f.x), pr::text("approximate", "tanh")}, {2, 3});
    f.add("aten::add.Tensor", {pr::tensor("self", f.x), pr::real("other", -1.5)}, {2, 3}); // a number for a tensor
    pr::argument const scales = pr::argument::of_numbers({2.5, 0.5}).named("scale_factors");
    f.add("aten::upsample_nearest2d.vec", {pr::tensor("input", f.x), scales}, {2, 3});
    f.output(f.add("aten::sum.dim_IntList",
                   {pr::tensor("self", f.x), pr::integers("dim", {}), pr::boolean("keepdim", true)},
                   {2, 3}));
    graph_data const g = f.convert();
    CHECK(shown(g, g.nodes[0]) ==
          "_to_copy(x) dtype=10 device=\"cuda:0\" non_blocking=1 memory_format=\"channels_last\"");
    CHECK(shown(g, g.nodes[1]) == "gelu(x) approximate=\"tanh\"");
    CHECK(shown(g, g.nodes[2]) == "add.Tensor(x) other=-1.500000");
    CHECK(shown(g, g.nodes[3]) == "upsample_nearest2d.vec(x) scale_factors=2.500000,0.500000,");
    CHECK(last(g) == "sum.dim_IntList(x) dim=ints keepdim=1");
}

TEST_CASE("computed values are inputs, and the inputs are then named") {
    fixture f;
    value_index const rows = f.rows();
    pr::argument size = pr::integers("size", {0, 3, -1});
    size.numbers[0] = pr::number::of_value(rows);
    value_index const viewed = f.add("aten::view", {pr::tensor("self", f.x), size}, {2, 3, 1});
    value_index const taken = f.add(
        "aten::select.int", {pr::tensor("self", viewed), pr::integer("dim", 1), pr::tensor("index", rows)}, {2, 1});
    f.add("aten::arange", {pr::tensor("end", rows)}, {2}, dtype::int64);
    f.output(f.add("aten::add.Tensor", {pr::tensor("self", taken), pr::tensor("other", rows)}, {2, 1}));
    graph_data const g = f.convert();
    CHECK(shown(g, g.nodes[0]) == "sym_size.int(x) dim=0");
    CHECK(g.values[g.nodes[0].outputs[0]].type ==
          value_type{dtype::int64, shape(std::vector<dim>()), value_kind::tensor});
    std::vector<std::string> aten;
    for (graph_node const& n : g.nodes)
        if (n.op == "ATen") aten.push_back(shown(g, n));
    REQUIRE(aten.size() == 5);
    CHECK(aten[1] == "view(x <Concat>) inputs=self,size,");
    CHECK(aten[2] == "select.int(3 rows) dim=1 inputs=self,index,");
    CHECK(aten[3] == "arange(rows) inputs=end,");
    CHECK(aten[4] == "add.Tensor(4 rows)"); // a tensor of the schema
}

TEST_CASE("results have the positions of the schema") {
    fixture f;
    value_index const values = f.value_of("values", {2});
    value_index const indices = f.value_of("indices", {2}, dtype::int64);
    f.add_node("aten::max.dim", {pr::tensor("self", f.x), pr::integer("dim", 1)}, {values, indices});
    auto const parts = f.add_list("aten::split.Tensor",
                                  {pr::tensor("self", f.x), pr::integer("split_size", 2), pr::integer("dim", 1)},
                                  {{{2, 2}, {3, 1}}, {{2, 1}, {3, 1}}});
    f.add_node("aten::native_layer_norm",
               {pr::tensor("input", f.x), pr::integers("normalized_shape", {3})},
               {f.value_of("normed", {2, 3}), pr::no_value, f.value_of("rstd", {2, 1})});
    f.output(indices);
    f.output(parts[1]);
    graph_data const g = f.convert();
    REQUIRE(g.nodes.size() == 3);
    CHECK(g.nodes[0].outputs.size() == 2);
    CHECK(g.values[g.nodes[0].outputs[1]].name == "indices");
    CHECK(g.values[g.nodes[0].outputs[1]].type.dtype == dtype::int64);
    CHECK(g.nodes[1].outputs.size() == 2);
    CHECK(g.values[g.nodes[1].outputs[1]].type.shape == shape{2, 1});
    REQUIRE(g.nodes[2].outputs.size() == 3);
    CHECK(g.values[g.nodes[2].outputs[1]].name.empty()); // unused
    CHECK(g.values[g.nodes[2].outputs[2]].name == "rstd");
}

TEST_CASE("what an attribute cannot hold is refused") {
    fixture f;
    pr::argument const alpha = pr::argument::of_number(scalar::complex(1, 2)).named("alpha");
    f.output(f.add("aten::add.Tensor", {pr::tensor("self", f.x), pr::tensor("other", f.y), alpha}, {2, 3}));
    CHECK(
        contains(f.fault(), "aten::add.Tensor (argument 'alpha' is a complex number, which an attribute cannot hold"));
}

TEST_CASE("equal calls of ATen are not merged: they may be random") {
    fixture f;
    f.output(f.add("aten::bernoulli", {pr::tensor("self", f.x)}, {2, 3}));
    f.output(f.add("aten::bernoulli", {pr::tensor("self", f.x)}, {2, 3}));
    graph_data g = f.convert();
    std::deque<stored_tensor> rewritten;
    optimize(g, rewritten, {});
    CHECK(g.nodes.size() == 2);
}

TEST_CASE("Python and higher-order operators use rows of the user first, with positional arguments") {
    using namespace aton::dsl;
    static constexpr auto mine = dsl::table(
        symbolic<"_operator::mul(SymInt a, SymInt b) -> SymInt">(
            [](dsl::graph<13> g, sym_int a, sym_int b) -> dsl::value {
                return g.op<"Max">(g.to_value(a), g.to_value(b));
            }),
        symbolic<"builtins::round(SymInt a) -> SymInt">(
            [](dsl::graph<13> g, sym_int a) -> dsl::value { return g.op<"Neg">(g.to_value(a)); }),
        symbolic<"torch::sym_max(SymInt a, SymInt b) -> SymInt">(
            [](dsl::graph<13> g, sym_int, sym_int) -> dsl::value { return g.scalar(std::int64_t{7}, dtype::int64); }),
        symbolic<"higher_order::twice(Tensor x, float by) -> Tensor">(
            [](dsl::graph<13> g, dsl::value x, double by) -> dsl::value {
                if (g.context().module != "net.fc") return g.unsupported("no module");
                return g.op<"Mul">(x, by);
            }));
    fixture f;
    f.options.operators = operator_mode::standard;
    value_index const rows = f.rows();
    auto const python = [&](std::string op, std::vector<pr::argument> arguments) {
        value_index const n = f.number_value("n" + std::to_string(f.p.values.size()), pr::value_kind::sym_int);
        f.add_node(std::move(op), std::move(arguments), {n});
        return n;
    };
    value_index const product = python("_operator.mul", {pr::tensor("", rows), pr::integer("", 3)});
    value_index const rounded = python("round", {pr::tensor("", product)});
    value_index const added = python("_operator.add", {pr::tensor("", rounded), pr::integer("", 5)}); // no row of ours
    value_index const seven = python("torch.sym_max", {pr::tensor("", added), pr::integer("", 1)});
    f.output(f.add("higher_order::twice", {pr::tensor("", f.x), pr::real("", 2.5)}, {2, 3}));
    f.output(added);
    f.output(seven);
    auto const ops = [&] {
        graph_data g = f.convert();
        remove_unused(g);
        std::vector<std::string> out;
        for (graph_node const& n : g.nodes)
            if (n.op != "Constant") out.push_back(n.op);
        return out;
    };
    f.options.tables = {mine};
    CHECK(ops() == std::vector<std::string>{"Shape", "Gather", "Max", "Neg", "Add", "Mul"});
    f.options.tables = {};
    CHECK(contains(f.fault(), "higher_order::twice"));
}

} // namespace aten_nodes_test
