# SPDX-License-Identifier: MIT
"""Small modules, one trait each: pooling with dynamic sizes, mixed dtypes, indexing, in-place writes,
..."""

import functools

import torch
import torch.nn.functional as F

from zoo import Apply, Made, dim, ids, model, normal, rows

BATCH, HEIGHT, WIDTH = dim("batch"), dim("height", 3, 200), dim("width", 3, 200)


@model("adaptive_pool_view", quick=True, parts=["avg", "max"])
def adaptive_pool_view(kind):
    pool = F.adaptive_avg_pool2d if kind == "avg" else F.adaptive_max_pool2d
    module = Apply(lambda x: pool(x, (1, 1)).view(x.size(0), -1))
    return Made(module, (normal(2, 5, 7, 9),), (normal(4, 5, 12, 6),), ({0: BATCH, 2: HEIGHT, 3: WIDTH},))


@model("adaptive_pool_sizes")
def adaptive_pool_sizes():
    """Sizes that divide, and those that do not."""
    function = lambda x: (
        F.adaptive_avg_pool2d(x, (3, None)),
        F.adaptive_avg_pool2d(x, (4, 5)),
        F.adaptive_max_pool2d(x, (2, 7)),
    )
    return rows(function, 4, 6, 14)


@model("mixed_float_int", quick=True)
def mixed_float_int():
    function = lambda x, n: (x.int() + n, n.float() * x, (x * 3).long() // 2, n / 4, x + n.int())
    return Made(
        Apply(function),
        (normal(3, 4), ids(3, 4, below=50)),
        (normal(2, 4), ids(2, 4, below=50)),
        ({0: BATCH}, {0: BATCH}),
    )


@model("log1p", quick=True)
def log1p():
    return rows(lambda x: (torch.log1p(x.abs()), torch.expm1(x * 0.1)), 5)


UNARY = """abs acos acosh asin asinh atan atanh ceil cos cosh erf exp exp2 expm1 floor log log10 log2 neg reciprocal
round rsqrt sigmoid sign sin sinh sqrt square tan tanh trunc frac""".split()


@model("elementwise")
def elementwise():
    """Each on values inside its domain."""
    return rows(
        lambda x: [getattr(torch, name)(torch.sigmoid(x) * 0.8 + (1.1 if name == "acosh" else 0.1)) for name in UNARY],
        6,
    )


@model("activations")
def activations():
    functions = [
        F.celu,
        F.elu,
        F.gelu,
        F.hardshrink,
        F.hardsigmoid,
        F.hardswish,
        F.hardtanh,
        F.leaky_relu,
        F.logsigmoid,
        F.mish,
        F.relu6,
        F.selu,
        F.silu,
        F.softplus,
        F.softshrink,
        F.softsign,
        F.tanhshrink,
        functools.partial(F.glu, dim=-1),
        functools.partial(F.threshold, threshold=0.2, value=-3.0),
        functools.partial(F.softmin, dim=1),
    ]
    return rows(lambda x: [f(x * 3) for f in functions], 6)


@model("reductions")
def reductions():
    function = lambda x: (
        x.sum((0, 2)),
        x.mean(1, keepdim=True),
        x.amax(2),
        x.amin((1, 2)),
        x.prod(2),
        x.std(1),
        x.var((0, 2), correction=0),
        x.norm(dim=2),
        x.logsumexp(1),
        x.argmax(2),
        x.argmin(1, keepdim=True),
        (x > 0).any(2),
        (x > -1).all(1),
        x.max(1).values,
        x.median(2).values,
        torch.linalg.vector_norm(x, 3, dim=(1, 2)),
        (x > 0).sum(2),
    )
    return rows(function, 4, 5)


@model("shapes", quick=True)
def shapes():
    def function(x):
        batch, width = x.shape[0], x.shape[2]
        return (
            x.reshape(batch * 2, -1),
            x.permute(2, 0, 1),
            x.flip(1, 2),
            x.roll((1, -2), (0, 2)),
            x.repeat(1, 2, 3),
            x.tile(2),
            torch.stack((x, x + 1), 1),
            x.unsqueeze(0).expand(4, -1, -1, -1),
            x.split([1, 3], 1)[1],
            torch.chunk(x, 3, 2)[2],
            x.new_full((batch, width), 2.5),
            torch.arange(batch) * width,
            x.narrow(2, 1, 3),
            x.unfold(2, 3, 2),
            x.movedim(0, 2),
            x.diagonal(0, 1, 2),
            x.tril(1),
            torch.nn.functional.one_hot((x[:, 0] > 0).long(), 3),
        )

    return rows(function, 4, 6)


@model("slices_dynamic", quick=True)
def slices_dynamic():
    def function(x):
        half = x.shape[1] // 2
        return (
            x[:, half:],
            x[:, : x.shape[1] - 1],
            x[:, ::2],
            x[:, -1],
            torch.cat((x[:, 1:], x[:, :1]), 1),
            x.mean(1) * half,
        )

    return Made(Apply(function), (normal(2, 6, 3),), (normal(4, 9, 3),), ({0: BATCH, 1: torch.export.Dim.DYNAMIC},))


@model("writes_in_place", quick=True)
def writes_in_place():
    def function(x):
        y = x.clone()
        y[:, 1] = 7.0
        y[:, 2:4].mul_(2).add_(x[:, :2], alpha=0.5)
        z = y.view(y.shape[0], 2, 3)
        z.select(1, 1).relu_()
        y.masked_fill_(x > 1, -1.0).clamp_(max=5)
        return y, z.sum(2)

    return rows(function, 6)


@model("input_written")
def input_written():
    """The caller sees that its argument changed: an output of its own."""
    return Made(Apply(lambda x, y: x.mul_(2).add_(1) @ y), (normal(3, 4), normal(4, 2)), (normal(3, 4), normal(4, 2)))


@model("gather_scatter")
def gather_scatter():
    def function(x, index):
        return (
            x.gather(1, index),
            torch.zeros_like(x).scatter(1, index, x[:, :3]),
            x.scatter_add(1, index, x[:, :3] * 2),
            x.scatter_reduce(1, index, x[:, 1:4], "amax", include_self=False),
            x.index_select(1, index[0]),
            x.take_along_dim(index, 1),
        )

    indices = [torch.stack([torch.randperm(5)[:3] for _ in range(n)]) for n in (3, 3)]
    return Made(Apply(function), (normal(3, 5), indices[0]), (normal(3, 5), indices[1]))


@model("index_put", quick=True)
def index_put():
    def function(x, where, values):
        y = x.clone()
        y[where, 1] = values
        y.index_put_((where,), values[:, None].expand(-1, 4), accumulate=True)
        return y, x[where], x[:, torch.tensor([2, 0])], x[where[:, None], torch.tensor([1, 3])]

    args, other = (normal(5, 4), torch.tensor([4, 0]), normal(2)), (normal(7, 4), torch.tensor([1, 6, 3]), normal(3))
    return Made(Apply(function), args, other, ({0: BATCH}, {0: dim("count", 1, 99)}, {0: dim("count", 1, 99)}))


@model("sort_topk")
def sort_topk():
    function = lambda x: (
        *x.sort(1, descending=True),
        *x.topk(3, 1, largest=False),
        x.argsort(1),
        x.sort(dim=0, stable=True).values,
    )
    return rows(function, 6)


@model("extremes_and_their_places", quick=True)
def extremes_and_their_places():
    """Values alone, places alone, and both; floats, whole numbers and bools."""
    function = lambda x: (
        x.max(1).values,
        x.min(-1, keepdim=True).indices,
        *(x * 5).round().int().max(1),
        *x.double().min(2, keepdim=True),
        (x > 0).max(1).values,
        (x * 9).round().to(torch.int16).topk(2, 1).values,  # the places of equal elements are unspecified
        x.half().sort(1).values,
        *(x * 7).round().long().sort(2, descending=True),
        x.topk(3, 2, largest=False).values,
    )
    return rows(function, 4, 6)


@model("distances_of_many_rows", quick=True)
def distances_of_many_rows():
    """ATen computes more than 25 rows by a product of matrices."""
    function = lambda x, y: (torch.cdist(x, y), torch.cdist(x, y, 3.0), torch.cdist(x.double(), y[0].double()))
    return Made(Apply(function), (normal(2, 30, 7), normal(2, 41, 7)), (normal(5, 30, 7), normal(5, 41, 7)), ({0: BATCH}, {0: BATCH}))


@model("sums_of_many_writes", quick=True)
def sums_of_many_writes():
    """Thousands of rows added to a few: ONNX Runtime's ScatterND loses some of them in several threads."""
    generator = torch.Generator().manual_seed(3)
    count = dim("count", 9, 50000)
    places = lambda n: torch.randint(-7, 7, (n,), generator=generator)

    def function(table, at, other):
        table = (table * 3).round()  # sums of whole numbers are exact
        rows_of_table = table[at % 5]
        zeros = table.new_zeros(7, 64)
        return (
            zeros.index_put((at,), rows_of_table, accumulate=True),
            table.new_zeros(9, 7).index_put((at, other), rows_of_table[:, 0], accumulate=True),
            torch.ops.aten.index_put(table.new_zeros(3, 7, 64), [None, at], rows_of_table, True),
            zeros.index_add(0, at % 7, rows_of_table),
            torch.nn.functional.embedding_bag(at % 5, table, other[:2] * 0 + torch.tensor([0, 4]), mode="sum"),
        )

    return Made(Apply(function), (normal(5, 64), places(20000), places(20000)), (normal(5, 64), places(30000), places(30000)), ({}, {0: count}, {0: count}))


@model("circular_pads_and_rolls", quick=True)
def circular_pads_and_rolls():
    pad = torch.nn.functional.pad
    function = lambda x, m: (
        pad(x, (2, 3), mode="circular"),
        pad(x, (-1, 4), mode="circular"),
        pad(x.unflatten(1, (2, 3)), (7, 1, 0, 2), mode="circular"),
        x.roll(1, 0),
        x.roll((-2, 3), (0, 2)),
        x.roll(-1, 0),
        x[m],
        x[:, m[0]],
        x.mT[m.mT],
        x[m[:, :, 0]],
        x.index_put((m,), torch.tensor(7.0)),
        x.index_put((m[:, :, 0],), x[1, 2], accumulate=True),
        torch.nn.functional.adaptive_avg_pool2d(x[:, :, :1, None], (3, 2)),
    )
    return Made(Apply(function), (normal(2, 6, 7), normal(2, 6, 7) > 0), (normal(5, 6, 7), normal(5, 6, 7) > 0), ({0: BATCH}, {0: BATCH}))


@model("masked_softmax")
def masked_softmax():
    function = lambda x, keep: torch.where(keep, x, float("-inf")).softmax(-1).nan_to_num(0.0)
    keep = torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 0, 1]], dtype=torch.bool)
    return Made(Apply(function), (normal(3, 4), keep), (normal(2, 4), keep[1:] ^ keep[:2]), ({0: BATCH}, {0: BATCH}))


