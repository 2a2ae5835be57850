# SPDX-License-Identifier: MIT
"""Jagged tensors of fbgemm: rows of different lengths, one after another, and the offsets at which they begin."""

import itertools

import torch

NAMESPACE = "fbgemm"
SCHEMAS = """
jagged_to_padded_dense(Tensor values, Tensor[] offsets, SymInt[] max_lengths, float padding_value=0) -> Tensor
dense_to_jagged(Tensor dense, Tensor[] x_offsets, SymInt? total_L=None) -> (Tensor, Tensor[])
"""


def jagged_to_padded_dense(values, offsets, max_lengths, padding_value=0.0):
    if not offsets:
        return values
    ends, length = offsets[0].tolist(), max_lengths[0]
    if len(offsets) == 1:
        rows = values.new_full((len(ends) - 1, length, *values.shape[1:]), padding_value)
        for i, (a, b) in enumerate(itertools.pairwise(ends)):
            rows[i, : min(b - a, length)] = values[a:b][:length]
        return rows
    inner = jagged_to_padded_dense(values, offsets[1:], max_lengths[1:], padding_value)
    return jagged_to_padded_dense(inner, offsets[:1], max_lengths[:1], padding_value)


def jagged_to_padded_dense_fake(values, offsets, max_lengths, padding_value=0.0):
    return values.new_empty(offsets[0].shape[0] - 1, *max_lengths, *values.shape[1:])


def dense_to_jagged(dense, x_offsets, total_L=None):
    (offsets,) = x_offsets
    ends = offsets.tolist()
    values = dense.new_zeros(ends[-1] if total_L is None else total_L, *dense.shape[2:])
    for i, (a, b) in enumerate(itertools.pairwise(ends)):
        values[a:b][: dense.shape[1]] = dense[i, : b - a]
    return values, [offsets.clone()]


def dense_to_jagged_fake(dense, x_offsets, total_L=None):
    total = torch.library.get_ctx().new_dynamic_size() if total_L is None else total_L
    return dense.new_empty(total, *dense.shape[2:]), [torch.empty_like(each) for each in x_offsets]


class Model(torch.nn.Module):
    """A layer over padded rows; sums over rows of rows."""

    def __init__(self):
        super().__init__()
        self.mix = torch.nn.Linear(4, 4)

    def forward(self, values, offsets, outer):
        ops = torch.ops.fbgemm
        padded = ops.jagged_to_padded_dense(values, [offsets], [3], -1.5)
        mixed, _ = ops.dense_to_jagged(self.mix(padded), [offsets])
        twice = ops.jagged_to_padded_dense(values, [outer, offsets], [2, values.shape[0]])
        again, ends = ops.dense_to_jagged(padded, [offsets], values.shape[0])
        return padded, mixed, twice.sum(2), again, ends


SIZES = (7, 10)
DYNAMIC = {
    "values": {0: torch.export.Dim("values", min=2, max=1000)},
    "offsets": {0: torch.export.Dim("rows", max=100)},
    "outer": {0: torch.export.Dim("outer", max=100)},
}


def inputs(size):
    rows = [0, 2, 2, 6, size] if size < 10 else [0, 1, 5, 7, 7, size]
    outer = [0, 3, 4] if size < 10 else [0, 0, 2, 5]
    return {"values": torch.randn(size, 4), "offsets": torch.tensor(rows), "outer": torch.tensor(outer)}


def calls():
    ops = torch.ops.fbgemm
    for rows, length in (([0, 2, 2, 7], 4), ([0, 5], 2), ([0, 0, 1, 3, 6], 7)):
        values, offsets = torch.randn(rows[-1], 3), torch.tensor(rows)
        padded = ops.jagged_to_padded_dense(values, [offsets], [length], 2.5)
        ops.jagged_to_padded_dense(values, [offsets.int()], [length])
        ops.dense_to_jagged(padded, [offsets])
        ops.dense_to_jagged(padded, [offsets], rows[-1])
        count = len(rows) - 1
        outer = torch.tensor([0, count - 1, count - 1, count])
        ops.jagged_to_padded_dense(values, [outer, offsets], [2, length], -0.5)
    ops.jagged_to_padded_dense(torch.randn(0, 2), [torch.tensor([0, 0, 0])], [3], 1.0)
