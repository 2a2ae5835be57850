# SPDX-License-Identifier: MIT
"""The regions that torch.export wraps: autograd functions, modes, checkpoints, and attention inside a branch."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from zoo import Made, dim, model, signed_rows

BATCH, LENGTH = dim("batch"), dim("length", 2, 50)


class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x > 0)


class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, least):
        ctx.save_for_backward(x)
        ctx.least = least
        return x.clamp(min=least)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x > ctx.least), None


class Functions(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        with torch.enable_grad():
            y = Relu.apply(self.fc(x))
            z = torch.cond(x.sum() > 0, lambda y: Clip.apply(y, 0.5), lambda y: Relu.apply(y - 0.25), (y,))
        return y, z, Clip.apply(y, 0.125)


@model("autograd_function", parts=["strict", "not_strict"])
def autograd_function(part):
    made = signed_rows(Functions(), 4)
    made.strict = part == "strict"
    return made


class Regions(nn.Module):
    """Modes in modes, and a checkpoint."""

    def __init__(self):
        super().__init__()
        self.fc, self.last = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        y = checkpoint(lambda x: self.fc(x).relu(), x, use_reentrant=False)
        with torch.enable_grad():
            z = self.fc(y) * 2
            with torch.autocast("cpu", enabled=False):
                z = z + self.last(z).sin()
        return y + z, z * 2


@model("wrapped_regions", quick=True)
def wrapped_regions():
    return signed_rows(Regions(), 4)


@model("cond_no_grad")
def cond_no_grad():
    def quiet(x):
        with torch.no_grad():
            y = x.sin() * 2
        return y - x

    def forward(x):
        with torch.enable_grad():
            return torch.cond(x.sum() > 0, quiet, lambda x: x.cos(), (x,))

    return signed_rows(forward, 4)


@model("cond_attention")
def cond_attention():
    """A whole layer in a branch, with dynamic batch and length."""

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.both, self.out, self.norm = nn.Linear(8, 24), nn.Linear(8, 8), nn.LayerNorm(8)

        def attend(self, x):
            parts = self.both(x).unflatten(2, (3, 2, 4)).permute(2, 0, 3, 1, 4).unbind(0)
            return x + self.out(F.scaled_dot_product_attention(*parts, is_causal=True).transpose(1, 2).flatten(2))

        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: self.norm(self.attend(x)), lambda x: F.gelu(self.norm(x)), (x,))

    made = signed_rows(Layer(), 6, 8)
    return Made(made.module, made.args, (made.other[0][:, :4].clone(),), ({0: BATCH, 1: LENGTH},))
