# SPDX-License-Identifier: MIT
"""Exports modules and programs with aton_onnx and compares ONNX Runtime's results with torch's. Exits with 77 without torch.

usage: models_test.py ATON
"""

import os
import pathlib
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
VERIFY = pathlib.Path(sys.argv[1]).resolve().parent / "aton-verify"
os.environ["ATON_COMMAND"] = str(pathlib.Path(sys.argv[1]).resolve())
sys.path.insert(0, str(REPOSITORY / "python"))
try:
    import torch
except ImportError:
    print("skipped: torch is not installed (ATON_WITH_TORCH=1)")
    sys.exit(77)

import aton_onnx  # noqa: E402
import onnxruntime  # noqa: E402
from torch import nn  # noqa: E402


class Lambda(nn.Module):
    """A module that is a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args, **kwargs):
        return self.function(*args, **kwargs)


class Tagger(nn.Module):
    """An embedding, a recurrent network and a head, with two results."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.memory = nn.GRU(6, 5, batch_first=True, bidirectional=True)
        self.head = nn.Linear(10, 3)

    def forward(self, words):
        states, last = self.memory(self.embedding(words))
        return self.head(states).log_softmax(-1), last


def models():
    """Names, modules and example inputs."""
    torch.manual_seed(20)
    x = torch.randn(2, 3, 7, 5)
    row = torch.randn(4, 6)
    yield "linear", nn.Linear(6, 5), (row,)
    yield "mlp", nn.Sequential(nn.Linear(6, 9), nn.GELU(), nn.LayerNorm(9), nn.Linear(9, 2)), (row,)
    yield "conv", nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)), (x,)
    yield "strided", nn.Conv2d(3, 6, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=3), (x,)
    yield "transposed", nn.ConvTranspose2d(3, 2, 3, stride=2, output_padding=1), (x,)
    yield "pooled", nn.Sequential(nn.AdaptiveAvgPool2d((3, 1)), nn.Flatten()), (x,)
    yield "groups", nn.Sequential(nn.GroupNorm(3, 3), nn.SiLU()), (x,)
    yield "upsampled", nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False), (x,)
    yield "attention", nn.TransformerEncoderLayer(6, 2, 11, batch_first=True), (torch.randn(2, 5, 6),)
    yield "lstm", nn.LSTM(6, 4, num_layers=2), (torch.randn(3, 2, 6),)
    yield "tagger", Tagger(), (torch.randint(0, 11, (2, 5)),)
    yield "matmul", Lambda(lambda a, b: a @ b + a.mean(-1, keepdim=True)), (torch.randn(2, 3, 4), torch.randn(4, 5))
    yield "einsum", Lambda(lambda a, b: torch.einsum("bij,kj->bki", a, b)), (torch.randn(2, 3, 4), torch.randn(5, 4))
    yield "sorted", Lambda(lambda a: tuple(torch.topk(a, 3, dim=1))), (row,)
    yield "indexed", Lambda(lambda a, i: a[i, 1:4]), (row, torch.tensor([3, 0, 3]))
    yield "masked", Lambda(lambda a: torch.where(a > 0.25, a, a.cumsum(1))), (row,)
    yield "joined", Lambda(lambda a, b: torch.cat([a, b.flip(0)], 1).unflatten(1, (2, -1))), (row, torch.randn(4, 2))
    yield "in_place", Lambda(lambda a: a.clone().mul_(2).clamp_(-1, 1.5)), (row,)
    yield "integers", Lambda(lambda a: (a // 3, a % 3, -a // 2)), (torch.arange(-7, 8),)
    yield "reduced", Lambda(lambda a: (a.var((0, 2)), a.amax(1), a.logsumexp(2))), (torch.randn(3, 4, 5),)
    yield "scattered", Lambda(lambda a, i: torch.zeros(4, 8).scatter_add(1, i, a)), (row, torch.randint(0, 8, (4, 6)))
    yield "complex", Lambda(lambda a: torch.fft.rfft(a).abs()), (row,)
    yield "bool", Lambda(lambda a: (a > 0).any(1) & ~(a > 1).all(1)), (row,)


class Models(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.output = os.path.join(self.folder.name, "model.onnx")

    def compare(self, module, inputs, path=None):
        """Runs both sides on inputs in the order of the graph."""
        with torch.no_grad():
            expected = torch.utils._pytree.tree_leaves(module(*inputs))
        session = onnxruntime.InferenceSession(path or self.output, providers=["CPUExecutionProvider"])
        names = [each.name for each in session.get_inputs()]
        self.assertEqual(len(names), len(inputs))
        results = session.run(None, {name: value.numpy() for name, value in zip(names, inputs)})
        self.assertEqual(len(results), len(expected))
        for result, truth in zip(results, expected):
            self.assertEqual(torch.from_numpy(result).dtype, truth.dtype)
            torch.testing.assert_close(torch.from_numpy(result), truth, rtol=1e-4, atol=1e-5)

    def test_modules_and_programs(self):
        count = 0
        for name, module, inputs in models():
            with self.subTest(name):
                module.eval()
                report = aton_onnx.export(module, self.output, args=inputs)
                self.compare(module, inputs)
                self.assertTrue(aton_onnx.check(self.output).ok)
                self.assertEqual(aton_onnx.check(self.output).nodes, report.nodes)
                with open(self.output, "rb") as file:
                    first = file.read()
                program = torch.export.export(module, inputs)
                aton_onnx.export(program, self.output)
                with open(self.output, "rb") as file:
                    self.assertEqual(file.read(), first)
                self.assertEqual(aton_onnx.unconvertible(program), [])
                self.assertIn("aten::", aton_onnx.print_graph(program))
                aton_onnx.export(program, self.output, opset_version=17, optimize=False)
                self.compare(module, inputs)
                count += 1
        self.assertGreaterEqual(count, 20)

    def test_dynamic_shapes(self):
        module = nn.Linear(6, 5).eval()
        shapes = {"input": {0: torch.export.Dim("rows")}}
        aton_onnx.export(module, self.output, args=(torch.randn(4, 6),), dynamic_shapes=shapes, dims={("input", 0): "n"})
        for rows in (2, 4, 9):
            self.compare(module, (torch.randn(rows, 6),))
        self.assertIn("Float(n, 6)", aton_onnx.print_graph(self.output))

    @unittest.skipUnless(VERIFY.exists(), "aton-verify is not built (ATON_BUILD_RUNTIME=OFF)")
    def test_verification(self):
        torch.manual_seed(5)
        module, other = (nn.Sequential(nn.Linear(6, 5), nn.Tanh()).eval() for _ in range(2))
        inputs = (torch.randn(4, 6),)
        report = aton_onnx.export(module, self.output, args=inputs, verify=True)
        self.assertTrue(report.verification.passed, report.verification)
        same = aton_onnx.verify(torch.export.export(module, inputs), self.output, samples=2, seed=3)
        self.assertTrue(same.passed, same.text)
        different = aton_onnx.verify(torch.export.export(other, inputs), self.output)
        self.assertFalse(different.passed)
        self.assertIn("linear", different.text)

    def test_errors_name_the_module(self):
        library = torch.library.Library("python_models_test", "DEF")
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x * 2, "CompositeExplicitAutograd")
        module = Lambda(lambda x: torch.ops.python_models_test.twice(x).relu())
        with self.assertRaisesRegex(aton_onnx.UnconvertibleError, "^Lambda: 1 operator cannot be converted") as caught:
            aton_onnx.export(module, self.output, args=(torch.ones(2),))
        self.assertEqual(caught.exception.operator, "python_models_test::twice")
        self.assertRegex(caught.exception.source, r"models_test\.py:\d+ in ")
        self.assertFalse(os.path.exists(self.output))

    def test_keyword_arguments(self):
        module = Lambda(lambda a, scale: a * scale - scale)
        aton_onnx.export(module, self.output, args=(torch.randn(2, 3),), kwargs={"scale": torch.randn(3)})
        self.compare(module, (torch.randn(2, 3), torch.randn(3)))

    def test_a_torchscript_archive(self):
        module = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)).eval()
        archive = str(self.output) + ".pt"
        torch.jit.save(torch.jit.trace(module, torch.randn(2, 6)), archive)
        inputs = {"input": "float32[rows,6]"}
        self.assertEqual(aton_onnx.unconvertible(archive, inputs=inputs), [])
        self.assertIn("aten::tanh", aton_onnx.print_graph(archive, inputs=inputs))
        aton_onnx.export(archive, self.output, inputs=inputs)
        self.compare(module, (torch.randn(7, 6),))

    def test_a_module_needs_inputs_and_programs_have_their_own(self):
        module = nn.Linear(2, 2)
        with self.assertRaisesRegex(TypeError, "example inputs"):
            aton_onnx.export(module, self.output)
        program = torch.export.export(module, (torch.randn(1, 2),))
        with self.assertRaisesRegex(TypeError, "has its own"):
            aton_onnx.export(program, self.output, args=(torch.randn(1, 2),))
        with self.assertRaisesRegex(TypeError, "weights stay"):
            aton_onnx.export(program, self.output, weights="reference")
        with self.assertRaisesRegex(TypeError, "not Tensor"):
            aton_onnx.export(torch.ones(2), self.output)
        self.assertFalse(os.path.exists(self.output))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
