#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Integers near 2^31, 2^53 and 2^63: programs that torch exports, with static and with dynamic sizes, are exact in ONNX Runtime, several of
whose kernels compute them through float64 or compare only halves of them (aton/onnx/integer_kernels.hpp). Where the numbers are known to
be small, the plain operator stays.

Usage: exact_integers_run_test.py ATON
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

ATON = sys.argv.pop(1)
OPSETS = (13, 18, 26)
logging.getLogger("torch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")
ort.set_default_logger_severity(4)

B = 2**53
# Rows whose sums, products and orders differ in float64 and in signed halves; no two sizes are equal.
X = torch.tensor([[B + 1, 1, 1, -3, 2**31, 5, 7], [2**62, 2**62, 2**62 + 1, 3, -(2**31) - 1, -(2**31), 2**32 - 1],
                  [-(2**63), 2**63 - 1, -1, 2**31 - 1, 2**31 + 1, 0, 6], [-B - 1, -2, 3 * B + 2, 11, 2**33 + 5, 2**33 - 2**31, 8],
                  [3037000500, 4294967295, 2147483648, 5, 9, -4294967297, -4294967296]])
Y = torch.tensor([3, -7, 2**31 + 3, 5, -B - 1, 2**62, 6])
SMALL = torch.tensor([[0, 1, 2, 41, 40, 63, 3], [5, 4, 0, 1, 62, 7, 9]])
MASK = torch.tensor([[1, 0, 1, 1, 0], [0, 0, 1, 0, 1]])

