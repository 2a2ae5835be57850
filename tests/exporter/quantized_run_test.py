#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that are quantized, exported by torch and run by ONNX Runtime: the numbers are torch's, products run on integers, files are as
small as the integers, and what ONNX Runtime and TensorRT do not take is not written.

Usage: quantized_run_test.py ATON
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    import torch
    import torch.ao.quantization.fx._decomposed  # noqa: F401 registers quantized_decomposed
    import torch.nn.functional as F
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ATON = sys.argv[1]
OPSETS = (18, 20, 21, 23, 24, 25, 26)
Q = torch.ops.quantized_decomposed


def fake(x, scale, zero, low, high, dtype):
    """x as the numbers that are left of it."""
    q = Q.quantize_per_tensor(x, scale, zero, low, high, dtype)
    return Q.dequantize_per_tensor(q, scale, zero, low, high, dtype)


class Weight(torch.nn.Module):
    """An int8 weight with a scale for each output."""

    def __init__(self, *sizes, seed=0, low=-127):
        super().__init__()
        draw = torch.Generator().manual_seed(seed)
        self.register_buffer("numbers", torch.randint(low, 128, sizes, generator=draw).to(torch.int8))
        self.register_buffer("scales", torch.rand(sizes[0], generator=draw) * 0.01 + 0.002)
        self.register_buffer("zeros", torch.zeros(sizes[0], dtype=torch.int64))
        self.register_buffer("bias", torch.randn(sizes[0], generator=draw))
        self.low = low

    def forward(self):
        return Q.dequantize_per_channel(self.numbers, self.scales, self.zeros, 0, self.low, 127, torch.int8)


