# SPDX-License-Identifier: MIT
"""Captures a module as torch.onnx.export does, with names of dimensions among the dynamic shapes."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Iterator, Mapping
from typing import Any


def captured(model: Any, args: Any, kwargs: Any, dynamic_shapes: Any) -> tuple[Any, list[Any]]:
    """The program of a model, and for each of its inputs the names of its axes, by number."""
    import torch

    if isinstance(model, torch.export.ExportedProgram):
        args, kwargs = model.example_inputs or ((), {})
        values = [*args, *kwargs.values()]
        shapes = list(dynamic_shapes.values() if isinstance(dynamic_shapes, Mapping) else dynamic_shapes or ())
        return model, _names(values, shapes) if shapes else []
    if isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        raise TypeError("a TorchScript module: save it with torch.jit.save, and pass the path to aton_onnx.export")
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"expected a module or an exported program, not {type(model).__name__}")
    if model.training:
        warnings.warn("the model is in training mode; call model.eval() to export it for inference", stacklevel=3)
    args = (args,) if isinstance(args, torch.Tensor) else tuple(args)
    if not kwargs and args and isinstance(args[-1], dict):
        args, kwargs = args[:-1], args[-1]
    axes: list[Any] = []
    if dynamic_shapes is not None:
        given = inspect.signature(model.forward).bind(*args, **(kwargs or {})).arguments
        by_name = isinstance(dynamic_shapes, Mapping)
        shapes = [dynamic_shapes.get(name) for name in given] if by_name else list(dynamic_shapes)
        axes = _names(list(given.values()), shapes)
        dynamic_shapes = _without_names(dynamic_shapes)

    def capture(strict: bool) -> Any:
        with _any_size():
            return torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes, strict=strict)

    try:
        return capture(False), axes
    except Exception as first:
        with contextlib.suppress(Exception):
            return capture(True), axes
        raise first


@contextlib.contextmanager
def _any_size() -> Iterator[None]:
    """As in torch.onnx.export: a dynamic dimension whose example is 0 or 1 stays dynamic."""
    from torch.fx.experimental import _config

    config: Any = _config
    with config.patch(backed_size_oblivious=True) if hasattr(config, "backed_size_oblivious") else contextlib.nullcontext():
        yield


def _without_names(shapes: Any) -> Any:
    """Dynamic shapes for torch.export, which knows no names that are strings."""
    import torch

    if isinstance(shapes, str):
        return torch.export.Dim.DYNAMIC
    if isinstance(shapes, Mapping):
        return {key: _without_names(each) for key, each in shapes.items()}
    return type(shapes)(map(_without_names, shapes)) if isinstance(shapes, (list, tuple)) else shapes


def _names(values: list[Any], shapes: list[Any]) -> list[dict[int, str]]:
    """The names of axes, one dict for each tensor among the arguments of a model, in the order of its parameters."""
    try:
        return [each for both in zip(values, shapes, strict=True) for each in _axes_of(*both)]
    except (AttributeError, TypeError, ValueError):  # then torch.export says what is wrong, if anything
        warnings.warn("dynamic_shapes: not of the form of the arguments, so that dimensions keep their names", stacklevel=4)
        return []


def _axes_of(value: Any, shape: Any) -> Iterator[dict[int, str]]:
    import torch

    if isinstance(value, torch.Tensor):
        items = shape.items() if isinstance(shape, Mapping) else enumerate(shape or ())
        names = ((axis, dim if isinstance(dim, str) else getattr(dim, "__name__", None)) for axis, dim in items)
        yield {axis: name for axis, name in names if name is not None and name.isidentifier()}
        return
    if isinstance(value, Mapping):
        children, shapes = list(value.values()), [(shape or {}).get(key) for key in value]
    elif isinstance(value, (list, tuple)):
        children, shapes = list(value), list(shape) if shape is not None else [None] * len(value)
    elif value is None or isinstance(value, (bool, int, float, str)):
        return
    else:  # a class that is registered as a tree
        children = torch.utils._pytree.tree_leaves(value)
        shapes = list(shape) if shape is not None else [None] * len(children)
    for child, its_shape in zip(children, shapes, strict=True):
        yield from _axes_of(child, its_shape)
