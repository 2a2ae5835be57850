# SPDX-License-Identifier: MIT
"""Modules of torchscript.py in which a number that the model computes, or the size of a dynamic dimension, stands where a constant could."""

from typing import Dict, List, Optional, Tuple  # noqa: UP035: torch.jit.script reads them

import torch
from torch import Tensor, nn

from torchscript_modules import Case, case, normal


class Members(nn.Module):
    """`in` of a computed number: equal to a constant, to another computed number, to none."""

    def forward(self, x):
        n = int(x.sum())
        m = int(x[0, 0])
        is_listed = n in [1, 7, 30]
        return x + 1 if is_listed else x, n not in [m, 40], m in [n, m], x.size(0) in [2, 5], [m, n] == [3, 30]


class Lists(nn.Module):
    """Equality of lists and tuples with computed items, and of `is` with None."""

    def forward(self, x):
        n = int(x.sum())
        pair: Tuple[int, int] = (n, x.size(0))
        limit: Optional[int] = n if n > 4 else None
        sizes = [x.size(0), x.size(1)]
        return pair == (30, 5), sizes == [5, 4], sizes != [2, 4], [n] == [n], x * 2 if limit is None else x


class Keys(nn.Module):
    """Keys that are constants, beside a value that the model computes."""

    def forward(self, x):
        n = int(x.sum())
        found: Dict[int, int] = {2: n, 4: x.size(0)}
        named: Dict[str, Tensor] = {"a": x}
        named["a" + str(x.dim())] = x * found[2]
        return named["a2"] + found.get(4, 9), 2 in found, found.get(3, 5), len(found)


class Extremes(nn.Module):
    """max and min of two lists compare the first items that differ; those of one list are its items."""

    def forward(self, x):
        a, b = [1, 5, 2], [1, 3, 9]
        n = int(x.sum())
        real = [0.5, -2.0]
        return max(a, b), min(a, b), max([1, 2], [1, 2, 0]), min([1, 2], [1, 2, 0]), max(real), max([n, 3]), min(n, 4)


class Gradients(nn.Module):
    """requires_grad: of inputs, constants and what follows from them False; of parameters and what is computed from them True."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([0.5, -2.0, 3.0, 1.0]))
        self.frozen = nn.Parameter(torch.ones(4), requires_grad=False)
        self.register_buffer("shift", torch.ones(4))

    def forward(self, x):
        y = x * self.weight
        z = torch.zeros_like(x)
        z.add_(self.weight)
        flags = [x.requires_grad, (x + 1).requires_grad, self.weight.requires_grad, y.requires_grad,
                 y.detach().requires_grad, (x * self.frozen).requires_grad, (x + self.shift).requires_grad,
                 (y > 0).requires_grad, torch.ones_like(y).requires_grad, z.requires_grad, torch.ones(2).requires_grad]
        return [1 if each else 0 for each in flags]


class Texts(nn.Module):
    """A text of a computed number in a message that is not needed, and texts of constants."""

    def forward(self, x):
        n = int(x.sum())
        if x.dim() != 2:
            raise ValueError(f"expected 2 dimensions, not {n} {x}")
        constant = [1, 2]
        return x, str(constant) == "[1, 2]", f"{2.0}|{0.5}" == "2.|0.5", str((1, "a")) == "(1, a)", str(None) == "None"


class Numbers(nn.Module):
    """Arguments that are numbers."""

    def forward(self, x, n: int, scale: float, flag: bool):
        if flag:
            x = -x
        if n > 6:
            x = x + n
        return x * scale, n // 4, n % 3 == 1, scale * 0.5, not flag, x.repeat(n, 2)


class TextOfSize(nn.Module):
    def forward(self, x):
        return x + 1 if str(x.size(0)) == "2" else x  # text of a size


class LengthOfText(nn.Module):
    def forward(self, x):
        return x + len(str(int(x.sum())))  # length of a text


class KeyOfSize(nn.Module):
    def forward(self, x):
        return x + {2: 10, 4: 20}.get(x.size(0), 5)  # key of a size


class KeyOfData(nn.Module):
    def forward(self, x):
        found = {1: 2.0, int(x.sum()): 3.0}  # key of data
        return x + found[1]


class JoinedText(nn.Module):
    def forward(self, x):
        return x if "-".join(["a", str(int(x.sum()))]) == "a-3" else x * 2  # joined text


class Traced(nn.Module):
    """Numbers as tensors: torch.div of two sizes is float32, and a Python float that tracing records is float64."""

    def forward(self, x):
        half = torch.tensor(x.shape[1] * 1.5, dtype=torch.float64)
        return x.to(torch.float64) * half, half


def whole(*sizes):
    """Small whole numbers, whose sum depends on the sizes alone."""
    def make():
        x = torch.zeros(*sizes)
        x[0, 0] = 3
        x[0, 1] = 27 if sizes[0] == 5 else 4
        return x
    return make


def numbers():
    x = torch.randn(2, 3)
    return Numbers(), {"x": x, "n": 5, "scale": 0.1, "flag": True}, {"x": x + 1, "n": 7, "scale": -2.5, "flag": False}


def cases():
    def made(name, build, one=None, other=None, dynamic=(0,), **options):
        return case(f"symbols_{name}", build, one or whole(2, 4), other or whole(5, 4), dynamic, ways=("scripted",), **options)

    def refused(name, build, line):
        return made(name, build, refused="depends on", line=line, refused_dynamic=True)
    return [
        made("members", Members), made("lists", Lists), made("keys", Keys), made("extremes", Extremes), made("gradients", Gradients),
        made("texts", Texts),
        Case("symbols_numbers", numbers, ways=("scripted",)),
        case("symbols_traced", Traced, normal(3, 7), ways=("traced",)),
        refused("text_of_size", TextOfSize, 'return x + 1 if str(x.size(0)) == "2" else x  # text of a size'),
        refused("length_of_text", LengthOfText, "return x + len(str(int(x.sum())))  # length of a text"),
        refused("key_of_size", KeyOfSize, "return x + {2: 10, 4: 20}.get(x.size(0), 5)  # key of a size"),
        refused("key_of_data", KeyOfData, "found = {1: 2.0, int(x.sum()): 3.0}  # key of data"),
        refused("joined_text", JoinedText, 'return x if "-".join(["a", str(int(x.sum()))]) == "a-3" else x * 2  # joined text'),
    ]