class Convolutions(torch.nn.Module):
    """int8 activations, a residual, Relu with and without the lowest zero point, relu6, pooling and a linear layer with a float result."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = Weight(6, 3, 3, 3), Weight(6, 6, 3, 3, seed=1), Weight(8, 6, 1, 1, seed=2)
        self.head = Weight(5, 128, seed=3)

    def forward(self, x):
        i8 = (-128, 127, torch.int8)
        x = fake(x, 0.021, -7, *i8)
        y = fake(F.relu(F.conv2d(x, self.a(), self.a.bias, padding=1)), 0.07, -128, *i8)
        z = fake(F.relu6(F.conv2d(y, self.b(), self.b.bias, padding=1)), 0.031, -120, *i8)
        s = fake(y + z, 0.09, -100, *i8)
        t = fake(F.relu(F.conv2d(s, self.c(), self.c.bias)), 0.11, -125, *i8)
        p = fake(F.max_pool2d(t, 3), 0.11, -125, *i8)
        return p, F.linear(fake(p.flatten(1), 0.11, -125, *i8), self.head(), self.head.bias)


class Tokens(torch.nn.Module):
    """Linear layers of three dimensions, whose results are quantized or not."""

    def __init__(self):
        super().__init__()
        self.a, self.b = Weight(24, 16), Weight(10, 24, seed=5)

    def forward(self, x):
        i8 = (-128, 127, torch.int8)
        x = fake(x, 0.03, 11, *i8)
        y = fake(F.gelu(F.linear(x, self.a(), self.a.bias)), 0.05, -90, *i8)
        return F.linear(y.reshape(2, 5, 24), self.b(), self.b.bias)


class Reduced(torch.nn.Module):
    """A range of seven bits."""

    def __init__(self):
        super().__init__()
        self.a = Weight(4, 3, 3, 3)

    def forward(self, x):
        x = fake(x, 0.05, 30, 0, 127, torch.uint8)
        return fake(F.conv2d(x, self.a(), self.a.bias), 0.2, 50, 0, 127, torch.uint8)


class Symmetric(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Weight(4, 3, 3, 3)

    def forward(self, x):
        x = fake(x, 0.05, 0, -128, 127, torch.int8)
        return fake(F.conv2d(x, self.a(), self.a.bias), 0.2, 0, -128, 127, torch.int8)


class Dynamic(torch.nn.Module):
    def __init__(self, low=0, high=255, dtype=torch.uint8):
        super().__init__()
        self.a, self.range, self.dtype = Weight(24, 16), (low, high), dtype

    def forward(self, x):
        scale, zero = Q.choose_qparams.tensor(x, *self.range, 1e-6, self.dtype)
        q = Q.quantize_per_tensor.tensor(x, scale, zero, *self.range, self.dtype)
        x = Q.dequantize_per_tensor.tensor(q, scale, zero, *self.range, self.dtype)
        return F.linear(x, self.a(), self.a.bias)


class Packed(torch.nn.Module):
    """Numbers of four bits in blocks of 32, eight in an int32 or two in a byte, with zero points."""

    def __init__(self, kind, inputs=128, outputs=96):
        super().__init__()
        draw = torch.Generator().manual_seed(7)
        numbers = torch.randint(0, 16, (outputs, inputs), generator=draw)
        self.kind, self.sizes = kind, (outputs, inputs)
        self.register_buffer("scales", torch.rand(outputs, inputs // 32, 1, generator=draw) * 0.01 + 0.002)
        self.register_buffer("zeros", torch.randint(0, 16, (outputs, inputs // 32, 1), generator=draw).float())
        if kind == "int32":
            shifts = torch.arange(8) * 4
            packed = (numbers.reshape(outputs, -1, 8) << shifts).sum(-1)
            self.register_buffer("packed", torch.where(packed >= 2**31, packed - 2**32, packed).to(torch.int32))
            self.register_buffer("shifts", shifts.to(torch.int32))
        else:
            self.register_buffer("packed", (numbers[:, ::2] | numbers[:, 1::2] << 4).to(torch.uint8))

    def weight(self):
        if self.kind == "int32":
            numbers = (self.packed[:, :, None] >> self.shifts) & 15
        else:
            numbers = torch.stack([self.packed & 15, self.packed >> 4], -1)
        numbers = numbers.reshape(self.sizes[0], -1, 32).to(torch.float32)
        return ((numbers - self.zeros) * self.scales).reshape(self.sizes)

    def forward(self, x):
        return F.linear(x, self.weight())


class WeightOnly(torch.nn.Module):
    """A linear layer with an int8 weight, with one scale for each output."""

    def __init__(self, inputs, zeros=False):
        super().__init__()
        self.kind = f"{inputs} {zeros}"
        self.a = Weight(72, inputs, seed=8)
        if zeros:
            self.a.zeros = torch.randint(-128, 128, (72,), generator=torch.Generator().manual_seed(9))

    def forward(self, x):
        return F.linear(x, self.a(), self.a.bias)


def first(results):
    return results[0] if isinstance(results, tuple) else results


def session(path, optimized=None):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "0")
    if optimized:
        options.optimized_model_filepath = str(optimized)
    else:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class QuantizedPrograms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.saved = {}

    def program(self, module, x):
        """The file of a module, exported once."""
        key = id(type(module)), str(vars(module).get("kind")), str(vars(module).get("range")), tuple(x.shape)
        if key not in self.saved:
            path = self.folder / f"{len(self.saved)}.pt2"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                torch.export.save(torch.export.export(module.eval(), (x,)), path)
            self.saved[key] = path
        return self.saved[key]

    def export(self, module, x, *options):
        out = self.folder / "model.onnx"
        run = subprocess.run([ATON, "export", self.program(module, x), "-o", out, "--json", *map(str, options)],
                             capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        for n in onnx.load(out).graph.node:  # ONNX Runtime 1.22 reads int8 without a zero point as 0
            if n.op_type in ("QuantizeLinear", "DequantizeLinear"):
                self.assertTrue(len(n.input) == 3 and n.input[2], n)
        return out, json.loads(run.stdout)

    def results(self, out, x):
        """The result without and with optimization, and the operators of the optimized model."""
        optimized = self.folder / "optimized.onnx"
        plain = session(out).run(None, {"x": x.numpy()})[0]
        fused = session(out, optimized).run(None, {"x": x.numpy()})[0]
        return plain, fused, collections.Counter(n.op_type for n in onnx.load(optimized).graph.node)

    def check_steps(self, module, x, step, opset, share=0.01):
        with torch.no_grad():
            expected = first(module(x)).numpy()
        out, report = self.export(module, x, "--opset", opset)
        plain, fused, ops = self.results(out, x)
        for got in (plain, fused):
            off = np.abs(got - expected) > 1e-5 * np.abs(expected).max()
            self.assertLessEqual(off.mean(), share, opset)
            self.assertLessEqual(np.abs(got - expected).max(), 1.01 * step, opset)
        return report, ops

    def test_convolutions(self):
        x = torch.randn(2, 3, 12, 12, generator=torch.Generator().manual_seed(1)) * 2
        for opset in OPSETS:
            report, ops = self.check_steps(Convolutions(), x, 0.11, opset, share=0.03)
            self.assertEqual((ops["QLinearConv"], ops["MatMulIntegerToFloat"], ops["Conv"], ops["Gemm"]), (3, 1, 0, 0), opset)
            self.assertTrue(all(p["on_integers"] for p in report["quantized_products"]), report)
            self.assertEqual(len(report["quantized_products"]), 4)

    def test_tokens(self):
        x = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(2))
        for opset in OPSETS:
            _, ops = self.check_steps(Tokens(), x, 0.05, opset)
            self.assertEqual((ops["MatMulIntegerToFloat"], ops["MatMul"], ops["Gemm"]), (2, 0, 0), opset)

    def test_a_reduced_range_is_a_clip(self):
        x = torch.randn(2, 3, 9, 9, generator=torch.Generator().manual_seed(3)) * 9  # beyond 127
        for opset in (18, 21, 25):
            _, ops = self.check_steps(Reduced(), x, 0.2, opset)
            self.assertEqual(ops["QLinearConv"], 1, opset)

    def test_exact_numbers_are_those_of_torch(self):
        for module, x in ((Convolutions(), torch.randn(2, 3, 12, 12) * 2), (Tokens(), torch.randn(2, 5, 16)), (Reduced(), torch.randn(2, 3, 9, 9) * 9)):
            with torch.no_grad():
                expected = first(module(x)).numpy()
            for opset in (18, 21, 25):
                out, report = self.export(module, x, "--opset", opset, "--quantization", "exact")
                for got in self.results(out, x)[:2]:
                    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
                self.assertFalse(any(p["on_integers"] for p in report["quantized_products"]))

    def test_dynamic(self):
        x = torch.randn(3, 7, 16, generator=torch.Generator().manual_seed(4))
        for module in (Dynamic(), Dynamic(-128, 127, torch.int8)):
            for opset in OPSETS:
                _, ops = self.check_steps(module, x, 1e-5, opset)
                self.assertEqual(ops["DynamicQuantizeMatMul"], 1, opset)

    def test_packed_weights_are_as_small_as_their_numbers(self):
        x = torch.randn(3, 128, generator=torch.Generator().manual_seed(5))
        for kind in ("int32", "uint8"):
            module = Packed(kind)
            for opset in OPSETS:
                _, ops = self.check_steps(module, x, 1e-4, opset)
                numbers = 4 * 96 * 128
                size = (self.folder / "model.onnx").stat().st_size
                self.assertLess(size, 0.17 * numbers + 1500, (kind, opset))  # names and nodes apart
                self.assertEqual(ops["MatMulNBits"], int(opset >= 21), (kind, opset))

    def test_onnxruntime_gets_its_products_of_integers(self):
        """MatMulNBits, with the numbers of torch if nothing else is rounded, and the bias in it."""
        draw = torch.Generator().manual_seed(6)
        rows, tokens = torch.randn(3, 128, generator=draw), torch.randn(2, 5, 64, generator=draw)
        cases = [(Packed("int32"), rows, 4, 32), (Packed("uint8"), rows, 4, 32), (WeightOnly(128), rows, 8, 128),
                 (WeightOnly(64), tokens, 8, 64), (WeightOnly(128, zeros=True), rows, 8, 128)]
        for module, x, bits, block in cases:
            with torch.no_grad():
                expected = module(x).numpy()
            for opset in (18, 21, 25):
                out, _ = self.export(module, x, "--opset", opset, "--target", "onnxruntime", "--quantization", "fused:accuracy=0",
                                     *["--verify"] * (opset == 21))
                nodes = {n.op_type: n for n in onnx.load(out).graph.node}
                self.assertNotIn("DequantizeLinear", nodes)
                told = {a.name: a.i for a in nodes["MatMulNBits"].attribute}
                self.assertEqual((told["bits"], told["block_size"], told.get("accuracy_level", 0)), (bits, block, 0))
                for got in self.results(out, x)[:2]:
                    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
        out, _ = self.export(Packed("uint8"), rows, "--target", "onnxruntime")
        self.assertIn("accuracy_level", [a.name for n in onnx.load(out).graph.node for a in n.attribute])
        out, _ = self.export(Packed("uint8"), rows, "--target", "onnxruntime", "--quantization", "exact", "--opset", 21)
        self.assertNotIn("MatMulNBits", {n.op_type for n in onnx.load(out).graph.node})

    def test_what_is_rounded_is_not_rounded_again(self):
        """Behind a quantized activation that is moved, ONNX Runtime multiplies integers; one that is arithmetic keeps its product."""
        class Moved(torch.nn.Module):
            def __init__(self, kind):
                super().__init__()
                self.kind, self.a = kind, Weight(24, 128)

            def forward(self, x):
                if self.kind == "moved":
                    x = fake(x, 0.03, 9, 0, 255, torch.uint8).flatten(1)
                else:
                    steps = x.abs().amax(-1, keepdim=True) / 127
                    x = ((x / steps).round().clamp(-128, 127) * steps).flatten(1)
                return F.linear(x, self.a())

        x = torch.randn(3, 8, 16, generator=torch.Generator().manual_seed(9))
        for kind, operator in (("moved", "MatMulIntegerToFloat"), ("token", "MatMulNBits")):
            with torch.no_grad():
                expected = Moved(kind)(x).numpy()
            out, _ = self.export(Moved(kind), x, "--opset", 21, "--target", "onnxruntime")
            self.assertNotIn("MatMulNBits", {n.op_type for n in onnx.load(out).graph.node}, kind)
            plain, fused, ops = self.results(out, x)
            self.assertEqual(ops[operator], 1, (kind, ops))
            for got in (plain, fused):
                np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())

    def test_a_wrong_form_is_refused(self):
        program = self.program(Packed("uint8"), torch.randn(3, 128))
        for word in ("fused:accuracy=5", "fused:accuracy=-1", "fused:accuracy=", "exact:accuracy=0", "fast", ""):
            run = subprocess.run([ATON, "export", program, "-o", self.folder / "no.onnx", f"--quantization={word}"],
                                 capture_output=True, text=True, timeout=60)
            self.assertNotEqual(run.returncode, 0, word)
            self.assertIn("--quantization", run.stderr)

    def test_tensorrt_is_symmetric(self):
        x = torch.randn(2, 3, 9, 9)
        out, _ = self.export(Symmetric(), x, "--target", "tensorrt", "--opset", 20)
        model = onnx.load(out)
        self.assertEqual({n.op_type for n in model.graph.node}, {"QuantizeLinear", "DequantizeLinear", "Conv"})
        bytes_ = {i.data_type for i in model.graph.initializer if i.data_type != onnx.TensorProto.FLOAT}
        self.assertEqual(bytes_, {onnx.TensorProto.INT8})
        run = subprocess.run([ATON, "export", self.program(Convolutions(), torch.randn(2, 3, 12, 12)), "-o", self.folder / "no.onnx",
                              "--target", "tensorrt", "--opset", "20"], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"TensorRT [\d.]+ quantizes symmetrically, and this has zero point -7; quantize the model with a symmetric")
        self.assertEqual(len(run.stderr.strip().splitlines()), 1)

    def test_what_stays_in_floating_point_is_named(self):
        class Mixed(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a = Weight(16, 16)

            def forward(self, x):
                return F.linear(F.linear(fake(x, 0.03, 9, -32768, 32767, torch.int16), self.a()), self.a())

        _, report = self.export(Mixed(), torch.randn(3, 16), "--opset", 21)
        self.assertEqual([p["reason"] for p in report["quantized_products"]], ["there is no kernel for int16", "its input is not quantized"])
        self.assertTrue(all("quantized_run_test.py" in p["place"] for p in report["quantized_products"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
