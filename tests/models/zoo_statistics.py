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
