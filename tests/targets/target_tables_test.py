# SPDX-License-Identifier: MIT
"""No file that a target accepts has what the target's source excludes. Each program of tests/ is exported for each table of data/targets,
at its newest opset, or 17; what is written is compared with the table by onnx's checker and shape inference, not by Aton's reader.

usage: target_tables_test.py ATON [FOLDER]      FOLDER: other programs than those of tests/"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import onnx

ATON = sys.argv.pop(1)
PROGRAMS = sorted(pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "tests").rglob("*.pt2"))
TABLES = sorted(pathlib.Path("data/targets").glob("*.target"))


def name_of(elem_type):
    """As the tables have it: float32, not FLOAT."""
    name = onnx.TensorProto.DataType.Name(elem_type).lower().replace("float8e4m3fn", "float8_e4m3fn").replace("float4e2m1", "float4_e2m1fn")
    return {"float": "float32", "double": "float64"}.get(name, name)


class Table:
    """The head of a table, and per operator its dtypes (None: any) and conditions as words; what the source excludes has no entry."""

    def __init__(self, path):
        self.head, self.runs = {}, {}
        for line in path.read_text().splitlines():
            if "|" in line and not line.startswith("#"):
                op, types, when, _ = (part.strip() for part in line.split("|", 3))
                self.runs.pop(op, None)
                if types != "none":
                    conditions = [words.split() for words in when.split(";") if words.strip()]
                    self.runs[op] = (None if types == "any" else set(types.split()), conditions)
            elif line and not line.startswith("#"):
                key, value = line.split(" ", 1)
                self.head[key] = value
                if key == "base":
                    base = Table(path.with_name(f"{self.head['runtime']}-{value}.target"))
                    self.head, self.runs = {**base.head, **self.head}, dict(base.runs)
        first, _, last = self.head.get("opsets", "..").partition("..")
        self.since, self.until = int(first or 1), int(last or onnx.defs.onnx_opset_version())


class Model:
    """The nodes of a file with the types of their values, those of nested graphs too."""

    def __init__(self, path):
        self.proto = onnx.shape_inference.infer_shapes(onnx.load(path))
        self.opset = next(each.version for each in self.proto.opset_import if not each.domain)
        self.nodes = []  # with the types, ranks and constants that are visible there
        self.visit(self.proto.graph, {}, {}, {})

    def visit(self, graph, types, ranks, constants):
        types, ranks, constants = dict(types), dict(ranks), dict(constants)
        for each in (*graph.input, *graph.value_info, *graph.output):
            tensor = each.type.tensor_type
            types[each.name] = tensor.elem_type
            if tensor.HasField("shape"):
                ranks[each.name] = len(tensor.shape.dim)
        for each in graph.initializer:
            types[each.name], ranks[each.name], constants[each.name] = each.data_type, len(each.dims), each
        for node in graph.node:
            attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
            if node.op_type == "Constant" and not node.domain:
                constants[node.output[0]] = attributes.get("value")
            self.nodes.append((node, attributes, types, ranks, constants))
            for value in attributes.values():
                for body in value if isinstance(value, list) else [value]:
                    if isinstance(body, onnx.GraphProto):
                        self.visit(body, types, ranks, constants)


def formal(node, opset, part, name):
    """The actual operand of a formal name."""
    schema = onnx.defs.get_schema(node.op_type, opset)
    names = [each.name for each in (schema.inputs if part == "input" else schema.outputs)]
    given = node.input if part == "input" else node.output
    return given[names.index(name)] if name in names and names.index(name) < len(given) else ""


def is_broken(condition, node, opset, attributes, types, ranks, constants):
    if condition[:2] == ["schema", "since"]:
        return str(onnx.defs.get_schema(node.op_type, opset).since_version) not in condition[2:]
    if len(condition) < 3:  # of control flow, whose words are fixed
        return False
    part, name, test, *values = condition
    if part == "attribute":
        value = attributes.get(name)
        if value is None:
            return False
        text = value.decode() if isinstance(value, bytes) else f"{value:g}" if isinstance(value, (int, float)) else ""
        return test == "absent" or (test == "is" and text not in values) or (test == "ones" and any(each != 1 for each in value))
    if part not in ("input", "output"):
        return False
    operand = formal(node, opset, part, name)
    if not operand:
        return test == "given"
    if test == "rank":
        return operand in ranks and str(ranks[operand]) not in values
    if test == "type":
        return types.get(operand, 0) != 0 and name_of(types[operand]) not in values
    return test == "absent" or (test == "constant" and operand not in constants)


def faults(model, table):
    for node, attributes, types, ranks, constants in model.nodes:
        if node.domain or node.op_type not in table.runs:
            yield f"{node.domain}::{node.op_type} is not in the table"
            continue
        allowed, conditions = table.runs[node.op_type]
        first = next((name for name in node.input if name), node.output[0])
        if allowed is not None and types.get(first, 0) != 0 and name_of(types[first]) not in allowed:
            yield f"{node.op_type} of {name_of(types[first])}"
        for condition in conditions:
            if is_broken(condition, node, model.opset, attributes, types, ranks, constants):
                yield f"{node.op_type}: {' '.join(condition)}"


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name) / "model.onnx"

    def exported(self, program, target, *options):
        self.out.unlink(missing_ok=True)
        done = subprocess.run([ATON, "export", str(program), "-o", str(self.out), "--target", target, *options], capture_output=True, timeout=60)
        return Model(self.out) if done.returncode == 0 else None

    def test_what_is_accepted_has_nothing_that_is_excluded(self):
        for path in TABLES:
            table, accepted = Table(path), 0
            for program in PROGRAMS:
                opset = str(table.until if "opsets" in table.head else 17)
                model = self.exported(program, f"{table.head['runtime']}:{table.head['version']}", "--opset", opset)
                if model is None:
                    continue
                accepted += 1
                with self.subTest(table=path.name, program=program.name):
                    self.assertTrue(table.since <= model.opset <= table.until)
                    self.assertEqual(list(faults(model, table)), [])
            self.assertGreater(accepted, len(PROGRAMS) // 8, path.name)

    def test_the_comparison_finds_what_is_excluded(self):
        """Without a target, the programs contain what the oldest table excludes."""
        table, found = Table(pathlib.Path("data/targets/tensorrt-10.1.target")), set()
        for program in PROGRAMS:
            if (model := self.exported(program, "onnx", "--opset", "20")) is not None:
                found.update(faults(model, table))
        self.assertGreater(len(found), 4, found)
        self.assertTrue(any(" of " in fault for fault in found), found)


if __name__ == "__main__":
    unittest.main()
