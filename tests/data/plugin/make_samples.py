#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes custom_function.pt2 beside this script: operators made with torch.library.custom_op in a module of a module, with its inputs and
the outputs that PyTorch computes.

    python make_samples.py      (needs torch 2.13 and safetensors)

custom_op.pt2 and custom_op_dyn.pt2 call custom_ops::foo_forward(x, y, 0.5, 3) + 1, declared with torch.library.define.
"""
import pathlib
import sys
from typing import List, Optional, Tuple

import torch
from safetensors.torch import save_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from stack_traces import without_folders  # noqa: E402


@torch.library.custom_op("mylib::my_relu", mutates_args=())
def my_relu(input: torch.Tensor) -> torch.Tensor:
    return input.clamp(min=0)


@my_relu.register_fake
def _(input):
    return torch.empty_like(input)


@torch.library.custom_op("mylib::my_clip", mutates_args=())
def my_clip(input: torch.Tensor, min: float, max: Optional[float] = None) -> torch.Tensor:
    return input.clamp(min=min, max=max)


@my_clip.register_fake
def _(input, min, max=None):
    return torch.empty_like(input)


@torch.library.custom_op("mylib::extremes", mutates_args=())
def extremes(input: torch.Tensor, dim: int) -> Tuple[torch.Tensor, torch.Tensor]:
    return input.amin(dim), input.amax(dim)


@extremes.register_fake
def _(input, dim):
    sizes = list(input.shape)
    del sizes[dim]
    return input.new_empty(sizes), input.new_empty(sizes)


@torch.library.custom_op("mylib::parts", mutates_args=())
def parts(input: torch.Tensor, sizes: List[int]) -> List[torch.Tensor]:
    return [part.clone() for part in torch.split(input, sizes, 1)]


@parts.register_fake
def _(input, sizes):
    return [input.new_empty((input.shape[0], size)) for size in sizes]


class Inner(torch.nn.Module):
    def forward(self, x):
        a, b = torch.ops.mylib.parts(x, [2, 3])
        return torch.ops.mylib.my_relu(a), torch.ops.mylib.my_clip(b, -0.5, 0.75)


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        a, b = self.inner(x)
        low, high = torch.ops.mylib.extremes(b, 0)
        return a, torch.ops.mylib.my_clip(b, 0.25), low, high


def main():
    here = pathlib.Path(__file__).resolve().parent
    model = Outer().eval()
    inf = float("inf")
    x = torch.tensor([[-1.5, 0.5, 2.0, -0.25, -inf], [0.0, -2.0, inf, 0.1, 0.6], [3.0, -0.0, -0.75, 0.5, -4.0]])
    program = torch.export.export(model, (x,), dynamic_shapes={"x": {0: torch.export.Dim("rows", min=2, max=64)}})
    torch.export.save(without_folders(program), here / "custom_function.pt2")
    x = torch.cat([x, x.flip(0) * 0.3])  # other rows than it was exported with
    save_file({"0": x}, here / "custom_function.inputs.safetensors")
    save_file({str(i): y.contiguous() for i, y in enumerate(model(x))}, here / "custom_function.outputs.safetensors")


if __name__ == "__main__":
    main()
