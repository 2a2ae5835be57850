// SPDX-License-Identifier: MIT
// A small program with everything in the schema, as JSON, and the error messages for changes to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <aton/core/error.hpp>
#include <aton/program/program.hpp>

#include "frontend/pt2/read_program_json.hpp"

#include "json_tree.hpp"
#include "program_holds.hpp"

namespace aton::tests {

/// A torch.nn.Module with a parameter, three buffers and a constant; one node of every kind, one argument of every tag.
inline constexpr std::string_view small_program = R"json({
"graph_module": {
 "graph": {
  "inputs": [{"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "b_count"}}, {"as_tensor": {"name": "b_cache"}},
   {"as_tensor": {"name": "c_lifted"}}, {"as_custom_obj": {"name": "obj", "class_fqn": "my.Queue"}}, {"as_float": 2.5},
   {"as_sym_int": {"as_name": "n"}}, {"as_tensor": {"name": "x"}}, {"as_tensor": {"name": "tok"}}],
  "outputs": [{"as_tensor": {"name": "tok2"}}, {"as_tensor": {"name": "count2"}}, {"as_tensor": {"name": "relu"}},
   {"as_tensor": {"name": "relu"}}, {"as_sym_int": {"as_name": "mul"}}, {"as_int": 3}, {"as_none": true},
   {"as_tensor": {"name": "parts_0"}}],
  "nodes": [
   {"target": "torch.ops.aten.add.Tensor", "name": "count2",
    "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "b_count"}}, "kind": 1},
     {"name": "", "arg": {"as_int": 1}, "kind": 1}, {"name": "alpha", "arg": {"as_float": 0.5}, "kind": 2}],
    "outputs": [{"as_tensor": {"name": "count2"}}], "is_hop_single_tensor_return": null,
    "metadata": {"nn_module_stack": "L__self__,,__main__.Net;L__self___layer1_0,L['self'].layer1[0].conv@1,torch.nn.Conv2d",
     "stack_trace": "  File \"/home/me/model.py\", line 12, in forward\n    y = self.layer1(x) + 1\n  File \"/lib/python3/site-packages/torch/nn/functional.py\", line 99, in relu\n    return torch.relu(x)",
     "torch_fn": "add_1;method_descriptor.add"}},
   {"target": "torch.ops.aten.relu.default", "name": null,
    "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}],
    "outputs": [{"as_tensor": {"name": "relu"}}], "metadata": {}},
   {"target": "torch.ops.aten.max.dim", "name": "max_1",
    "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}, {"name": "dim", "arg": {"as_int": -1}}],
    "outputs": [{"as_none": true}, {"as_tensor": {"name": "max_1_unused_1"}}], "metadata": {}},
   {"target": "torch.ops.aten.split.Tensor", "name": "split",
    "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}, {"name": "split_size", "arg": {"as_sym_int": {"as_int": 2}}}],
    "outputs": [{"as_tensors": [{"name": "parts_0"}, {"name": "parts_1"}]}], "metadata": {}},
   {"target": "torch.ops.aten.sym_size.int", "name": "size",
    "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}, {"name": "dim", "arg": {"as_int": 0}}],
    "outputs": [{"as_sym_int": {"as_name": "size"}}], "metadata": {}},
   {"target": "_operator.mul", "name": "mul",
    "inputs": [{"name": "a", "arg": {"as_sym_int": {"as_name": "size"}}}, {"name": "b", "arg": {"as_sym_int": {"as_int": 3}}}],
    "outputs": [{"as_sym_int": {"as_name": "mul"}}], "metadata": {}},
   {"target": "torch.sym_float", "name": "sym_float",
    "inputs": [{"name": "a", "arg": {"as_sym_int": {"as_name": "mul"}}}],
    "outputs": [{"as_sym_float": {"as_name": "sym_float"}}], "metadata": {}},
   {"target": "_operator.gt", "name": "gt",
    "inputs": [{"name": "a", "arg": {"as_sym_int": {"as_name": "mul"}}}, {"name": "b", "arg": {"as_int": 4}}],
    "outputs": [{"as_sym_bool": {"as_name": "gt"}}], "metadata": {}},
   {"target": "torch.ops.my_ops.everything.default", "name": "everything",
    "inputs": [
     {"name": "none", "arg": {"as_none": true}}, {"name": "old_none", "arg": {"as_none": []}},
     {"name": "tensors", "arg": {"as_tensors": [{"name": "relu"}, {"name": "p_w"}]}},
     {"name": "optional_tensors", "arg": {"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "x"}}]}},
     {"name": "optional_tensor", "arg": {"as_optional_tensor": {"as_tensor": {"name": "x"}}}},
     {"name": "no_tensor", "arg": {"as_optional_tensor": {"as_none": true}}},
     {"name": "int", "arg": {"as_int": -7}}, {"name": "ints", "arg": {"as_ints": [4, -5, 6]}},
     {"name": "float", "arg": {"as_float": 1e-05}}, {"name": "infinite", "arg": {"as_float": "-Infinity"}},
     {"name": "floats", "arg": {"as_floats": [2, "NaN", 0.5]}},
     {"name": "bool", "arg": {"as_bool": true}}, {"name": "bools", "arg": {"as_bools": [true, false, true]}},
     {"name": "string", "arg": {"as_string": "tanh"}}, {"name": "strings", "arg": {"as_strings": ["a", ""]}},
     {"name": "sym_ints", "arg": {"as_sym_ints": [{"as_name": "mul"}, {"as_int": -1}, {"as_name": "n"}]}},
     {"name": "plain_sym_ints", "arg": {"as_sym_ints": [{"as_int": 8}, {"as_int": 9}]}},
     {"name": "sym_bool", "arg": {"as_sym_bool": {"as_name": "gt"}}},
     {"name": "plain_sym_bool", "arg": {"as_sym_bool": {"as_bool": true}}},
     {"name": "sym_bools", "arg": {"as_sym_bools": [{"as_bool": true}, {"as_name": "gt"}]}},
     {"name": "sym_float", "arg": {"as_sym_float": {"as_name": "sym_float"}}},
     {"name": "plain_sym_float", "arg": {"as_sym_float": {"as_float": 0.25}}},
     {"name": "sym_floats", "arg": {"as_sym_floats": [{"as_float": 1.5}, {"as_name": "sym_float"}]}},
     {"name": "type", "arg": {"as_scalar_type": 13}}, {"name": "half_complex", "arg": {"as_scalar_type": 9}},
     {"name": "format", "arg": {"as_memory_format": 3}}, {"name": "layout", "arg": {"as_layout": 2}},
     {"name": "device", "arg": {"as_device": {"type": "cuda", "index": 1}}},
     {"name": "cpu", "arg": {"as_device": {"type": "cpu", "index": null}}},
     {"name": "complex", "arg": {"as_complex": {"real": 1.5, "imag": "Infinity"}}},
     {"name": "object", "arg": {"as_custom_obj": {"name": "obj", "class_fqn": "my.Queue"}}},
     {"name": "inline_object", "arg": {"as_custom_obj": {"name": "_custom_obj_0", "class_fqn": "my.Stack"}}},
     {"name": "operator", "arg": {"as_operator": "torch.ops.aten.add.Tensor"}},
     {"name": "nested_tensors", "arg": {"as_nested_tensors": [[{"name": "x"}]]}},
     {"name": "int_lists", "arg": {"as_int_lists": [[1, 2], [3]]}}, {"name": "float_lists", "arg": {"as_float_lists": [[0.5]]}},
     {"name": "dict", "arg": {"as_string_to_argument": {"k": {"as_int": 1}}}}],
    "outputs": [{"as_tensor": {"name": "every"}}, {"as_custom_obj": {"name": "queue", "class_fqn": "my.Queue"}},
     {"as_optional_tensor": {"as_tensor": {"name": "maybe"}}}, {"as_optional_tensor": {"as_none": true}}], "metadata": {}},
   {"target": "torch.ops.higher_order.cond", "name": "cond",
    "inputs": [{"name": "", "arg": {"as_sym_bool": {"as_name": "gt"}}, "kind": 1},
     {"name": "", "arg": {"as_graph": {"name": "true_graph_0", "graph": {
       "inputs": [{"as_tensor": {"name": "x"}}], "outputs": [{"as_tensor": {"name": "relu"}}],
       "nodes": [{"target": "torch.ops.aten.neg.default", "name": "neg",
         "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}],
         "outputs": [{"as_tensor": {"name": "relu"}}], "metadata": {}}],
       "tensor_values": {"x": {"dtype": 8, "sizes": [], "strides": [], "storage_offset": {"as_int": 0}, "layout": 7}},
       "sym_int_values": {}, "sym_bool_values": {}}}}},
     {"name": "", "arg": {"as_tensors": [{"name": "x"}]}}],
    "outputs": [{"as_tensor": {"name": "tok2"}}], "metadata": {}, "is_hop_single_tensor_return": false}],
  "tensor_values": {
   "p_w": {"dtype": 7, "sizes": [{"as_int": 3}, {"as_int": 5}], "requires_grad": true, "device": {"type": "cpu", "index": null},
    "strides": [{"as_int": 1}, {"as_int": 3}], "storage_offset": {"as_int": 0}, "layout": 7},
   "b_count": {"dtype": 5, "sizes": [], "strides": [], "layout": 7},
   "b_cache": {"dtype": 12, "sizes": [{"as_int": 0}, {"as_int": 2}], "strides": [{"as_int": 2}, {"as_int": 1}], "layout": 7},
   "c_lifted": {"dtype": 13, "sizes": [{"as_int": 4}], "strides": [{"as_int": 1}], "layout": 7},
   "x": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Symbol('s77', positive=True, integer=True)", "hint": {"as_int": 2}}}, {"as_int": 4},
     {"as_expr": {"expr_str": "Add(Symbol('s77'), Integer(1))", "hint": null}}, {"as_expr": {"expr_str": "Integer(6)"}}],
    "strides": [{"as_int": 24}, {"as_int": 6}, {"as_expr": {"expr_str": "Add(Integer(1), Symbol('s77', positive=True))"}}, {"as_int": 1}], "layout": 7},
   "count2": {"dtype": 9, "sizes": [], "strides": [], "layout": 7},
   "relu": {"dtype": 7, "sizes": [{"as_int": 2}], "strides": [], "layout": 1}},
  "sym_int_values": {"n": {"as_expr": {"expr_str": "Symbol('u0', integer=True)"}}, "size": {"as_int": 11},
   "mul": {"as_expr": {"expr_str": "Mul(Integer(3), Symbol('s77'))"}}},
  "sym_float_values": {"sym_float": {"as_expr": {"expr_str": "ToFloat(Symbol('s77'))"}}},
  "sym_bool_values": {"gt": {"as_bool": true}}, "is_single_tensor_return": false, "custom_obj_values": {}},
 "signature": {
  "input_specs": [{"parameter": {"arg": {"name": "p_w"}, "parameter_name": "layer.w"}},
   {"buffer": {"arg": {"name": "b_count"}, "buffer_name": "count", "persistent": true}},
   {"buffer": {"arg": {"name": "b_cache"}, "buffer_name": "cache", "persistent": false}},
   {"tensor_constant": {"arg": {"name": "c_lifted"}, "tensor_constant_name": "lifted"}},
   {"custom_obj": {"arg": {"name": "obj", "class_fqn": "my.Queue"}, "custom_obj_name": "queue_object"}},
   {"constant_input": {"name": "scale", "value": {"as_float": 2.5}}},
   {"user_input": {"arg": {"as_sym_int": {"as_name": "n"}}}}, {"user_input": {"arg": {"as_tensor": {"name": "x"}}}},
   {"token": {"arg": {"name": "tok"}}}],
  "output_specs": [{"token": {"arg": {"name": "tok2"}}}, {"buffer_mutation": {"arg": {"name": "count2"}, "buffer_name": "count"}},
   {"user_input_mutation": {"arg": {"name": "relu"}, "user_input_name": "x"}},
   {"user_output": {"arg": {"as_tensor": {"name": "relu"}}}}, {"user_output": {"arg": {"as_sym_int": {"as_name": "mul"}}}},
   {"user_output": {"arg": {"as_int": 3}}}, {"user_output": {"arg": {"as_none": true}}},
   {"loss_output": {"arg": {"name": "parts_0"}}}]},
 "module_call_graph": [{"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec": "", "forward_arg_names": ["n", "x"],
   "out_spec": "[1, {\"type\": \"builtins.dict\", \"context\": \"[\\\"logits\\\", \\\"more\\\", 4]\", \"children_spec\": [{\"type\": null, \"context\": null, \"children_spec\": []}, {\"type\": \"builtins.list\", \"context\": \"null\", \"children_spec\": [{\"type\": null, \"context\": null, \"children_spec\": []}, {\"type\": null, \"context\": null, \"children_spec\": []}, {\"type\": null, \"context\": null, \"children_spec\": []}]}, {\"type\": null, \"context\": null, \"children_spec\": []}]}]"}},
  {"fqn": "layer", "signature": null}],
 "metadata": {}, "treespec_namedtuple_fields": {}},
