# SPDX-License-Identifier: MIT
"""Functions under torch.vmap, which torch.export leaves in its programs as hidden dimensions: masks of attention, as transformers makes them,
nested maps, dimensions that are not the first, results that do not depend on the map."""

import torch
import torch.nn.functional as F

from zoo import Apply, Made, ids, model, normal

FREE = torch.export.Dim.DYNAMIC


def at(table, *indices):
    """table[indices], which torch.export does not trace for indices that are mapped."""
    return torch.ops.aten.index(table, list(indices))


def of(function, make, dynamic):
    return Made(Apply(function), make(3, 5), make(4, 7), dynamic)


@model("vmap_attention_mask")
def attention_mask():
    """Four maps inside each other, of a rule for one word of one text."""

    def mask(x, keep):
        rule = lambda batch, head, query, key: (key <= query) & (query - key < 4) & at(keep, batch, key) & (head > -1)
        for axes in ((None, None, None, 0), (None, None, 0, None), (None, 0, None, None), (0, None, None, None)):
            rule = torch.vmap(rule, in_dims=axes)
        length = torch.arange(x.shape[1])
        hides = rule(torch.arange(x.shape[0]), torch.arange(1), length, length)
        return F.scaled_dot_product_attention(x[:, None], x[:, None].flip(2), x[:, None] * 2, attn_mask=hides)

    return of(mask, lambda b, n: (normal(b, n, 6), torch.rand(b, n) < 0.9), ({0: FREE, 1: FREE}, {0: FREE, 1: FREE}))


@model("vmap_elementwise")
def elementwise():
    """Operands of different ranks, some without the mapped dimension."""

    def function(x, y):
        inner = lambda a, b: (torch.where(a > b[0], a * 2, y[0] + 1).exp(), a.clamp(-1, 1) - b[:, None] / y, y * 3, (a > 0) & (b > 0).any())
        return torch.vmap(inner, in_dims=(0, 1))(x, x.T[:4] * 2)

    return Made(Apply(function), (normal(3, 5), normal(4, 5)), (normal(6, 5), normal(4, 5)), ({0: FREE}, {}))


@model("vmap_dimensions")
def dimensions():
    """Operators with dimensions, counted from both ends."""

    def one(a):
        top, where = a.max(dim=1)
        return (a.softmax(0), a.sum(-1), a.mean(), a.transpose(0, -1).cumsum(1), a.amax((0, 1)), a[1:], a[:, 0], top, where, a.unsqueeze(1).flip(0, 2),
                a.sort(dim=0)[0], a.argmax(1), a.squeeze(0).logsumexp(-1), a.permute(1, -2), a.reshape(3, -1), a[:1].expand(5, -1), a.T.reshape(-1))

    return of(lambda x: torch.vmap(one, in_dims=1)(x), lambda b, n: (normal(4, b, 6),), ({1: FREE},))


@model("vmap_products")
def products():
    """Vectors and matrices, nested, and with a factor that is not mapped."""

    def function(x, w):
        pairs = torch.vmap(torch.vmap(torch.dot, in_dims=(None, 0)), in_dims=(0, None))(x[:, 0], x[:, 1])
        inner = lambda a: (a @ w, a.mv(w[:, 0]), torch.mm(w.t(), a.t()), a[0] @ a.t(), F.linear(a, w.t()))
        return pairs, *torch.vmap(inner)(x)

    return of(function, lambda b, n: (normal(b, 3, 4), normal(4, 5)), ({0: FREE}, {}))


@model("vmap_indices")
def indices():
    """Rows of a table for indices that are mapped, one of them in a map inside."""

    def function(x, where):
        rows = torch.vmap(lambda i: at(x, i.clamp(max=3)) * 2)(where)
        both = torch.vmap(torch.vmap(lambda i, j: at(x, i % 4, j % 6), in_dims=(None, 0)), in_dims=(0, None))(where[:, 0], where[:, 1])
        return rows, both, torch.vmap(lambda i: i.new_ones(2) + i.sum())(where)

    return of(function, lambda b, n: (normal(4, 6), ids(b, 2, below=30)), ({}, {0: FREE}))
