#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quantized networks in ONNX Runtime on one thread: which operators are fused, and the time beside the float32 network, measured in turns.

Usage: run.py ATON [--rounds 30] [--opset 21] [--tokens 64]
"""
import argparse
import collections
import pathlib
import platform
import subprocess
import tempfile
import time
import warnings

import numpy as np
import onnx
import onnxruntime as ort
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401 registers quantized_decomposed
import torch.nn.functional as F

Q = torch.ops.quantized_decomposed
INTEGERS = {"QLinearConv", "QLinearMatMul", "QGemm", "MatMulIntegerToFloat", "MatMulInteger", "ConvInteger", "DynamicQuantizeMatMul",
            "MatMulNBits"}
FLOATS = {"Conv", "FusedConv", "MatMul", "Gemm", "FusedGemm", "FusedMatMul"}


def quantized(x, how, relu=False):
    """x as a network of this kind passes it on: rounded to uint8 with a fixed or a chosen scale, or as it is."""
    if how == "static":
        scale, zero, rest = 0.04, 0 if relu else 128, (0, 255, torch.uint8)
        return Q.dequantize_per_tensor(Q.quantize_per_tensor(x, scale, zero, *rest), scale, zero, *rest)
    if how == "dynamic":
        rest = (0, 255, torch.uint8)
        scale, zero = Q.choose_qparams.tensor(x, 0, 255, 1e-6, torch.uint8)
        return Q.dequantize_per_tensor.tensor(Q.quantize_per_tensor.tensor(x, scale, zero, *rest), scale, zero, *rest)
    return x


class Weight(torch.nn.Module):
    def __init__(self, how, *sizes):
        super().__init__()
        self.how, self.sizes = how, sizes
        w = torch.randn(sizes) / np.sqrt(np.prod(sizes[1:]))
        self.register_buffer("bias", torch.randn(sizes[0]) * 0.1)
        if how == "float":
            self.register_buffer("w", w)
        elif how == "int4":
            w = w.reshape(sizes[0], -1, 32)
            self.register_buffer("scales", w.abs().amax(-1, keepdim=True) / 7)
            self.register_buffer("w", (w / self.scales).round().clamp(-8, 7).to(torch.int8))
        else:
            self.register_buffer("scales", w.flatten(1).abs().amax(1) / 127)
            self.register_buffer("zeros", torch.zeros(sizes[0], dtype=torch.int64))
            self.register_buffer("w", (w / self.scales.reshape(-1, *[1] * (w.dim() - 1))).round().to(torch.int8))

    def forward(self):
        if self.how == "float":
            return self.w
        if self.how == "int4":
            return (self.w.to(torch.float32) * self.scales).reshape(self.sizes)
        return Q.dequantize_per_channel(self.w, self.scales, self.zeros, 0, -127, 127, torch.int8)


class Convolutions(torch.nn.Module):
    """Residual blocks whose every result is quantized."""

    def __init__(self, how, width=64, blocks=3):
        super().__init__()
        self.how = how
        self.stem = Weight(how, width, 3, 3, 3)
        self.blocks = torch.nn.ModuleList(Weight(how, width, width, 3, 3) for _ in range(2 * blocks))

    def forward(self, x):
        q = self.how
        x = quantized(F.relu(F.conv2d(quantized(x, q), self.stem(), self.stem.bias, stride=2, padding=1)), q, relu=True)
        for a, b in zip(self.blocks[::2], self.blocks[1::2]):
            y = quantized(F.relu(F.conv2d(x, a(), a.bias, padding=1)), q, relu=True)
            y = quantized(F.conv2d(y, b(), b.bias, padding=1), q)
            x = quantized(F.relu(x + y), q, relu=True)
        return x.mean((2, 3))


class Transformer(torch.nn.Module):
    """Blocks of attention and a multilayer perceptron, whose linear layers get quantized operands."""

    def __init__(self, how, width=256, blocks=4):
        super().__init__()
        self.how, self.width = how, width
        self.blocks = torch.nn.ModuleList(
            torch.nn.ModuleList(Weight(how, *s) for s in ((3 * width, width), (width, width), (4 * width, width), (width, 4 * width)))
            for _ in range(blocks))

    def linear(self, x, w):
        return F.linear(quantized(x, self.how), w(), w.bias)

    def forward(self, x):
        for qkv, out, up, down in self.blocks:
            h = self.linear(F.layer_norm(x, (self.width,)), qkv)
            q, k, v = h.reshape(*h.shape[:2], 3, 4, -1).permute(2, 0, 3, 1, 4)
            a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
            x = x + self.linear(a, out)
            x = x + self.linear(F.gelu(self.linear(F.layer_norm(x, (self.width,)), up)), down)
        return x


def session(path, optimized):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.optimized_model_filepath = str(optimized)
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def measure(sessions, feed, rounds):
    """The least time of each, taken in turns."""
    best = dict.fromkeys(sessions, float("inf"))
    for _ in range(rounds):
        for name, each in sessions.items():
            start = time.perf_counter()
            each.run(None, feed)
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("aton")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--opset", default="21")
    parser.add_argument("--tokens", type=int, default=64, help="rows of the transformer's products")
    given = parser.parse_args()
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    print(f"{cpu}, onnxruntime {ort.__version__}, torch {torch.__version__}, opset {given.opset}, one thread, best of {given.rounds}")
    cases = [(Convolutions, torch.randn(1, 3, 112, 112), ("float", "static")),
             (Transformer, torch.randn(1, given.tokens, 256), ("float", "static", "dynamic", "int8", "int4"))]
    with tempfile.TemporaryDirectory() as folder:
        for kind, x, hows in cases:
            sessions, rows = {}, {}
            for how in hows:
                torch.manual_seed(0)
                path = pathlib.Path(folder, f"{how}.pt2")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    torch.export.save(torch.export.export(kind(how).eval(), (x,)), path)
                has_activations = how in ("static", "dynamic")
                modes = ("fused", "exact") if has_activations else ("fused",) if how == "float" else ("fused", "onnxruntime")
                for mode in modes:
                    model, optimized = path.with_suffix(f".{mode}.onnx"), path.with_suffix(".optimized.onnx")
                    form = ["--target", mode] if mode == "onnxruntime" else ["--quantization", mode]
                    subprocess.run([given.aton, "export", path, "-o", model, "-q", "--opset", given.opset, *form], check=True)
                    name = how if how == "float" else f"{how} {mode}"
                    sessions[name] = session(model, optimized)
                    ops = collections.Counter(n.op_type for n in onnx.load(optimized).graph.node)
                    rows[name] = (model.stat().st_size, sum(ops[o] for o in INTEGERS), sum(ops[o] for o in FLOATS))
            times = measure(sessions, {"x": x.numpy()}, given.rounds)
            print(f"\n{kind.__name__:18} {'time':>9} {'speed':>6} {'file':>10} {'integer':>8} {'float':>6}")
            for name, (size, integers, floats) in rows.items():
                print(f"{name:18} {times[name] * 1e3:6.2f} ms {times['float'] / times[name]:5.2f}x {size / rows['float'][0]:9.3f}x "
                      f"{integers:8} {floats:6}")


if __name__ == "__main__":
    main()
