# SPDX-License-Identifier: MIT
"""Products of pyg_lib of many matrices, each with its own weight."""

import itertools

import torch

NAMESPACE = "pyg"
SCHEMAS = """
segment_matmul(Tensor input, Tensor ptr, Tensor other) -> Tensor
grouped_matmul(Tensor[] input, Tensor[] other) -> Tensor[]
"""


def segment_matmul(input, ptr, other):
    ends = ptr.tolist()
    return torch.cat([input[a:b] @ other[i] for i, (a, b) in enumerate(itertools.pairwise(ends))])


def segment_matmul_fake(input, ptr, other):
    return input.new_empty(input.shape[0], other.shape[-1])


def grouped_matmul(input, other):
    return [x @ y for x, y in zip(input, other)]


class Model(torch.nn.Module):
    """A layer with a weight for each type of nodes."""

    def __init__(self):
        super().__init__()
        self.by_type = torch.nn.Parameter(torch.randn(3, 5, 4))
        self.outgoing = torch.nn.ParameterList([torch.randn(4, 2), torch.randn(4, 6)])

    def forward(self, x, ptr):
        mixed = torch.ops.pyg.segment_matmul(x, ptr, self.by_type).tanh()
        return torch.ops.pyg.grouped_matmul([mixed, mixed[1:]], list(self.outgoing))


SIZES = (6, 13)
DYNAMIC = {"x": {0: torch.export.Dim("nodes", min=2, max=1000)}, "ptr": None}


def inputs(size):
    return {"x": torch.randn(size, 5), "ptr": torch.tensor([0, size // 3, size // 2, size])}


def calls():
    for ends in ((0, 2, 5), (0, 0, 3, 4), (0, 6)):
        count = len(ends) - 1
        torch.ops.pyg.segment_matmul(torch.randn(ends[-1], 3), torch.tensor(ends), torch.randn(count, 3, 2))
        pairs = [(torch.randn(i + 2, 3 + i), torch.randn(3 + i, 1 + i)) for i in range(count)]
        torch.ops.pyg.grouped_matmul([x for x, _ in pairs], [y for _, y in pairs])
    torch.ops.pyg.grouped_matmul([torch.randn(0, 3)], [torch.randn(3, 4)])
