# SPDX-License-Identifier: MIT
"""Programs of unusual arguments, results, constants and sizes."""

import torch
import torch.nn.functional as F

from zoo import Apply, Made, dim, model, normal, rows

BATCH = dim("batch")


@model("nested_arguments", quick=True)
def nested_arguments():
    """Tuples, dicts, a number and None among the arguments; a dict among the results, the input itself as one of
    them."""

    def function(x, pair, options, factor, nothing):
        return {"sum": x + pair[0] * factor, "same": pair[1], "list": [options["b"] - x, options["a"]], "none": nothing}

    def arguments(n):
        return normal(n, 3), (normal(n, 3), normal(2)), {"b": normal(n, 3), "a": normal(1)}, 2.5, None

    return Made(
        Apply(function),
        arguments(2),
        arguments(4),
        ({0: BATCH}, ({0: BATCH}, None), {"b": {0: BATCH}, "a": None}, None, None),
    )


@model("constants_and_ranges")
def constants_and_ranges():
    table = torch.randn(5, 4)
    function = lambda x: (
        x + table[1],
        torch.linspace(0, 1, 4) * x,
        torch.eye(4) @ x[0],
        torch.ones_like(x) * 3,
        x + torch.tensor(2.5),
        torch.full((2, x.shape[0]), 7),
        torch.zeros(x.shape[0], dtype=torch.int32),
        torch.meshgrid(torch.arange(x.shape[0]).float(), x[0], indexing="ij")[1],
    )
    return rows(function, 4)


@model("empty_batch_allowed")
def empty_batch_allowed():
    """A batch may be empty: the second input is."""
    function = lambda x: (F.relu(x @ torch.eye(4, 3)), x.sum(0), torch.cat((x, x * 2), 1))
    return Made(Apply(function), (normal(3, 4),), (normal(0, 4),), ({0: dim("batch", 0, 50)},))
