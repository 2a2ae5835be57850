# SPDX-License-Identifier: MIT
"""Modules of torchscript.py whose branches and loops write to tensors from outside, also through views."""

import torch
from torch import nn

from torchscript_modules import case, normal


class InBranch(nn.Module):
    def forward(self, x):
        y = x.clone()
        if x.sum() > 0:
            y.add_(1)
        return y


class InBothBranches(nn.Module):
    """Different tensors, one of them through a view of a view, and one that a nested branch writes to."""

    def forward(self, x):
        a, b = x.clone(), x * 2
        row = b[0]
        if x.sum() > 0:
            a[:, 1:].t()[0].mul_(3)
            if x[0, 0] > 0:
                b.fill_(7)
        else:
            b += a
        return a, b, row


class Rows(nn.Module):
    def forward(self, x):
        out, total = torch.zeros_like(x), torch.zeros(x.size(1))
        for i in range(x.size(0)):
            out[i] = x[i] * i
            total += x[i]
        return out, total


class Recurrence(nn.Module):
    """Each row depends on the one before, which the loop has written."""

    def forward(self, x):
        out = torch.zeros_like(x)
        out[0] = x[0]
        for i in range(1, x.size(0)):
            out[i] = out[i - 1] * 0.5 + x[i]
            if out[i].sum() > 1:
                out[i, 0] = -1.0
        return out


class Alias(nn.Module):
    """Another variable is the tensor that the loop adds to, and still is after the loop."""

    def forward(self, x):
        total = torch.zeros(4)
        same = total
        part = total[1:]
        for i in range(x.size(0)):
            total += x[i]
        before = total * 1
        total += 1
        same[0] = 7.0
        return before, total, same, part


class InTest(nn.Module):
    """The condition of the loop reads what its body writes."""

    def forward(self, x):
        left = x.abs()
        n = 0
        while bool(left.max() > 0.1):
            left.mul_(0.5)
            n += 1
        return left, n


class Counts(nn.Module):
    def forward(self, x):
        places = torch.nonzero(x > 0)
        counts = torch.zeros(x.size(1))
        for i in range(places.size(0)):
            counts[places[i, 1]] += 1.0
        return counts


class Buffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, x):
        if x.sum() > 0:
            self.seen.add_(x.sum(0))
        return x + self.seen


class Overlap(nn.Module):
    """The branch reads through another view what it has written."""

    def forward(self, x):
        y = x.clone()
        row = y[0]
        if x.sum() > 0:
            y.add_(1)  # overlap
            x = x + row
        return x, y


class Replaced(nn.Module):
    """Only the first iteration writes to the tensor from outside."""

    def forward(self, x):
        y = x.clone()
        z = y
        while bool(y.max() < 9):
            y.add_(1)  # replaced
            y = y * 2
        return y, z


class Outs(nn.Module):
    """Results that are written to given tensors."""

    def forward(self, x):
        total, rest = torch.zeros(2, 6), torch.zeros(3, 6)
        torch.add(x[:2], 1.5, out=total)
        torch.remainder(x[:1], 0.75, out=rest[1:2])
        return total, rest, torch.exp(total * 0.1, out=total)


class ResizedOuts(nn.Module):
    """Tensors that get the size of the result, and results that get the dtype of the tensor."""

    def forward(self, x):
        empty, longer, doubles = torch.empty(0), torch.empty(5, dtype=torch.float64), torch.empty(0, dtype=torch.float64)
        torch.add(x, x, out=empty)
        torch.arange(3, out=longer)
        torch.sum(x, 0, out=doubles)
        return empty * 2, empty.size(0), longer + 1, doubles


def cases():
    def batch(rows):
        return normal(rows, 4)

    def positive():
        return torch.rand(5, 4)

    def made(name, build, one=None, other=None, **options):
        return case(f"writes_{name}", build, one or batch(3), other or batch(5), (0,), ways=("scripted",), **options)

    return [
        case("writes_outs", Outs, normal(2, 6), normal(3, 6), (0,)),
        case("writes_resized_outs", ResizedOuts, normal(2, 6), normal(3, 6), (0,)),
        made("in_branch", InBranch, positive, lambda: -torch.rand(2, 4)),
        made("in_both_branches", InBothBranches, positive, lambda: -torch.rand(2, 4)),
        made("in_nested_branch", InBothBranches, lambda: torch.rand(3, 4) + torch.tensor([-1.0, 1, 1, 1]), positive),
        made("rows", Rows),
        made("recurrence", Recurrence, None, lambda: torch.rand(6, 4)),
        made("alias", Alias),
        made("in_test", InTest),
        made("counts", Counts),
        made("buffer", Buffer, positive),
        made("overlap", Overlap, refused="writes to", line="y.add_(1)  # overlap"),
        made("replaced", Replaced, refused="writes to", line="y.add_(1)  # replaced"),
    ]
