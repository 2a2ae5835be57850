# SPDX-License-Identifier: MIT
"""torch.cond, while_loop, scan, map and the regions that torch.export wraps. The two inputs of a model take different
branches, or make loops run a different number of times: none at all is one of them."""

import torch
import torch.nn.functional as F
from torch import nn
from torch._higher_order_ops.associative_scan import associative_scan_op
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.utils.checkpoint import checkpoint

from zoo import Apply, Made, dim, ids, model, normal

BATCH, LENGTH = dim("batch"), dim("length", 2, 50)


def zero():
    return torch.zeros((), dtype=torch.int64)


def rows(module, *width, dtype=torch.float32, batch=3, other=5):
    """A first input of positive numbers, a second one of negative numbers, with a dynamic first dim."""
    if not isinstance(module, nn.Module):
        module = Apply(module)
    first, second = normal(batch, *width).abs() + 0.1, -normal(other, *width).abs() - 0.1
    return Made(module, (first.to(dtype),), (second.to(dtype),), ({0: BATCH},))


def from_to(module, *width, start=0, other=9):
    """A number to count from, and rows. The module counts to 5: from 9 on that is none at all."""
    if not isinstance(module, nn.Module):
        module = Apply(module)
    args = torch.tensor(start), normal(3, *width)
    return Made(module, args, (torch.tensor(other), normal(4, *width)), (None, {0: BATCH}))


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
    return rows(Branches(), 6)


@model("cond_on_size", quick=True)
def cond_on_size():
    return rows(lambda x: torch.cond(x.shape[0] > 4, lambda x: x.exp() + 1, lambda x: x.flip(0) * x.shape[0], (x,)), 3)


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
    return rows(function, 3)


@model("cond_constants")
def cond_constants():
    """Numbers out of branches are numbers for what follows."""

    def forward(x):
        y, n = torch.cond(x.sum() > 0, lambda x: (x.sin(), 3), lambda x: (x - 1, 5), (x,))
        return y * n, torch.ones(n) + x.sum()

    return rows(forward, 4)


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


DTYPES = {"int64": torch.int64, "bool": torch.bool, "float16": torch.float16, "uint8": torch.uint8}


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

    return rows(lambda x: torch.cond(x.sum() > 0, write, lambda x: x.clone().fill_(2) + x, (x,)), 4)


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
    return rows(ConvBranches(), 3, 8, 9)


@model("cond_chain")
def cond_chain():
    """One after the other, and one inside of the other."""

    def forward(x):
        y = torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))
        inner = lambda x, y: torch.cond(y.mean() > 0.5, lambda x, y: x * y, lambda x, y: x / y, (x, y))
        return torch.cond(y.sum() > -1, inner, lambda x, y: x - y, (x, y))

    return rows(forward, 3)


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
            go_on = lambda n, x: x.abs().sum() > limit
            step = lambda n, x: (n + x.shape[0], torch.tanh(self.step(x)) * 0.5)
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
    return rows(Nested(), 4)


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


class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x > 0)


class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, least):
        ctx.save_for_backward(x)
        ctx.least = least
        return x.clamp(min=least)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x > ctx.least), None


class Functions(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        with torch.enable_grad():
            y = Relu.apply(self.fc(x))
            z = torch.cond(x.sum() > 0, lambda y: Clip.apply(y, 0.5), lambda y: Relu.apply(y - 0.25), (y,))
        return y, z, Clip.apply(y, 0.125)


@model("autograd_function", parts=["strict", "not_strict"])
def autograd_function(part):
    made = rows(Functions(), 4)
    made.strict = part == "strict"
    return made


class Regions(nn.Module):
    """Modes in modes, and a checkpoint."""

    def __init__(self):
        super().__init__()
        self.fc, self.last = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        y = checkpoint(lambda x: self.fc(x).relu(), x, use_reentrant=False)
        with torch.enable_grad():
            z = self.fc(y) * 2
            with torch.autocast("cpu", enabled=False):
                z = z + self.last(z).sin()
        return y + z, z * 2


@model("wrapped_regions", quick=True)
def wrapped_regions():
    return rows(Regions(), 4)


@model("cond_no_grad")
def cond_no_grad():
    def quiet(x):
        with torch.no_grad():
            y = x.sin() * 2
        return y - x

    def forward(x):
        with torch.enable_grad():
            return torch.cond(x.sum() > 0, quiet, lambda x: x.cos(), (x,))

    return rows(forward, 4)


@model("cond_attention")
def cond_attention():
    """A whole layer in a branch, with dynamic batch and length."""

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.both, self.out, self.norm = nn.Linear(8, 24), nn.Linear(8, 8), nn.LayerNorm(8)

        def attend(self, x):
            parts = self.both(x).unflatten(2, (3, 2, 4)).permute(2, 0, 3, 1, 4).unbind(0)
            return x + self.out(F.scaled_dot_product_attention(*parts, is_causal=True).transpose(1, 2).flatten(2))

        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: self.norm(self.attend(x)), lambda x: F.gelu(self.norm(x)), (x,))

    made = rows(Layer(), 6, 8)
    return Made(made.module, made.args, (made.other[0][:, :4].clone(),), ({0: BATCH, 1: LENGTH},))
