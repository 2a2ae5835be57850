# SPDX-License-Identifier: MIT
"""Searches of torch_cluster for the points x around each point y. ptr_x and ptr_y say where the points of each example begin."""

import torch

NAMESPACE = "torch_cluster"
SCHEMAS = """
radius(Tensor _0, Tensor _1, Tensor? _2, Tensor? _3, float _4, int _5, int _6, bool _7) -> Tensor _0
knn(Tensor _0, Tensor _1, Tensor? _2, Tensor? _3, int _4, bool _5, int _6) -> Tensor _0
"""


def examples(x, y, ptr_x, ptr_y):
    """For each y the x of its example, as (index of y, indices of x)."""
    if ptr_x is None:
        ptr_x, ptr_y = torch.tensor([0, x.shape[0]]), torch.tensor([0, y.shape[0]])
    for i in range(ptr_x.numel() - 1):
        for j in range(int(ptr_y[i]), int(ptr_y[i + 1])):
            yield j, torch.arange(int(ptr_x[i]), int(ptr_x[i + 1]))


def edges(found):
    pairs = [torch.stack([torch.full_like(near, j), near]) for j, near in found]
    return torch.cat(pairs, 1) if pairs else torch.zeros(2, 0, dtype=torch.int64)


def radius(x, y, ptr_x, ptr_y, r, max_num_neighbors, num_workers, ignore_same_index):
    def near(j, candidates):
        inside = (x[candidates] - y[j]).square().sum(-1) < r * r
        if ignore_same_index:
            inside &= candidates != j
        return candidates[inside][:max_num_neighbors]

    return edges([(j, near(j, candidates)) for j, candidates in examples(x, y, ptr_x, ptr_y)])


def knn(x, y, ptr_x, ptr_y, k, cosine, num_workers):
    def near(j, candidates):
        if cosine:
            distance = 1 - torch.nn.functional.normalize(x[candidates], dim=-1) @ torch.nn.functional.normalize(y[j], dim=-1)
        else:
            distance = (x[candidates] - y[j]).square().sum(-1)
        return candidates[distance.argsort(stable=True)[:k]]

    return edges([(j, near(j, candidates)) for j, candidates in examples(x, y, ptr_x, ptr_y)])


def edges_fake(x, *others):
    return x.new_empty(2, torch.library.get_ctx().new_dynamic_size(), dtype=torch.int64)


radius_fake = knn_fake = edges_fake


class Model(torch.nn.Module):
    """The mean offset of the neighbors, and the nearest points among those of the same example."""

    def forward(self, x, y, ptr_x, ptr_y):
        ops = torch.ops.torch_cluster
        row, column = ops.radius(x, y, None, None, 1.5, 3, 1, False)
        offsets = torch.zeros_like(y).index_add(0, row, x[column] - y[row])
        return offsets, ops.knn(x, y, ptr_x, ptr_y, 2, False, 1), ops.knn(x, y, None, None, 3, True, 1)


SIZES = (7, 12)
DYNAMIC = {
    "x": {0: torch.export.Dim("points", max=1000)},
    "y": {0: torch.export.Dim("queries", max=1000)},
    "ptr_x": {0: torch.export.Dim("ends", max=100)},
    "ptr_y": {0: torch.export.Dim("ends", max=100)},
}


def inputs(size):
    ends = {"ptr_x": torch.tensor([0, 1, size // 2, size]), "ptr_y": torch.tensor([0, 2, 2, size - 3])}
    return {"x": torch.randn(size, 3), "y": torch.randn(size - 3, 3), **ends}


def calls():
    ops = torch.ops.torch_cluster
    for count, queries in ((6, 4), (9, 2)):
        x, y = torch.randn(count, 2), torch.randn(queries, 2)
        ptr_x, ptr_y = torch.tensor([0, 1, count - 2, count]), torch.tensor([0, 1, queries, queries])
        for limit in (2, 32):
            ops.radius(x, y, None, None, 1.25, limit, 1, False)
            ops.radius(x, y, ptr_x, ptr_y, 2.5, limit, 1, False)
        ops.radius(x, x, None, None, 1.5, 3, 4, True)
        ops.radius(x, y + 100, None, None, 1.5, 3, 1, False)
        for k in (1, 3):
            ops.knn(x, y, None, None, k, False, 1)
            ops.knn(x, y, ptr_x, ptr_y, k, False, 1)
            ops.knn(x, y, None, None, k, True, 4)
