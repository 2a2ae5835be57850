# SPDX-License-Identifier: MIT
"""torch's while_loop, scan, map and associative_scan. The two inputs of a model make loops run a different number of
times: none at all is one of them."""

import torch
from torch import nn
from torch._higher_order_ops.associative_scan import associative_scan_op
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop

from zoo import DTYPES, Apply, Made, dim, ids, model, normal, signed_rows

BATCH, LENGTH = dim("batch"), dim("length", 2, 50)


def zero():
    return torch.zeros((), dtype=torch.int64)


def from_to(module, *width, start=0, other=9):
    """A number to count from, and rows. The module counts to 5: from 9 on that is none at all."""
    if not isinstance(module, nn.Module):
        module = Apply(module)
    args = torch.tensor(start), normal(3, *width)
    return Made(module, args, (torch.tensor(other), normal(4, *width)), (None, {0: BATCH}))


@model("while_count", quick=True)
def while_count():
    """Two values change places, and a third one stays what it is."""
    step = lambda i, x, y, z: (i + 1, y.clone(), x * 1.5 - i + z, z.clone())
    function = lambda i, x: while_loop(lambda i, *_: i < 5, step, (i.clone(), x.clone(), x + 1, x.sum(1, keepdim=True)))
    return from_to(function, 4)


@model("while_norm")
def while_norm():
    """The numbers decide when it ends; what does not change is known from outside."""

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.step = nn.Linear(4, 4)

        def forward(self, x, limit):
            rows = x.shape[0]
            go_on = lambda n, x: x.abs().sum() > limit
            step = lambda n, x: (n + rows, torch.tanh(self.step(x)) * 0.5)
            return while_loop(go_on, step, (zero(), x.clone()))

    args, other = (normal(3, 4) * 9, torch.tensor(4.0)), (normal(5, 4), torch.tensor(1e3))
    return Made(Norm(), args, other, ({0: BATCH}, None))


@model("while_dtype", parts=list(DTYPES), tolerance=2e-2)
def while_dtype(name):
    change = {
        "int64": lambda x: x * 3 - 7,
        "bool": lambda x: ~x.roll(1, 1),
        "float16": lambda x: x * 1.5,
        "uint8": lambda x: x * 3,
    }[name]

    def forward(i, x):
        return while_loop(lambda i, x: i < 5, lambda i, x: (i + 2, change(x)), (i.clone(), x.to(DTYPES[name])))[1]

    make = lambda rows: normal(rows, 4).clamp(min=0) * 20
    return Made(Apply(forward), (torch.tensor(1), make(3)), (torch.tensor(6), make(5)), (None, {0: BATCH}))


