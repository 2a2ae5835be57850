# SPDX-License-Identifier: MIT
"""Shows and checks programs, models and mappings."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._command import file_argument, input_arguments, message, plugin_arguments, program_file, run, run_or_raise
from ._errors import AtonError, Unconvertible

if TYPE_CHECKING:
    from ._command import Model, Path


@dataclasses.dataclass(frozen=True)
class Checked:
    """What ONNX's checker says about a file."""

    file: str
    ok: bool
    nodes: int | None
    ir_version: int | None
    opset: int | None
    error: str | None  #: why the file is wrong
    #: known faults of a runtime that its nodes meet, as `aton check --json` has them
    faults: Sequence[Mapping[str, Any]] = ()


@dataclasses.dataclass(frozen=True)
class Operator:
    """An overload with a mapping, for a range of opsets."""

    overload: str
    schema: str
    since: int
    until: int
    plugin: str | None  #: the file that has the mapping; None: built in


@dataclasses.dataclass(frozen=True)
class Verification:
    """Whether a model gives the numbers of its program, and what the command says about it."""

    passed: bool
    text: str


def unconvertible(
    model: Model,
    *,
    args: tuple[Any, ...] | None = None,
    kwargs: dict[str, Any] | None = None,
    dynamic_shapes: Any = None,
    opset_version: int | None = None,
    plugins: Sequence[Path] = (),
    inputs: Mapping[str, str] | None = None,
) -> list[Unconvertible]:
    """The operators of a model that cannot be converted, in program order. The arguments are those of `export`.

    >>> [each.operator for each in unconvertible("tests/data/plugin/custom_op.pt2")]
    ['custom_ops::foo_forward']
    """
    options = [f"--opset={opset_version}"] if opset_version is not None else []
    options += input_arguments(inputs)
    with program_file(model, args, kwargs, dynamic_shapes) as program:
        text = run_or_raise("unconvertible", program, "--format=json", *options, *plugin_arguments(plugins))
    return [Unconvertible._of(each) for each in json.loads(text)]


def check(path: Path, *, runtime: str | None = None) -> Checked:
    """Checks an ONNX file with ONNX's checker and full shape inference. A wrong file is a result, not an exception. With
    `runtime`, "onnxruntime" or "onnxruntime:1.31", also lists the nodes that meet a known fault of its kernels.

    >>> check("missing.onnx").error
    'missing.onnx: no such file'
    """
    options = [] if runtime is None else [f"--runtime={runtime}"]
    result = run("check", file_argument(path), "--format=json", *options)
    if not result.stdout:
        raise AtonError(message(result))
    return Checked(**json.loads(result.stdout)[0])


def ops(*, opset_version: int | None = None, plugins: Sequence[Path] = ()) -> list[Operator]:
    """The overloads that have a mapping, at one opset or at any.

    >>> any(each.overload == "aten::relu" for each in ops(opset_version=17))
    True
    """
    options = [f"--opset={opset_version}"] if opset_version is not None else []
    rows = json.loads(run_or_raise("ops", "--format=json", *options, *plugin_arguments(plugins)))
    return [Operator(row["overload"], row["schema"], row["since"], row["until"], row.get("plugin")) for row in rows]


def print_graph(
    model: Model,
    *,
    args: tuple[Any, ...] | None = None,
    kwargs: dict[str, Any] | None = None,
    dynamic_shapes: Any = None,
    inputs: Mapping[str, str] | None = None,
) -> str:
    """The text of a program, with source lines, or of the graph of an ONNX file.

    >>> "aten::relu" in print_graph("tests/data/pt2/linear_relu_dynbatch.pt2")
    True
    """
    with program_file(model, args, kwargs, dynamic_shapes) as file:
        return run_or_raise("print", file, *input_arguments(inputs))


def verify(
    model: Model,
    path: Path | None = None,
    *,
    samples: int = 3,
    seed: int = 0,
    inputs: Path | None = None,
    runtime: str | None = None,
    runtime_library: Path | None = None,
    runtime_command: str | None = None,
    timeout: int | None = None,
    reproduction: Path | None = None,
) -> Verification:
    """Runs an exported program, or a `.pt2` file, and its ONNX file on the same inputs in Aton's runtime, and compares; or
    two `.onnx` files, of which the first is right; or, with `runtime` ("onnxruntime", "onnxruntime:extended") or
    `runtime_command`, one `.onnx` file there and in Aton's runtime.

    `inputs` is a folder with input_0.pb, ...; for `.onnx` files also an .npz or safetensors file; default: they are drawn.
    The library of "onnxruntime" is that of the package that this Python imports. `reproduction` is a folder for the smallest
    part that differs.

    Raises AtonError for files that cannot be run, and if ATON_COMMAND names a build without the runtime.
    """
    if runtime is not None and runtime_library is None:
        runtime_library = _onnxruntime_library()
    paths = {"inputs": inputs, "runtime-library": runtime_library, "reproduction": reproduction}
    words = {"runtime": runtime, "runtime-command": runtime_command, "timeout": timeout}
    options = [f"--{name}={file_argument(each)}" for name, each in paths.items() if each is not None]
    options += [f"--{name}={each}" for name, each in words.items() if each is not None]
    others = [] if path is None else [file_argument(path)]
    with program_file(model) as program:
        result = run("verify", program, *others, f"--samples={samples}", f"--seed={seed}", *options)
    if result.returncode not in (0, 1) or not result.stdout:
        raise AtonError(message(result))
    return Verification(result.returncode == 0, result.stdout.strip())


def _onnxruntime_library() -> Path | None:
    """The shared library of the package onnxruntime; None if there is none, and Aton looks for another."""
    spec = importlib.util.find_spec("onnxruntime")
    if spec is None or spec.origin is None:
        return None
    folder = pathlib.Path(spec.origin).parent / "capi"
    patterns = ("libonnxruntime.so*", "libonnxruntime.*.dylib", "onnxruntime.dll")
    found = [each for pattern in patterns for each in sorted(folder.glob(pattern))]
    return found[-1] if found else None
