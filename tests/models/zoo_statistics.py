# SPDX-License-Identifier: MIT
"""Models with integrals of signals, places of large elements, and lookups that renormalize."""

import torch
from torch import nn

from zoo import Made, dim, ids, model, normal


class Areas(nn.Module):
    """Areas under signals, the first samples above a threshold, and a soft maximum."""

    def forward(self, x):
        places = torch.linspace(0, 1, x.shape[1]) ** 2
        above = torch.nonzero_static(x > 0.5, size=6, fill_value=-1)
        return torch.trapz(x, dx=0.5), torch.trapz(x, places), above, torch.special.logsumexp(x, 1)


@model("statistics_areas", quick=True)
def _statistics_areas():
    return Made(Areas(), (normal(4, 9),), (normal(7, 9),), ({0: dim("rows", 2)},))


class Renormalized(nn.Module):
    """Scales the rows that are looked up down to a norm of 1, also in the table."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.randn(11, 6))

    def forward(self, indices):
        return nn.functional.embedding(indices, self.table, max_norm=1.0)


@model("embedding_renormalized")
def _embedding_renormalized():
    return Made(Renormalized(), (ids(3, 4, below=11),), (ids(5, 4, below=11),), ({0: dim("batch")},))


class Ranked(nn.Module):
    """The first elements of sorts, of which two results, one result or a place in the middle is used."""

    def forward(self, x, y):
        values, places = x.sort(dim=1, descending=True)
        low = y.sort(dim=0).values
        return (
            values[:, :3],
            places[:, :5:2],
            x.argsort(dim=1)[:, 4],
            x.msort()[1:2],
            low[:4],  # along a dynamic axis
            y.topk(7, dim=1, largest=False).indices[:, :2],
            x.sort(dim=1).values[:, -2:],
        )


@model("first_of_sorted")
def _first_of_sorted():
    rows = dim("rows", 5)
    return Made(Ranked(), (normal(6, 9), normal(6, 11)), (normal(8, 9), normal(8, 11)), ({0: rows}, {0: rows}))
