# SPDX-License-Identifier: MIT
"""aton export --target: what it writes, and what it refuses, in one line that names the target, the operator and the source line.

usage: targets_command_test.py ATON"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import onnx

ATON = sys.argv.pop(1)
DATA = pathlib.Path("tests/data/pt2")


class Targets(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name) / "model.onnx"

    def tearDown(self):
        self.folder.cleanup()

    def run_aton(self, command, model, *options):
        output = ["-o", str(self.out)] if command == "export" else []
        done = subprocess.run([ATON, command, str(DATA / model), *output, *options], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def domains(self):
        return {node.domain for node in onnx.load(self.out).graph.node}

    def refusal(self, model, *options):
        code, said = self.run_aton("export", model, *options)
        self.assertEqual(code, 1, said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertFalse(self.out.exists())
        return said

    def test_onnxruntime_writes_operators_of_its_own(self):
        for opset in ("14", "18", "23"):
            code, said = self.run_aton("export", "sdpa.pt2", "--target", "onnxruntime", "--opset", opset)
            self.assertEqual(code, 0, said)
        model = "linear_relu_dynbatch.pt2"
        self.assertEqual(self.run_aton("export", model, "--target", "onnx")[0], 0)
        plain = self.out.read_bytes()
        self.assertEqual(self.run_aton("export", model)[0], 0)
        self.assertEqual(plain, self.out.read_bytes())
        self.assertEqual(self.domains(), {""})

    def test_the_operators_of_onnxruntime_are_imported(self):
        code, said = self.run_aton("export", "arg_kinds.pt2", "--target", "onnxruntime", "--opset", "17")
        self.assertEqual(code, 0, said)
        model = onnx.load(self.out)
        self.assertEqual([n.op_type for n in model.graph.node if n.domain], ["FastGelu"])
        self.assertEqual({i.domain: i.version for i in model.opset_import}, {"": 17, "com.microsoft": 1})
        self.assertFalse(model.functions)
        code, said = self.run_aton("export", "arg_kinds.pt2", "--target", "onnxruntime", "--opset", "17", "--no-rewrite", "onnxruntime")
        self.assertEqual(code, 0, said)
        self.assertEqual(self.domains(), {""})

    def test_tensorrt_refuses_types_and_opsets(self):
        said = self.refusal("dtypes.pt2", "--target", "tensorrt:10.1")
        self.assertIn("1 operator cannot run on TensorRT 10.1: aten::to.dtype (Cast of float8_e4m3fn is not supported; at make_tiny.py:", said)
        said = self.refusal("lstm.pt2", "--target", "tensorrt:10.1", "--opset", "23")
        self.assertIn("TensorRT 10.1 reads models of opset 9 to 20, not 23; choose one with --opset", said)
        self.assertEqual(self.run_aton("export", "lstm.pt2", "--target", "tensorrt")[0], 0)

    def test_qnn_refuses_dynamic_sizes(self):
        said = self.refusal("symbolic.pt2", "--target", "qnn")
        self.assertIn("input x (has a dimension 's77', but all sizes must be known", said)
        said = self.refusal("unbacked.pt2", "--target", "qnn")
        self.assertIn("aten::nonzero (NonZero is not supported; at make_tiny.py:", said)

    def test_what_versions_take(self):
        """Opset 23 is read from 10.15 on, and its Attention documented, with masks of rank 4."""
        for version, opset in (("10.1", 20), ("10.6", 22), ("10.15", 24), ("11.1", 24), ("11.5", 25)):
            with self.subTest(version):
                code, said = self.run_aton("export", "lstm.pt2", "--target", f"tensorrt:{version}", "--opset", str(opset))
                self.assertEqual(code, 0, said)
                self.assertEqual([each.version for each in onnx.load(self.out).opset_import], [opset])
                self.out.unlink()
                said = self.refusal("lstm.pt2", "--target", f"tensorrt:{version}", "--opset", str(opset + 1))
                self.assertIn(f"TensorRT {version} reads models of opset 9 to {opset}, not {opset + 1}", said)
        said = self.refusal("sdpa.pt2", "--target", "tensorrt:11.5", "--opset", "23")
        self.assertIn("Attention takes only attn_mask of rank 4", said)

    def ops(self, *arguments):
        done = subprocess.run([ATON, "ops", *arguments], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_ops_lists_what_a_target_runs(self):
        code, said = self.ops("--target", "tensorrt:10.1")
        self.assertEqual(code, 0, said)
        lines = said.splitlines()
        self.assertTrue(lines[0].startswith("TensorRT 10.1: opsets 9 to 20; https://github.com/onnx/onnx-tensorrt/"), lines[0])
        self.assertIn("Attention", self.ops("--target", "tensorrt")[1])
        self.assertIn("strongly typed", self.ops("--target", "tensorrt")[1].splitlines()[0])
        self.assertNotIn("Attention", said)
        found = json.loads(self.ops("--target", "tensorrt:10.1", "--json", "MaxPool")[1])
        self.assertEqual([(o["op"], o["source"]) for o in found["operators"]], [("MaxPool", "114")])
        self.assertIn("output Indices absent", found["operators"][0]["conditions"])
        code, said = self.ops("--target", "tensorrt", "MaxPol")
        self.assertEqual((code, said), (1, "aton: MaxPol: TensorRT 11.5 does not mention it; did you mean MaxPool?\n"))
        code, said = self.ops("--target", "onnxruntime")
        self.assertEqual(code, 1, said)

    def test_unconvertible_lists_what_the_target_does_not_run(self):
        code, said = self.run_aton("unconvertible", "dtypes.pt2", "--target", "tensorrt:10.1")
        self.assertEqual(code, 0, said)
        self.assertIn("aten::to.dtype", said)
        self.assertIn("Cast of float8_e4m3fn is not supported", said)
        self.assertNotIn("aten::to.dtype", self.run_aton("unconvertible", "dtypes.pt2")[1])

    def test_unknown_names(self):
        code, said = self.run_aton("export", "lstm.pt2", "--target", "tensorrr")
        self.assertEqual(code, 2, said)
        self.assertIn("no target has the name tensorrr; did you mean tensorrt?", said)


if __name__ == "__main__":
    unittest.main()
