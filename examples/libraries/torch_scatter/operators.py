# SPDX-License-Identifier: MIT
"""Reductions of torch_scatter over groups of elements. Its operators are registered without names: torch calls arguments _0, _1, ..."""

import itertools

import torch

NAMESPACE = "torch_scatter"
SCHEMAS = """
scatter_max(Tensor _0, Tensor _1, int _2, Tensor? _3, int? _4) -> (Tensor _0, Tensor _1)
segment_sum_csr(Tensor _0, Tensor _1, Tensor? _2) -> Tensor _0
"""


def scatter_max(src, index, dim, out=None, dim_size=None):
    """For each group the greatest element and its place; 0 and the size of the dimension for a group without elements."""
    assert out is None
    if dim_size is None:
        dim_size = int(index.max()) + 1 if index.numel() else 0
    shape = list(src.shape)
    count, shape[dim] = shape[dim], dim_size
    # The elements in descending order; the first of equal ones stays first.
    values, order = src.sort(dim=dim, descending=True, stable=True)
    groups = index.gather(dim, order)
    place = src.new_full(shape, count, dtype=torch.int64)
    result = src.new_zeros(shape)
    for i in reversed(range(count)):
        result.scatter_(dim, groups.narrow(dim, i, 1), values.narrow(dim, i, 1))
        place.scatter_(dim, groups.narrow(dim, i, 1), order.narrow(dim, i, 1))
    return result, place


def scatter_max_fake(src, index, dim, out=None, dim_size=None):
    shape = list(src.shape)
    shape[dim] = torch.library.get_ctx().new_dynamic_size() if dim_size is None else dim_size
    return src.new_empty(shape), src.new_empty(shape, dtype=torch.int64)


def segment_sum_csr(src, indptr, out=None):
    """The sums of src[indptr[i]:indptr[i + 1]]."""
    ends = indptr.tolist()
    return torch.stack([src[a:b].sum(0) for a, b in itertools.pairwise(ends)])


def segment_sum_csr_fake(src, indptr, out=None):
    return src.new_empty(indptr.shape[0] - 1, *src.shape[1:])


class Model(torch.nn.Module):
    """Pools the nodes of graphs."""

    def forward(self, x, group, indptr):
        ops = torch.ops.torch_scatter
        index = group.unsqueeze(-1).expand_as(x)
        greatest, place = ops.scatter_max(x, index, 0, None, None)
        columns, _ = ops.scatter_max(x, index % 3, -1, None, 4)
        return greatest * 2, place, columns, ops.segment_sum_csr(x.sin(), indptr, None)


SIZES = (6, 11)
DYNAMIC = {
    "x": {0: torch.export.Dim("nodes", max=1000)},
    "group": {0: torch.export.Dim("nodes", max=1000)},
    "indptr": {0: torch.export.Dim("ends", max=100)},
}


def inputs(size):
    ends = torch.cat([torch.tensor([0, 0]), torch.randint(0, size, (size // 2,)).sort().values, torch.tensor([size])])
    return {"x": torch.randn(size, 5), "group": torch.randint(0, size + 3, (size,)), "indptr": ends}


def calls():
    ops = torch.ops.torch_scatter
    for size in (5, 1, 8):
        x, index = torch.randn(size, 3), torch.randint(0, 6, (size, 3))
        ops.scatter_max(x, index, 0, None, None)
        ops.scatter_max(x.round(), index, -1, None, 7)
        ops.segment_sum_csr(torch.randn(size, 2, 3), torch.tensor([0, size // 2, size // 2, size]), None)
        ops.segment_sum_csr(torch.randn(9), torch.tensor([2, 4, 7]), None)
    ops.scatter_max(torch.randn(0, 2), torch.zeros(0, 2, dtype=torch.int64), 0, None, None)
    ops.scatter_max(torch.tensor([3, -2, 3, -7]), torch.tensor([1, 3, 1, 3]), 0, None, None)
