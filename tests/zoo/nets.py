# SPDX-License-Identifier: MIT
"""What the registries of this folder share: `net` registers a model of a PyPI package in tests/models/zoo.py's MODELS."""

import functools
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "models")]

import torch  # noqa: E402
from torch import nn  # noqa: E402

from exported import changed_arguments  # noqa: E402
import zoo_vision  # noqa: E402, F401  declares torchvision's operators before a package imports it
from zoo import MODELS, Apply, Made, dim, ids, images, model, normal  # noqa: E402, F401

BATCH = dim("batch")


def net(package, *, static=False, **options):
    """Registers the decorated function as the model `package.function`; `static` for those whose code fixes the sizes."""

    def register(build):
        @functools.wraps(build)
        def made():
            found = build()
            return fixed(found.module, *found.args) if static else found

        name = f"{package}.{build.__name__}"
        model(name, needs=package, **options)(made)
        MODELS[name].source = pathlib.Path(build.__code__.co_filename)
        return build

    return register


def fixed(module, *args):
    """A module with static sizes, and other values of the same sizes."""
    return Made(module, args, changed_arguments(args))


def batched(module, *shapes, least=2, batch=3, other=5):
    """A module of float tensors of these shapes behind a dynamic batch."""
    size = dim("batch", least)
    args, others = (tuple(normal(n, *shape) for shape in shapes) for n in (batch, other))
    return Made(module, args, others, tuple({0: size} for _ in shapes))


def sequences(module, tokens, *, length=16, other_length=None, batch=2, other_batch=3):
    """A module of token ids with a dynamic batch and, with `other_length`, a dynamic length."""
    sizes = {0: BATCH} | ({1: dim("length", 2, 64)} if other_length else {})
    other = ids(other_batch, other_length or length, below=tokens)
    return Made(module, (ids(batch, length, below=tokens),), (other,), (sizes,))


class Method(nn.Module):
    """A function of a module and of tensors, as a module."""

    def __init__(self, module, method):
        super().__init__()
        self.module, self.method = module, method

    def forward(self, *args):
        return self.method(self.module, *args)


def method(module, call, *args, dynamic=None, other=None):
    """Made of call(module, *args)."""
    made = fixed(Method(module, call), *args)
    if dynamic is not None:
        made.dynamic, made.other = (dynamic,), other  # of the one parameter *args
    return made


def load():
    """MODELS of this folder, with every entry registered."""
    from importlib import import_module

    for path in sorted(HERE.glob("nets_*.py")):
        import_module(path.stem)
    return {name: entry for name, entry in MODELS.items() if entry.source.parent == HERE}
