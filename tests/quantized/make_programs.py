#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the small quantized programs of tests/data/quantized, with inputs and results, for judge.py.

    python3 tests/quantized/make_programs.py FOLDER

Needs torch and torchao 0.18. Those of torchao are a layer of 32 x 16 with random weights, exported with torch.export, the others modules
of torch in TorchScript archives. Positions in sources and sample inputs are left out of the files.
"""
import copy
import io
import json
import pathlib
import struct
import sys
import zipfile

import torch
from torchao.prototype.mx_formats import MXDynamicActivationMXWeightConfig, NVFP4WeightOnlyConfig
from torchao.quantization import (
    Float8WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    Int8DynamicActivationIntxWeightConfig,
    Int8WeightOnlyConfig,
    IntxWeightOnlyConfig,
    PerGroup,
    quantize_,
)
from torchao.quantization.quantize_.common.kernel_preference import KernelPreference

names = {torch.float32: "F32", torch.bfloat16: "BF16"}


def configurations() -> dict[str, tuple[object, torch.dtype]]:
    return {
        "int8_weight": (Int8WeightOnlyConfig(), torch.float32),
        "int8_dynamic": (Int8DynamicActivationInt8WeightConfig(), torch.float32),
        "int4_blocks": (IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(16)), torch.float32),
        "int8_int4": (Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerGroup(16)), torch.float32),
        "float8_weight": (Float8WeightOnlyConfig(), torch.float32),
        "mxfp8": (MXDynamicActivationMXWeightConfig(kernel_preference=KernelPreference.EMULATED), torch.bfloat16),
        "nvfp4_weight": (NVFP4WeightOnlyConfig(), torch.bfloat16),
    }


def saved(program: torch.export.ExportedProgram) -> bytes:
    """The archive without positions in sources and sample inputs."""
    whole = io.BytesIO()
    torch.export.save(program, whole)
    out = io.BytesIO()
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as target:
        for name in source.namelist():
            content = source.read(name)
            if "/sample_inputs/" in name:
                continue
            if "/models/" in name:
                model = json.loads(content)
                for node in model["graph_module"]["graph"]["nodes"]:
                    node["metadata"] = {}
                content = json.dumps(model, separators=(",", ":")).encode()
            target.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def safetensors(tensors: dict[str, torch.Tensor]) -> bytes:
    head, data = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.contiguous().view(torch.uint8).numpy().tobytes()
        head[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + data


class Convolutions(torch.nn.Module):
    """Each operator of quantized modules that differs: a convolution, a sum, a concatenation, pooling, and a layer."""

    def __init__(self) -> None:
        super().__init__()
        self.quant = torch.ao.quantization.QuantStub()
        self.first = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.relu = torch.nn.ReLU()
        self.second = torch.nn.Conv2d(4, 4, 3, stride=1, padding=1, groups=2)
        self.sum = torch.ao.nn.quantized.FloatFunctional()
        self.join = torch.ao.nn.quantized.FloatFunctional()
        self.layer = torch.nn.Linear(48, 5)
        self.dequant = torch.ao.quantization.DeQuantStub()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.relu(self.first(self.quant(x)))
        x = self.join.cat([self.sum.add(self.second(x), x), x], 1)
        return self.dequant(self.layer(torch.nn.functional.max_pool2d(x, 2).flatten(1)))


def modules() -> dict[str, tuple[torch.nn.Module, torch.Tensor]]:
    """Modules of torch's own quantization, whose tensors have quantized dtypes, with an input."""
    torch.backends.quantized.engine = "x86"
    x = torch.randn(2, 3, 6, 5)
    static = Convolutions().eval()
    static.qconfig = torch.ao.quantization.get_default_qconfig("x86")
    prepared = torch.ao.quantization.prepare(static)
    for _ in range(3):
        prepared(torch.randn(2, 3, 6, 5))
    dynamic = torch.ao.quantization.quantize_dynamic(torch.nn.Sequential(torch.nn.Linear(12, 6), torch.nn.ReLU()).eval())
    return {"eager_static": (torch.ao.quantization.convert(prepared), x), "eager_dynamic": (dynamic, torch.randn(4, 12))}


def saved_archive(module: torch.jit.ScriptModule) -> bytes:
    """The archive without positions in sources."""
    whole = io.BytesIO()
    torch.jit.save(module, whole)
    out = io.BytesIO()
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as target:
        for name in source.namelist():
            if not name.endswith(".debug_pkl"):
                target.writestr(zipfile.ZipInfo(name), source.read(name))
    return out.getvalue()


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(0)
    layer = torch.nn.Sequential(torch.nn.Linear(32, 16), torch.nn.ReLU()).eval()
    x = torch.randn(3, 32)
    for name, (configuration, dtype) in configurations().items():
        model = copy.deepcopy(layer).to(dtype)
        quantize_(model, configuration)
        made = folder / name
        made.mkdir(parents=True, exist_ok=True)
        given = x.to(dtype)
        with torch.no_grad():
            program = torch.export.export(model, (given,), strict=False)
            (made / "data.safetensors").write_bytes(safetensors({"in.input": given, "out.0": model(given)}))
        (made / "model.pt2").write_bytes(saved(program))
    for name, (module, given) in modules().items():
        made = folder / name
        made.mkdir(parents=True, exist_ok=True)
        with torch.no_grad():
            traced = torch.jit.trace(module, given)
            (made / "data.safetensors").write_bytes(safetensors({"in.input": given, "out.0": module(given)}))
        (made / "model.pt").write_bytes(saved_archive(traced))


if __name__ == "__main__":
    main()
