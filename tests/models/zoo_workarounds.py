# SPDX-License-Identifier: MIT
"""What the exporter of transformers 5.23 patches in PyTorch, or repairs in its programs, before it can write ONNX: a small module for each
of its patches (transformers/exporters/exporter_onnx.py), named after it, in the form that fails there. Aton needs none of them.

No module here has
  - _patch_prepare_for_export: the place where the repairs of programs start;
  - _fix_dead_comparison for infinite bounds: torch.export does not save them as nodes; `dead_comparison` has what it saves, a guard of a
    size without an upper bound;
  - _aten_mm_dtype: torch has no such product on the CPU; the rows aten::mm.dtype, bmm.dtype, addmm.dtype and baddbmm.dtype have tests in
    tests/mappings/matrix_product_test.cpp."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from zoo import Apply, Made, dim, ids, model, normal, rows

FREE = torch.export.Dim.DYNAMIC  # guards may narrow it


def texts(function, *others, width=6):
    """A function of rows of a dynamic length, and of more such tensors, which `others` make from batch and length."""
    make = lambda batch, length: (normal(batch, length, width), *(other(batch, length) for other in others))
    return Made(Apply(function), make(2, 7), make(3, 10), ({0: FREE, 1: FREE},) * (1 + len(others)))


def mask(batch, length):
    return torch.rand(batch, length) < 0.6


@model("workaround_where")
def where():
    """Branches of two dtypes, and numbers as branches."""
    return texts(lambda x, keep: (torch.where(x > 0, x, x.double()), torch.where(keep, 2, x[..., 0]), torch.where(keep, x[..., 0].half(), -1.5)), mask)


@model("workaround_unsqueeze")
def unsqueeze():
    return texts(lambda x: torch.view_as_real(torch.complex(x, x.flip(1)).unsqueeze(-2) * torch.complex(x, -x).unsqueeze(1)[..., None, :]))


@model("workaround_sdpa", parts=["bool", "infinity", "least"])
def sdpa(kind):
    """The first word sees nothing: torch gives zeros for a bool mask and for -inf, and the mean of the values for the least float."""

    def attend(x, keep):
        keep = keep[:, None, None, :] & torch.ones(x.shape[1], 1, dtype=torch.bool).tril()
        keep = keep & (torch.arange(x.shape[1]) > 0)[:, None]
        if kind != "bool":
            keep = torch.zeros(keep.shape).masked_fill(~keep, -math.inf if kind == "infinity" else torch.finfo(x.dtype).min)
        q, k, v = (y.unflatten(-1, (2, 3)).transpose(1, 2) for y in (x, x.flip(1), x * 0.5 + 1))
        return F.scaled_dot_product_attention(q, k, v, attn_mask=keep)

    return texts(attend, mask)


@model("workaround_rms_norm_forward")
def rms_norm_forward():
    return rows(nn.Sequential(nn.RMSNorm(6, elementwise_affine=False), nn.RMSNorm((4, 6), eps=1e-3, elementwise_affine=False)), 4, 6)


@model("workaround_split")
def split():
    """Pieces of a size that is known only at run time; the last one is smaller or not."""
    return texts(lambda x: torch.split(torch.cat([x, x * 2, x[:, 1:]], 1), x.shape[1], 1))


@model("workaround_randperm", until=21)
def randperm():
    """What does not depend on the order that is drawn."""
    return texts(lambda x: (x + torch.randperm(x.shape[1]).sort()[0][:, None], x[:, torch.randperm(x.shape[1])].sum(1), torch.randperm(5, dtype=torch.int32).sum() + x))


@model("workaround_opset13_constant")
def opset13_constant():
    """Every axis has an index."""

    def write(x, at):
        y = x.clone()
        y[at[:, 0] % 2, at[:, 1] % 3, at[:, 2]] = 7.0
        return y

    return texts(write, lambda batch, length: ids(batch, length, below=6))


@model("workaround_optimize_ir")
def optimize_ir():
    """Positions that are interpolated before the model runs."""
    positions = nn.Parameter(torch.randn(1, 6, 14, 14))

    class Positions(nn.Module):
        def __init__(self):
            super().__init__()
            self.positions = positions

        def forward(self, x):
            return x + F.interpolate(self.positions, size=(22, 30), mode="bicubic", align_corners=False).flatten(2).sum(-1)

    return rows(Positions(), 5, 6)


@model("workaround_chunk")
def chunk():
    return texts(lambda x: (*torch.chunk(torch.cat([x, x + 1], 1), 2, 1), *torch.cat([x, x, -x], 0).chunk(3)))


@model("workaround_exp")
def exp():
    return texts(lambda x: (torch.view_as_real(torch.exp(torch.complex(x, x.flip(1) * 3))), torch.exp(1j * x).real))


@model("workaround_irfft", parts=["even", "odd", "longer", "shorter", "dim"])
def irfft(kind):
    n = {"even": None, "odd": 9, "longer": 16, "shorter": 6, "dim": None}[kind]
    axis = 1 if kind == "dim" else -1
    return rows(lambda x: torch.fft.irfft(torch.complex(x, x.flip(1)), n=n, dim=axis, norm="ortho" if kind == "odd" else None), 6, 5)


@model("workaround_full")
def full():
    return texts(lambda x: (torch.full((2, x.shape[1]), 3), torch.full((x.shape[0],), True), torch.full((2,), 1.5), x + torch.full((), x.shape[0])))


@model("workaround_masked", parts=["mean", "var", "std", "sum", "amax"])
def masked(name):
    """Also a row that the mask hides completely, except for a variance."""
    function = getattr(torch.masked, name)
    hidden = 1 if name in ("mean", "sum") else 0

    def reduce(x, keep):
        keep = (keep | (torch.arange(keep.shape[1]) > 1))[..., None].expand_as(x) & (torch.arange(6) >= hidden)
        return function(x, dim=1, mask=keep), function(x, dim=(0, 2), mask=keep, keepdim=True)

    return texts(reduce, mask)


@model("workaround_masked_scatter")
def masked_scatter():
    """Images among words; more numbers are given than the mask takes."""
    return texts(lambda x, keep: (x.masked_scatter(keep[..., None], x.flip(0) + 3), x.masked_scatter(keep[..., None].expand_as(x), x.double().float().exp())), mask)


@model("workaround_roll")
def roll():
    """With the write that it is used with."""

    def shift(x):
        y = torch.roll(x, 1, -1)
        y[..., 0] = x[..., 2] * 2
        return y, torch.roll(x, (-2, x.shape[1] // 2), (2, 1)), torch.roll(x, 5), torch.roll(x, (x.shape[1], 1), (0, 1))

    return texts(shift)


@model("workaround_dead_comparison")
def dead_comparison():
    """Sizes without an upper bound."""
    return texts(lambda x: (x[:, : x.shape[1] // 2].flatten(0, 1), x.new_zeros(max(x.shape[0], 2))))


@model("workaround_bfloat16_convolution", tolerance=2e-2, until=21, parts=["conv1d", "conv2d", "conv3d", "transpose"])
def bfloat16_convolution(kind):
    nets = {"conv1d": nn.Conv1d(4, 4, 3, groups=4, padding=2), "conv2d": nn.Conv2d(4, 6, 3, stride=2), "conv3d": nn.Conv3d(4, 2, 2),
            "transpose": nn.ConvTranspose2d(4, 2, 3)}
    net = nets[kind].bfloat16()
    shape = {"conv1d": (9,), "conv3d": (4, 5, 3)}.get(kind, (7, 8))
    return rows(nn.Sequential(Apply(lambda x: x.bfloat16()), net, Apply(lambda x: x.float())), 4, *shape)


@model("workaround_alias")
def alias():
    """Writes into what alias and detach give, which is the same memory."""

    def write(x, at):
        y = x * 2
        view = torch.ops.aten.alias(y).detach()
        view[0, at[0, :3] % 2] = 5.0
        torch.ops.aten.alias(view).mul_(2)
        return y, view

    return texts(write, lambda batch, length: ids(batch, length, below=6))


@model("workaround_detach_inplace")
def detach_inplace():
    return texts(lambda x: ((y := x * 2).detach_().add_(1), y + 1))


@model("workaround_slice_implicit_start")
def slice_implicit_start():
    return texts(lambda x: (x[..., : x.shape[0]], x[:, : x.shape[1] - 1], torch.ops.aten.slice(x, 1, None, None, 2)))


@model("workaround_index_put_last_dim_index", parts=["view", "whole", "accumulate"])
def index_put_last_dim_index(kind):
    """Columns get the least number, as the image words of a language model do."""

    def write(x, at):
        y, columns = x.clone(), at[0, :2]
        if kind == "view":
            y[:, :, columns] = torch.finfo(x.dtype).min
        elif kind == "whole":
            y[..., columns] = x[..., :1]
        else:
            torch.ops.aten.index_put_(y, [None, None, columns], x[0, 0, 0], True)
        return y.clamp(min=-50)

    return texts(write, lambda batch, length: ids(batch, length, below=6))


@model("workaround_index_put_inplace")
def index_put_inplace():
    """Into a view of a view, and read through the first tensor."""

    def write(x, at):
        y = x + 1
        y[:, 1:].transpose(1, 2)[..., at[0, :3] % 2] = x[0, 0, 0]
        y.index_put_((at[0] % 2,), x[:1] * 3)
        return y

    return texts(write, lambda batch, length: ids(batch, length, below=6))


@model("workaround_fill_diagonal_inplace", parts=["square", "tall", "wrapped", "cube"])
def fill_diagonal_inplace(kind):
    """With a dynamic size where torch.export takes one."""
    shape = {"square": (5, 5), "tall": (9, 3), "cube": (4, 4, 4)}.get(kind, (11, 3))

    def fill(x):
        y = x * 2
        y.fill_diagonal_(-3.5 if kind == "square" else 7, wrap=kind == "wrapped")
        return y, y + x

    if kind == "tall":
        return Made(Apply(fill), (normal(9, 3),), (normal(14, 3),), ({0: dim("rows", 5, 40)},))
    return Made(Apply(fill), (normal(*shape),), (normal(*shape),))


@model("workaround_triu_inplace")
def triu_inplace():
    return texts(lambda x: ((x * 2).triu_(1), (x + 1).tril_(-1), torch.full((x.shape[1], x.shape[1]), -math.inf).triu_(1).exp()))


@model("workaround_sort_stable")
def sort_stable():
    """Equal numbers keep their order, in both directions."""
    few = lambda batch, length: ids(batch, length, below=3)
    return texts(lambda x, n: (*torch.sort(n, stable=True), *torch.sort(n, dim=1, descending=True, stable=True), n.argsort(dim=0, stable=True), x), few)


@model("workaround_integral_tensor_float_scalar")
def integral_tensor_float_scalar():
    number = lambda batch, length: ids(batch, length, below=9)
    return texts(lambda x, n: (1.0 - n, n * 2.5, n - 0.5, (1.0 - n[:, None].int()) * -1e4, n / 2, n.bool() * 1.5, x), number)


@model("workaround_mul_scalar_symbolic")
def mul_scalar_symbolic():
    return texts(lambda x: (x * (x.shape[1] / x.shape[0]), x * x.shape[1], (x > 0) * (1 / x.shape[1]), x - x.shape[1] / 3))


@model("workaround_remainder_scalar")
def remainder_scalar():
    number = lambda batch, length: ids(batch, length, below=90) - 40
    return texts(lambda x, n: (n % x.shape[1], x % x.shape[0], torch.remainder(7, n.abs() + 1), n % n[0, 0].abs().clamp(min=1), n % -3, n.fmod(-7)), number)


@model("workaround_index_put", parts=["number", "rows", "accumulate", "words"])
def index_put(kind):
    """A mask as the index."""

    def write(x, keep):
        y = x.clone()
        if kind == "number":
            y[keep] = 0.25
        elif kind == "rows":
            y[keep] = x[0, 0]
        elif kind == "accumulate":
            y.index_put_((keep,), x[0, 0], accumulate=True)
        else:
            y[keep] = x.flip(0)[keep] * 2
        return y

    return texts(write, mask)


@model("workaround_bincount", parts=["counts", "weights", "least"])
def bincount(kind):
    class Counts(nn.Module):
        def forward(self, n):
            weights = n.sin() if kind == "weights" else None
            return torch.bincount(n, weights, minlength=12 if kind == "least" else 0)

    return Made(Counts(), (ids(9, below=5),), (ids(14, below=15),), ({0: dim("words", 2)},))


@model("workaround_grouped_mm", needs="transformers")
def grouped_mm():
    """Experts with no words, and with many. On the CPU, torch's own operator takes only bfloat16, which ONNX Runtime does not multiply."""
    import transformers.integrations.moe  # noqa: F401  declares the operator

    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4, 8, 16) * 0.3)

        def forward(self, x, chosen):
            order = torch.argsort(chosen, stable=True)
            ends = torch.histc(chosen.float(), bins=4, min=0, max=3).cumsum(0).to(torch.int32)
            return torch.ops.transformers.grouped_mm_fallback(x[order], self.weight, ends)

    make = lambda words: (normal(words, 8), 2 * ids(words, below=2))
    return Made(Experts(), make(9), make(14), ({0: dim("words", 2)},) * 2)


