#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""aton export --nan: programs that take maxima, minima, sorts and their indices, exported by torch and run by ONNX Runtime. With `exact`,
inputs with NaN give torch's results; with `fast`, inputs without NaN do, the graph has fewer nodes, and programs that use NaN as data are
exported as with `exact`. Means and medians of empty tensors are NaN in both.

Usage: nan_run_test.py ATON
"""
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

ATON = sys.argv[1]
NAN = float("nan")

# Where NaN decides: what is larger, and where it is.
EXTREMES = {
    "amax": lambda x: x.amax((0, -1), keepdim=True),
    "amin": lambda x: x.amin(1),
    "max": lambda x: x.max(),
    "max_dim": lambda x: tuple(x.max(1, keepdim=True)),
    "min_dim": lambda x: tuple(x.min(-2)),
    "aminmax": lambda x: tuple(torch.aminmax(x, dim=0)),
    "argmax": lambda x: x.argmax(1),
    "argmin": lambda x: x.argmin(),
    "sort": lambda x: tuple(x.sort(2, descending=True)),
    "argsort": lambda x: x.argsort(1),
    "topk": lambda x: tuple(x.topk(2, 1)),
    "topk_smallest": lambda x: tuple(x.topk(2, 2, largest=False)),
    "median": lambda x: tuple(x.median(1)),
    "kthvalue": lambda x: tuple(x.kthvalue(2, 1)),
    "cummax": lambda x: tuple(x.cummax(1)),
    "logsumexp": lambda x: x.logsumexp(1),
    "max_pool1d": lambda x: F.max_pool1d(x, 2, 1),
    "max_pool2d": lambda x: F.max_pool2d(x, (3, 2), (2, 1), 1, return_indices=True),
    "max_pool3d": lambda x: F.max_pool3d(x[None], (2, 2, 3), 1, (1, 0, 1), ceil_mode=True, return_indices=True),
    "dilated_max_pool": lambda x: F.max_pool2d(x, 2, 1, dilation=(2, 1)),
    "max_pool_of_all": lambda x: F.adaptive_max_pool2d(x, 1, return_indices=True),
    "adaptive_max_pool": lambda x: F.adaptive_max_pool2d(x, (2, 3), return_indices=True),
    "even_adaptive_max_pool": lambda x: F.adaptive_max_pool2d(x, (5, 2), return_indices=True),
    "scatter_amax": lambda x: x.new_zeros(3, 2, 4).scatter_reduce(1, (x.new_ones(x.shape).cumsum(1) % 2).long(), x, "amax"),
    "scatter_amin": lambda x: x.scatter_reduce(2, torch.zeros(3, 5, 2, dtype=torch.int64), -x, "amin", include_self=False),
    "largest_distance": lambda x: torch.cdist(x.float(), x.float() + 1, p=float("inf")),
}
# NaN is data: the numbers with NaN are part of what the program says.
WITH_DATA = {
    "isnan": lambda x: (x.isnan(), x.amax(1)),
    "nan_to_num": lambda x: x.nan_to_num(2.5).argmax(1),
    "nanmean": lambda x: (x.nanmean(1), x.argmax(1)),
    "fill": lambda x: torch.where(x > 1, NAN, x).amax(1),
    "masked_fill": lambda x: x.masked_fill(x < -1, NAN).argmin(2),
    "lifted": lambda x: torch.where(x > 1, torch.tensor(NAN), x).sort(1)[1],
    "unequal": lambda x: (x != x, x.topk(2, 1)[1]),
}
# Means and medians of what a mask selects, which may be nothing: NaN also where ONNX Runtime's ReduceMean gives 0.
OF_A_SELECTION = {
    "mean": lambda x: x[x > 0].mean(),
    "mean_rows": lambda x: x[x[:, 0, 0] > 0].mean((0, 2), keepdim=True),
    "mean_in_float64": lambda x: x[x > 0].mean(dtype=torch.float64),
    "mse_loss": lambda x: (lambda y: torch.nn.functional.mse_loss(y, y * 2))(x[x > 0]),
    "var": lambda x: x[x > 0].var(),
    "median": lambda x: x[x > 0].median(),
    "nanmedian": lambda x: x[x > 0].nanmedian(),
}


class Module(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def inputs(dtype, special):
    """Numbers without ties, in a tensor without equal sizes."""
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(3, 5, 4, generator=generator, dtype=torch.float64).to(dtype)
    if special:
        x[0, 1, 2] = x[0, 3, 2] = x[2, 0, 0] = x[1, 4, 3] = x[1, 4, 1] = NAN
        x[2, 2, 1] = float("-inf")
    return x


class Nan(unittest.TestCase):
    def convert(self, function, dtype, mode, opset):
        program = torch.export.export(Module(function), (inputs(dtype, False),))
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder, "m.pt2"), pathlib.Path(folder, "m.onnx")
            torch.export.save(program, source)
            subprocess.run([ATON, "export", "-q", source, "-o", target, "--nan", mode, "--opset", str(opset)], check=True)
            model = onnx.load(target)
        onnx.checker.check_model(model, full_check=True)
        return model

    def compare(self, model, function, x):
        session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        expected = function(x)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for got, wanted in zip(session.run(None, {session.get_inputs()[0].name: x.numpy()}), expected, strict=True):
            wanted = wanted.numpy()
            self.assertEqual((got.dtype, got.shape), (wanted.dtype, wanted.shape))
            np.testing.assert_allclose(got, wanted, rtol=2e-3 if x.dtype == torch.float16 else 1e-6)

    def test_means_and_medians_of_nothing(self):
        for name, function in OF_A_SELECTION.items():
            for dtype, opset, mode in ((torch.float32, 13, "fast"), (torch.float16, 20, "exact")):
                with self.subTest(name=name, dtype=dtype):
                    model = self.convert(function, dtype, mode, opset)
                    x = inputs(dtype, False)
                    self.compare(model, function, x)
                    self.compare(model, function, -x.abs())

    def test_exact(self):
        for name, function in EXTREMES.items():
            for dtype in (torch.float32, torch.float64, torch.float16):
                if name == "logsumexp" and dtype == torch.float16:
                    continue  # ONNX Runtime has no ReduceLogSumExp for float16
                for opset in (13, 20):
                    with self.subTest(name=name, dtype=dtype, opset=opset):
                        model = self.convert(function, dtype, "exact", opset)
                        self.compare(model, function, inputs(dtype, True))
                        self.compare(model, function, inputs(dtype, False))

    def test_fast(self):
        shorter = set()
        for name, function in EXTREMES.items():
            for opset in (13, 20):
                with self.subTest(name=name, opset=opset):
                    fast = self.convert(function, torch.float32, "fast", opset)
                    exact = self.convert(function, torch.float32, "exact", opset)
                    self.compare(fast, function, inputs(torch.float32, False))
                    self.assertLessEqual(len(fast.graph.node), len(exact.graph.node))
                    if len(fast.graph.node) < len(exact.graph.node):
                        shorter.add(name)
                    self.assertFalse(any(n.op_type == "IsNaN" for n in fast.graph.node))
        self.assertLessEqual({"amax", "amin", "max", "max_dim", "min_dim", "aminmax", "argmax", "argmin", "sort", "topk", "cummax"}, shorter)

    def test_signbit_reads_the_sign_of_nan_where_onnx_has_bit_cast(self):
        for dtype in (torch.float32, torch.float64, torch.float16):
            x = inputs(dtype, False)
            x[2, 1] = torch.copysign(torch.tensor([NAN, 0, NAN, 0]), torch.tensor([-1.0, -1, 1, 1])).to(dtype)
            for function in (lambda x: x.signbit(), lambda x: torch.copysign(torch.ones_like(x), x)):
                model = self.convert(function, dtype, "exact", 26)
                self.compare(model, function, x)

    def test_nan_as_data(self):
        for name, function in WITH_DATA.items():
            with self.subTest(name=name):
                fast = self.convert(function, torch.float32, "fast", 20)
                self.assertEqual(fast.graph.node, self.convert(function, torch.float32, "exact", 20).graph.node)
                self.compare(fast, function, inputs(torch.float32, True))


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    unittest.main(argv=sys.argv[:1])
