#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Modules that write in place, through views and to buffers: exported by torch, converted by `aton export`, run by ONNX
Runtime, and compared with eager torch, including the final values of buffers and inputs.

Usage: functionalize_run_test.py ATON [NAME ...]
"""
import copy
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import onnxruntime as ort
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import functionalize_out_cases  # noqa: E402, F401  (need torch, and add themselves to CASES)
import functionalize_program_cases  # noqa: E402, F401
import functionalize_stride_cases  # noqa: E402, F401
import functionalize_tensor_cases  # noqa: E402, F401
from functionalize_case import CASES  # noqa: E402


class Model(torch.nn.Module):
    def __init__(self, function, buffers):
        super().__init__()
        self.function = function
        for name, made in (buffers() if buffers else {}).items():
            if isinstance(made, torch.nn.Module):
                setattr(self, name, made)
            else:
                self.register_buffer(name, made)


def model_class(function, count):
    """forward() with as many named arguments as the function has."""
    names = ", ".join("abcd"[:count])
    space = {}
    exec(f"def forward(self, {names}): return self.function(self, {names})", space)
    return type("Model_" + function.__name__, (Model,), {"forward": space["forward"]})


def random_inputs(given, seed, more):
    generator = torch.Generator().manual_seed(seed)
    out = []
    for i, (shape, dtype) in enumerate(zip(given["shapes"], given["dtypes"])):
        sizes = (shape[0] + more, *shape[1:]) if i in given["dynamic"] else shape
        values = torch.rand(sizes, generator=generator, dtype=torch.float64) * (given["high"] - given["low"])
        values += given["low"]
        if not dtype.is_floating_point and dtype is not torch.bool:
            values = values.floor()
        if dtype is torch.bool:
            values = values.floor() > 0
        out.append(values.to(dtype))
    return out


def flat(results):
    return [results] if isinstance(results, torch.Tensor) else list(results)


class RunTest(unittest.TestCase):
    aton = None
    folder = None

    def export(self, name, given, model):
        torch.manual_seed(1)
        batch = {0: torch.export.Dim.DYNAMIC}
        dynamic = [batch if i in given["dynamic"] else None for i in range(len(given["shapes"]))]
        program = torch.export.export(model, tuple(random_inputs(given, 1, 0)), dynamic_shapes=dynamic)
        pt2, onnx = self.folder / f"{name}.pt2", self.folder / f"{name}.onnx"
        torch.export.save(program, pt2)
        done = subprocess.run([self.aton, "export", pt2, "-o", onnx, "--quiet"], capture_output=True, text=True)
        return done, onnx

    def check(self, name):
        given = CASES[name]
        torch.manual_seed(3)
        model = model_class(given["function"], len(given["shapes"]))(given["function"], given["buffers"])
        before = copy.deepcopy(model)
        done, onnx = self.export(name, given, model)
        if given["refused"]:
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(given["refused"], done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertFalse(onnx.exists())
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        session = ort.InferenceSession(str(onnx), providers=["CPUExecutionProvider"])
        names = [each.name for each in session.get_outputs()]
        sizes = [(1, 0), (2, 3)]
        if given["empty"]:
            sizes.append((3, -max(shape[0] for shape in given["shapes"])))
        for seed, more in sizes:
            self.compare(before, session, names, random_inputs(given, seed, more))

    def compare(self, before, session, names, inputs):
        eager = copy.deepcopy(before)
        start = {key: value.clone() for key, value in eager.state_dict().items()}
        taken = {each.name: "abcd".index(each.name) for each in session.get_inputs()}
        feeds = {name: inputs[i].clone().numpy() for name, i in taken.items()}
        computed = dict(zip(names, session.run(None, feeds)))
        given = [each.clone() for each in inputs]
        expected = flat(eager(*given))
        for name, want in zip(names, expected):
            self.same(name, computed.pop(name), want)
        # The final values of buffers and inputs: all that changed have an output, and all outputs are correct.
        ends = dict(eager.state_dict())
        ends |= {"abcd"[i]: each for i, each in enumerate(given)}
        start |= {"abcd"[i]: each for i, each in enumerate(inputs)}
        for key, want in ends.items():
            if key + ".out" in computed:
                self.same(key, computed.pop(key + ".out"), want)
            else:
                self.assertTrue(torch.equal(start[key], want), f"{key} changes, and there is no output of it")
        self.assertEqual(list(computed), [])

    def same(self, name, computed, want):
        want = want.detach().numpy()
        self.assertEqual(computed.dtype, want.dtype, name)
        self.assertEqual(computed.shape, want.shape, name)
        if want.dtype.kind != "f":
            return np.testing.assert_array_equal(computed, want, name)
        scale = max(1.0, float(np.abs(want).max(initial=0)))
        limit = 2e-3 if want.dtype == np.float16 else 1e-5
        np.testing.assert_allclose(computed, want, rtol=0, atol=limit * scale, err_msg=name)


for each in CASES:
    setattr(RunTest, "test_" + each, lambda self, name=each: self.check(name))

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    RunTest.aton = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        RunTest.folder = pathlib.Path(folder)
        wanted = [f"RunTest.test_{name}" for name in sys.argv[2:]]
        unittest.main(argv=[sys.argv[0], *wanted])
