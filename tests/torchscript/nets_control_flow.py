# SPDX-License-Identifier: MIT
"""Control flow of scripted modules, and mixes of traced and scripted code."""

from typing import List, NamedTuple, Optional, Tuple  # noqa: UP035: older releases of TorchScript read these

import torch
from nets import net, normal
from torch import Tensor, nn


class EarlyReturn(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x * 2
        y = x - 1
        if y.min() < -3:
            return y.abs()
        return y + 10


class Choice(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(4, 4)
        self.right = nn.Linear(4, 4)

    def forward(self, x, flag: bool = True):
        y = self.left(x) if flag else self.right(x)
        if x.size(0) > 2:
            y = y * 2
        elif x.mean() > 0:
            y = y - 1
        return y if y.sum() > 0 else -y


class Newton(nn.Module):
    """A square root by iteration, until it is accurate."""

    def forward(self, x):
        x = x.abs() + 0.1
        guess = x
        steps = 0
        while steps < 30 and bool(((guess * guess - x).abs() > 1e-5).any()):
            guess = (guess + x / guess) / 2
            steps += 1
        return guess


class Greedy(nn.Module):
    """Decodes until a token ends, into a list."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(7, 6)
        self.cell = nn.GRUCell(6, 6)
        self.out = nn.Linear(6, 7)

    def forward(self, h):
        token = torch.zeros(h.size(0), dtype=torch.long)
        tokens: List[Tensor] = []
        for _ in range(5):
            h = self.cell(self.embedding(token), h)
            token = self.out(h).argmax(dim=1)
            tokens.append(token)
        return torch.stack(tokens, dim=1)


class LoopOverSize(nn.Module):
    def forward(self, x):
        total = torch.zeros(x.size(1))
        for i in range(x.size(0)):
            total = total * 0.5 + x[i]
        return total


class Collect(nn.Module):
    """A list that grows with a dynamic size."""

    def forward(self, x):
        out: List[Tensor] = []
        for i in range(x.size(0)):
            out.append(x[i] * (i + 1))
        return torch.stack(out)


class State(NamedTuple):
    position: Tensor
    velocity: Tensor


class Simulation(nn.Module):
    def step(self, s: State, dt: float) -> State:
        force = -s.position
        return State(s.position + s.velocity * dt, s.velocity + force * dt)

    def forward(self, x):
        s = State(x, torch.zeros_like(x))
        for _ in range(6):
            s = self.step(s, 0.1)
        return s


class Optionals(nn.Module):
    def __init__(self, bias: bool):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(4)) if bias else None

    def forward(self, x, mask: Optional[Tensor] = None) -> Tuple[Tensor, Optional[Tensor]]:
        bias = self.bias
        if bias is not None:
            x = x + bias
        if mask is None:
            return x, None
        return x * mask, mask


class Checks(nn.Module):
    def forward(self, x):
        if x.dim() != 2:
            raise ValueError(f"expected 2 dimensions, not {x.dim()}")
        assert x.size(1) == 4, "four columns"
        if bool(torch.isnan(x).any()):
            raise RuntimeError("not a number")
        return x.relu()


class Break(nn.Module):
    def forward(self, x):
        total = torch.zeros(())
        for i in range(10):
            if i == 3:
                continue
            total = total + x.sum() * i
            if i > 6:
                break
        return total


@torch.jit.script
def clipped(x, low: float, high: float):
    if bool(x.max() > high):
        x = x.clamp(low, high)
    return x


class Mixed(nn.Module):
    """Traced, with a scripted function inside."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return clipped(self.linear(x), -0.5, 0.5) * 2


class NestedLoops(nn.Module):
    def forward(self, x):
        y = x
        i = 0
        while bool(y.sum() < 20) and i < 8:
            j = 0
            while bool(y.max() < 3) and j < 3:
                y = y + 1.0
                j += 1
            y = y * 1.5 + 0.1
            i += 1
        return y


class WriteRows(nn.Module):
    """Writes rows in a loop over a dynamic size."""

    def forward(self, x):
        y = torch.zeros_like(x)
        for i in range(x.size(0)):
            y[i] = x[i] * i
        return y


class WriteInBranch(nn.Module):
    def forward(self, x):
        y = x.clone()
        if bool(x.sum() > 0):
            y += 1
            y[0] = 5.0
        return y


class Accumulate(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.names = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x) if i % 2 == 0 else layer(x) + x
        for name, each in self.names.items():
            x = each(x) if name != "a" else each(x) * 2
        return x + self.seen


def control_flow():
    rows = normal("n", 4)
    for name, build in (("early_return", EarlyReturn), ("choice", Choice), ("newton", Newton), ("loop_over_size", LoopOverSize),
                        ("collect", Collect), ("simulation", Simulation), ("checks", Checks), ("break_and_continue", Break),
                        ("nested_loops", NestedLoops), ("write_rows", WriteRows), ("write_in_branch", WriteInBranch), ("accumulate", Accumulate)):
        net(f"control_flow.{name}", build, ways="scripted", **rows)
    net("control_flow.greedy", Greedy, ways="traced scripted", **normal("n", 6))
    net("control_flow.optionals", lambda: Optionals(True), ways="scripted", **rows)
    net("control_flow.optionals_given", lambda: Optionals(False), lambda e: (torch.randn(2 + e, 4), torch.rand(2 + e, 4)), "scripted", {0: (0,), 1: (0,)})
    net("control_flow.mixed", Mixed, ways="traced scripted", **rows)


control_flow()
