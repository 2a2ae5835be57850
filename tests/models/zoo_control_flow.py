# SPDX-License-Identifier: MIT
"""torch.cond. The two inputs of a model take different branches."""

import torch
from torch import nn

from zoo import DTYPES, Apply, Made, dim, model, normal, signed_rows

BATCH = dim("batch")


class Branches(nn.Module):
    """Both branches close over weights and a buffer."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 4), nn.Linear(6, 4, bias=False)
        self.register_buffer("shift", normal(4))

    def forward(self, x):
        y = torch.cond(x.mean() > 0, lambda x: self.first(x).relu(), lambda x: self.second(x) - self.shift, (x,))
        return y * 2 + self.shift


@model("cond_branches", quick=True)
def cond_branches():
    return signed_rows(Branches(), 6)


@model("cond_on_size", quick=True)
def cond_on_size():
    function = lambda x: torch.cond(x.shape[0] > 4, lambda x: x.exp() + 1, lambda x: x.flip(0) * x.shape[0], (x,))
    return signed_rows(function, 3)


@model("cond_on_count")
def cond_on_count():
    """The size that decides is known to nobody before the model runs."""

    def forward(x):
        found = x[x > 1].clone()
        return torch.cond(found.shape[0] > 2, lambda x, f: x + f.sum(), lambda x, f: x - f.sum(), (x, found))

    return Made(
        Apply(forward),
        (torch.tensor([[2, 3, 0.5], [4, 5, -1]]),),
        (torch.tensor([[2, 0, 0.5], [0, 0, 1], [0, 0, -2]]),),
        ({0: BATCH},),
    )


@model("cond_one_element")
def cond_one_element():
    """A condition of one dimension; branches that compute nothing, or nothing from what they are given."""
    function = lambda x: torch.cond(x.sum().reshape(1) > 0, lambda x: x.clone(), lambda x: torch.ones_like(x) * 3, (x,))
    return signed_rows(function, 3)


@model("cond_constants")
def cond_constants():
    """Numbers out of branches are numbers for what follows."""

    def forward(x):
        y, n = torch.cond(x.sum() > 0, lambda x: (x.sin(), 3), lambda x: (x - 1, 5), (x,))
        return y * n, torch.ones(n) + x.sum()

    return signed_rows(forward, 4)


@model("cond_sizes")
def cond_sizes():
    """Branches of different sizes."""
    function = lambda x: torch.cond(x.sum() > 0, lambda x: x[:, :2] * 2, lambda x: x - 1, (x,)).cumsum(1)
    return Made(Apply(function), (normal(3, 5).abs(),), (-normal(3, 5).abs(),))


@model("cond_structure", quick=True)
def cond_structure():
    """Dicts, tuples and lists out of branches, two results that are the same, and operands in a dict."""

    def first(given):
        x, y = given["x"], given["pair"][0]
        return {"sum": x + y, "more": (x.amax(1), [y.argmax(1)])}

    def second(given):
        x, y = given["x"], given["pair"][0]
        return {"sum": x - y, "more": (y.amin(1), [x.argmin(1)])}

    def forward(x, y):
        out = torch.cond((x > y).all(), first, second, ({"x": x, "pair": [y]},))
        return {"twice": out["sum"] * 2, "more": out["more"], "sum": out["sum"]}

    high, low = normal(3, 4).abs() + 1, -normal(3, 4).abs()
    return Made(Apply(forward), (high, low), (normal(5, 4), normal(5, 4)), ({0: BATCH}, {0: BATCH}))


@model("cond_dtype", parts=list(DTYPES), tolerance=2e-2)
def cond_dtype(name):
    change = (lambda x: ~x, lambda x: x.logical_not()) if name == "bool" else (lambda x: x * 3, lambda x: x // 2)

    def forward(p, x):
        x = x.to(DTYPES[name])
        y = torch.cond(p, lambda x: change[0](x).roll(1, 0), lambda x: change[1](x).flip(1), (x,))
        return torch.cat([x, y]), p

    make = lambda rows: normal(rows, 4).clamp(min=0) * 20
    first, second = (torch.tensor(True), make(3)), (torch.tensor(False), make(5))
    return Made(Apply(forward), first, second, (None, {0: BATCH}))


@model("cond_writes")
def cond_writes():
    """What a branch makes itself it may write to."""

    def write(x):
        y = x.sin()
        y[:, 1:].mul_(3)
        y.add_(1)
        return y

    return signed_rows(lambda x: torch.cond(x.sum() > 0, write, lambda x: x.clone().fill_(2) + x, (x,)), 4)


class ConvBranches(nn.Module):
    """Layers that passes rewrite, in branches: Conv with BatchNorm, weights that are transposed, folded constants."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.head = nn.Conv2d(3, 5, 3), nn.BatchNorm2d(5), nn.Linear(5, 4)
        self.other = nn.Conv2d(3, 5, 3, stride=2)

    def forward(self, x):
        y = torch.cond(
            x.sum() > 0,
            lambda x: self.norm(self.conv(x)).relu().mean((2, 3)),
            lambda x: self.other(x).permute(0, 2, 3, 1).reshape(x.shape[0], -1, 5).amax(1),
            (x,),
        )
        return self.head(y)


@model("cond_conv")
def cond_conv():
    return signed_rows(ConvBranches(), 3, 8, 9)


@model("cond_chain")
def cond_chain():
    """One after the other, and one inside of the other."""

    def forward(x):
        y = torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))
        inner = lambda x, y: torch.cond(y.mean() > 0.5, lambda x, y: x * y, lambda x, y: x / y, (x, y))
        return torch.cond(y.sum() > -1, inner, lambda x, y: x - y, (x, y))

    return signed_rows(forward, 3)
