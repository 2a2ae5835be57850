# SPDX-License-Identifier: MIT
"""aton optimize: what it keeps, what it refuses, and what it must not take for constant.

usage: optimize_test.py ATON
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy
import onnx
from compare_results import difference, draw_inputs, run
from onnx import TensorProto, helper, numpy_helper

ATON = str(Path(sys.argv.pop(1)).resolve())


def tensor(name: str, array) -> TensorProto:
    return numpy_helper.from_array(numpy.asarray(array), name)


def info(name: str, dims: list | None, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, dims)


def model_of(nodes, inputs, outputs, initializers=(), opset=20, ir=10, **more) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "main", inputs, outputs, list(initializers))
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in more.pop("domains", []))]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir, **more)


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def aton(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([ATON, "optimize", *arguments], cwd=self.folder, capture_output=True, text=True, check=False, timeout=60)

    def optimize(self, model: onnx.ModelProto, *options: str, runs: bool = True) -> onnx.ModelProto:
        before, after, again = (self.folder / name for name in ("before.onnx", "after.onnx", "again.onnx"))
        before.write_bytes(model.SerializeToString())
        onnx.checker.check_model(model, full_check=runs)
        done = self.aton("before.onnx", "-o", "after.onnx", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stdout
        self.assertEqual(self.aton("after.onnx", "-o", "again.onnx", *options).returncode, 0)
        self.assertEqual(after.read_bytes(), again.read_bytes(), "another run changes it again")
        optimized = onnx.load(after)
        onnx.checker.check_model(optimized, full_check=runs)
        if runs:
            feeds = draw_inputs(model)
            for a, b in zip(run(before, feeds), run(after, feeds), strict=True):
                self.assertIsNone(difference(a, b))
        return optimized

    def refused(self, *arguments: str) -> str:
        done = self.aton(*arguments)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertLess(len(done.stderr), 700)
        self.assertFalse((self.folder / "out.onnx").exists())
        return done.stderr


def ops(model: onnx.ModelProto) -> list[str]:
    return [n.op_type for n in model.graph.node]


class WhatIsKept(Folder):
    def test_names_documentation_and_metadata(self):
        nodes = [helper.make_node("Relu", ["x"], ["h"], name="first", doc_string="of a node"),
                 helper.make_node("Identity", ["h"], ["i"], name="copy"),
                 helper.make_node("Exp", ["i"], ["y"], name="last")]
        helper.set_model_props(model := model_of(nodes, [info("x", ["batch", 3])], [info("y", ["batch", 3])],
                                                 producer_name="someone", producer_version="7", doc_string="of the model",
                                                 model_version=5, domain="org.example"), {"license": "none"})
        model.graph.doc_string = "of the graph"
        model.graph.node[0].metadata_props.add(key="layer", value="3")
        model.graph.value_info.append(info("h", ["batch", 3]))
        after = self.optimize(model)
        self.assertEqual(ops(after), ["Relu", "Exp"])
        del model.graph.node[1]
        model.graph.node[1].input[0] = "h"
        self.assertEqual(after, model)

    def test_outputs_that_are_equal_or_are_inputs(self):
        nodes = [helper.make_node("Identity", ["x"], ["same"]), helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Neg", ["x"], ["b"])]
        outputs = [info(name, [2]) for name in ("same", "a", "b")]
        after = self.optimize(model_of(nodes, [info("x", [2])], outputs))
        self.assertEqual([o.name for o in after.graph.output], ["same", "a", "b"])

    def test_a_value_to_keep(self):
        nodes = [helper.make_node("Identity", ["x"], ["wanted"]), helper.make_node("Exp", ["wanted"], ["y"])]
        model = model_of(nodes, [info("x", [2])], [info("y", [2])])
        self.assertEqual(ops(self.optimize(model)), ["Exp"])
        after = self.optimize(model, "--keep", "wanted")
        self.assertIn("wanted", [name for n in after.graph.node for name in n.output])
        self.assertEqual(len(after.graph.output), 1)
        self.assertIn("did you mean 'wanted'?", self.refused("before.onnx", "-o", "out.onnx", "--keep", "wantde"))

    def test_functions_and_operators_of_other_domains(self):
        body = [helper.make_node("Identity", ["a"], ["t"]), helper.make_node("Neg", ["t"], ["b"])]
        function = helper.make_function("org.example", "Negate", ["a"], ["b"], body, [helper.make_opsetid("", 20)])
        nodes = [helper.make_node("Negate", ["x"], ["p"], domain="org.example"), helper.make_node("Negate", ["x"], ["q"], domain="org.example"),
                 helper.make_node("Add", ["p", "q"], ["y"])]
        model = model_of(nodes, [info("x", [3])], [info("y", [3])], domains=["org.example"], functions=[function])
        after = self.optimize(model)
        self.assertEqual(after.functions, model.functions)
        self.assertEqual(ops(after), ["Negate", "Negate", "Add"])

    def test_a_function_that_redefines_an_operator(self):
        function = helper.make_function("", "Identity", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])], [helper.make_opsetid("", 20)])
        model = model_of([helper.make_node("Identity", ["x"], ["y"])], [info("x", [3])], [info("y", [3])], functions=[function])
        self.assertEqual(self.optimize(model, runs=False), model)
        self.assertIn("unchanged: it defines the operator Identity", self.said)

    def test_nested_graphs_and_what_they_capture(self):
        inner = helper.make_graph([helper.make_node("Identity", ["h"], ["i"]), helper.make_node("Mul", ["i", "two"], ["r"])], "then", [],
                                  [info("r", None)], [tensor("two", numpy.float32(2))])
        other = helper.make_graph([helper.make_node("Add", ["h", "h"], ["s"])], "else", [], [info("s", None)])
        nodes = [helper.make_node("Relu", ["x"], ["h"]), helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=other)]
        after = self.optimize(model_of(nodes, [info("x", ["n"]), info("c", [], TensorProto.BOOL)], [info("y", ["n"])]))
        self.assertEqual(ops(after), ["Relu", "If"])

    def test_weights_in_narrow_types(self):
        packed = helper.make_tensor("w", TensorProto.INT4, [64, 64], bytes(range(256)) * 8, raw=True)
        model = model_of([helper.make_node("DequantizeLinear", ["w", "s"], ["y"])], [info("x", [1])], [info("y", [64, 64])],
                         [packed, tensor("s", numpy.float32(0.5))], opset=21)
        after = self.optimize(model)
        self.assertEqual([i.raw_data for i in after.graph.initializer if i.name == "w"], [packed.raw_data])

    def test_external_data_stays_outside(self):
        w = numpy.arange(4096, dtype=numpy.float32).reshape(64, 64)
        model = model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], [info("x", [2, 64])], [info("y", [2, 64])], [tensor("w", w)])
        onnx.save(model, self.folder / "m.onnx", save_as_external_data=True, location="m.bin")
        self.assertEqual(self.aton("m.onnx", "-o", "o.onnx").returncode, 0)
        self.assertTrue((self.folder / "o.onnx.data").exists())
        self.assertTrue(numpy.array_equal(numpy_helper.to_array(onnx.load(self.folder / "o.onnx").graph.initializer[0]), w))
        self.assertEqual(self.aton("m.onnx", "-o", "r.onnx", "--weights", "reference").returncode, 0)
        named = onnx.load(self.folder / "r.onnx", load_external_data=False).graph.initializer[0]
        self.assertEqual({e.key: e.value for e in named.external_data}["location"], "m.bin")


class WhatIsNotConstant(Folder):
    def test_initializers_that_are_inputs(self):
        model = model_of([helper.make_node("Add", ["x", "bias"], ["y"])], [info("x", [2]), info("bias", [2])], [info("y", [2])],
                         [tensor("bias", numpy.zeros(2, numpy.float32))])
        self.assertEqual(ops(self.optimize(model)), ["Add"])

    def test_random_numbers(self):
        nodes = [helper.make_node("RandomNormalLike", ["x"], [name]) for name in ("a", "b")] + [helper.make_node("Sub", ["a", "b"], ["y"])]
        model = model_of(nodes, [info("x", [64])], [info("y", [64])])
        self.assertEqual(ops(self.optimize(model, runs=False)), ["RandomNormalLike", "RandomNormalLike", "Sub"])

    def test_operators_that_onnx_does_not_define(self):
        nodes = [helper.make_node("Sensor", ["x"], [name]) for name in ("a", "b")] + [helper.make_node("Sub", ["a", "b"], ["y"])]
        model = model_of(nodes, [info("x", [2])], [info("y", [2])])
        (self.folder / "before.onnx").write_bytes(model.SerializeToString())
        self.assertEqual(self.aton("before.onnx", "-o", "out.onnx").returncode, 0)
        self.assertEqual([(n.op_type, n.domain) for n in onnx.load(self.folder / "out.onnx").graph.node],
                         [("Sensor", ""), ("Sensor", ""), ("Sub", "")])

    def test_a_shape_that_is_declared_wrong(self):
        nodes = [helper.make_node("Relu", ["x"], ["h"]), helper.make_node("Shape", ["h"], ["s"]),
                 helper.make_node("ConstantOfShape", ["s"], ["y"])]
        model = model_of(nodes, [info("x", ["n"])], [info("y", ["m"])])
        model.graph.value_info.append(info("h", [1]))  # as of a trace with a batch of one
        before = self.folder / "before.onnx"
        before.write_bytes(model.SerializeToString())
        self.assertEqual(self.aton("before.onnx", "-o", "out.onnx").returncode, 0)
        self.assertEqual(run(self.folder / "out.onnx", {"x": numpy.ones(5, numpy.float32)})[0].shape, (5,))

    def test_models_of_old_versions_keep_their_inputs(self):
        nodes = [helper.make_node("Constant", [], ["c"], value=tensor("c", numpy.float32(3))), helper.make_node("Add", ["x", "w"], ["t"]),
                 helper.make_node("Mul", ["t", "c"], ["y"])]
        model = model_of(nodes, [info("x", [2]), info("w", [2])], [info("y", [2])], [tensor("w", numpy.ones(2, numpy.float32))], opset=8, ir=3)
        after = self.optimize(model)
        self.assertEqual([i.name for i in after.graph.input], ["x", "w"])
        self.assertEqual(after.ir_version, 3)

    def test_opsets_whose_operators_are_not_known(self):
        model = model_of([helper.make_node("Relu", ["x"], ["y"])], [info("x", [2])], [info("y", [2])], opset=6, ir=3)
        self.assertEqual(self.optimize(model), model)
        self.assertIn("unchanged: opset 6 is not one of 7 to ", self.said)


class Hostile(Folder):
    def external(self, location: str, dims=(64,), **entries: str) -> onnx.ModelProto:
        t = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
        for key, value in {"location": location, **entries}.items():
            t.external_data.add(key=key, value=value)
        return model_of([helper.make_node("Neg", ["w"], ["y"])], [info("x", [1])], [info("y", None)], [t])

    def refuse(self, model: onnx.ModelProto | bytes, words: str) -> None:
        content = model if isinstance(model, bytes) else model.SerializeToString()
        (self.folder / "m.onnx").write_bytes(content)
        self.assertIn(words, self.refused("m.onnx", "-o", "out.onnx"))

    def test_external_data(self):
        (self.folder / "w.bin").write_bytes(bytes(256))
        (self.folder / "link.bin").symlink_to("w.bin")
        (self.folder / "sub").symlink_to(".")
        (self.folder / "folder").mkdir()
        for location, words in (("../w.bin", "outside the model's folder"), ("/etc/passwd", "outside the model's folder"),
                                ("a/../../w.bin", "outside the model's folder"), ("", "outside the model's folder"),
                                ("link.bin", "is a symbolic link"), ("sub/w.bin", "behind a symbolic link"), ("none.bin", "no such file"),
                                ("folder", "is a folder"), ("\0cut 0", "refers to no file")):
            with self.subTest(location=location):
                self.refuse(self.external(location), words)
        self.refuse(self.external("w.bin", dims=[65]), "needs 260 bytes at offset 0")
        self.refuse(self.external("w.bin", offset="4"), "needs 256 bytes at offset 4")
        self.refuse(self.external("w.bin", offset="18446744073709551615"), "at offset 18446744073709551615")
        self.refuse(self.external("w.bin", offset="-1"), "is not a number")
        self.refuse(self.external("w.bin", length="128"), "has 128 bytes, but its sizes need 256")
        self.refuse(self.external("w.bin", dims=[1 << 40, 1 << 40]), "has invalid sizes")
        self.refuse(self.external("w.bin", dims=[1 << 50]), "bytes at offset 0")
        self.refuse(self.external("w.bin", dims=[-1]), "has invalid sizes")

    def test_graphs_that_are_none(self):
        x, y = [info("x", [2])], [info("y", [2])]
        relu = helper.make_node("Relu", ["x"], ["y"])
        self.refuse(model_of([helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])], x, [info("b", [2])]),
                    "reads 'b', which nothing before it computes")
        self.refuse(model_of([relu, relu], x, y), "defines 'y' twice")
        self.refuse(model_of([relu], x, [info("z", [2])]), "output 'z' of the graph is never computed")
        self.refuse(model_of([relu], x + x, y), "defines 'x' twice")

    def test_bytes(self):
        whole = model_of([helper.make_node("Add", ["x", "w"], ["y"])], [info("x", [2000])], [info("y", [2000])],
                         [tensor("w", numpy.ones(2000, numpy.float32))]).SerializeToString()
        self.refuse(b"", "is empty")
        self.refuse(b"PK\3\4" + bytes(100), "not an ONNX model")
        for size in (1, 20, len(whole) // 2, len(whole) - 1):
            with self.subTest(size=size):
                self.refuse(whole[:size], "not an ONNX model")
        short = model_of([helper.make_node("Add", ["x", "w"], ["y"])], [info("x", [2000])], [info("y", [2000])],
                         [TensorProto(name="w", data_type=1, dims=[1 << 40], raw_data=bytes(8000))])
        self.refuse(short, "has 8000 bytes, but its sizes need 4398046511104")
        self.assertIn("no such file", self.refused("none.onnx", "-o", "out.onnx"))


if __name__ == "__main__":
    unittest.main()
