# SPDX-License-Identifier: MIT
"""Small modules of what layers are made of: padding, pooling, convolutions, norms."""

import torch
import torch.nn.functional as F

from zoo import Made, dim, model, normal, rows

BATCH = dim("batch")


@model("padding")
def padding():
    function = lambda x: (
        F.pad(x, (1, 2, 0, 3), value=1.5),
        F.pad(x[:, 1], (2, 1), "reflect"),
        F.pad(x, (1, 2, 2, 0), "replicate"),
        F.pad(x, (0, 2, 1, 1), "circular"),
        F.pad(x, (-1, 2)),
    )
    return rows(function, 2, 5, 6)


@model("pooling")
def pooling():
    function = lambda x: (
        F.max_pool2d(x, 3, 2, 1, 1, True),
        F.avg_pool2d(x, (2, 3), (2, 1), (1, 0), True, False),
        F.lp_pool2d(x, 2, 2),
        F.max_pool2d(x, 2, return_indices=True)[1],
        F.avg_pool1d(x[:, 0], 3, 2, 1),
        F.max_pool1d(x[:, 1], 2, dilation=3),
    )
    return rows(function, 2, 9, 11)


@model("convolutions")
def convolutions():
    weights = [torch.nn.Parameter(torch.randn(*s)) for s in ((6, 2, 3, 2), (4, 3, 3, 3), (8, 1, 2, 5), (4, 3, 2))]

    class Convolutions(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = torch.nn.ParameterList(weights)

        def forward(self, x):
            a, b, c, d = self.weights
            return (
                F.conv2d(x, a, None, (2, 1), (1, 2), (1, 2), groups=2),
                F.conv_transpose2d(x, b, None, 2, 1, 1, dilation=2),
                F.conv2d(x, c, padding="same", groups=4),
                F.conv1d(x[:, :3, 0], d, padding="valid", stride=2),
            )

    return Made(Convolutions(), (normal(2, 4, 9, 11),), (normal(5, 4, 9, 11),), ({0: BATCH},))


@model("norms")
def norms():
    function = lambda x: (
        F.layer_norm(x, x.shape[2:]),
        F.layer_norm(x, [6], None, None, 1e-2),
        F.rms_norm(x, [6], eps=1e-3),
        F.normalize(x, dim=1),
        F.local_response_norm(x, 3, alpha=0.1, k=2.0),
        F.instance_norm(x),
        F.group_norm(x, 2),
        F.cosine_similarity(x, x.flip(2), 1),
    )
    return rows(function, 4, 6)
