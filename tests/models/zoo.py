# SPDX-License-Identifier: MIT
"""The models that the exporter is tried on, by name: MODELS["gpt2_small"].make() gives a module, two tuples of
arguments and the dynamic shapes for torch.export. Weights are random, the same every time. The models themselves are in
the zoo_*.py beside this file."""

import copy
import dataclasses
import functools
import importlib.metadata
import pathlib
import zlib
from collections.abc import Callable

import torch

MODELS: dict[str, "Entry"] = {}

# By the names of parts.
DTYPES = {"int64": torch.int64, "bool": torch.bool, "float16": torch.float16, "uint8": torch.uint8}


@dataclasses.dataclass
class Made:
    """What an entry's function returns. `other` are arguments of other sizes where dims are dynamic."""

    module: torch.nn.Module
    args: tuple
    other: tuple
    dynamic: object = None
    strict: bool = False
    decomposes: bool = True  # False: run_decompositions() refuses the program, and both programs are the raw one
    training: bool = False  # the module is a zoo_training.Step: the programs compute its loss and its gradients


@dataclasses.dataclass
class Entry:
    name: str
    build: Callable[[], Made]
    source: pathlib.Path
    needs: tuple[str, ...]  # packages beside torch
    quick: bool
    full_size: bool
    tested: bool  # False: only measured, by benchmarks/export
    tolerance: float
    until: int  # the last opset whose operators ONNX Runtime has kernels for

    def missing(self):
        """The first package that this entry needs and that is not installed, or ''."""
        return next((package for package in self.needs if not installed(package)), "")

    def make(self):
        torch.manual_seed(zlib.crc32(self.name.encode()))
        made = self.build()
        if isinstance(made.module, Apply) and made.dynamic is not None:
            made.dynamic = (made.dynamic,)  # of the one parameter *args
        made.module.eval()
        randomize(made.module)
        randomize_statistics(made.module, made.args)
        return made


def installed(package):
    try:
        return bool(importlib.metadata.version(package))
    except importlib.metadata.PackageNotFoundError:
        return False


def model(name, *, needs=(), quick=False, full_size=False, tested=True, tolerance=1e-4, until=99, parts=()):
    """Registers the decorated function as the entry `name`; its arguments after `parts` make one entry for each
    part."""

    def register(build):
        source = pathlib.Path(build.__code__.co_filename)
        packages = (needs,) if isinstance(needs, str) else tuple(needs)
        for part in parts or [None]:
            full_name = name if part is None else f"{name}_{part}"
            if full_name in MODELS:
                raise ValueError(f"two models are named {full_name}")
            call = build if part is None else functools.partial(build, part)
            MODELS[full_name] = Entry(full_name, call, source, packages, quick, full_size, tested, tolerance, until)
        return build

    return register


@torch.no_grad()
def randomize(module):
    """A parameter of one value throughout, as zero heads, norm scales and layer scales are made, gets different ones: a
    model that does not react to its input proves nothing."""
    for parameter in module.parameters():
        if not parameter.is_floating_point() or parameter.numel() == 0:
            continue
        low, high = parameter.aminmax()
        if low == 0 and high == 0:
            parameter.normal_(0, 0.05)
        elif low == high and parameter.numel() > 1:
            parameter.uniform_(0.5, 1.5)


@torch.no_grad()
def randomize_statistics(module, args):
    """BatchNorm gets random statistics, of the size of what it sees: with larger ones a deep net's signal fades away,
    with exact ones, of a few values, it magnifies rounding errors."""

    @torch.no_grad()
    def set_statistics(norm, inputs):
        dims = [d for d in range(inputs[0].dim()) if d != 1]
        mean, square = inputs[0].mean(dims), inputs[0].square().mean() + 1e-6
        norm.running_mean.copy_(0.25 * mean + 0.3 * square.sqrt() * torch.randn_like(mean))
        norm.running_var.copy_(square * torch.empty_like(mean).uniform_(0.5, 2))

    norms = [part for part in module.modules() if getattr(part, "running_var", None) is not None]
    hooks = [norm.register_forward_pre_hook(set_statistics) for norm in norms]
    if norms:
        module(*copy.deepcopy(args))
    for hook in hooks:
        hook.remove()


def normal(*shape, dtype=torch.float32):
    return torch.randn(*shape).to(dtype)


def ids(*shape, below):
    return torch.randint(0, below, shape)


def dim(name, least=1, most=64):
    return torch.export.Dim(name, min=least, max=most)


def images(module, size, channels=3, *, batch=2, other_batch=5, dynamic=True):
    """A module that takes one batch of images, of `size` (height, width), with a dynamic batch."""
    shape = (channels, *((size, size) if isinstance(size, int) else size))
    if not dynamic:
        other_batch = batch
    args, other = (normal(batch, *shape),), (normal(other_batch, *shape),)
    return Made(module, args, other, ({0: dim("batch")},) if dynamic else None)


class Apply(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def rows(function, *width):
    """A function of one tensor with a dynamic first dim."""
    return Made(Apply(function), (normal(3, *width),), (normal(5, *width),), ({0: dim("batch")},))


def signed_rows(module, *width):
    """A first input of positive numbers, a second one of negative numbers, with a dynamic first dim."""
    if not isinstance(module, torch.nn.Module):
        module = Apply(module)
    return Made(module, (normal(3, *width).abs() + 0.1,), (-normal(5, *width).abs() - 0.1,), ({0: dim("batch")},))


def load():
    """MODELS, with every entry registered."""
    from importlib import import_module

    for path in sorted(pathlib.Path(__file__).parent.glob("zoo_*.py")):
        import_module(path.stem)
    return MODELS
