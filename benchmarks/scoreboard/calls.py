# SPDX-License-Identifier: MIT
"""A recorded ATen call as a module of torch: its source, which the scoreboard runs and its reproduction files contain."""

import pathlib
import sys

import ml_dtypes
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/oracle"))

from oracle_data import all_tensors, arguments_by_name, tensors_in  # noqa: E402

SPECIAL = {"nan": "float('nan')", "inf": "float('inf')", "-inf": "float('-inf')"}


def inputs_of(case):
    """The names of the tensors that the call gets, in the order of its arguments, each once."""
    names = dict.fromkeys(t["tensor"] for t in tensors_in(list(arguments_by_name(case).values())))
    return {tensor: f"t{i}" for i, tensor in enumerate(names)}


def text_of(value, names):
    """An encoded argument as Python."""
    if isinstance(value, list):
        return "[" + ", ".join(text_of(each, names) for each in value) + "]"
    if not isinstance(value, dict):
        return repr(value)
    (kind, content) = next(iter(value.items()))
    if "tensor" in value:
        return names[value["tensor"]]
    if kind == "float":
        number = float(content)
        return repr(number) if numpy.isfinite(number) else SPECIAL[repr(number)]
    if kind == "complex":
        return f"complex({', '.join(map(repr, content))})"
    if kind == "device":
        return f"torch.device({content!r})"
    return f"torch.{content}"  # dtype, layout, memory_format


def module_source(case):
    """The class Call, whose forward() takes the call's tensors."""
    names = inputs_of(case)
    arguments = [text_of(each, names) for each in case["args"]]
    arguments += [f"{name}={text_of(each, names)}" for name, each in case["kwargs"].items()]
    packet = case["op"].replace("::", ".")
    parameters = ", ".join(["self", *names.values()])
    return (
        "class Call(torch.nn.Module):\n"
        f"    def forward({parameters}):\n"
        f"        return torch.ops.{packet}.{case['overload'] or 'default'}({', '.join(arguments)})\n"
    )


def make_module(case):
    import torch

    scope = {"torch": torch}
    exec(compile(module_source(case), case["case"], "exec"), scope)  # noqa: S102: made above from a recorded call
    return scope["Call"]()


def arrays_of(case, tensors):
    """The call's tensors by the names of forward()."""
    return {name: tensors[tensor] for tensor, name in inputs_of(case).items()}


def to_torch(array):
    import torch

    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(numpy.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def to_numpy(tensor):
    """The reverse of to_torch()."""
    import torch

    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.detach().numpy()


def is_comparable(case):
    """Calls with results that any exporter can be held to: tensors, real and not random, and no changed argument."""
    if case["compare"] != "values" or case.get("mutated") or "complex" in case["flags"]:
        return False
    if not inputs_of(case) or any(t["dtype"].startswith("complex") for t in all_tensors(case)):
        return False
    return all(isinstance(each, dict) and "tensor" in each for each in case["outputs"])
