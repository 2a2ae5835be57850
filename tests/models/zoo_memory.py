# SPDX-License-Identifier: MIT
"""Programs that change tensors in unusual ways: attributes that are not buffers, replaced and resized memory."""

import torch
from torch import nn

from zoo import Apply, Made, dim, model, normal

BATCH = dim("batch")


@model("written_attribute")
def written_attribute():
    """A tensor that is an attribute of the module, but not a buffer: torch.export records a constant that is written to."""

    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.total = torch.zeros(3)

        def forward(self, x):
            self.total.add_(x.sum(0))
            return x - self.total

    return Made(Counting(), (normal(2, 3),), (normal(5, 3),), ({0: BATCH},), decomposes=False)


@model("written_literal")
def written_literal():
    """A tensor that the program makes from numbers and then writes to."""

    def function(x):
        table = torch.tensor([1.0, 2.0, 3.0])
        table[0] = 5
        table[1:] += x[0, 1:]
        return x * table

    return Made(Apply(function), (normal(2, 3),), (normal(5, 3),), ({0: BATCH},))


@model("replaced_memory")
def replaced_memory():
    def function(x):
        a = torch.empty(0)
        a.set_(x.clone())
        a.add_(1)
        return a * 2

    return Made(Apply(function), (normal(2, 3),), (normal(5, 3),), ({0: BATCH},))


@model("resized_memory")
def resized_memory():
    """run_decompositions() would make aten::resize of resize_, whose result depends on the strides of its operand."""

    def function(x):
        a = torch.empty(0)
        a.resize_(3, 2).copy_(x[:2].reshape(3, 2))
        b = x[:2].clone()
        b.resize_(6)
        b[0] = 7
        return a, b

    return Made(Apply(function), (normal(2, 3),), (normal(5, 3),), ({0: BATCH},), decomposes=False)
