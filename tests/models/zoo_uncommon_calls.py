# SPDX-License-Identifier: MIT
"""Calls of common operators in forms that few models have: results written to given tensors, integers, computed sizes, bytes."""

import torch
import torch.nn.functional as F

from zoo import Apply, Made, dim, ids, model, normal

BATCH = dim("batch", 2)
COMPUTED = torch.export.Dim.AUTO  # for sizes with conditions that are no range


@model("given_results", quick=True)
def given_results():
    """out= of other sizes and dtypes, and of a part of a tensor."""

    def function(x, n):
        def empty(dtype):
            return torch.empty(0, dtype=dtype)

        part = torch.ones(4, 3)
        torch.mul(x[:2], 2, out=part[1:3])
        values, places = torch.max(x[:2], 0, out=(torch.empty(0), torch.empty(7, dtype=torch.int64)))
        made = [torch.arange(3, out=empty(t)) for t in (torch.float32, torch.float64, torch.int8)]
        made += [torch.full((2, 3), 2.75, out=empty(t)) for t in (torch.float16, torch.int32, torch.int64)]
        made += [torch.eye(2, 3, out=empty(torch.int64)), torch.zeros(2, out=empty(torch.int8))]
        made += [torch.linspace(0, 7, 4, out=empty(t)) for t in (torch.int32, torch.float64)]
        made += [torch.add(n, 3, out=empty(t)) for t in (torch.float32, torch.int8)]
        made += [torch.sum(n, 1, out=empty(t)) for t in (torch.int8, torch.float64)]
        made += [torch.sin(n, out=empty(torch.float16)), torch.any(n > 9, 1, out=empty(torch.uint8))]
        return made, part, values, places, torch.add(x, x, out=torch.empty(0))

    rows = ({0: dim("rows", 3)}, {0: dim("numbers", 3)})
    return Made(Apply(function), (normal(4, 3), ids(5, 4, below=90)), (normal(5, 3), ids(3, 4, below=90)), rows)


@model("padded_sequences")
def padded_sequences():
    def function(x, y, n):
        pad = torch.nn.utils.rnn.pad_sequence
        return (
            pad([x, y, x[:1]], padding_value=-1.5),
            pad([y, x], batch_first=True, padding_side="left"),
            pad([n, n[:2], n[1:]], True, padding_value=-7),
            pad([n > 2, x[:, 0] > 0], True, padding_value=1),
        )

    lengths = {0: dim("x", 2)}, {0: dim("y", 3)}, {0: dim("n", 3)}
    args = normal(3, 2), normal(5, 2), ids(4, below=5)
    # run_decompositions() would fix which sequence is the longest.
    return Made(Apply(function), args, (normal(6, 2), normal(3, 2), ids(8, below=5)), lengths, decomposes=False)


@model("views_of_bytes")
def views_of_bytes():
    """Constants as any dtype; integers that the model computes as integers and floats of any size."""

    def function(x, bytes_, words):
        table = torch.tensor([[1.5, -2.0, 3.0, 0.1]])
        half = torch.tensor([1.0, -2.5, 65504.0, 6e-8], dtype=torch.float16)
        return (
            x + table.view(torch.int32),
            table.view(torch.int64),
            table.view(torch.uint8),
            half.view(torch.int16),
            half.view(torch.int64),
            torch.tensor([0, 0, 128, 63], dtype=torch.uint8).view(torch.float32),
            bytes_.view(torch.int8),
            *(bytes_.view(t) for t in (torch.int16, torch.int32, torch.int64, torch.float16, torch.float32)),
            bytes_.view(torch.float64),
            *(words.view(t) for t in (torch.uint8, torch.int8, torch.int16, torch.int64)),
            (words > 0).view(torch.uint8),
        )

    def arguments(n):
        words = torch.randint(-(2**31), 2**31, (n, 2), dtype=torch.int32)
        words[0] = torch.tensor([-(2**31), 2**31 - 1])
        return normal(n, 4), torch.randint(0, 128, (n, 16), dtype=torch.uint8), words

    return Made(Apply(function), arguments(2), arguments(5), ({0: BATCH},) * 3)


@model("integer_windows")
def integer_windows():
    """Pools and convolutions of integers over computed sizes."""

    def function(x):
        found = []
        for t in (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64):
            n = x.to(t)
            found += [F.max_pool2d(n, 3, 2, 1), F.max_pool2d(n, 2, 3, ceil_mode=True), F.conv2d(n, n[:, :, :3, :2])]
            found += [F.conv2d(n[:, :, :4], n[:, :, :3, :2].flip(0), n[:, 0, 0, 0], 2, 1, 1)]
        found += F.max_pool2d(x[:, :, :5, :6].to(torch.int16), 3, 2, 1, return_indices=True)
        found += F.max_pool2d(x.to(torch.int32), 3, (2, 4), 1, ceil_mode=True, return_indices=True)
        found += [F.avg_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 2, 3, 1, True, False), F.avg_pool2d(x, 2, divisor_override=3)]
        return found + [F.avg_pool1d(x[0], 3, 2, 1, True), F.max_pool3d(x, 2, 2), F.conv1d(x[:, :, 0], x[:, :, 0, :3])]

    def arguments(height, width):
        return (ids(2, 3, height, width, below=120) - 10,)

    return Made(Apply(function), arguments(9, 8), arguments(12, 11), ({2: COMPUTED, 3: COMPUTED},))


