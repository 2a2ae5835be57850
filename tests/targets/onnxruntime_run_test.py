#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""aton export --target onnxruntime: programs of bfloat16, float16, float64 and of small integers, exported by torch, load in ONNX Runtime
and give torch's numbers, or are refused by name. Without the target there is a warning exactly where the model does not load.

Usage: onnxruntime_run_test.py ATON
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import logging

    import ml_dtypes
    import numpy as np
    import onnx
    import torch
    import torch.nn.functional as F
    from torch._higher_order_ops.while_loop import while_loop
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
import engines

ATON = sys.argv[1]
OPSETS = (13, 20, 26)
TOLERANCES = {torch.bfloat16: 2e-2, torch.float16: 4e-3, torch.float64: 1e-9}



def weight(x, *sizes):
    return torch.linspace(-1, 1, int(np.prod(sizes)), dtype=torch.float64).reshape(sizes).to(x.dtype)


# Of one input (2, 3, 6, 8), whose dtype varies.
FLOATS = {
    "linear": lambda x: F.linear(x, weight(x, 5, 8), weight(x, 5)),
    "addmm": lambda x: torch.addmm(weight(x, 5), x[0, 0], weight(x, 8, 5), beta=0.5, alpha=2),
    "batch_norm": lambda x: F.batch_norm(x, weight(x, 3), weight(x, 3) + 2, weight(x, 3), weight(x, 3)),
    "group_norm": lambda x: F.group_norm(x, 3, weight(x, 3), weight(x, 3)),
    "layer_norm": lambda x: F.layer_norm(x, (8,), weight(x, 8), weight(x, 8)),
    "pad": lambda x: F.pad(x, (1, 2, 0, 1), mode="reflect") + F.pad(x, (2, 1, 1, 0), value=1.5),
    "argmax": lambda x: (x.argmax(3), x.argmin(1)),
    "remainder": lambda x: torch.fmod(x, 0.75),
    "triangles": lambda x: x.tril(1) + 2 * x.triu(),
    "cumulative": lambda x: x.cumsum(1) + x.cumprod(0),
    "not_numbers": lambda x: (x / (x - x)).isnan() | (1 / (x - x)).isinf(),
    "softmax": lambda x: x.softmax(3) + x.log_softmax(1),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x, scale=0.3),
    "scatters": lambda x: x[0, 0].index_reduce(0, torch.tensor([1, 1, 4]), x[0, 1, :3], "amax") + x[1, 0].scatter_add(1, x[0, 0].argsort(1), x[0, 2]),
    "where": lambda x: torch.where(x > 0, x, -x).clamp(-0.5, 1.5) + torch.maximum(x, 2 * x),
    "reductions": lambda x: (x.sum((1, 3)), x.mean(2), x.amax(0), x.var(3), x.logsumexp(1)),
    "recurrent": lambda x: torch.relu(x[0, 0].cumsum(0)) ** 2 + x[0, 1].abs().sqrt(),
    "loop": lambda x: while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.tril() + torch.sigmoid(a)), (torch.tensor(0), x))[1],
    "branch": lambda x: torch.cond(x.sum() > 0, lambda a: a.tril() * 2, lambda a: F.pad(a, (1, 0))[..., 1:] - a, (x,)),
}
NARROW = {
    "conv": lambda x: F.conv2d(x, weight(x, 4, 3, 3, 3), weight(x, 4), stride=2, padding=1),
    "conv_transpose": lambda x: F.conv_transpose2d(x, weight(x, 3, 2, 2, 3), stride=2),
    "pools": lambda x: F.max_pool2d(x, 2) + F.avg_pool2d(x, 2) + F.adaptive_avg_pool2d(x, (3, 4)),
    "resize": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear") + F.interpolate(x, size=(12, 16), mode="nearest"),
    "activations": lambda x: F.gelu(x) + F.elu(x) + F.softplus(x) + F.hardswish(x) + F.silu(x) + F.mish(x) + F.leaky_relu(x),
    "functions": lambda x: torch.erf(x) + torch.sinh(x) + torch.atan(x) + torch.asinh(x),
    "topk": lambda x: x.topk(3, 3).values,
}
# What no kernel computes in float64; the rest is right.
REFUSED = {"conv": "Conv", "conv_transpose": "ConvTranspose", "pools": "AveragePool", "resize": "Resize", "functions": "Erf"}
INTEGERS = {
    "topk": lambda x: tuple(x.topk(3, 3, sorted=True).values for _ in range(1)),
    "unique": lambda x: x.unique(),
    "sort": lambda x: x.sort(2).values,
    "extrema": lambda x: (x.amax(1), x.amin(3), x.argmax(2)),
    "pairs": lambda x: (torch.maximum(x, x.flip(3)), torch.where(x > 2, x, x.flip(2))),
    "wraps": lambda x: (x * x * 37, x + 100, x - 90),
    "divisions": lambda x: (x // 3, x % 5),
    "triangle": lambda x: x.tril(1) + x.triu(),
    "sums": lambda x: (x.cumsum(1, dtype=x.dtype), x.sum(2, dtype=x.dtype)),
    "pad": lambda x: F.pad(x, (2, 1), value=3),
    "bits": lambda x: (x & 5, x | 9, x ^ 3),
    "nonzero": lambda x: x.nonzero(),
    "loop": lambda x: while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, torch.maximum(a.tril(), a + 1)), (torch.tensor(0), x))[1],
}
INTEGER_TYPES = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
# Not legal ONNX at opset 13, so that no target can help.
REFUSED_AT_13 = "which this opset does not"