PROGRAMS = {
    "sum": (lambda x: x.sum(), X),
    "sum_of_few": (lambda x: x.sum(), torch.tensor([B + 1, 1, 1])),
    "sum_of_many": (lambda x: x.sum(-1), torch.arange(3 * 1500).reshape(3, 1500) * 2**43 + 1),
    "sum_dim": (lambda x: (x.sum(0), x.sum(1), x.sum(-1, keepdim=True), x.sum(0, keepdim=True)), X),
    "sum_of_planes": (lambda x: (x.sum(0), x.sum((0, 2)), x.sum((1, 2), keepdim=True), x.sum(1), x.sum((0, 1)), x.sum(keepdim=True, dim=(0, 1, 2))), X[:4, :6].reshape(2, 4, 3)),
    "sum_of_int32": (lambda x: (x.sum(1), x.sum(1, dtype=torch.int32)), X.to(torch.int32)),
    "sum_of_int16": (lambda x: x.sum(0, dtype=torch.int16), X.to(torch.int16)),
    "sum_of_nothing": (lambda x: (x[:, 7:].sum(1), x[:0].sum(0), x[:0].sum()), X),
    "prod": (lambda x: x.prod(), torch.tensor([B + 1, 3, 1])),
    "prod_dim": (lambda x: (x.prod(1), x.prod(0, keepdim=True), x.prod(-1, keepdim=True)), X),
    "prod_of_one": (lambda x: (x[:, :1].prod(1), x[:, 7:].prod(1)), X),
    "prod_of_int32": (lambda x: x.prod(1, dtype=torch.int32), X.to(torch.int32)),
    "power_of_3": (lambda n: 3**n, SMALL),
    "power_of_2": (lambda n: 2**n, SMALL),
    "power": (lambda x, n: x**n, X[:2], SMALL),
    "power_of_few": (lambda x: (x**2, x**7, x**0, x**65, x**1), X),
    "power_of_int8": (lambda x, n: x**n, X[:2].to(torch.int8), SMALL.to(torch.int8)),
    "power_of_int32": (lambda x, n: x**n, X[:2].to(torch.int32), SMALL.to(torch.int32)),
    "negative_power": (lambda x, n: torch.pow(x, -n), torch.tensor([[1, -1, 2, -3, 1, -1, 9]]), SMALL[:1] + 1),
    "gcd": (lambda x: torch.gcd(x, torch.tensor([6])), torch.tensor([B + 1, 3 * (B + 1), 2**62 + 3])),
    "gcd_of_two": (lambda x, y: (torch.gcd(x, y), torch.lcm(x, y)), X[3:], Y),
    "lcm": (lambda x: torch.lcm(x, torch.tensor(6)), torch.tensor([B + 1, 2**31 + 1, -B - 2])),
    "remainder": (lambda x, y: (x % y, torch.remainder(x, 7), torch.fmod(x, y), torch.fmod(x, -7)), X, Y),
    "floor_divide": (lambda x, y: (x // y, x // -3, torch.div(x, y, rounding_mode="trunc")), X, Y),
    "maximum": (lambda x, y: (torch.maximum(x, y), torch.minimum(x, y), torch.fmax(x, y)), X, Y),
    "clamp": (lambda x: (x.clamp(5), x.clamp(max=-2), x.clamp(-(2**31) - 3, 2**33), x.clamp(min=0)), X),
    "clamp_by_tensors": (lambda x, y: torch.clamp(x, min=y, max=y + 2**33), X, Y),
    "max": (lambda x: (x.max(), x.min(), x.amax(0), x.amin(1, keepdim=True), x.amax((0, 1), keepdim=True)), X),
    "max_dim": (lambda x: (*x.max(1), *x.min(0, keepdim=True), *torch.aminmax(x, dim=1)), X),
    "argmax": (lambda x: (x.argmax(1), x.argmin(), x.argmax(0, keepdim=True)), X),
    "relu": (lambda x: (F.relu(x), x.sign(), x.abs(), -x), X[:, :6]),
    "topk": (lambda x: (*x.topk(3, 1), x.sort(1).values, x.argsort(1, descending=True)), X),
    "unique": (lambda x: torch.unique(x), torch.cat([X[:2].reshape(-1), Y])),
    "searchsorted": (lambda x, y: torch.searchsorted(x.sort(1).values, y.expand(5, 7), right=True), X, Y),
    "bucketize": (lambda x: torch.bucketize(x, torch.tensor([-(2**31) - 1, 2**31, B + 1, 2**62])), X),
    "kthvalue": (lambda x: (x.kthvalue(3, 1).values, x.median(1).values), X),
    "cumsum": (lambda x: (x.cumsum(1), x.cumsum(0)), X),
    "cumprod": (lambda x: (x.cumprod(1), x.cumprod(0)), X),
    "cummax": (lambda x: (*x.cummax(1), *x.cummin(0)), X),
    "bincount": (lambda x: torch.bincount(x, minlength=9), torch.tensor([1, 5, 5, 2])),
    "weighted_bins": (lambda x: torch.zeros(4, dtype=torch.int64).index_add(0, x % 4, x), Y),
    "dot": (lambda x, y: (torch.dot(x[0], y), x @ y, torch.mv(x, y), x @ x.T), X, Y),
    "einsum": (lambda x, y: (torch.einsum("ij->i", x), torch.einsum("ij,j->", x, y), torch.einsum("ij,kj->ik", x, x), torch.einsum("ij,k->k", x, y)), X, Y),
    "einsum_of_diagonal": (lambda x: (torch.einsum("ii->", x), torch.einsum("iij->j", x[:, :, None].expand(5, 5, 3))), X[:, :5].contiguous()),
    "einsum_of_any_rank": (lambda x: (torch.einsum("...i->...", x), torch.einsum("...ij->...", x), torch.einsum("...i,...->...i", x, x[:, 0])), X),
    "trace": (lambda x: (x.trace(), x.diagonal().sum()), X),
    "tensordot": (lambda x, y: torch.tensordot(x, y, dims=1), X, Y),
    "outer": (lambda x: (torch.outer(x, x), torch.kron(x, x[:2])), Y),
    "shifts": (lambda x: (x << 3, x >> 2, x & 0xFFFFFFFF, x | 1, x ^ -1, ~x), X),
    "casts": (lambda x: (x.to(torch.int32), x.to(torch.uint8), x.double(), x.float().long().clamp(max=2**40), x.double().long()), X[3:, :6]),
    "arange": (lambda x: torch.arange(B + 1, B + 8, 3) + x, torch.tensor(1)),
    "arange_to_the_end": (lambda x: torch.arange(2**63 - 10, 2**63 - 1, 4) - x, torch.tensor(1)),
    "linspace": (lambda x: torch.linspace(0, 2**30, 5, dtype=torch.int64) + x, torch.tensor(2**53)),
    "where": (lambda x, y: torch.where(x > y, x, y), X, Y),
    "comparisons": (lambda x, y: (x == y, x < y, x >= y, x == x + 1, x.eq(B + 1)), X, Y),
    "scatter_add": (lambda x: torch.zeros(5, 3, dtype=torch.int64).scatter_add(1, (x.abs() % 3).clamp(min=0), x), X[:2]),
    "scatter_reduce": (lambda x: tuple(torch.ones(5, 3, dtype=torch.int64).scatter_reduce(1, (x & 1), x, how) for how in ("sum", "prod", "amax", "amin")), X),
    "index_add": (lambda x: x.index_add(0, torch.tensor([0, 2, 0]), x[:3]), X),
    "masked_sum": (lambda x: (x * (x > 0)).sum(1), X),
    "hash": (lambda x: ((x * 6364136223846793005 + 1442695040888963407) ^ (x >> 33)).sum(-1), X),
    "differences": (lambda x: (x.diff(dim=1).abs().sum(1), x.diff(dim=1).abs().amax(1)), X),
    "count": (lambda x: ((x > 5).sum(1), x.count_nonzero(1), (x > 5).long().sum()), X),
    "average": (lambda x: (x.sum(1) // x.shape[1], (x >> 12).double().mean(1).long()), X[:, :4]),
    "cond": (lambda x: torch.cond(x.sum() > 0, lambda y: y.sum(1), lambda y: y.amax(1), (x,)), X),
    "quotient_of_maximum": (lambda x: x.clamp(min=1) // x.amax(1, keepdim=True).clamp(min=1), X),
    "nansum": (lambda x: (torch.nansum(x, 1), x.sum_to_size(1, 7)), X),
    "all_any": (lambda x: (x.all(1), x.any(0)), X),
    "roll_and_pool": (lambda x: (x.roll(1, 1).sum(0), x.flip(0).cumsum(0)), X),
    "repeat_interleave": (lambda x: x.repeat_interleave(2, 1).sum(1), X),
    "addmm": (lambda x: (torch.addmm(x @ x.T, x, x.T), torch.addmv(x[:, 0], x, x[0])), X),
    "vander": (lambda x: torch.vander(x, 4), Y),
    "logsumexp_free_norm": (lambda x: torch.linalg.vector_norm(x.double(), 1, 1).long().sign(), X),
}

# Numbers are small, or the sizes are: what is written.
PLAIN = {
    "mask": (lambda x: (x > 0).sum(1), X, {"ReduceSum"}),
    "counts": (lambda x: (x > 0).long().sum(1).clamp(min=1), X, {"ReduceSum", "Max"}),
    "bytes": (lambda x: x.long().sum(1), MASK.to(torch.uint8), {"ReduceSum"}),
    "int32": (lambda x: x.sum(1), X.to(torch.int32), {"ReduceSum"}),
    "positions": (lambda x: (x.argmax(1) - 3).clamp(min=0) + (x > 0).cumsum(1).amax(), X, {"Max", "ReduceMax"}),
    "power": (lambda x: 2 ** (x & 15), X, {"Pow"}),
    "indices": (lambda x: torch.maximum(x.argmax(1), x.argmin(1)), X, {"Max"}),
    "one_number": (lambda x: x[0, :1].clamp(min=7) + x[1, 2].clamp(max=3), X, {"Max", "Min"}),
    "remainders": (lambda x: (x % 1000).sum(1), X, {"ReduceSum"}),
}


class Program(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


class ExactIntegers(unittest.TestCase):
    def export(self, function, inputs, opset, dynamic, *options):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "program.pt2"
            shapes = None
            if dynamic:
                shapes = (tuple({i: torch.export.Dim.AUTO for i in range(x.dim())} for x in inputs),)
            torch.export.save(torch.export.export(Program(function), inputs, dynamic_shapes=shapes), file)
            models = []
            for each in opset if isinstance(opset, tuple) else (opset,):
                made = subprocess.run([ATON, "export", file, "-o", file.with_suffix(".onnx"), "--opset", str(each), "-q", *options], capture_output=True, text=True)
                self.assertEqual(made.returncode, 0, made.stderr)
                models.append((each, onnx.load(file.with_suffix(".onnx"))))
            return models

    def compare(self, name, function, inputs, dynamic, *options):
        expected = as_tuple(function(*inputs))
        for opset, model in self.export(function, inputs, OPSETS, dynamic, *options):
            session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
            results = session.run(None, {i.name: x.numpy() for i, x in zip(session.get_inputs(), inputs)})
            for i, (result, right) in enumerate(zip(results, expected, strict=True)):
                np.testing.assert_array_equal(result, right.numpy(), f"{name} at opset {opset}, result {i}, dynamic={dynamic}")

    def test_integers_are_exact(self):
        for name, (function, *inputs) in PROGRAMS.items():
            with self.subTest(name):
                self.compare(name, function, tuple(inputs), dynamic=False)

    def test_integers_are_exact_with_dynamic_sizes(self):
        for name in ("sum", "sum_dim", "prod", "prod_dim", "power", "max", "max_dim", "clamp", "einsum", "hash", "count", "maximum", "masked_sum", "cond", "trace"):
            function, *inputs = PROGRAMS[name]
            with self.subTest(name):
                self.compare(name, function, tuple(inputs), dynamic=True)

    def test_integers_are_exact_without_optimization(self):
        for name in ("sum_dim", "prod_dim", "power_of_3", "max", "clamp", "gcd"):
            function, *inputs = PROGRAMS[name]
            with self.subTest(name):
                self.compare(name, function, tuple(inputs), False, "--no-optimize")

    def test_small_numbers_keep_the_plain_operator(self):
        for name, (function, x, operators) in PLAIN.items():
            with self.subTest(name):
                [(_, model)] = self.export(function, (x,), 20, dynamic=False)
                self.assertEqual(operators - {n.op_type for n in model.graph.node}, set())
                self.compare(name, function, (x,), dynamic=False)

    def test_one_node_sums_along_a_static_axis(self):
        for function in (lambda x: x.sum(1), lambda x: x.sum(0, keepdim=True), lambda x: x.sum(-1, keepdim=True)):
            [(_, model)] = self.export(function, (X,), 20, dynamic=False)
            self.assertEqual([n.op_type for n in model.graph.node], ["MatMul"])


if __name__ == "__main__":
    unittest.main()
