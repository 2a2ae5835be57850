// SPDX-License-Identifier: MIT
// Damaged or malicious program JSON: wrong types, missing keys, truncation, dangling names, deep nesting. Each is refused in one line.
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "json_tree.hpp"
#include "program_json.hpp"

namespace hostile_program_test {

using namespace aton::tests;
using aton::program::program;

namespace {

constexpr std::string_view graph = "graph_module.graph.";

std::string in_graph(std::string_view rest) { return std::string(graph) + std::string(rest); }

} // namespace

TEST_CASE("messages name the position, the node, and the fix") {
    check_error(json_error_at(in_graph("nodes[0].inputs[0].arg.as_tensor.name"), R"("nobody")"),
                "hostile.pt2: node 'count2': graph_module.graph.nodes[0].inputs[0].arg.as_tensor.name: value 'nobody' "
                "is not defined before this use");
    check_error(json_error_at(in_graph("nodes[0].inputs[0].arg.as_tensor.name"), R"("relu")"),
                "value 'relu' is not defined before this use");
    check_error(json_error_at(in_graph("nodes[0].inputs[0].arg.as_tensor.name"), R"("n")"),
                "'n' is a SymInt, expected a tensor");
    check_error(json_error_at(in_graph("nodes[5].inputs[0].arg.as_sym_int.as_name"), R"("x")"),
                "'x' is a tensor, expected a SymInt");
    check_error(json_error_at(in_graph("nodes[0].inputs[2].name"), R"("alhpa")"),
                "aten::add.Tensor has no argument 'alhpa'; the nearest is 'alpha'");
    check_error(json_error_at(in_graph("nodes[0].inputs[2].name"), R"("self")"),
                "duplicate argument 'self' of aten::add.Tensor");
    check_error(json_error_at(in_graph("nodes[0].inputs[2].name"), R"("")"),
                "too many positional arguments of aten::add.Tensor");
    check_error(json_error_at(in_graph("nodes[0].inputs"), "[]"), "aten::add.Tensor requires the argument 'self'");
    check_error(json_error_at(in_graph("nodes[2].outputs"), R"([{"as_none": true}])"),
                "aten::max.dim has 2 results, but the node has 1");
    check_error(json_error_at(in_graph("nodes[1].outputs[0]"), R"({"as_tensors": [{"name": "relu"}]})"),
                "is a list, but the schema declares a single value");
    check_error(json_error_at(in_graph("nodes[3].outputs[0]"), R"({"as_tensor": {"name": "parts_0"}})"),
                "is a single value, but the schema declares a list");
    check_error(json_error_at(in_graph("nodes[2].outputs[1].as_tensor.name"), R"("x")"), "a second value named 'x'");
    check_error(json_error_at(in_graph("nodes[2].outputs[1]"), R"({"as_int": 1})"), "a result cannot be 'as_int'");
    check_error(json_error_at(in_graph("nodes[4].outputs[0].as_sym_int"), R"({"as_int": 1})"), "a result has no name");
    check_error(json_error_at(in_graph("nodes[1].name"), R"("a\nb")"), R"(found 'a\x0ab')");
    check_error(json_error_at(in_graph("nodes[8].inputs[6].arg"), R"({"as_integer": 3})"),
                "unknown kind of argument 'as_integer'");
    check_error(json_error_at(in_graph("nodes[8].inputs[6].arg"), R"({"as_int": 3, "as_float": 2})"),
                "one key, found 2 keys");
    check_error(json_error_at(in_graph("nodes[8].inputs[6].arg"), "{}"), "one key, found 0 keys");
    check_error(json_error_at(in_graph("nodes[8].inputs[6].arg.as_int"), "3.5"), "expected an integer, found a number");
    check_error(json_error_at(in_graph("nodes[8].inputs[6].arg.as_int"), "9223372036854775808"),
                "an integer of more than 63 bits");
    check_error(json_error_at(in_graph("nodes[8].inputs[23].arg.as_scalar_type"), "14"), "unknown ScalarType 14");
    check_error(json_error_at(in_graph("nodes[8].inputs[25].arg.as_memory_format"), "5"), "unknown MemoryFormat 5");
    check_error(json_error_at(in_graph("nodes[8].inputs[26].arg.as_layout"), "0"), "unknown Layout 0");
    check_error(json_error_at(in_graph("tensor_values.p_w.dtype"), "-1"),
                "graph_module.graph.tensor_values.p_w.dtype: unknown ScalarType -1");
    check_error(json_error_at(in_graph("tensor_values.p_w.sizes[1].as_int"), "-5"), "negative size -5");
    check_error(json_error_at(in_graph("tensor_values.p_w.sizes[1].as_int"), "6"),
                "'layer.w' is float32[3, 5] in the weights, but float32[3, 6] in the graph");
    check_error(json_error_at(in_graph("tensor_values.p_w.dtype"), "6"), "but float16[3, 5] in the graph");
    check_error(json_error_at(in_graph("tensor_values.p_w.strides"), "[]"), "2 sizes, but 0 strides");
    check_error(json_error_at(in_graph("tensor_values.p_w.sizes[1]"), R"({"as_expr": {"expr_str": "s0"}})"),
                "has a symbolic size, but its sizes must be constant");
    check_error(json_error_at(in_graph("tensor_values.x.sizes[0].as_expr.expr_str"), R"("Add(")"),
                "cannot parse the size expression");
    check_error(json_error_at("schema_version.major", "9"),
                "schema version 9 is not supported, only 5 to 8 are; export the model with torch 2.13 or older");
    check_error(json_error_at("schema_version.major", "4"), "export the model again with torch 2.9 or newer");
    check_error(json_error_at("range_constraints.s77.max_val", "1"),
                "range_constraints.s77: the minimum 2 is greater than the maximum 1");
    std::string const specs = "graph_module.signature.";
    check_error(json_error_at(specs + "input_specs[0].parameter.arg.name", R"("x")"),
                "names 'x', but the graph has 'p_w' here");
    check_error(json_error_at(specs + "input_specs[7].user_input.arg", R"({"as_tensor": {"name": "tok"}})"),
                "but the graph has 'x' here");
    check_error(
        json_error_at(specs + "input_specs[5]", R"({"parameter": {"arg": {"name": ""}, "parameter_name": "layer.w"}})"),
        "is a constant in the graph, not a value");
    check_error(json_error_at(specs + "input_specs[6]", R"({"constant_input": {"name": "n", "value": {"as_int": 1}}})"),
                "but the graph has 'n' here");
    check_error(
        json_error_at(specs + "input_specs[4]", R"({"buffer": {"arg": {"name": "obj"}, "buffer_name": "count"}})"),
        "is not a tensor in the graph");
    check_error(json_error_at(specs + "input_specs[8]", R"({"future": {}})"), "unknown kind of input 'future'");
    check_error(json_error_at(specs + "input_specs[0].parameter.parameter_name", R"("layer.v")"),
                "there is no such tensor");
    check_error(json_error_at(specs + "input_specs", "[]"), "the graph has 9 inputs, but the signature has 0");
    check_error(json_error_at(specs + "output_specs", "[]"), "the graph has 8 outputs, but the signature has 0");
    check_error(json_error_at(specs + "output_specs[3].user_output.arg.as_tensor.name", R"("x")"),
                "names 'x', but the graph has 'relu' here");
    check_error(json_error_at(specs + "output_specs[1].buffer_mutation.buffer_name", R"("layer.w")"),
                "the program has no input 'layer.w'");
    check_error(json_error_at(specs + "output_specs[0]", R"({"future": {"arg": {}}})"),
                "unknown kind of output 'future'");
    std::string twice(small_program);
    twice.replace(twice.find(R"("b_count": {"dtype")"), 9, R"("p_w")");
    check_error(json_error(twice), "duplicate name in this table");
}

TEST_CASE("any value of another type, any missing or duplicate key: refused, or without effect") {
    // Not read, because nothing depends on it.
    std::vector<std::string> const ignored = {"requires_grad",
                                              "storage_offset",
                                              "hint",
                                              "kind",
                                              "verifiers",
                                              "guards_code",
                                              "opset_version",
                                              "metadata",
                                              "fqn",
                                              "in_spec",
                                              "forward_arg_names",
                                              "is_single_tensor_return",
                                              "is_hop_single_tensor_return",
                                              "custom_obj_values",
                                              "minor",
                                              "signature.inputs",
                                              "signature.outputs",
                                              "class_fqn",
                                              "constant_input.value",
                                              "module_call_graph[1]",
                                              "as_nested_tensors",
                                              "as_string_to_argument",
                                              "tensor_values.p_w.device",
                                              "sym_float_values.sym_float",
                                              "sym_bool_values.gt",
                                              "user_input.arg.as_none",
                                              "user_output.arg.as_int",
                                              "user_output.arg.as_none",
                                              "graph.inputs[5].as_float"};
    auto const is_ignored = [&](std::string const& path) {
        for (std::string const& each : ignored) {
            std::size_t const at = path.find(each);
            if (at != std::string::npos && (at == 0 || path[at - 1] == '.')) return true;
        }
        return false;
    };
    // null means that an optional member is missing.
    std::vector<std::string> const optional = {"name",
                                               "index",
                                               "layout",
                                               "max_val",
                                               "min_val",
                                               "module_call_graph",
                                               "torch_version",
                                               "sym_int_values",
                                               "sym_float_values",
                                               "sym_bool_values",
                                               "range_constraints",
                                               "persistent",
                                               "treespec_namedtuple_fields",
                                               "out_spec",
                                               "signature"};
    auto const may_be_null = [&](std::string const& path) {
        for (std::string const& each : optional)
            if (path == each || (path.ends_with(each) && path[path.size() - each.size() - 1] == '.')) return true;
        return false;
    };
    json_tree t = parse_tree(small_program);
    std::vector<json_tree> others;
    for (char const* each : {"null",
                             "true",
                             "-3",
                             "2.5",
                             "1e400",
                             "\"\"",
                             "\"q\"",
                             "[]",
                             "{}",
                             "[[]]",
                             R"({"as_int": 1})",
                             R"({"name": "x"})"})
        others.push_back(each == std::string_view("1e400") ? json_tree{'n', "1e400", {}, {}} : parse_tree(each));
    int refused = 0;
    int read_anyway = 0;
    for_each_value(t, "", [&](json_tree& each, std::string const& path) {
        json_tree const before = each;
        for (json_tree const& other : others) {
            each = other;
            std::string const what = json_error(print_tree(t));
            ++(what.empty() ? read_anyway : refused);
            bool const both_bool =
                before.kind == 'v' && other.kind == 'v' && before.text != "null" && other.text != "null";
            bool const same_kind =
                (other.kind == before.kind && other.kind != 'v') || both_bool || other.text == before.text;
            bool const number_as_text = before.kind == 's' || other.kind == 's';
            if (same_kind || is_ignored(path)) continue;
            if ((other.text == "null" || before.text == "null") && may_be_null(path)) continue;
            if (path.ends_with("old_none") || path.ends_with("as_none")) continue;
            if (before.kind == 's' && other.kind == 'n' &&
                (path.find("as_float") != std::string::npos || path.find("imag") != std::string::npos))
                continue;
            if (path.find("out_spec") != std::string::npos && number_as_text) continue;
            CHECK_MESSAGE(!what.empty(), path << " as " << print_tree(other));
        }
        each = before;
        if (each.kind != 'o') return;
        for (std::size_t i = 0; i != before.values.size(); ++i) {
            drop(each, i);
            ++(json_error(print_tree(t)).empty() ? read_anyway : refused);
            each = before;
            add(each, before.keys[i], before.values[i]); // a duplicate key
            ++(json_error(print_tree(t)).empty() ? read_anyway : refused);
            each = before;
        }
    });
    CHECK(refused > 5000);
    CHECK(read_anyway > 300);
    MESSAGE(refused << " refused, " << read_anyway << " read");
}

TEST_CASE("a truncated document is refused") {
    std::size_t const end = small_program.size();
    for (std::size_t size = 0; size != end; ++size) CHECK_FALSE(json_error(small_program.substr(0, size)).empty());
    CHECK(json_error(std::string(small_program) + " \n").empty());
    CHECK_FALSE(json_error(std::string(small_program) + "]").empty());
    for (char const* each :
         {"", " ", "null", "[]", "{}", "7", "\"graph_module\"", "\xef\xbb\xbf{}", "{\"graph_module\": \"\xff\"}", "\0"})
        CHECK_FALSE(json_error(each).empty());
}

TEST_CASE("nesting is bounded") {
    auto const repeated = [](std::string_view what, int n) {
        std::string out;
        while (n-- > 0) out += what;
        return out;
    };
    check_error(json_error(repeated("[", 100000)), "the JSON");
    check_error(json_error(repeated("[", 300) + repeated("]", 300)), "is nested more than 200 levels deep");
    check_error(json_error(repeated("{\"graph_module\":", 1000) + "1" + repeated("}", 1000)), "nested");
    auto const graphs = [&](int n) {
        std::string const start =
            R"({"inputs": [], "outputs": [], "tensor_values": {}, "nodes": [{"target": "torch.ops.higher_order.wrap",
             "outputs": [], "inputs": [{"name": "", "arg": {"as_graph": {"name": "g", "graph": )";
        std::string out = R"({"schema_version": {"major": 8, "minor": 1}, "graph_module": {"graph": )";
        out += repeated(start, n);
        out += R"({"inputs": [], "outputs": [], "nodes": [], "tensor_values": {}})";
        out += repeated("}}}]}]}", n);
        return out += R"(, "signature": {"input_specs": [], "output_specs": []}}})";
    };
    program const p = read_small(graphs(16));
    CHECK(holds(p));
    CHECK(p.subgraphs.size() == 16);
    check_error(json_error(graphs(17)), "graphs are nested more than 16 levels deep");
}

TEST_CASE("reading takes linear time") {
    constexpr int count = 100000;
    json_tree t = parse_tree(R"({"schema_version": {"major": 8, "minor": 1}, "graph_module": {
        "graph": {"inputs": [{"as_tensor": {"name": "v0"}}], "outputs": [], "nodes": [], "tensor_values": {}},
        "signature": {"input_specs": [{"user_input": {"arg": {"as_tensor": {"name": "v0"}}}}], "output_specs": []}}})");
    json_tree const node = parse_tree(R"({"target": "torch.ops.aten.relu.default", "metadata": {},
        "inputs": [{"name": "self", "arg": {"as_tensor": {"name": ""}}}], "outputs": [{"as_tensor": {"name": ""}}]})");
    json_tree const meta = parse_tree(
        R"({"dtype": 7, "sizes": [{"as_expr": {"expr_str": ""}}], "strides": [{"as_int": 1}], "layout": 7})");
    json_tree& nodes = at_path(t, "graph_module.graph.nodes");
    json_tree& values = at_path(t, "graph_module.graph.tensor_values");
    for (int i = 0; i != count; ++i) {
        std::string const number = std::to_string(i);
        add(nodes, {}, node);
        at_path(nodes.values.back(), "inputs[0].arg.as_tensor.name").text = in_json(std::string("v").append(number));
        at_path(nodes.values.back(), "outputs[0].as_tensor.name").text =
            in_json(std::string("v").append(std::to_string(i + 1)));
        add(values, std::string("v").append(number), meta);
        at_path(values.values.back(), "sizes[0].as_expr.expr_str").text =
            in_json(std::string("Symbol('s").append(number).append("')"));
    }
    program const p = read_small(print_tree(t)); // quadratic: minutes
    CHECK(p.main.nodes.size() == count);
    CHECK(p.expressions.size() == count);
}

} // namespace hostile_program_test