class Program(torch.nn.Module):
    def __init__(self, function, hidden=None):
        super().__init__()
        self.function, self.hidden = function, hidden

    def forward(self, x):
        if self.hidden is None:
            return self.function(x)
        y = self.function(x.to(self.hidden))
        return torch.utils._pytree.tree_map(lambda t: t.float() if t.dtype == self.hidden else t, y)


def as_numpy(t):
    return t.view(torch.uint16).numpy().view(ml_dtypes.bfloat16) if t.dtype == torch.bfloat16 else t.numpy()


class OnnxRuntime(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.pt2, self.model = (pathlib.Path(folder.name) / name for name in ("m.pt2", "m.onnx"))

    def save(self, program, x):
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            torch.export.save(torch.export.export(program, (x,), strict=False), self.pt2)
            return [as_numpy(t.contiguous()) for t in torch.utils._pytree.tree_leaves(program(x))]

    def export(self, opset, target):
        self.model.unlink(missing_ok=True)
        done = subprocess.run([ATON, "export", self.pt2, "-o", self.model, "--opset", str(opset), "--target", target], capture_output=True, text=True)
        if done.returncode:
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        return done.stderr

    def run_model(self, x):
        model = self.model.read_bytes()
        name = onnx.load_from_string(model).graph.input[0].name
        return list(engines.run_ort(model, {name: as_numpy(x)}).values())

    def compare(self, got, expected, tolerance):
        self.assertEqual([(a.dtype, a.shape) for a in got], [(b.dtype, b.shape) for b in expected])
        for a, b in zip(got, expected):
            if a.dtype.kind in "iub":
                np.testing.assert_array_equal(a, b)
            else:
                np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), tolerance, 2 * tolerance)

    def check(self, program, x, tolerance, refused):
        expected = self.save(program, x)
        for opset in OPSETS:
            with self.subTest(opset=opset):
                said = self.export(opset, "onnxruntime")
                if not self.model.exists():
                    self.assertTrue((opset == 13 and REFUSED_AT_13 in said) or (refused and f"{refused} of float64 has no kernel" in said), said)
                    continue
                self.compare(self.run_model(x), expected, tolerance)
                said = self.export(opset, "onnx")
                try:
                    self.run_model(x)
                except engines.NoKernel:
                    self.assertIn("ONNX Runtime 1.31.1 has no kernel for", said)
                else:
                    self.assertNotIn("no kernel", said)

    def each(self, programs, types, x, hidden=False):
        for name, function in programs.items():
            for t in types:
                with self.subTest(name, dtype=t, hidden=hidden):
                    program = Program(function, t if hidden else None)
                    refused = REFUSED.get(name) if t == torch.float64 else None
                    self.check(program, x if hidden else x.to(t), TOLERANCES.get(t, 0), refused)

    def test_floats(self):
        x = torch.randn((2, 3, 6, 8), generator=torch.Generator().manual_seed(3), dtype=torch.float32)
        self.each(FLOATS, (torch.bfloat16, torch.float16), x)
        # ONNX Runtime rounds the scale of a float64 product to float32 when it fuses the two.
        self.each({name: f for name, f in FLOATS.items() if name != "attention"}, (torch.float64,), x)
        self.each(NARROW, (torch.bfloat16, torch.float16), x)
        self.each({name: NARROW[name] for name in REFUSED}, (torch.float64,), x)

    def test_hidden_floats(self):
        x = torch.randn((2, 3, 6, 8), generator=torch.Generator().manual_seed(4), dtype=torch.float32)
        self.each(FLOATS | NARROW, (torch.bfloat16,), x, hidden=True)

    def test_integers(self):
        x = torch.stack([torch.randperm(144, generator=torch.Generator().manual_seed(i)) for i in (5, 6)]).reshape(2, 3, 6, 8) % 127
        self.each(INTEGERS, INTEGER_TYPES, x)

    def test_bool(self):
        x = torch.rand((2, 3, 6, 8), generator=torch.Generator().manual_seed(7)) > 0.4
        programs = {"where": lambda x: torch.where(x, x.flip(2), x.flip(3)), "triangle": lambda x: x.tril(), "unique": lambda x: x.unique()}
        programs |= {"any": lambda x: (x.any(1), x.all(3)), "extrema": lambda x: x.amax(2), "pad": lambda x: F.pad(x, (2, 1), value=True)}
        self.each(programs, (torch.bool,), x)

    def test_weights_keep_their_dtype(self):
        x = torch.ones((3, 300), dtype=torch.bfloat16)
        self.save(torch.nn.Linear(300, 200, dtype=torch.bfloat16), x)
        self.assertEqual(self.export(20, "onnxruntime"), "")
        weights = onnx.load(self.model).graph.initializer
        self.assertIn(("weight", onnx.TensorProto.BFLOAT16), [(w.name, w.data_type) for w in weights])  # small ones are cast at export

    def test_random_numbers(self):
        x = torch.ones((3, 5), dtype=torch.bfloat16)
        self.save(Program(lambda x: x + torch.rand_like(x) + torch.randn(5, dtype=torch.float16).to(x.dtype)), x)
        self.export(21, "onnxruntime")
        self.assertEqual(self.run_model(x)[0].shape, (3, 5))
        said = self.export(22, "onnxruntime")
        self.assertIn("RandomUniformLike has no kernel at opset 22; it has one at opset 21", said)
        self.assertIn("ONNX Runtime 1.31.1 has no kernel for RandomUniformLike, RandomNormal at opset 22; it has one at opset 21", self.export(22, "onnx"))
        self.assertIn("ONNX Runtime 1.31.1 loads models up to opset 26", self.export(27, "onnx"))


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    unittest.main(argv=sys.argv[:1])
