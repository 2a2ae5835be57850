# SPDX-License-Identifier: MIT
"""Small .pt2 files of every kind are exported and run: the results must equal those recorded with PyTorch.

usage: samples_test.py ATON FOLDER...

A folder contains NAME.pt2, and NAME.inputs.safetensors and NAME.outputs.safetensors with tensors "0", "1", ... in the order of the
program's user inputs and outputs. NAME.decomp.pt2 is the same model after run_decompositions(). Outputs that are not tensors are
not recorded.
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy
import onnx
import onnxruntime
from safetensors.numpy import load_file

ATON, *FOLDERS = sys.argv[1:]
OPSETS = (13, 17, 18, 20, 26)
# Samples that are refused below an opset, with a part of the message.
REFUSED = {
    "custom_op": (99, "custom_ops::foo_forward"),
    "custom_op_dyn": (99, "custom_ops::foo_forward"),
    "dtypes": (19, "float8_e4m3fn, which this opset does not accept"),
}


def samples():
    for folder in FOLDERS:
        for inputs in sorted(Path(folder).glob("*.inputs.safetensors")):
            name = inputs.name.removesuffix(".inputs.safetensors")
            for kind in ("", ".decomp"):
                if (inputs.parent / f"{name}{kind}.pt2").exists():
                    yield name, inputs.parent / f"{name}{kind}.pt2"


def export(source, target, *options):
    return subprocess.run([ATON, "export", source, "-o", target, *map(str, options)],
                          capture_output=True, text=True, check=False)


def numbered(path):
    tensors = load_file(path)
    return {int(key): tensors[key] for key in tensors}


class Samples(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def check(self, name, source, *options, opset=20):
        target = Path(self.folder.name, "model.onnx")
        target.unlink(missing_ok=True)
        run = export(source, target, "--opset", opset, *options)
        since, words = REFUSED.get(name, (0, ""))
        if opset < since:
            self.assertEqual(run.returncode, 1)
            self.assertIn(words, run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1)
            self.assertFalse(target.exists())
            return
        self.assertEqual(run.returncode, 0, run.stderr)
        onnx.checker.check_model(str(target), full_check=True)
        session = onnxruntime.InferenceSession(str(target), providers=["CPUExecutionProvider"])
        inputs = numbered(source.parent / f"{name}.inputs.safetensors")
        feeds = {meta.name: inputs[index] for index, meta in enumerate(session.get_inputs())}
        results = session.run(None, feeds)
        recorded = numbered(source.parent / f"{name}.outputs.safetensors")
        at = 0
        for index in sorted(recorded):
            expected = recorded[index]
            while results[at].dtype != expected.dtype or results[at].shape != expected.shape:
                at += 1  # an output that is not a tensor
                self.assertLess(at, len(results), f"output {index}: {expected.dtype}{expected.shape} is missing")
            numpy.testing.assert_allclose(results[at], expected, rtol=1e-5, atol=1e-5)
            at += 1

    def test_every_sample_at_every_opset(self):
        for name, source in samples():
            for opset in OPSETS:
                with self.subTest(sample=source.name, opset=opset):
                    self.check(name, source, opset=opset)

    def test_without_passes(self):
        for name, source in samples():
            with self.subTest(sample=source.name):
                self.check(name, source, "--no-optimize")

    def test_weights_in_a_file_beside(self):
        for name, source in samples():
            with self.subTest(sample=source.name):
                self.check(name, source, "--weights", "external")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
