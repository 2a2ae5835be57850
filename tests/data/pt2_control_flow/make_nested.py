#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes nested.pt2, cond in while_loop in cond with weights in every branch, and its inputs and outputs. The other
samples are what torch.export.save of torch 2.13 wrote for one operator each.

    python make_nested.py        in this folder; needs torch 2.13 and safetensors
"""
import pathlib

import torch
from safetensors.torch import save_file
from torch._higher_order_ops.while_loop import while_loop


class Nested(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(-0.8, 0.9, 16).reshape(4, 4).cos())
        self.register_buffer("scale", torch.tensor([0.5, -1.25, 0.75, 2]))

    def forward(self, x):
        def step(i, y):
            y = torch.cond(y.sum() > i, lambda y: torch.tanh(y @ self.weight) - 1, lambda y: y * self.scale + 2, (y,))
            return i + 1, y

        def loop(x):
            start = torch.zeros((), dtype=torch.int64)
            return while_loop(lambda i, y: i < 4, step, (start, x.clone()))[1]

        return torch.cond(x.mean() > 0, loop, lambda x: x - self.scale, (x,))


with torch.no_grad():
    module, x = Nested(), torch.tensor([[0.5, -0.25, 1, 2], [0.125, 3, -2, 0.75], [1, -1, 0.25, 0.5]])
    program = torch.export.export(module, (x,), dynamic_shapes=({0: torch.export.Dim("rows", min=2)},))
    for graph in program.graph_module.modules():  # without the folder in which this was run
        for node in graph.graph.nodes:
            trace = node.meta.get("stack_trace") or ""
            node.meta["stack_trace"] = trace.replace(str(pathlib.Path(__file__).resolve().parent) + "/", "")
    torch.export.save(program, "nested.pt2")
    save_file({"0": x}, "nested.inputs.safetensors")
    save_file({"0": module(x)}, "nested.outputs.safetensors")
