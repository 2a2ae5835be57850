#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the samples guard_*.pt2, with inputs and outputs: programs whose guards leave one size, several, or relations between sizes.

    cd tests/data/pt2 && python -c "exec(compile(open('make_guards.py').read(), 'make_guards.py', 'exec'))"

The file is run under its bare name, since torch writes that into the samples. Needs torch 2.13.
"""
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

AUTO = torch.export.Dim.AUTO


class Scale(torch.nn.Module):
    def forward(self, x):
        return F.scaled_dot_product_attention(x[None], x[None], x[None], scale=1 / x.shape[0])


class Half(torch.nn.Module):
    def forward(self, x, unused):
        return F.pad(x, (1, 1), value=float(x.shape[0] // 2))


class Twice(torch.nn.Module):
    def forward(self, x, y):
        return x[::2] + y if x.shape[0] > 4 else y


def write(name, module, *inputs):
    program = torch.export.export(module, inputs, dynamic_shapes=tuple({0: AUTO} for _ in inputs))
    torch.export.save(program, f"{name}.pt2")
    save_file({str(i): x.contiguous() for i, x in enumerate(inputs)}, f"{name}.inputs.safetensors")
    save_file({"0": module(*inputs)}, f"{name}.outputs.safetensors")


def numbers(*sizes):
    return torch.linspace(-1, 2, torch.Size(sizes).numel()).reshape(sizes)


write("guard_scale", Scale(), numbers(5, 4))
write("guard_half", Half(), numbers(6, 4), numbers(3, 2))
write("guard_twice", Twice(), numbers(8, 4), numbers(4, 4))