@model("while_greedy")
def while_greedy():
    """Decoding: each trip writes the best next token, until one ends it."""

    class Greedy(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.head = nn.Embedding(11, 6), nn.Linear(6, 11)

        def forward(self, tokens):
            def step(i, tokens):
                best = before(i, self.head(self.embedding(tokens).cumsum(1).sin()).argmax(-1))
                here = torch.arange(tokens.shape[1]) == i
                return i + 1, torch.where(here, best, tokens)

            before = lambda i, tokens: tokens.index_select(1, (i - 1).reshape(1))
            go_on = lambda i, tokens: torch.logical_and(i < tokens.shape[1], (before(i, tokens) != 3).any())
            return while_loop(go_on, step, (zero() + 2, tokens.clone()))[1]

    return Made(Greedy(), (ids(2, 9, below=11),), (ids(3, 9, below=11),), ({0: BATCH},))


class Nested(nn.Module):
    """cond in while_loop in cond, each with weights of its own."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("scale", normal(4).abs())

    def forward(self, x):
        def step(i, y):
            y = torch.cond(y.sum() > i, lambda y: torch.tanh(self.fc(y)), lambda y: y * self.scale + 1, (y,))
            return i + 1, y

        def loop(x):
            return while_loop(lambda i, y: i < 4, step, (zero(), x.clone()))[1]

        return torch.cond(x.mean() > 0, loop, lambda x: x - self.scale, (x,))


@model("cond_while_cond", quick=True)
def cond_while_cond():
    return signed_rows(Nested(), 4)


@model("while_in_while")
def while_in_while():
    def inner(x):
        return while_loop(lambda k, x: k < x.shape[0], lambda k, x: (k + 1, x + k * 0.25), (zero(), x.clone()))[1]

    function = lambda i, x: while_loop(
        lambda i, x: i < 5, lambda i, x: (i + 1, inner(x) * 0.75), (i.clone(), x.clone())
    )
    return from_to(function, 3)


@model("scan_sums", quick=True)
def scan_sums():
    """Two states, two sequences, several results of each step."""

    def step(state, x):
        total, shrunk = state[0] + x[0] - x[1].mean(), state[1] * 0.5 + 1
        return [total, shrunk], {"product": state[0] * x[0], "mean": x[1].mean(), "count": (x[0] > 0).sum()}

    args = normal(3), normal(2), normal(6, 3), normal(6, 4)
    other = normal(3), normal(2), normal(4, 3), normal(4, 4)
    function = lambda a, b, x, y: scan(step, [a, b], [x, y])
    return Made(Apply(function), args, other, (None, None, {0: LENGTH}, {0: LENGTH}))


@model("scan_reverse")
def scan_reverse():
    function = lambda a, x: scan(lambda c, x: (c * 0.5 + x, c - x), a, x, dim=1, reverse=True)
    return Made(
        Apply(function), (normal(4), normal(4, 6)), (normal(4), normal(4, 3)), (None, {1: LENGTH})
    )


@model("scan_gru")
def scan_gru():
    """A recurrent net that does not unroll: its length is dynamic."""

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.head = nn.GRUCell(5, 7), nn.Linear(7, 3)

        def forward(self, x):
            def step(h, x):
                h = self.cell(x, h)
                return h, self.head(h)

            last, all_steps = scan(step, x.new_zeros(x.shape[1], 7), x)
            return all_steps, last

    return Made(Recurrent(), (normal(6, 3, 5),), (normal(9, 2, 5),), ({0: LENGTH, 1: BATCH},))


@model("scan_cond")
def scan_cond():
    def step(c, x):
        c = torch.cond(c.sum() > 0, lambda c, x: c - x * x, lambda c, x: c + x * x, (c, x))
        return c, c > 0

    function = lambda c, x: scan(step, c, x)
    return Made(Apply(function), (normal(3), normal(7, 3)), (normal(3), normal(2, 3)), (None, {0: LENGTH}))


@model("scan_dtype", parts=["int64", "float16", "bool"], tolerance=2e-2)
def scan_dtype(name):
    step = (lambda c, x: (c ^ x, c & x)) if name == "bool" else (lambda c, x: (c + x, c * 2 - x))
    module = Apply(lambda c, x: scan(step, c.to(DTYPES[name]), x.to(DTYPES[name])))
    make = lambda *shape: (normal(*shape) * 20).clamp(min=0)
    return Made(module, (make(3), make(7, 3)), (make(3), make(2, 3)), (None, {0: LENGTH}))


@model("map_rows", quick=True)
def map_over_rows():
    """Each row with a matrix that is the same for all; one result of a row is a number."""

    class Rows(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 3)

        def forward(self, x, y):
            return map_rows(lambda pair, y: (self.fc(pair[0]) @ y, pair[1].sum()), (x, x * 2), y)

    args, other = (normal(3, 2, 4), normal(3, 5)), (normal(6, 2, 4), normal(3, 5))
    return Made(Rows(), args, other, ({0: BATCH}, None))


@model("map_cond")
def map_cond():
    """Every row takes its own branch."""
    function = lambda x: map_rows(lambda r: torch.cond(r.sum() > 0, lambda r: r.sqrt(), lambda r: r - 1, (r,)), x)
    args, other = (normal(4, 3).abs() * torch.tensor([[1], [-1], [1], [-1]]),), (normal(7, 3).abs(),)
    return Made(Apply(function), args, other, ({0: BATCH},))


@model("associative_scan")
def associative_scan():
    """As one operator, which is how compilers keep it; torch.export unrolls associative_scan itself."""

    def combine(a, p, b, q):
        return a * q + b, p * q

    function = lambda x, y: associative_scan_op(combine, (x, y), ())
    args, other = (normal(6, 3), normal(6, 3)), (normal(2, 3), normal(2, 3))
    return Made(Apply(function), args, other, ({0: LENGTH}, {0: LENGTH}))
