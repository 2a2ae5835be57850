# SPDX-License-Identifier: MIT
"""The list of archives. Everything here runs with each release of torch that RELEASES names, with Python 3.11."""

import dataclasses
import importlib
import importlib.util
from collections.abc import Callable

import torch

# The release that Aton is tested with comes first.
RELEASES = ("2.13.0", "2.1.2", "2.0.1", "1.13.1")
FILES = ("nets_modules", "nets_control_flow", "nets_recurrent", "nets_vision", "nets_timm", "nets_language", "nets_speech")


@dataclasses.dataclass
class Net:
    name: str  # "torchvision.resnet18"
    build: Callable[[], torch.nn.Module]
    inputs: Callable[[int], tuple]  # the arguments of forward: those of example 0, and of 1, with other sizes where `dynamic` names axes
    way: str = "traced"
    dynamic: dict = dataclasses.field(default_factory=dict)  # the position of an argument -> its dynamic axes
    needs: str = "torch"
    releases: tuple = RELEASES

    @property
    def full_name(self):
        return f"{self.name}.{self.way}"


ALL = []


def net(name, build, inputs, ways="traced", dynamic=None, releases=RELEASES):
    """Adds one archive for each of the ways: "traced", "scripted" or both."""
    if any(each.name == name and each.way in ways.split() for each in ALL):
        raise ValueError(f"two nets are named {name}")
    needs = name.split(".")[0]
    needs = "torch" if needs in ("modules", "control_flow", "recurrent") else needs
    ALL.extend(Net(name, build, inputs, way, dynamic or {}, needs, releases) for way in ways.split())


def normal(*sizes):
    """The inputs of a module with one argument of these sizes; "n" is a size that differs in the second example."""
    dynamic = tuple(axis for axis, size in enumerate(sizes) if isinstance(size, str))
    def inputs(example):
        return (torch.randn(*[2 + 1 * example if size == "n" else size for size in sizes]),)
    return {"inputs": inputs, "dynamic": {0: dynamic} if dynamic else {}}


def indices(high, *sizes):
    dynamic = tuple(axis for axis, size in enumerate(sizes) if isinstance(size, str))
    def inputs(example):
        return (torch.randint(0, high, [2 + 1 * example if size == "n" else size for size in sizes]),)
    return {"inputs": inputs, "dynamic": {0: dynamic} if dynamic else {}}


def load(release):
    """The nets of a release whose packages are installed."""
    for each in FILES:
        importlib.import_module(each)
    return [each for each in ALL if release in each.releases and importlib.util.find_spec(each.needs)]
