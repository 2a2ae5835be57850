# SPDX-License-Identifier: MIT
"""Writes model.pt2, its results (recorded.npz) and the results of each operator (operators.txt).

    make_model.py [--library libcustom_ops.so] [FOLDER]

With the library, model.pt2 calls the operators that library.cpp registers; without it, the same operators in Python. Needs torch 2.13."""

import argparse
import pathlib
import re
from typing import Optional

import numpy
import torch

SCHEMAS = """
foo_forward(Tensor input1, Tensor input2, float attr1, int attr2) -> Tensor
swiglu(Tensor x, float alpha=1.702, float limit=7.0) -> Tensor
rms_norm(Tensor x, Tensor? weight=None, float eps=1e-06, int dim=-1) -> (Tensor, Tensor)
"""


# The operators in terms of PyTorch's own.


def foo_forward(input1, input2, attr1: float, attr2: int):
    return attr1 * input1 + input2**attr2


def swiglu(x, alpha: float = 1.702, limit: float = 7.0):
    gate, value = x.chunk(2, -1)
    gate = gate.clamp(max=limit)
    return gate * torch.sigmoid(alpha * gate) * (value.clamp(-limit, limit) + 1)


def rms_norm(x, weight: Optional[torch.Tensor] = None, eps: float = 1e-6, dim: int = -1):
    inverse_rms = torch.rsqrt((x * x).mean(dim, keepdim=True) + eps)
    along = [1] * x.dim()
    along[dim] = -1
    y = x * inverse_rms
    return y if weight is None else y * weight.view(along), inverse_rms


def declare():
    """The same registration as in library.cpp, in Python."""
    library = torch.library.Library("custom_ops", "DEF")
    for schema in SCHEMAS.strip().split("\n"):
        library.define(schema)
    for function in (foo_forward, swiglu, rms_norm):
        library.impl(function.__name__, function, "CPU")
        torch.library.register_fake(f"custom_ops::{function.__name__}", function, lib=library)
    return library


class Mixer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(5, 12)
        self.gain = torch.nn.Parameter(torch.linspace(0.5, 2.0, 4))

    def forward(self, x):
        gated = torch.ops.custom_ops.swiglu(self.up(x), 1.5, 2.0)
        scaled, scale = torch.ops.custom_ops.rms_norm(gated, self.gain, 1e-3, 1)
        plain, _ = torch.ops.custom_ops.rms_norm(scaled)
        return {"y": torch.ops.custom_ops.foo_forward(plain, gated, 0.5, 3), "scale": scale}


def without_folders(program):
    """Removes folders from the files in stack traces."""
    for node in program.graph.nodes:
        if "stack_trace" in node.meta:
            trace = re.sub(r'File "[^"]*?/(?:site-packages/)?((?:torch/[^"]*)|[^"/]+)"', r'File "\1"', node.meta["stack_trace"])
            node.meta["stack_trace"] = trace
    return program


def sample(*shape):
    """Numbers around zero, some of them beyond the limits of the operators."""
    x = torch.randn(shape)
    x.view(-1)[::7] *= 20
    return x


def operator_lines():
    """A line for each call: name, arguments, inputs, outputs; a dimension as outer, size, inner; an absent weight as size 0."""
    calls = []

    def add(name, numbers, *tensors):
        flat = torch.cat([t.reshape(-1) for t in tensors])
        calls.append(" ".join([name, *map(str, numbers), *(f"{v:.9g}" for v in flat.tolist())]))

    nan, inf = float("nan"), float("inf")
    for attr1, attr2, count in ((0.5, 3, 7), (-2.25, 0, 3), (0.0, -1, 4)):
        a, b = sample(count), sample(count)
        add("foo_forward", (attr1, attr2, count), a, b, foo_forward(a, b, attr1, attr2))
    for alpha, limit, rows, width in ((1.702, 7.0, 2, 5), (-0.5, 0.25, 3, 1), (1.5, 2.0, 1, 4), (0.75, 3.0, 2, 3)):
        x = sample(rows, 2 * width)
        if width == 3:
            x = torch.tensor([[inf, nan, -inf, 0.5, 0.5, 0.5], [1.0, -2.0, 0.0, nan, inf, -inf]])
        add("swiglu", (alpha, limit, rows, width), x, swiglu(x, alpha, limit))
    for eps, outer, size, inner, weighted in ((1e-6, 2, 3, 4, True), (0.5, 3, 5, 1, False), (1e-3, 1, 1, 6, True)):
        x, weight = sample(outer, size, inner), torch.linspace(-1, 2, size) if weighted else None
        x[-1, 0, 0] = inf if weighted else nan
        y, inverse_rms = rms_norm(x, weight, eps, 1)
        tensors = [x, y, inverse_rms] if weight is None else [x, weight, y, inverse_rms]
        add("rms_norm", (eps, outer, size, inner, size if weighted else 0), *tensors)
    return calls


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", help="libcustom_ops.so, as library.cpp is built")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    options = parser.parse_args()
    if options.library:
        torch.ops.load_library(options.library)
        declared = None
    else:
        declared = declare()

    torch.manual_seed(5)
    model = Mixer().eval()
    recorded = {}
    with torch.no_grad():
        for batch in (3, 7):
            x = sample(batch, 4, 5)
            recorded[f"x{batch}"] = x.numpy()
            recorded |= {f"{name}{batch}": result.numpy() for name, result in model(x).items()}
        shapes = {"x": {0: torch.export.Dim("batch", max=1000)}}
        program = torch.export.export(model, (torch.from_numpy(recorded["x3"]),), dynamic_shapes=shapes)
        lines = operator_lines()
    torch.export.save(without_folders(program), options.folder / "model.pt2")
    numpy.savez_compressed(options.folder / "recorded.npz", **recorded)
    (options.folder / "operators.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    del declared


if __name__ == "__main__":
    main()
