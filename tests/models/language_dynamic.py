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


def dynamic_grown(x: Tensor):
    rows = torch.zeros(0, x.size(0))
    last = x[:0, 0]
    for i in range(x.size(1)):
        rows = torch.cat([rows, x[:, i].unsqueeze(0) * i])
        last = torch.cat((x[:1, i], last))
    return rows, last, rows.size(0)


def dynamic_grown_to_data(x: Tensor):
    """As a decoder appends what it chooses."""
    chosen = torch.zeros(2, 1, dtype=torch.int64)
    scores = torch.zeros(2, 1)
    while bool(x[0].sum() + 3 * scores.size(1) < 9):
        mean = scores.mean(1, keepdim=True) + x[:2, :1] * chosen.size(1)
        scores = torch.cat([scores, mean], 1)
        chosen = torch.cat([chosen, scores[:, -1:].argmax(0)[None] + chosen[:, -1:] + 1], 1)
    return chosen, scores, scores.size(1), scores[:, -1]


def dynamic_shrunk(x: Tensor):
    y = x
    z = x[:, :1]
    while y.size(1) > 1:
        z = torch.cat([z, y[:, 1:2] * y.size(1)], 1)
        y = y[:, 1:]
    return y, z, torch.relu(z) + z.size(1)


def dynamic_grown_not_once(x: Tensor):
    y = x[:, :2]
    while bool(x.sum() > 1e9):
        y = torch.cat([y, y])
    return y, y.sum(0)


def dynamic_grown_twice(x: Tensor):
    y = x[:1]
    for i in range(x.size(1)):
        k = 0
        while k * k < i:
            y = torch.cat([y, x[:1] * k - i])
            k += 1
        y = y + 0.5
    return y, (y.size(0), y)


def in_rows(boxes: Tensor, count: int):
    if count > 0: # reshape() cannot tell -1 of no elements
        boxes = boxes.reshape(count, -1, 2)
    return boxes


def exchanged(boxes: Tensor):
    rank = boxes.dim()
    if rank == 3:
        boxes = boxes * 2
    return torch.stack((boxes[..., 1::2], boxes[..., 0::2]), rank).reshape(boxes.shape)


def dynamic_rank_of_data(x: Tensor):
    """As detection models decode boxes, of which there may be none."""
    kept = x.t()[x[0] > 0]
    boxes = exchanged(in_rows(torch.cat([kept, kept[:, :1]], 1), kept.size(0)))
    parts = [each[:, 1:] for each in boxes.split([kept.size(0)], 0)]
    both = torch.cat([boxes, boxes - 1])
    return parts[0].reshape(-1, 2), both.flatten(), torch.relu(both).sum(), boxes.numel()


def dynamic_dtype_of_data(x: Tensor):
    y = x
    if bool(x.sum() > 11):
        y = (x * 2).long()
    z = y.abs() + 1
    w = y.clone()
    w.mul_(3)
    if isinstance(y, Tensor):
        w += 1
    return z.float() * 2, torch.cat([y, y]).to(torch.float64), w.sum().float(), torch.add(y, 2, alpha=3).double(), y.size(1), len(y)


def dynamic_rank_that_decides(x: Tensor):
    y = x
    if bool(x.sum() > 11):
        y = x[0]
    return x.reshape(-1, 1) if y.dim() == 1 else y.reshape(-1, 1) * 2


def functions():
    return {name: f for name, f in globals().items() if name.startswith(("dynamic_", "same_"))}
