# SPDX-License-Identifier: MIT
"""The modes of --operators on files: x * x + y after Relu with ATen nodes, which compute what PyTorch does, and what has no mapping.

usage: operator_modes_test.py ATON FOLDER      the folder with mul_add_relu.pt2 and without_mapping.pt2
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy
import onnx
from safetensors.numpy import load_file

ATON, FOLDER = sys.argv[1], Path(sys.argv[2])
# What the overloads of mul_add_relu compute.
ATEN = {"relu": lambda x: numpy.maximum(x, 0), "mul.Tensor": numpy.multiply, "add.Tensor": numpy.add}
UNMAPPED = ["poisson", "_standard_gamma"]


def overload(node):
    attributes = {a.name: a.s.decode() for a in node.attribute}
    return ".".join(filter(None, [attributes["operator"], attributes.get("overload_name")]))


class Modes(unittest.TestCase):
    def export(self, name, *options):
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder, "model.onnx")
            run = subprocess.run([ATON, "export", FOLDER / f"{name}.pt2", "-o", target, *options],
                                 capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(target.exists(), run.returncode == 0)
            if run.returncode != 0:
                return run, None
            onnx.checker.check_model(str(target), full_check=True)
            return run, onnx.load(target)

    def test_never_unless_asked_for(self):
        for options in ((), ("--operators", "standard"), ("--operators", "aten-fallback"), ("--operators", "keep")):
            _, model = self.export("mul_add_relu", *options)
            self.assertEqual([n.op_type for n in model.graph.node], ["Relu", "Mul", "Add"], options)
            self.assertEqual([o.domain for o in model.opset_import], [""], options)

    def test_aten_nodes_compute_what_pytorch_does(self):
        _, model = self.export("mul_add_relu", "--operators", "aten")
        self.assertIn(("org.pytorch.aten", 1), [(o.domain, o.version) for o in model.opset_import])
        inputs = load_file(FOLDER / "mul_add_relu.inputs.safetensors")
        values = {i.name: inputs[str(k)] for k, i in enumerate(model.graph.input)}
        for node in model.graph.node:
            self.assertEqual((node.domain, node.op_type), ("org.pytorch.aten", "ATen"))
            values[node.output[0]] = ATEN[overload(node)](*(values[name] for name in node.input))
        expected = load_file(FOLDER / "mul_add_relu.outputs.safetensors")["0"]
        numpy.testing.assert_allclose(values[model.graph.output[0].name], expected, rtol=1e-6)

    def test_the_fallback_is_for_what_has_no_mapping(self):
        _, model = self.export("without_mapping", "--operators", "aten-fallback")
        self.assertEqual([n.op_type for n in model.graph.node], ["Relu", "Mul", "Add", "ATen", "ATen"])
        self.assertEqual([overload(n) for n in model.graph.node if n.op_type == "ATen"], UNMAPPED)

    def test_otherwise_all_that_is_missing_is_named_at_once(self):
        for options in ((), ("--operators", "keep")):
            run, _ = self.export("without_mapping", *options)
            self.assertEqual(run.returncode, 1)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
            for name in UNMAPPED:
                self.assertIn(f"aten::{name} (no mapping", run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
