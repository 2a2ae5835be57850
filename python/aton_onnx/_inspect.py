# SPDX-License-Identifier: MIT
"""Shows and checks programs, models and mappings."""

from __future__ import annotations

import dataclasses
import json
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


def check(path: Path) -> Checked:
    """Checks an ONNX file with ONNX's checker and full shape inference. A wrong file is a result, not an exception.

    >>> check("missing.onnx").error
    'missing.onnx: no such file'
    """
    result = run("check", file_argument(path), "--format=json")
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


def verify(model: Model, path: Path, *, samples: int = 3, seed: int = 0) -> Verification:
    """Runs an exported program, or a `.pt2` file, and its ONNX file on random inputs in Aton's runtime, and compares.

    Raises AtonError for files that cannot be run, and if ATON_COMMAND names a build without the runtime.
    """
    with program_file(model) as program:
        result = run("verify", program, file_argument(path), f"--samples={samples}", f"--seed={seed}")
    if result.returncode not in (0, 1) or not result.stdout:
        raise AtonError(message(result))
    return Verification(result.returncode == 0, result.stdout.strip())
