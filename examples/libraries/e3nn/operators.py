# SPDX-License-Identifier: MIT
"""Real spherical harmonics in the convention of e3nn: y is the polar axis; degrees 0 to 2 of a list."""

import math

import torch

NAMESPACE = "e3nn"
SCHEMAS = """
spherical_harmonics(int[] degrees, Tensor vectors, bool normalize, str normalization="integral") -> Tensor
"""


def spherical_harmonics(degrees, vectors, normalize, normalization="integral"):
    if normalize:
        vectors = torch.nn.functional.normalize(vectors, dim=-1)
    x, y, z = vectors.unbind(-1)
    root3 = math.sqrt(3)
    parts = []
    for degree in degrees:
        part = {
            0: [torch.ones_like(x)],
            1: [x, y, z],
            2: [root3 * x * z, root3 * x * y, y * y - 0.5 * (x * x + z * z), root3 * y * z, root3 / 2 * (z * z - x * x)],
        }[degree]
        factor = {"norm": 1.0, "component": math.sqrt(2 * degree + 1), "integral": math.sqrt((2 * degree + 1) / (4 * math.pi))}
        parts += [factor[normalization] * each for each in part]
    return torch.stack(parts, -1)


class Model(torch.nn.Module):
    """Edges of a molecule, by their directions."""

    def forward(self, positions, source, target):
        edges = positions[source] - positions[target]
        harmonics = torch.ops.e3nn.spherical_harmonics
        return harmonics([0, 1, 2], edges, True, "component"), harmonics([2, 1], edges, False)


SIZES = (6, 9)
edges = torch.export.Dim("edges", max=1000)
DYNAMIC = {"positions": {0: torch.export.Dim("atoms", max=100)}, "source": {0: edges}, "target": {0: edges}}


def inputs(size):
    ends = {name: torch.randint(0, size, (3 * size,)) for name in ("source", "target")}
    return {"positions": torch.randn(size, 3), **ends}


def calls():
    harmonics = torch.ops.e3nn.spherical_harmonics
    for shape in ((4, 3), (3,), (2, 5, 3), (0, 3)):
        vectors = torch.randn(shape) * 3
        for degrees in ([0], [1], [2], [2, 0, 1]):
            harmonics(degrees, vectors, True)
            harmonics(degrees, vectors, False, "norm")
            harmonics(degrees, vectors, True, "component")
    harmonics([1, 2], torch.zeros(2, 3), True, "component")