@model("cumsum_cumprod")
def cumsum_cumprod():
    return rows(lambda x: (x.cumsum(1), x.cumsum(0), (x > 0).cumsum(1), (x.abs() + 0.5).log().cumsum(1).exp()), 5)


@model("einsum")
def einsum():
    def function(x, y):
        return (
            torch.einsum("bij,bjk->bik", x, y),
            torch.einsum("bij->bji", x),
            torch.einsum("bij,bjk->b", x, y),
            torch.einsum("...ij->...i", x),
        )

    args, other = (normal(2, 3, 4), normal(2, 4, 5)), (normal(6, 3, 4), normal(6, 4, 5))
    return Made(Apply(function), args, other, ({0: BATCH}, {0: BATCH}))


@model("matrix_products", quick=True)
def matrix_products():
    def function(x, y):
        z = x @ y
        return (
            z,
            torch.baddbmm(z, x, y, beta=0.5, alpha=2),
            x[0] @ y[0],
            x @ y[0, :, 0],
            x[:, 0, :] @ y[0],
            torch.addmm(z[0], x[0], y[0], alpha=3),
        )

    args, other = (normal(2, 3, 4), normal(2, 4, 5)), (normal(6, 3, 4), normal(6, 4, 5))
    return Made(Apply(function), args, other, ({0: BATCH}, {0: BATCH}))


