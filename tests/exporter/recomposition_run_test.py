#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rewrites of ATen calls: functions that run_decompositions() takes apart, and formulas that models write. The graph of the parts is not
larger than that of the whole, and gives torch's results in ONNX Runtime, also for infinities, NaN and values at which formulas change.

Usage: recomposition_run_test.py ATON
"""
import json
import pathlib
import re
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
OPSETS = (13, 17, 18, 20, 23)
SCALE, BIAS = torch.linspace(0.5, 2, 7), torch.linspace(-1, 1, 7)
WINDOW = torch.linspace(0.25, 1, 10)


def finite(x):
    return torch.nan_to_num(x, 0.5, 9, -8)


def variance(x):
    return x.var(-1, unbiased=False, keepdim=True)


def by_variance_and_mean(x):
    spread, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(spread + 1e-5)


# Whole functions, which run_decompositions() takes apart.
DECOMPOSED = {
    "softplus": F.softplus,
    "softplus_beta": lambda x: F.softplus(x, 2.5, 10),
    "softplus_negative_beta": lambda x: F.softplus(x, -0.5, 15),
    "mish": F.mish,
    "logsigmoid": F.logsigmoid,
    "binary_cross_entropy": lambda x: F.binary_cross_entropy_with_logits(x, torch.full((3, 5, 7), 0.25), reduction="none"),
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    "celu": lambda x: F.celu(x, 0.75),
    "celu_of_1": F.celu,
    "softshrink": lambda x: F.softshrink(x, 0.75),
    "logsumexp": lambda x: x.logsumexp(1),
    "logsumexp_of_two": lambda x: x.logsumexp((0, -1), keepdim=True),
    "nan_to_num": torch.nan_to_num,
    "nan_to_num_of_given": lambda x: torch.nan_to_num(x, 0.5, 9, -8),
    "instance_norm": F.instance_norm,
    "instance_norm_affine": lambda x: F.instance_norm(x[:, :, None] * torch.ones(2, 1), None, None, SCALE[:5], BIAS[:5], eps=0.01),
    "logit": lambda x: torch.logit(x, 1e-3),
    "stft": lambda x: torch.view_as_real(torch.stft(finite(x).reshape(3, -1), 10, 3, window=WINDOW, center=False, return_complex=True)),
    "stft_of_a_signal": lambda x: torch.view_as_real(
        torch.stft(finite(x).flatten(), 12, 5, 10, WINDOW, pad_mode="constant", normalized=True, onesided=False, return_complex=True)
    ),
    "logit_without_eps": torch.logit,
}
# Formulas, and the functions that they are.
WRITTEN = {
    "hard_swish_by_relu6": (lambda x: x * F.relu6(x + 3) / 6, F.hardswish),
    "hard_sigmoid_by_clamp": (lambda x: (x + 3).clamp(0, 6) / 6, F.hardsigmoid),
    "leaky_relu": (lambda x: torch.where(x > 0, x, x * 0.125), lambda x: F.leaky_relu(x, 0.125)),
    "elu": (lambda x: torch.where(x > 0, x, torch.expm1(x)), F.elu),
    "layer_norm": (
        lambda x: (x - x.mean(-1, keepdim=True)) / torch.sqrt(variance(x) + 1e-5) * SCALE + BIAS,
        lambda x: F.layer_norm(x, (7,), SCALE, BIAS),
    ),
    "layer_norm_by_rsqrt": (
        lambda x: BIAS + SCALE * ((x - x.mean(-1, keepdim=True)) * torch.rsqrt(variance(x) + 1e-5)),
        lambda x: F.layer_norm(x, (7,), SCALE, BIAS),
    ),
    "layer_norm_by_var_mean": (by_variance_and_mean, lambda x: F.layer_norm(x, (7,))),
}
# What looks alike, and is not: it must stay as it is.
DIFFERENT = {
    "unbiased": lambda x: (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + 1e-5),
    "over_another_axis": lambda x: (x - x.mean(1, keepdim=True)) / torch.sqrt(x.var(1, unbiased=False, keepdim=True) + 1e-5),
    "mean_of_another_axis": lambda x: (x - x.mean(1, keepdim=True)) / torch.sqrt(variance(x) + 1e-5),
    "large_threshold": lambda x: torch.where(x > 1e30, x, torch.log1p(torch.exp(x))),
    "another_six": lambda x: x * (x + 3).clamp(0, 6) / 5,
    "infinite_slope": lambda x: torch.where(x > 0, x, x * float("inf")),
    "bounds_of_no_logit": lambda x: (lambda y: torch.log(y / (1 - y)))(torch.where(x < 0.25, 0.25, torch.where(x > 0.5, 0.5, x))),
    "used_twice": lambda x: (lambda e: (torch.where(x > 20, x, torch.log1p(e)), e + 1))(torch.exp(x)),
}


class Whole(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def inputs(of_probability):
    x = torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(7)) * (0.4 if of_probability else 4) + (0.5 if of_probability else 0)
    special = x.clone()
    special.view(-1)[:12] = torch.tensor([0.0, -0.0, 20.0, 20.5, -100.0, 100.0, 0.75, -0.75, 3.0, -3.0, 1.0, 0.999])
    infinite = x.clone()
    infinite[0, 1, 2], infinite[1, 2], infinite[2, 0, :3] = float("inf"), -float("inf"), float("nan")
    return x, special, infinite


class Recomposition(unittest.TestCase):
    def export(self, name, function, opset, is_decomposed):
        x = torch.ones(3, 5, 7)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.export.export(Whole(function), (x,))
            program = program.run_decompositions() if is_decomposed else program
            path = pathlib.Path(self.folder.name, f"{name}_{opset}")
            torch.export.save(program, f"{path}.pt2")
        subprocess.run([ATON, "export", f"{path}.pt2", "-o", f"{path}.onnx", "--opset", str(opset), "--nan", "exact", "-q"], check=True)
        printed = subprocess.run([ATON, "print", f"{path}.onnx"], check=True, capture_output=True, text=True).stdout
        self.applied.update(re.findall(r"# rewrite::(\S+)", printed))
        return f"{path}.onnx"

    @classmethod
    def setUpClass(cls):
        cls.applied = set()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def compare(self, name, function, path):
        session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
        for i, x in enumerate(inputs("logit" in name)):
            wanted = function(x)
            wanted = wanted if isinstance(wanted, tuple) else (wanted,)
            for made, torchs in zip(session.run(None, {session.get_inputs()[0].name: x.numpy()}), wanted):
                np.testing.assert_allclose(made, torchs.numpy(), 1e-4, 2e-5, err_msg=f"{name}, input {i}")

    @staticmethod
    def count(path):
        return len(onnx.load(path).graph.node)

    def test_decomposed_functions(self):
        for name, function in DECOMPOSED.items():
            for opset in OPSETS:
                with self.subTest(name, opset=opset):
                    parts = self.export(name, function, opset, True)
                    self.compare(name, function, parts)
                    self.assertLessEqual(self.count(parts), self.count(self.export(name + "_whole", function, opset, False)))

    def test_written_functions(self):
        for name, (formula, function) in WRITTEN.items():
            for opset in OPSETS:
                with self.subTest(name, opset=opset):
                    parts = self.export(name, formula, opset, False)
                    self.compare(name, formula, parts)
                    self.assertLessEqual(self.count(parts), self.count(self.export(name + "_whole", function, opset, False)))
                    self.compare(name, formula, self.export(name + "_decomposed", formula, opset, True))

    def test_different_functions(self):
        for name, function in DIFFERENT.items():
            for is_decomposed in (False, True):
                with self.subTest(name, is_decomposed=is_decomposed):
                    self.compare(name, function, self.export(name, function, 20, is_decomposed))

    def test_every_rewrite(self):
        for name, function in DECOMPOSED.items():
            self.export(name, function, 20, True)
        for name, (formula, _) in WRITTEN.items():
            self.export(name, formula, 20, False)
        listed = json.loads(subprocess.run([ATON, "ops", "--rewrites", "--json"], check=True, capture_output=True, text=True).stdout)
        of_calls = {each["rewrite"] for each in listed if "aten::" in each["pattern"]}
        self.assertGreaterEqual(len(of_calls), 15)
        self.assertEqual(of_calls - self.applied, set())

    def test_half_precision(self):
        for name in ("softplus", "hardswish", "logsumexp", "mish"):
            with self.subTest(name):
                path = self.export(name, lambda x: DECOMPOSED[name](x.half()).float(), 20, True)
                session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
                for x in inputs(False)[:2]:
                    (made,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
                    np.testing.assert_allclose(made, DECOMPOSED[name](x.half()).float().numpy(), 2e-3, 2e-3)


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    unittest.main(argv=sys.argv[:1])