@model("workaround_repeat_interleave", parts=["flat", "axis", "size", "tensor"])
def repeat_interleave(kind):
    functions = {
        "flat": lambda x: x.repeat_interleave(3),
        "axis": lambda x: (x.repeat_interleave(2, 1), x.repeat_interleave(3, dim=-1)),
        "size": lambda x: (torch.arange(4).repeat_interleave(x.shape[1]), x.repeat_interleave(x.shape[0], 1), x[0, 0].repeat_interleave(x.shape[1])),
        "tensor": lambda x: x.repeat_interleave(torch.tensor([2, 0, 1, 3, 1, 1]), dim=2),
    }
    return texts(functions[kind])


@model("workaround_floordiv")
def floordiv():
    """Python's idiom for rounding up, and sizes that become negative."""
    return texts(lambda x: (x.new_zeros(-(-x.shape[1] // 4)), x + (2 - x.shape[1]) // 3, x * ((5 - x.shape[1]) % 4), x[:, : -(-x.shape[1] // 2)]))


@model("workaround_masked_fill")
def masked_fill():
    return texts(
        lambda x, keep: (keep.masked_fill(x[..., 0] > 0, True), keep.masked_fill(x[..., 1] > 0, False), (x[..., 0] > 0).masked_fill(keep, torch.tensor(True)),
                         (x * 9).long().masked_fill(keep[..., None], 2), x.masked_fill(~keep[..., None], -math.inf).softmax(1).nan_to_num(0.5)),
        mask,
    )


@model("workaround_topk_sorted")
def topk_sorted():
    return texts(lambda x: (*x.topk(3), *x.topk(2, dim=1, largest=False), x.topk(4, sorted=False)[0].sum(-1)))


@model("workaround_constant_gather_nd")
def constant_gather_nd():
    """A mask at constant positions, negative ones among them."""
    first, second = torch.tensor([[0], [-1], [1]]), torch.tensor([[0, 2, -1, 1]])
    return rows(lambda x: (x[:, first, second], (x > 0)[:, :, second[0]], x[torch.tensor([0, -1]), torch.tensor([1, 2])]), 4, 3)


@model("workaround_dequantize_per_channel", parts=["0", "1"])
def dequantize_per_channel(axis):
    import torch.ao.quantization.fx._decomposed  # noqa: F401  declares the operators

    class Dequantized(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("weight", torch.randint(-100, 100, (6, 6), dtype=torch.int8))
            self.register_buffer("scales", torch.rand(6) * 0.1)
            self.register_buffer("zeros", torch.randint(-9, 9, (6,)))

        def forward(self, x):
            operator = torch.ops.quantized_decomposed.dequantize_per_channel
            return x + operator(self.weight, self.scales, self.zeros, int(axis), -128, 127, torch.int8)

    return rows(Dequantized(), 6, 6)