"opset_version": {"aten": 10}, "range_constraints": {"s77": {"min_val": 2, "max_val": 1024}, "u0": {"min_val": 0, "max_val": null}},
"schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"], "torch_version": "2.13.0+cpu", "guards_code": []})json";

/// The weights of small_program.
inline stored_tensor small_weight(pt2::tensor_role role, std::string_view name) {
    stored_tensor out;
    if (name == "layer.w" && role == pt2::tensor_role::weight) out.type = dtype::float32, out.sizes = {3, 5};
    else if (name == "count" && role == pt2::tensor_role::weight) out.type = dtype::int64;
    else if (name == "cache" && role == pt2::tensor_role::constant) out.type = dtype::bool_, out.sizes = {0, 2};
    else if (name == "lifted" && role == pt2::tensor_role::constant) out.type = dtype::bfloat16, out.sizes = {4};
    else throw error("hostile.pt2: there is no such tensor");
    return out;
}

inline program::program read_small(std::string_view json) {
    program::program out = pt2::read_program_json(json, "hostile.pt2", small_weight);
    out.file = "hostile.pt2";
    return out;
}

/// Fails the test if the main graph has no node with this name.
inline program::node const& find_node(program::program const& p, std::string_view name) {
    for (program::node const& n : p.main.nodes)
        if (n.name == name) return n;
    FAIL(std::string(name));
    return p.main.nodes[0];
}

/// The error message for a document; empty if it can be read.
inline std::string json_error(std::string_view json) {
    try {
        program::program const p = read_small(json);
        CHECK(holds(p));
    } catch (error const& e) {
        std::string const what = e.what();
        CHECK(what.starts_with("hostile.pt2: "));
        CHECK(what.size() > 30);
        CHECK(what.size() < 1000);
        bool printable = true;
        for (char c : what) printable = printable && c >= ' ' && c < '\x7f';
        CHECK(printable);
        return what;
    }
    return {};
}

/// The same for small_program with another value at a path.
inline std::string json_error_at(std::string_view path, std::string const& json) {
    json_tree t = parse_tree(small_program);
    at_path(t, path) = parse_tree(json);
    return json_error(print_tree(t));
}

inline void check_error(std::string const& what, std::string_view part) {
    CHECK_MESSAGE(what.find(part) != std::string::npos, what << " should have: " << std::string(part));
}

} // namespace aton::tests
