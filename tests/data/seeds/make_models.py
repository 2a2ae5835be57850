#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the models of this folder, which do what the documentation of torch.onnx talks about: indexing in all forms that it lists (those that it
calls unsupported too), numbers beside tensors, sizes in arithmetic, lists of tensors. Each with its inputs and what PyTorch computes.

    python make_models.py      (needs torch 2.13 and safetensors)
"""
import pathlib
import sys

import torch
from safetensors.torch import save_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from stack_traces import without_folders  # noqa: E402

MODELS = {}
ROWS = torch.export.Dim("rows", min=4, max=64)


def model(*inputs, dynamic=None, record=True):
    """Registers a function of tensors; `dynamic` as torch.export wants it; not recorded: what cannot be exported to ONNX alone."""

    def register(function):
        module = type(function.__name__, (torch.nn.Module,), {"forward": lambda self, *x: function(*x)})()
        MODELS[function.__name__] = (module, inputs, dynamic, record)
        return function

    return register


def numbers(*shape):
    torch.manual_seed(sum(shape))
    return torch.randn(shape) * 3


@model(numbers(4, 5, 6), torch.tensor([2, 0, 3]), dynamic=({0: ROWS}, None))
def index_reads(x, i):
    return (
        x[0:2],
        x[1, ...],
        x[:, i],
        x[..., -1],
        x[::2, 1:-1, 4:],
        x[None, 1:, None, 2],
        x[i, 1],
        x[:, i[:, None], i[:2]],
        x[i, :, i + 1],
        x[torch.tensor([[1, 2], [2, -3]]), torch.tensor([-2, 3])],
        x[i - 4, :, -1],
        x[-1, -2, -3],
    )


@model(numbers(4, 5, 3))
def mask_reads(x):
    return x[x > 0.5], x[x[:, 0, 0] < 0], x[:, x[0, :, 1] > -1], x[x[:, :, 0] > 0, 1]


@model(numbers(4, 5, 6), numbers(2, 5, 6), torch.tensor([2, 0]), dynamic=({0: ROWS}, None, None))
def index_writes(x, y, i):
    a = x.clone()
    a[1:3] = y
    a[:, 0] += 1
    a[..., ::2] *= -2
    b = x.clone()
    b[i] = y
    b[-1] = 7
    b[0, 1, 2] = y[0, 0, 0]
    c = x.clone()
    c[:, i] = y[0, :2]
    c[1, ..., 3:] = 0.25
    return a, b, c


@model(numbers(4, 5, 6))
def mask_writes(x):
    a = x.clone()
    a[a < 0] = 0.5
    b = x.clone()
    b[b[:, 0, 0] > 0] = torch.arange(6.0)
    c = x.clone()
    c[:, c[0, :, 1] > -1] *= 3
    return a, b, c


# What the documentation calls unsupported: indices of rank 2, not side by side, negative ones, a value that is broadcast.
@model(numbers(4, 5, 6), numbers(2, 2, 6), numbers(2, 5), numbers(2, 6), numbers(2))
def hard_writes(x, y, z, v, w):
    a = x.clone()
    a[torch.tensor([[1, 2], [2, 3]]), torch.tensor([2, 3])] = y
    b = x.clone()
    b[torch.tensor([2, 3]), :, torch.tensor([1, 2])] = z
    c = x.clone()
    c[torch.tensor([1, -2]), torch.tensor([-2, 3])] = v
    d = x[:, :, 0].clone()
    d[torch.tensor([[0, 2], [1, 1]]), 1:3] = w
    return a, b, c, d


@model(
    torch.tensor([[3, -7, 0], [100, -128, 127]], dtype=torch.int8),
    torch.tensor([5, -9, 2**40]),
    torch.tensor([1.5, -65504.0, 0.25], dtype=torch.float16),
    torch.tensor([True, False, True]),
    torch.tensor(2.5),
)
def numbers_beside_tensors(small, large, half, truth, zero_d):
    return (
        small + 2,
        small * 2.5,
        large - 1,
        large / 2,
        large // 4,
        1 / half,
        half + 2,
        half * 0.375,
        truth + 1,
        truth * 0.5,
        small + zero_d,
        half + zero_d,
        large + torch.tensor(3, dtype=torch.int8),
        torch.where(truth, half, 1.0),
        small == 3.0,
        torch.clamp(large, min=0.5),
        2**half,
    )


@model(numbers(4, 6), torch.tensor(8), dynamic=({0: ROWS}, None))
def sizes_in_arithmetic(states, y):
    batch, length = states.shape[:2]
    real_length = batch
    real_length += 2
    rows = y.item()
    torch._check(rows == 8)
    return states[0] + (real_length + batch * length), states.reshape(-1, 3) * batch, torch.arange(24).reshape(y.item(), -1)


@model(numbers(4, 6), dynamic=({0: ROWS},))
def lists_of_tensors(x):
    left, middle, right = torch.split(x, [1, 2, 3], 1)
    columns = x.unbind(1)
    steps = []
    for k in range(3):  # unrolled: its length is no data
        steps.append(columns[k] * k - columns[-1 - k])
    return [torch.cat([right, left, middle], 1), torch.stack(steps[::-1])], x.chunk(2, 1)[1]


@model(numbers(3, 4), numbers(3, 4))
def mul_add_relu(x, y):
    x = x.relu()
    return x * x + y


@model(numbers(3, 4), numbers(3, 4), record=False)
def without_mapping(x, y):
    x = x.relu()
    return torch.poisson(x * x + y), torch._standard_gamma(x)


def flat(results):
    return [t for r in results for t in (flat(r) if isinstance(r, (list, tuple)) else [r])]


def main():
    here = pathlib.Path(__file__).resolve().parent
    for name, (module, inputs, dynamic, record) in MODELS.items():
        shapes = {"x": dynamic} if dynamic else None
        program = torch.export.export(module, inputs, dynamic_shapes=shapes)
        torch.export.save(without_folders(program), here / f"{name}.pt2")
        if not record:
            continue
        if dynamic:  # other rows than it was exported with
            inputs = (torch.cat([inputs[0], inputs[0].flip(0) * 0.5 - 1])[:7], *inputs[1:])
        save_file({str(i): t.clone(memory_format=torch.contiguous_format) for i, t in enumerate(inputs)}, here / f"{name}.inputs.safetensors")
        save_file({str(i): t.clone(memory_format=torch.contiguous_format) for i, t in enumerate(flat([module(*inputs)]))}, here / f"{name}.outputs.safetensors")


if __name__ == "__main__":
    main()
