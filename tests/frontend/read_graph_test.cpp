// SPDX-License-Identifier: MIT
// The JSON of a program: every member of the schema is read.
#include "frontend/pt2/read_program_json.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>

#include "json_tree.hpp"
#include "program_json.hpp"

namespace read_graph_test {

using namespace aton::tests;
using aton::dtype;
using aton::scalar;
using aton::program::argument;
using aton::program::argument_kind;
using aton::program::no_value;
using aton::program::node;
using aton::program::node_kind;
using aton::program::program;
using aton::program::value;
using aton::program::value_kind;

namespace {

argument const& find_argument(program const& p, std::string_view name) {
    for (argument const& a : find_node(p, "everything").arguments)
        if (a.name == name) return a;
    FAIL(std::string(name));
    return find_node(p, "everything").arguments[0];
}

std::string const& name_of(program const& p, aton::program::value_index v) { return p.values.at(v).name; }

value const& find_value(program const& p, std::string_view name) {
    for (value const& v : p.values)
        if (v.name == name) return v;
    FAIL(std::string(name));
    return p.values[0];
}

std::string text_of(program const& p, aton::program::extent const& e) {
    return e.is_number() ? std::to_string(e.number) : to_string(p.expressions.at(e.expression));
}

std::string closed_form(program const& p, std::string_view sym_int) {
    std::optional<aton::program::extent> const& e = find_value(p, sym_int).symbolic;
    return e ? text_of(p, *e) : std::string("none");
}

} // namespace

TEST_CASE("nodes are bound to their schemas") {
    program const p = read_small(small_program);
    CHECK(holds(p));
    REQUIRE(p.main.nodes.size() == 10);
    node const& add = p.main.nodes[0];
    CHECK(add.op == "aten::add.Tensor");
    CHECK(add.kind == node_kind::aten);
    CHECK(add.schema.starts_with("aten::add.Tensor(Tensor self"));
    REQUIRE(add.arguments.size() == 3);
    CHECK(add.arguments[1].name == "other"); // had no name
    CHECK(integer_of(add.arguments[1]).has_value());
    CHECK(add.arguments[2].number.constant == scalar(0.5));
    CHECK(p.main.nodes[1].name == "relu"); // had none
    CHECK(p.main.nodes[1].op == "aten::relu");
    node const& max = find_node(p, "max_1");
    REQUIRE(max.results.size() == 2);
    CHECK(max.results[0].values.empty());
    CHECK(!max.results[0].is_list);
    CHECK(name_of(p, max.results[1].values.at(0)) == "max_1_unused_1");
    node const& split = find_node(p, "split");
    REQUIRE(split.results.size() == 1);
    CHECK(split.results[0].is_list);
    CHECK(split.results[0].values.size() == 2);
    CHECK(integer_of(split.arguments[1]) == 2);
    CHECK(find_node(p, "mul").kind == node_kind::python);
    CHECK(find_node(p, "mul").op == "_operator.mul");
    CHECK(find_node(p, "sym_float").op == "torch.sym_float");
    CHECK(find_node(p, "everything").op == "my_ops::everything");
    CHECK(find_node(p, "everything").schema.empty());
    CHECK(find_node(p, "cond").kind == node_kind::higher_order);
    CHECK(find_node(p, "cond").op == "higher_order::cond");
}

TEST_CASE("every kind of argument is read") {
    program const p = read_small(small_program);
    auto const arg = [&](std::string_view name) -> argument const& { return find_argument(p, name); };
    auto const kind = [&](std::string_view name) { return arg(name).kind; };
    auto const constant = [&](std::string_view name) {
        REQUIRE(!arg(name).number.is_computed());
        return arg(name).number.constant;
    };
    using strings = std::vector<std::string>;
    auto const texts = [&](std::string_view name) {
        strings out;
        for (aton::program::number const& n : arg(name).numbers) {
            if (n.is_computed()) out.push_back('%' + std::string(name_of(p, n.computed)));
            else if (n.constant.is_bool()) out.emplace_back(n.constant.to<bool>() ? "True" : "False");
            else out.push_back(std::to_string(n.integer().value()));
        }
        return out;
    };
    for (char const* none : {"none", "old_none", "no_tensor"}) CHECK(kind(none) == argument_kind::none);
    CHECK(kind("tensors") == argument_kind::tensors);
    CHECK(name_of(p, arg("tensors").tensors.at(1)) == "p_w");
    CHECK(kind("optional_tensors") == argument_kind::tensors);
    CHECK(arg("optional_tensors").tensors.at(0) == no_value);
    CHECK(name_of(p, arg("optional_tensors").tensors.at(1)) == "x");
    CHECK(kind("optional_tensor") == argument_kind::tensor);
    CHECK(integer_of(arg("int")) == -7);
    CHECK(texts("ints") == strings{"4", "-5", "6"});
    CHECK(constant("float") == scalar(1e-05));
    CHECK(constant("infinite") == scalar(-std::numeric_limits<double>::infinity()));
    CHECK(kind("floats") == argument_kind::numbers);
    CHECK(arg("floats").numbers.at(0).constant.is_floating());
    CHECK(std::isnan(arg("floats").numbers.at(1).constant.to<double>()));
    CHECK(constant("bool").is_bool());
    CHECK(constant("bool").to<bool>());
    CHECK(kind("bools") == argument_kind::numbers);
    CHECK(texts("bools") == strings{"True", "False", "True"});
    CHECK(kind("string") == argument_kind::text);
    CHECK(arg("string").text == "tanh");
    CHECK(arg("strings").texts == std::vector<std::string>{"a", ""});
    CHECK(kind("sym_ints") == argument_kind::numbers);
    CHECK(texts("sym_ints") == strings{"%mul", "-1", "%n"});
    CHECK(texts("plain_sym_ints") == strings{"8", "9"});
    CHECK(kind("sym_bool") == argument_kind::number);
    CHECK(arg("sym_bool").number.is_computed());
    CHECK(constant("plain_sym_bool").is_bool());
    CHECK(texts("sym_bools") == strings{"True", "%gt"});
    CHECK(name_of(p, arg("sym_float").number.computed) == "sym_float");
    CHECK(constant("plain_sym_float") == scalar(0.25));
    CHECK(kind("sym_floats") == argument_kind::numbers);
    CHECK(arg("sym_floats").numbers.at(0).constant == scalar(1.5));
    CHECK(kind("type") == argument_kind::type);
    CHECK(arg("type").type == dtype::bfloat16);
    CHECK(arg("half_complex").type == dtype::complex32);
    CHECK(kind("format") == argument_kind::tag);
    CHECK(arg("format").text == "channels_last_3d");
    CHECK(kind("layout") == argument_kind::tag);
    CHECK(arg("layout").text == "sparse_csr");
    CHECK(arg("device").text == "cuda:1");
    CHECK(arg("cpu").text == "cpu");
    CHECK(constant("complex").to<double>() == 1.5);
    CHECK(std::isinf(constant("complex").imaginary()));
    CHECK(kind("object") == argument_kind::tensor);
    CHECK(arg("inline_object").text == "an object of my.Stack");
    CHECK(kind("int_lists") == argument_kind::number_lists);
    CHECK(arg("int_lists").lengths == std::vector<std::int64_t>{2, 1});
    CHECK(texts("int_lists") == strings{"1", "2", "3"});
    CHECK(kind("float_lists") == argument_kind::number_lists);
    CHECK(arg("float_lists").numbers.at(0).constant == scalar(0.5));
    CHECK(kind("operator") == argument_kind::op);
    CHECK(arg("operator").text == "aten::add.Tensor");
    for (char const* other : {"inline_object", "nested_tensors", "dict"}) CHECK(kind(other) == argument_kind::other);
}

TEST_CASE("values have their types, and equal sizes share an expression") {
    program const p = read_small(small_program);
    value const& x = find_value(p, "x");
    CHECK(x.type == dtype::float32);
    REQUIRE(x.sizes.size() == 4);
    CHECK(text_of(p, x.sizes[0]) == "s77");
    CHECK(x.sizes[1].number == 4);
    CHECK(text_of(p, x.sizes[2]) == "s77 + 1");
    CHECK(x.sizes[3].is_number()); // Integer(6)
    CHECK(x.sizes[2] == x.strides[2]);
    CHECK(p.expressions.size() == 4);
    CHECK(find_value(p, "count2").has_type);
    CHECK(find_value(p, "count2").type == dtype::complex32);
    CHECK_FALSE(find_value(p, "relu").strided);
    CHECK_FALSE(find_value(p, "every").has_type);
    CHECK(find_value(p, "queue").kind == value_kind::custom_object);
    CHECK(find_value(p, "tok").kind == value_kind::token);
    CHECK(find_value(p, "n").kind == value_kind::sym_int);
    CHECK(closed_form(p, "n") == "u0");
    CHECK(closed_form(p, "mul") == "3*s77");
    CHECK(closed_form(p, "size") == "11");
    CHECK(find_value(p, "gt").kind == value_kind::sym_bool);
    CHECK(find_value(p, "sym_float").kind == value_kind::sym_float);
    CHECK(p.ranges.at("s77").min == 2);
    CHECK(p.ranges.at("s77").max == 1024);
    CHECK(p.ranges.at("u0").max == std::numeric_limits<std::int64_t>::max());
    CHECK(p.torch_version == "2.13.0+cpu");
}

TEST_CASE("a subgraph has its own names") {
    program const p = read_small(small_program);
    argument const& branch = find_node(p, "cond").arguments.at(1);
    CHECK(branch.kind == argument_kind::graph);
    CHECK(branch.text == "true_graph_0");
    REQUIRE(p.subgraphs.size() == 1);
    aton::program::graph const& inner = p.subgraphs.at(static_cast<std::size_t>(branch.index));
    CHECK(name_of(p, inner.inputs.at(0)) == "x");
    CHECK(p.values[inner.inputs[0]].type == dtype::float64);
    CHECK(inner.inputs[0] != find_node(p, "cond").arguments.at(2).tensor);
    CHECK(inner.nodes.at(0).arguments.at(0).tensor == inner.inputs[0]);
    CHECK(inner.outputs.at(0).tensor == inner.nodes[0].results[0].values[0]);
}

TEST_CASE("inputs and outputs are those of the signature") {
    using aton::program::input_kind;
    using aton::program::output_kind;
    program const p = read_small(small_program);
    REQUIRE(p.inputs.size() == 9);
    input_kind const kinds[] = {input_kind::parameter,
                                input_kind::buffer,
                                input_kind::buffer,
                                input_kind::constant,
                                input_kind::custom_object,
                                input_kind::baked,
                                input_kind::user,
                                input_kind::user,
                                input_kind::token};
    char const* targets[] = {"layer.w", "count", "cache", "lifted", "queue_object", "scale", "n", "x", "tok"};
    for (std::size_t i = 0; i != 9; ++i) {
        CHECK(p.inputs[i].kind == kinds[i]);
        CHECK(p.inputs[i].target == targets[i]);
        CHECK((p.inputs[i].value == no_value) == (i == 5));
    }
    CHECK(p.inputs[0].data.sizes == std::vector<std::int64_t>{3, 5});
    CHECK(p.inputs[1].persistent);
    CHECK_FALSE(p.inputs[2].persistent);
    CHECK(p.inputs[3].data.type == dtype::bfloat16);
    REQUIRE(p.outputs.size() == 8);
    output_kind const results[] = {output_kind::token,
                                   output_kind::buffer_mutation,
                                   output_kind::input_mutation,
                                   output_kind::user,
                                   output_kind::user,
                                   output_kind::user,
                                   output_kind::user,
                                   output_kind::loss};
    char const* keys[] = {"", "count", "x", "logits", "more.0", "more.1", "more.2", "4"};
    for (std::size_t i = 0; i != 8; ++i) {
        CHECK(p.outputs[i].kind == results[i]);
        CHECK(p.outputs[i].target == keys[i]);
    }
    CHECK(p.main.outputs[4].kind == argument_kind::number);
    CHECK(p.main.outputs[4].number.is_computed());
    CHECK(integer_of(p.main.outputs[5]) == 3);
    CHECK(p.main.outputs[6].kind == argument_kind::none);
}

TEST_CASE("the origin of a node is its module and the user's source line") {
    program const p = read_small(small_program);
    aton::program::origin const& o = p.origins.at(p.main.nodes[0].origin);
    CHECK(o.module == "layer1.0.conv");
    CHECK(o.module_type == "torch.nn.Conv2d");
    CHECK(o.source == "model.py:12 in forward");
    CHECK(o.code == "y = self.layer1(x) + 1");
    CHECK(p.main.nodes[1].origin == 0);
    CHECK(p.origins.size() == 2);
    CHECK(describe(p, p.main.nodes[0]) == "hostile.pt2: aten::add.Tensor (node count2, at model.py:12 in forward)");
    CHECK(describe(p, p.main.nodes[1]) == "hostile.pt2: aten::relu (node relu)");
    program empty;
    CHECK(describe(empty, p.main.nodes[0]) == "aten::add.Tensor (node count2)");
}

TEST_CASE("keys of outputs: dataclasses, named tuples, leading indices") {
    auto const keys = [](std::string const& treespec, std::string const& fields = "{}") {
        json_tree t = parse_tree(small_program);
        at_path(t, "graph_module.module_call_graph[0].signature.out_spec").text = in_json(treespec);
        at_path(t, "graph_module.treespec_namedtuple_fields") = parse_tree(fields);
        std::string out;
        program const p = read_small(print_tree(t));
        for (std::size_t i = 3; i != 8; ++i) out += p.outputs[i].target + ";";
        return out;
    };
    std::string const leaf = R"({"type": null, "context": null, "children_spec": []})";
    auto const leaves = [&](int n) {
        std::string out = leaf;
        while (--n > 0) out += ", " + leaf;
        return out;
    };
    auto const spec = [&](std::string const& type, std::string const& context, std::string const& children) {
        return R"({"type": ")" + type + R"(", "context": )" + context + R"(, "children_spec": [)" + children + "]}";
    };
    std::string const tuple = "builtins.tuple";
    CHECK(keys("[1, " + spec(tuple, R"("null")", leaves(5)) + "]") == ";;;;;");
    std::string const data = spec("my.Data", R"("[[\"a\", \"b\"], [\"c\"]]")", leaves(2));
    CHECK(keys("[1, " + spec(tuple, R"("null")", data + ", " + leaves(3)) + "]") == "a;b;;;;");
    CHECK(keys("[1, " + spec(tuple, R"("null")", data + ", " + data + ", " + leaf) + "]") == "0.a;0.b;1.a;1.b;;");
    std::string const pair = spec("collections.namedtuple", R"("my.Pair")", leaves(2));
    std::string const fields = R"({"my.Pair": {"field_names": ["p", "q"]}})";
    CHECK(keys("[1, " +
                   spec("collections.OrderedDict",
                        R"("[\"o\", \"k\"]")",
                        pair + ", " + spec("builtins.list", R"("null")", leaves(3))) +
                   "]",
               fields) == "o.p;o.q;k.0;k.1;k.2;");
    CHECK(keys("[1, " + spec(tuple, R"("null")", pair + ", " + leaves(3)) + "]") == ";;;;;"); // unknown fields
    CHECK(keys("[1, " + spec("collections.defaultdict", R"({"dict_context": ["r", "s", "t", "u", "v"]})", leaves(5)) +
               "]") == "r;s;t;u;v;");
    // Not parsed: no names.
    CHECK(keys("[1, " + spec("builtins.dict", R"("[\"a\", \"b\"]")", leaves(2)) + "]") == ";;;;;");
    CHECK(keys("[2, " + spec("builtins.dict", R"("[1, 2, 3, 4, 5]")", leaves(5)) + "]") == ";;;;;");
    CHECK(keys("[1, " + spec("builtins.dict", R"("[1, 2, 3")", leaves(5)) + "]") == ";;;;;");
    for (char const* damaged : {"", "[", "[]", "[1]", "[1, 2]", "[1, {}]", "{}", R"([1, {"type": "builtins.dict"}])"})
        CHECK(keys(damaged) == ";;;;;");
    std::string deep = leaf;
    for (int i = 0; i != 90; ++i) deep = spec(tuple, R"("null")", deep);
    CHECK(keys("[1, " + deep + "]") == ";;;;;");
}

TEST_CASE("older minor versions: newer members may be missing") {
    json_tree t = parse_tree(small_program);
    for (char const* key : {"sym_float_values", "custom_obj_values"}) drop(at_path(t, "graph_module.graph"), key);
    for (char const* key : {"metadata", "treespec_namedtuple_fields"}) drop(at_path(t, "graph_module"), key);
    for (char const* key : {"verifiers", "guards_code", "torch_version"}) drop(t, key);
    for (char const* node : {"graph_module.graph.nodes[0]", "graph_module.graph.nodes[9]"})
        drop(at_path(t, node), "name");
    program const p = read_small(print_tree(t));
    CHECK(p.main.nodes[0].name == "count2");
    CHECK(p.main.nodes[9].name == "tok2");
    for (char const* major : {"5", "6", "7"}) CHECK(json_error_at("schema_version.major", major).empty());
    CHECK(json_error_at("schema_version.minor", "999").empty());
}

TEST_CASE("bare Infinity and NaN of torch 2.4 to 2.6, and sizes in the old spelling") {
    std::string json(small_program);
    auto const replace = [&](std::string_view from, std::string_view to) {
        std::size_t const at = json.find(from);
        REQUIRE(at != std::string::npos);
        json.replace(at, from.size(), to);
    };
    replace(R"("-Infinity")", "-Infinity");
    replace(R"("NaN")", "NaN");
    replace(R"("max_val": 1024)", R"("max_val": Infinity)");
    replace(R"("min_val": 0)", R"("min_val": -Infinity)");
    replace(R"("as_string": "tanh")", R"("as_string": "NaN \"Infinity, \\")");
    replace("Mul(Integer(3), Symbol('s77'))", "3*s77");
    replace("Add(Symbol('s77'), Integer(1))", "s77 + 1");
    program const p = read_small(json);
    CHECK(find_argument(p, "infinite").number.constant == scalar(-std::numeric_limits<double>::infinity()));
    CHECK(std::isnan(find_argument(p, "floats").numbers.at(1).constant.to<double>()));
    CHECK(find_argument(p, "string").text == "NaN \"Infinity, \\");
    CHECK(p.ranges.at("s77").max == std::numeric_limits<std::int64_t>::max());
    CHECK(text_of(p, find_value(p, "x").sizes[2]) == "s77 + 1");
    CHECK(p.expressions.size() == 4);
    CHECK(aton::pt2::quote_bare_numbers(R"({"a": [1, "Infinity"]})").empty());
    CHECK(aton::pt2::quote_bare_numbers("[NaN,-Infinity]") == R"(["NaN","-Infinity"])");
    replace("-Infinity", "-Infinite");
    CHECK_FALSE(json_error(json).empty());
}

} // namespace read_graph_test