@model("integers")
def integers():
    function = lambda n: (
        n // 3,
        n % 5,
        torch.remainder(n, -4),
        n.fmod(3),
        torch.div(n, 7, rounding_mode="trunc"),
        n & 6,
        n | 1,
        n ^ 3,
        ~n,
        n << 2,
        n.clamp(-3, 9),
        n == 4,
        (n > 2) & (n < 9),
        n.abs(),
        n.float().pow(2),
        n.sum(1),
        n.to(torch.uint8),
        n.bool(),
    )
    return Made(Apply(function), (ids(3, 4, below=30) - 10,), (ids(5, 4, below=30) - 10,), ({0: BATCH},))


@model("comparisons")
def comparisons():
    function = lambda x, y: (
        torch.maximum(x, y),
        torch.fmin(x, y),
        x > y,
        x.ne(y).logical_xor(x < 0),
        torch.where(x > y, x, 2),
        x.clamp(y - 1, y + 1),
        torch.lerp(x, y, 0.3),
        torch.addcmul(x, x, y, value=0.5),
        torch.addcdiv(x, y, x.abs() + 1),
        torch.atan2(x, y),
        torch.isnan(x / (x - x)),
        x.sign() * x.abs() ** 1.5,
        x.copysign(y),
        torch.hypot(x, y),
    )
    return Made(Apply(function), (normal(3, 4), normal(4)), (normal(2, 4), normal(4)), ({0: BATCH}, None))


@model("small_dtypes", parts=["bool", "uint8", "int8", "int16"])
def small_dtypes(name):
    """Choices, extrema, padding, triangles and indices of dtypes for which ONNX Runtime has few kernels."""
    dtype = getattr(torch, name)
    made = lambda rows: (normal(rows, 6) * 3).to(torch.int8).to(torch.int8 if dtype == torch.bool else dtype)

    def function(x, y):
        mask = x > y
        x, y = (x > 0, y > 0) if dtype == torch.bool else (x, y)
        written = x.clone()
        written[mask] = y.sum().to(dtype)
        found = [torch.where(mask, x, y), written, x.masked_fill(mask, 1), F.pad(x, (1, 2), value=1), x.tril(-1)]
        found += [x.triu(1), x.nonzero().sum(0), x.unique(), torch.roll(x, 2, 1), x.index_put((mask[:, 0],), y[0])]
        if dtype != torch.bool:
            found += [torch.maximum(x, y), torch.minimum(x, y), x.clamp(-1 if dtype.is_signed else 1, 2), x.relu()]
            found += [x.argmax(1), x.argmin(1), x.amax(0), x.sort(1).values, x.cumsum(0), F.hardtanh(x, 0, 2)]
        return tuple(found)

    return Made(Apply(function), (made(3), made(3)), (made(5), made(5)), ({0: BATCH}, {0: BATCH}))
