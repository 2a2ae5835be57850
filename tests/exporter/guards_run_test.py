#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs whose guards limit their dynamic sizes: exported by torch, converted by `aton export`, and run by ONNX Runtime with many
sizes. Inputs that ep.module() accepts must give its numbers. Inputs that it refuses because of a frozen number must be refused;
with --check-guards, all inputs that it refuses.

Usage: guards_run_test.py ATON [NAME ...]
"""
import itertools
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import logging

    import numpy as np
    import onnx
    import onnxruntime as ort
    import torch
    import torch.nn.functional as F
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ATON, *NAMES = sys.argv[1:]
OPTIONS = (("--opset", 13), ("--opset", 18), ("--opset", 23), ("--opset", 13, "--no-optimize"), ("--opset", 18, "--check-guards"))
AUTO = torch.export.Dim.AUTO
DYNAMIC = torch.export.Dim.DYNAMIC


class Case:
    """`args` makes arguments from sizes; `example` are the recorded sizes, `others` the tested ones.
    frozen: whether inputs that ep.module() refuses must be refused."""

    def __init__(self, function, dims, args, example, others, frozen=True, kwargs=None):
        self.function, self.dims, self.args, self.kwargs = function, dims, args, kwargs
        self.example, self.others, self.frozen = example, others, frozen


def rows(*sizes):
    return tuple(torch.linspace(-2, 3, math.prod(s if isinstance(s, tuple) else (s, 4))).reshape(s if isinstance(s, tuple) else (s, 4))
                 for s in sizes)


ONE = [(n,) for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13)]
TWO = [*itertools.product((3, 4, 6, 7, 12), repeat=2)]


def one(function, example, **more):
    return Case(function, ({0: AUTO},), rows, (example,), ONE, **more)


def two(function, example, **more):
    return Case(function, ({0: AUTO}, {0: AUTO}), rows, example, TWO, **more)


class Kwargs(torch.nn.Module):
    def forward(self, x, *, mask):
        return F.pad(x + mask, (1, 1), value=mask.shape[0] * 0.5)


class Nested(torch.nn.Module):
    def forward(self, d, t):
        return F.pad(d["a"], (1, 1), value=t[1][0].shape[0] / 2) + t[0].sum() + d["b"].sum()


CASES = {
    # Only one size is valid.
    "scale": one(lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], scale=1 / x.shape[0]), 5),
    "sqrt": one(lambda x: x / math.sqrt(x.shape[0] * 0.5), 5),
    "pad_value": one(lambda x: F.pad(x, (1, 1), value=x.shape[0] * 0.5), 5),
    "power": one(lambda x: F.pad(x, (1, 1), value=x.shape[0] ** 0.5), 7),
    "square": one(lambda x: F.pad(x, (1, 1), value=float(x.shape[0] * x.shape[0])), 3),
    "padded_sum": two(lambda x, y: F.pad(x + y, (1, 1), value=x.shape[0] * 0.5), (6, 6)),
    "through_equality": two(lambda x, y: F.pad(x[:2] + y[:2], (1, 1), value=0.5 * (x + y).shape[0]), (6, 6)),
    "through_relation": two(lambda x, y: x + F.pad(y[1:], (0, 0), value=y.shape[0] / 3), (6, 7)),
    "kwargs": Case(Kwargs(), {"x": {0: AUTO}, "mask": {0: AUTO}}, lambda n: (*rows(n), ), (6,), ONE, kwargs=lambda n: {"mask": rows(n)[0]}),
    "nested": Case(Nested(), ({"a": {0: AUTO}, "b": {0: AUTO}}, ({0: AUTO}, [{0: AUTO}])),
                   lambda a, b: ({"a": rows(a)[0], "b": rows((b,))[0]}, (rows(b)[0], [rows(a)[0]])), (6, 3), TWO),
    # Several sizes are valid, with the same frozen number.
    "half": one(lambda x: F.pad(x, (1, 1), value=float(x.shape[0] // 2)), 6),
    "truncated": one(lambda x: F.pad(x, (1, 1), value=float(int(x.shape[0] / 2))), 6),
    "rounded": one(lambda x: F.pad(x, (1, 1), value=round(x.shape[0] / 3) * 1.0), 7),
    "ceiling": one(lambda x: F.pad(x, (1, 1), value=math.ceil(x.shape[0] / 2) / 1.0), 7),
    "remainder": one(lambda x: F.pad(x, (1, 1), value=float(x.shape[0] % 4)), 6),
    "no_remainder": one(lambda x: F.pad(x, (1, 1), value=float(x.shape[0] % 4)), 8),
    "minimum": one(lambda x: F.pad(x, (1, 1), value=float(min(x.shape[0], 5))), 7),
    "minimum_below": one(lambda x: F.pad(x, (1, 1), value=float(min(x.shape[0], 5))), 3),
    "maximum_of_floats": one(lambda x: F.pad(x, (1, 1), value=max(0.5, x.shape[0] * 0.1)), 3),
    "product": two(lambda x, y: F.pad(x, (1, 1), value=float(x.shape[0] * y.shape[0])) + y.sum(), (6, 4)),
    "ratio": two(lambda x, y: F.pad(x, (1, 1), value=x.shape[0] / y.shape[0]) + y.sum(), (6, 3)),
    "difference_of_two": two(lambda x, y: F.pad(x, (1, 1), value=float(x.shape[0] - y.shape[0])) + y.sum(), (7, 5)),
    "sum_of_halves": two(lambda x, y: F.pad(x, (1, 1), value=float(x.shape[0] // 2 + y.shape[0] // 3)) + y.sum(), (6, 6)),
    "number": Case(lambda x, n: F.pad(x, (1, 1), value=n * 0.1) + n, ({0: AUTO}, DYNAMIC), lambda r, n: (*rows(r), n), (3, 7),
                   [*itertools.product((2, 3, 5), (5, 6, 7, 8))]),
    "view_last": one(lambda x: F.pad(x, (1, 1), value=float(x.shape[0] // 2)).reshape(-1), 6),
    "static_view_last": one(lambda x: (x.sum(0) * float(x.shape[0] // 2)).reshape(2, 2), 6),
    "input_last": one(lambda x: (x, F.pad(x, (1, 1), value=float(x.shape[0] // 2)))[1], 6),
    "several_guards": two(lambda x, y: F.pad(x, (1, 1), value=float(x.shape[0] // 2)) + F.pad(y, (1, 1), value=float(y.shape[0] // 3)).sum(), (6, 7)),
    "empty_or_more": Case(lambda x, y: torch.cat([x, y]) * float(y.shape[0] // 2), ({0: AUTO}, {0: AUTO}), rows, (4, 6), [*itertools.product((0, 2, 3), (5, 6, 7, 8))]),
    "rank_0": one(lambda x: x.sum() * float(x.shape[0] // 2), 6),
    # Branches, relations, and conditions of views: no number is frozen.
    "branch": one(lambda x: x * 2 if x.shape[0] > 4 else x, 6, frozen=False),
    "parity": one(lambda x: x * 2 if x.shape[0] % 2 == 1 else x, 5),
    "view": one(lambda x: x.reshape(-1, 2, 4).sum(1), 6, frozen=False),
    "broadcast": two(lambda x, y: torch.einsum("bi,bj->bij", x, y), (6, 6), frozen=False),
    "masked": two(lambda x, y: torch.masked.sum(x, 0, mask=y[:, :1] > 0), (6, 6), frozen=False),
    "equal": two(lambda x, y: x + y, (6, 6), frozen=False),
    "twice": two(lambda x, y: x + y[::2], (6, 12), frozen=False),
    "one_more": two(lambda x, y: x + y[1:], (6, 7), frozen=False),
    "half_of_it": two(lambda x, y: x.reshape(-1, 2, 4).sum(1) + y, (6, 3), frozen=False),
    "unlike": one(lambda x: x * 2 if x.shape[0] != 7 else x, 6, frozen=False),
}


class Named(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function


def module_of(case):
    if isinstance(case.function, torch.nn.Module):
        return case.function
    names = ", ".join(case.function.__code__.co_varnames[: case.function.__code__.co_argcount])
    space = {}
    exec(f"def forward(self, {names}): return self.function({names})", space)
    return type("Model", (Named,), {"forward": space["forward"]})(case.function)


def sessions(path):
    for level in (ort.GraphOptimizationLevel.ORT_DISABLE_ALL, ort.GraphOptimizationLevel.ORT_ENABLE_ALL):
        options = ort.SessionOptions()
        options.graph_optimization_level = level
        options.log_severity_level = 4
        yield ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def result_or_none(call):
    try:
        return call()
    except Exception:  # torch and ONNX Runtime refuse inputs in many ways
        return None


class Guards(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def export(self, case, name):
        path = pathlib.Path(self.folder.name, f"{name}.pt2")
        kwargs = case.kwargs(*case.example) if case.kwargs else None
        program = torch.export.export(module_of(case), case.args(*case.example), kwargs, dynamic_shapes=case.dims)
        torch.export.save(program, path)
        return torch.export.load(path), path

    def convert(self, path, *options):
        target = path.with_suffix(".onnx")
        run = subprocess.run([ATON, "export", path, "-o", target, *map(str, options)], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        onnx.checker.check_model(str(target), full_check=True)
        return target

    def feeds(self, session, case, sizes):
        leaves = torch.utils._pytree.tree_leaves((case.args(*sizes), case.kwargs(*sizes) if case.kwargs else {}))
        arrays = [x.numpy() if isinstance(x, torch.Tensor) else np.array(x, np.int64) for x in leaves]
        return {meta.name: array for meta, array in zip(session.get_inputs(), arrays, strict=True)}

    def check(self, name, case):
        program, path = self.export(case, name)
        module = program.module()
        expected = {}
        for sizes in [case.example, *case.others]:
            expected[sizes] = result_or_none(lambda: module(*case.args(*sizes), **(case.kwargs(*sizes) if case.kwargs else {})))
        self.assertIsNotNone(expected[case.example])
        self.assertTrue(any(result is None for result in expected.values()) or not case.frozen, "the module refuses nothing")
        for options in OPTIONS:
            target = self.convert(path, *options)
            for session in sessions(target):
                for sizes, wanted in expected.items():
                    with self.subTest(options=options, sizes=sizes):
                        found = result_or_none(lambda: session.run(None, self.feeds(session, case, sizes)))
                        if wanted is not None:
                            self.assertIsNotNone(found, "refused")
                            np.testing.assert_allclose(found[0], wanted.numpy(), rtol=1e-5, atol=1e-5)
                        if wanted is None and (case.frozen or "--check-guards" in options):
                            self.assertIsNone(found, "accepted")


def add(name, case):
    setattr(Guards, "test_" + name, lambda self: self.check(name, case))


for name, case in CASES.items():
    if not NAMES or name in NAMES:
        add(name, case)

if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    unittest.main(argv=sys.argv[:1])
