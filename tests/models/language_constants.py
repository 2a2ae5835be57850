# SPDX-License-Identifier: MIT
"""Functions that calculate with constant tensors, and decide or count by them: numbers from them are constants, unless code writes to them."""

from typing import List, Optional  # noqa: UP035: torch.jit.script reads them

import torch
import torch.nn.functional as F
from torch import Tensor


def constant_scale(x: Tensor):
    """As detection models resize their images."""
    sizes = torch.tensor(x.shape[-2:])
    smallest = torch.min(sizes).to(dtype=torch.float32)
    largest = torch.max(sizes).to(dtype=torch.float32)
    factor = torch.min(5 / smallest, 9 / largest).item()
    y = F.interpolate(x[None, None], scale_factor=factor, mode="bilinear", recompute_scale_factor=True, align_corners=False)[0]
    return y, y.view(y.size(0), -1), factor


def constant_conditions(x: Tensor):
    t = torch.tensor([1, 2, 3])
    parts = [x]
    if bool(t.sum() > 5): # a list that changes in a branch on data is refused
        parts.append(x * 2)
    if t[1].item() == 2 and not bool(t[0] > t[2]):
        parts.append(x * 3)
    if torch.equal(t, torch.arange(1, 4)):
        parts.append(x * 4)
    if torch.all(t > 1): # which is false
        parts.append(x.sum())
    y: Optional[Tensor] = None
    if torch.linspace(0, 1, 3)[1] < 0.75:
        y = x - 7
    assert y is not None
    return torch.cat(parts), y


def constant_sizes(x: Tensor):
    t = torch.full([2], 3) - torch.ones(2, dtype=torch.int64)
    n = int(t.prod()) # 4
    index: List[int] = t.tolist()
    kept = torch.tensor([True, False, True]).nonzero().flatten()
    return torch.zeros(n, n), x.reshape(-1, n), x[index[0]], x[kept], x[:, int(kept[1])], x.new_ones(kept.size(0), int(t.max()))


def constant_floats(x: Tensor):
    a = float(torch.tensor(0.1)) # that of float32
    b = torch.tensor(0.1, dtype=torch.float64).item()
    c = torch.tensor([2.5]).to(torch.int32).item()
    d = bool(torch.tensor(float("nan"))), bool(torch.tensor(-0.0))
    e = torch.tensor(7) / 2
    return torch.tensor([a, float(b)], dtype=torch.float64), c, d[0], d[1], x * e, int(torch.tensor(-2.5)), torch.tensor(300).to(torch.uint8).item()


def constant_written(x: Tensor):
    t = torch.zeros(2, dtype=torch.int64)
    before = int(t[0])
    view = t[0]
    view += 3 # writes to t
    u = torch.tensor(1)
    if bool(x.sum() > -100):
        u += 4
    filled = torch.ones(3)
    filled[1:].fill_(6)
    out = torch.zeros(1)
    torch.add(out, 5, out=out)
    return x * before, x * int(t[0]), x * int(t.sum()), x * int(u), x * float(filled.max()), x * out.item()


def constant_written_by_data(x: Tensor):
    u = torch.tensor(1)
    if bool(x.sum() > 11):
        u += 4
    v = torch.tensor([2, 3])
    w = v[1:]
    if bool(x.sum() > 11):
        w.mul_(5)
    return x * int(u), x * int(v[1]), int(v.sum())


def constant_written_in_loop(x: Tensor):
    n = torch.tensor(0)
    total = 0
    i = 0
    while bool(x.sum() * i < 24): # as often as the data says
        if int(n) > 1: # not in the first iteration
            total += 10
        n += 1
        i += 1
    return total, int(n), x * i


def constant_counter(x: Tensor):
    """A loop stays a loop: nothing is unrolled."""
    i = torch.tensor(0)
    y = x
    while i < 20000:
        i = i + 1
        y = y * 0.9999
    for _ in range(int(torch.tensor([10000, 20000]).max())):
        y = y + 0.001
    return y, i


def constant_counter_changed(x: Tensor):
    n = torch.tensor(3)
    k = int(n)
    for i in range(k):
        n += i
        x = x * int(n)
    return x, int(n), k


def functions():
    return {name: f for name, f in globals().items() if name.startswith("constant_")}