@model("products_of_bytes")
def products_of_bytes():
    function = lambda x, y: (torch._int_mm(x.to(torch.uint8), y), torch._int_mm(x.to(torch.int8), y))
    rows = dim("rows", 17)
    y = torch.randint(-128, 128, (8, 16), dtype=torch.int8)
    return Made(Apply(function), (ids(20, 8, below=256), y), (ids(33, 8, below=256), y), ({0: rows}, None))


@model("same_padding_of_any_kernel")
def same_padding_of_any_kernel():
    def function(x, w):
        same = {"padding": "same"}
        return F.conv2d(x, w, **same), F.conv2d(x[0], w, dilation=(2, 3), **same), F.conv1d(x[:, :, 0], w[:, :, 0], **same)

    args = normal(2, 3, 9, 8), normal(3, 3, 4, 3)
    sizes = {2: COMPUTED, 3: COMPUTED}
    # run_decompositions() would compute the argument `padding` of aten::convolution.
    return Made(Apply(function), args, (normal(2, 3, 9, 8), normal(3, 3, 2, 5)), (None, sizes), decomposes=False)


@model("sizes_beside_factors")
def sizes_beside_factors():
    """A given size, and factors from which it does not follow."""

    def function(x):
        ops = torch.ops.aten
        return (
            ops.upsample_nearest2d(x, [8, 9], 2.0, 1.7),
            ops._upsample_nearest_exact2d(x, [8, 9], 2.1, None),
            ops.upsample_bilinear2d(x, [8, 9], False, 2.0, 1.7),
            ops.upsample_bicubic2d(x, [7, 9], False, None, 0.8),
            ops.upsample_nearest1d(x[0], [9], 2.5),
            ops.upsample_trilinear3d(x[None], [3, 8, 9], False, 1.5, 1.2, None),
        )

    shapes = ({2: dim("height", 3), 3: dim("width", 3)},)
    # PyTorch's decomposition of upsample_bilinear2d samples other places than its kernel at sizes that were not exported.
    return Made(Apply(function), (normal(2, 3, 4, 5),), (normal(2, 3, 8, 9),), shapes, decomposes=False)


@model("bags_and_their_members", tolerance=1e-5)
def bags_and_their_members():
    """All results of embedding_bag."""

    def function(w, i, counts):
        offsets = counts.cumsum(0) - counts
        found = []
        for mode in (0, 1, 2):
            found += torch.embedding_bag(w, i, offsets, False, mode, False)
            found += torch.embedding_bag(w, i, offsets, False, mode, False, None, False, 2)
            found += torch.embedding_bag(w, i.int(), offsets.int(), False, mode, False)
        return found

    def arguments(n, counts):
        return normal(7, 3), ids(n, below=7), torch.tensor(counts)

    shapes = None, {0: dim("indices", 3)}, {0: dim("bags", 2)}
    return Made(Apply(function), arguments(12, [2, 0, 4, 3]), arguments(16, [3, 0, 0, 5, 1]), shapes)


@model("pools_that_end_early")
def pools_that_end_early():
    """max_pool in ceil_mode over computed sizes, with indices, where the last window may start in the padding."""

    def function(x):
        found = [F.max_pool2d(x, 3, 2, 1, ceil_mode=True), F.max_pool2d(x, 2, 3, 1, ceil_mode=True)]
        found += [*F.max_pool2d(x, 2, 3, 1, ceil_mode=True, return_indices=True)]
        return found + [*F.max_pool3d(x, (2, 1, 2), 3, (1, 0, 1), ceil_mode=True, return_indices=True)]

    return Made(Apply(function), (normal(2, 3, 9, 7),), (normal(2, 3, 11, 13),), ({2: COMPUTED, 3: COMPUTED},))


@model("products_of_three")
def products_of_three():
    """_trilinear with dimensions that no operand has."""

    def function(x, y):
        none = torch._trilinear(x, x, x, [1], [1], [1], [0]), torch._trilinear(x, x, x, [1], [1], [1], [1])
        total = torch._trilinear(x, x, x, [0], [0], [0], [0, 2]) + torch._trilinear(x, x, x, [2], [2], [2], [1, 2])
        return *none, total, torch._trilinear(x, y, x, [2], [0, 2], [2], [1])

    # Static: torch.export makes the sizes of its operands constants.
    return Made(Apply(function), (normal(3, 4), normal(4)), (normal(3, 4), normal(4)))
