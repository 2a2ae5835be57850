# SPDX-License-Identifier: MIT
"""Functions of a tensor whose second dimension is dynamic: what Python computes with its size, and lists of as many parts as it has."""

import math
from typing import List  # noqa: UP035: torch.jit.script reads it

import torch
from torch import Tensor


def dynamic_chunk(x: Tensor):
    a, b = x.chunk(2, 1)
    c, d = torch.chunk(x * 2, 2, -1)
    return a * 10 + b, torch.sigmoid(c), d


def dynamic_split(x: Tensor):
    first = x.split(2, 1)[0]
    parts = torch.split(x, 1, dim=1)
    return first, parts[1], parts[0] - parts[3]


def dynamic_bits(x: Tensor):
    n = x.size(1)
    return x * (n & 6), x + (n | 9), x - (n ^ 3), x * (n << 2), x + (n >> 1)


def dynamic_math(x: Tensor):
    n = x.size(1)
    y = torch.tensor([math.log(n), math.exp(-n), math.sin(n), math.pow(n, 3), round(n * 0.3), math.degrees(n), math.atan2(n, 3.0),
                      math.log(n, 2), math.fmod(n, 3.0), math.copysign(2.0, -n), math.sqrt(n)], dtype=torch.float64)
    q, r = divmod(n * 7, 5)
    return y, x + q, x * r, x + n ** 2, torch.tensor([math.floor(n / 3), math.ceil(n / 3), math.gcd(n, 12)])


def dynamic_range(x: Tensor):
    total = x.sum()
    for i in range(0, x.size(1), 2):
        total = total * 0.5 + x[0, i] * i
    for i in range(1, 20, x.size(1)):
        total = total + i
    for i in range(x.size(1), 0, -1):
        total = total - x[1, i - 1] / i
    return total


def dynamic_step_of_data(x: Tensor):
    step = int(x.abs().sum()) % 3 + 1
    total = torch.zeros(2)
    for i in range(2, 11, step):
        total = total * 2 + i
    for i in range(9, -5, -step):
        total = total - i
    return total


def dynamic_equal(x: Tensor):
    y = x * 2 - x
    if torch.equal(x, y):
        x = x + 1
    if torch.allclose(x, y, atol=3.0):
        x = x * 2
    return x


def dynamic_sizes(x: Tensor):
    sizes = list(x.shape)
    sizes.append(sizes[0] * sizes[1])
    return torch.tensor(sizes), torch.zeros(sizes[:2]), torch.tensor([sum(sizes), max(sizes), min(sizes), x.nbytes, len(sizes)])


def dynamic_keys(x: Tensor):
    d = {"n": x.size(1), "m": 3}
    d["n"] += 1
    d.update({"k": d["n"] * 2})
    return x * d["n"], x + d["k"], x - d.get("m", 7)


def dynamic_list_of_tensors(x: Tensor):
    rows: List[Tensor] = []
    for i in range(x.size(1)):
        rows.append(x[:, i] * i)
    return torch.stack(rows, 1)


def same_unbind(x: Tensor):
    a, b, c, d = x.unbind(1)
    return a - b * 2, c / (d + 20), x.unbind(1)[2]


def same_chunk(x: Tensor):
    a, b, c = x.chunk(3, 1) if x.size(0) == 2 else x[:, :3].chunk(3, 1)
    d, e = x.split(3, 1)
    return a, b + c, d, e


def functions():
    return {name: f for name, f in globals().items() if name.startswith(("dynamic_", "same_"))}
