# SPDX-License-Identifier: MIT
"""aton export --target: what it writes, and what it refuses, in one line that names the target, the operator and the source line.

usage: targets_command_test.py ATON"""
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
        said = self.refusal("dtypes.pt2", "--target", "tensorrt")
        self.assertIn("1 operator cannot run on TensorRT 10.1: aten::to.dtype (Cast of float8_e4m3fn is not supported; at make_tiny.py:", said)
        said = self.refusal("lstm.pt2", "--target", "tensorrt", "--opset", "23")
        self.assertIn("TensorRT 10.1 reads models of opset 9 to 20, not 23; choose one with --opset", said)
        self.assertEqual(self.run_aton("export", "lstm.pt2", "--target", "tensorrt")[0], 0)

    def test_npu_refuses_dynamic_sizes(self):
        said = self.refusal("symbolic.pt2", "--target", "npu")
        self.assertIn("input x (has a dimension 's77', but all sizes must be known", said)
        said = self.refusal("unbacked.pt2", "--target", "npu")
        self.assertIn("aten::nonzero (NonZero has a result whose size depends on data; at make_tiny.py:", said)

    def test_unconvertible_lists_what_the_target_does_not_run(self):
        code, said = self.run_aton("unconvertible", "dtypes.pt2", "--target", "tensorrt")
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
