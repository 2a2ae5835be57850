# SPDX-License-Identifier: MIT
"""F.interpolate: every mode, align_corners both ways, antialias, to a size and by a factor, with dynamic sizes."""

import torch
import torch.nn.functional as F

from zoo import Apply, Made, dim, model, normal

BATCH, HEIGHT, WIDTH = dim("batch"), dim("height", 3, 200), dim("width", 3, 200)
SIZES = {
    "nearest": (1, 2, 3),
    "nearest-exact": (1, 2, 3),
    "linear": (1,),
    "bilinear": (2,),
    "bicubic": (2,),
    "trilinear": (3,),
    "area": (2,),
}


def interpolations():
    """name: (rank, to a size?, options)"""
    found = {}
    for mode, ranks in SIZES.items():
        corners = (None,) if mode in ("nearest", "nearest-exact", "area") else (False, True)
        for rank in ranks:
            for corner in corners:
                name = f"{mode.replace('-', '_')}_{rank}d" + ("" if corner is None else f"_corners_{corner}".lower())
                for sized in (True, False):
                    found[f"{name}_{'size' if sized else 'scale'}"] = (
                        rank,
                        sized,
                        {"mode": mode, "align_corners": corner},
                    )
    for mode in ("bilinear", "bicubic"):
        for corner in (False, True):
            options = {"mode": mode, "align_corners": corner, "antialias": True}
            found[f"{mode}_antialias_corners_{corner}".lower()] = 2, True, options
    return found


INTERPOLATIONS = interpolations()


@model("interpolate", parts=list(INTERPOLATIONS))
def interpolate(name):
    rank, sized, options = INTERPOLATIONS[name]
    shape = (7, 9, 5)[:rank]
    if sized:
        options = options | {"size": [5, 13, 8][:rank] if "antialias" in options else [11, 6, 8][:rank]}
    else:
        options = options | {"scale_factor": [2.0, 1.5, 3.0][:rank]}
    return Made(
        Apply(lambda x: F.interpolate(x, **options)), (normal(2, 3, *shape),), (normal(4, 3, *shape),), ({0: BATCH},)
    )


@model("interpolate_dynamic", parts=["scale", "like_other", "recompute"])
def interpolate_dynamic(kind):
    dims = {0: BATCH, 2: HEIGHT, 3: WIDTH}
    if kind == "like_other":
        module = Apply(lambda x, y: F.interpolate(x, size=y.shape[2:], mode="bilinear", align_corners=False) + y)
        args, other = (normal(2, 3, 4, 5), normal(2, 3, 9, 7)), (normal(3, 3, 6, 3), normal(3, 3, 10, 12))
        return Made(module, args, other, (dims, {0: BATCH, 2: dim("height2", 3, 200), 3: dim("width2", 3, 200)}))
    options = {"recompute_scale_factor": True} if kind == "recompute" else {}
    module = Apply(lambda x: F.interpolate(x, scale_factor=(2.0, 1.5), mode="bilinear", align_corners=False, **options))
    return Made(module, (normal(2, 3, 4, 6),), (normal(3, 3, 8, 10),), (dims,))


class Positions(torch.nn.Module):
    """Tables that are interpolated to the size of the picture, as in vision transformers: folded at export."""

    def __init__(self):
        super().__init__()
        self.tables = torch.nn.ParameterList(normal(1, 6, 4, 5) for _ in range(4))

    def forward(self, x):
        size, (a, b, c, d) = x.shape[2:], self.tables
        y = x + F.interpolate(a, size=size, mode="bicubic", align_corners=False)
        y = y * F.interpolate(b, size=size, mode="bilinear", align_corners=True)
        y = y - F.interpolate(c, scale_factor=2, mode="nearest").sum()
        return y, F.interpolate(d, size=(3, 11), mode="bicubic", align_corners=True).flatten(2).transpose(1, 2)


@model("interpolated_positions")
def interpolated_positions():
    return Made(Positions(), (normal(2, 6, 7, 9),), (normal(5, 6, 7, 9),), ({0: BATCH},))
