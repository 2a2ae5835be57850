# SPDX-License-Identifier: MIT
"""Modules of torchscript.py with lists that grow in loops over data, and with as many tensors as a dynamic dimension has."""

from typing import List  # noqa: UP035: torch.jit.script reads it

import torch
from torch import Tensor, nn

from torchscript_modules import case, normal


class States(nn.Module):
    """A recurrent cell over time, with two lists, of which one starts with an item and gets two at a time."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 3)

    def forward(self, x):
        state = torch.zeros(2, 3)
        states: List[Tensor] = []
        both = [state]
        for step in x.unbind(0):
            state = self.cell(step, state)
            states.append(state)
            both.append(state * 2)
            both.append(-state)
        return torch.stack(states), torch.stack(states, -1), torch.cat(both, 1), len(both), both[-1] + states[0]


class Greedy(nn.Module):
    """As many steps as the data need."""

    def forward(self, x):
        tokens: List[Tensor] = []
        i = 0
        state = x.sum(0)
        while bool(state.abs().sum() > 0.5):
            state = torch.tanh(state).flip(0) * 0.7
            tokens.append(state.argmax())
            i += 1
        return torch.stack(tokens), i


class Nested(nn.Module):
    """A comprehension of sums, and a list that a loop in a loop fills."""

    def forward(self, x):
        sums = torch.stack([row.sum() for row in x])
        rows: List[Tensor] = []
        for i in range(x.size(0)):
            row: List[Tensor] = []
            for j in range(x.size(0)):
                row.append(x[i] * x[j])
            rows.append(torch.stack(row).sum(1))
        return sums, torch.stack(rows)


class Written(nn.Module):
    """Items that the iteration still changes after it has appended them, and views of the input."""

    def forward(self, x):
        items: List[Tensor] = []
        views: List[Tensor] = []
        for i in range(x.size(0)):
            item = x[i] * 2
            items.append(item)
            item[0] = float(i)
            views.append(x[i])
        return torch.stack(items), torch.stack(views, 1), x + 1


def helper(x):
    parts: List[Tensor] = []
    for i in range(x.size(0)):
        parts.append(x[i:].sum(0))
    return torch.stack(parts)


class InFunction(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return helper(x)
        return -helper(x * 2)


class Same(nn.Module):
    """All items are the same tensor, so that each has the last sum."""

    def forward(self, x):
        total = torch.zeros(4)
        sums: List[Tensor] = []
        for i in range(x.size(0)):
            total += x[i]
            sums.append(total)
        return torch.stack(sums)


class Changed(nn.Module):
    def forward(self, x):
        x = x.clone()
        rows: List[Tensor] = []
        for i in range(x.size(0)):
            rows.append(x[i])
        x.add_(1)  # changed
        return torch.stack(rows)


class First(nn.Module):
    """The first item is the tensor that the loop starts with, which is changed later."""

    def forward(self, x):
        start = torch.zeros(4)
        state = start
        states: List[Tensor] = []
        for i in range(x.size(0)):
            states.append(state)
            state = state + x[i]
        start.add_(1)  # first
        return torch.stack(states), start


class Selected(nn.Module):
    def forward(self, x):
        rows: List[Tensor] = []
        for i in range(x.size(0)):
            if x[i].sum() > 0:
                rows.append(x[i])  # selected
        return torch.stack(rows)


class Returned(nn.Module):
    def forward(self, x):
        rows: List[Tensor] = []
        for i in range(x.size(0)):
            rows.append(x[i] + 1)
        return rows


class Read(nn.Module):
    def forward(self, x):
        rows = [x[0]]
        for i in range(x.size(0)):
            rows.append(rows[-1] + x[i])  # read
        return torch.stack(rows)


def cases():
    def made(name, build, one=None, other=None, dynamic=(0,), **options):
        return case(f"lists_{name}", build, one or normal(3, 4), other or normal(5, 4), dynamic, ways=("scripted",), **options)

    def refused(name, build, why, line=""):
        return made(name, build, refused=why, line=line, refused_dynamic=True)

    return [
        made("states", States, normal(3, 2, 4), normal(6, 2, 4)),
        made("greedy", Greedy),
        made("nested", Nested),
        made("written", Written),
        made("in_function", InFunction, None, lambda: -torch.rand(5, 4)),
        refused("same", Same, "a list has a tensor to which another iteration"),
        refused("changed", Changed, "whose parts are in a list that has grown in a loop", "x.add_(1)  # changed"),
        refused("first", First, "whose parts are in a list that has grown in a loop", "start.add_(1)  # first"),
        refused("selected", Selected, "changes a list", "rows.append(x[i])  # selected"),
        refused("returned", Returned, "a list whose length the model computes"),
        refused("read", Read, "changes a list", "rows.append(rows[-1] + x[i])  # read"),
    ]
