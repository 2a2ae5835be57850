# SPDX-License-Identifier: MIT
"""Exports models."""

from __future__ import annotations

import dataclasses
import html
import json
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _inspect
from ._command import file_argument, input_arguments, plugin_arguments, program_file, run_or_raise
from ._errors import AtonError
from ._schemas import check_schemas

if TYPE_CHECKING:
    from ._command import Model, Path
    from ._library import Progress


@dataclasses.dataclass(frozen=True)
class Warned:
    """One warning of an export."""

    #: "unused_input", "pinned_dimension", "unchecked_guard", "dropped_effect", "unknown_operator", "random_operator",
    #: "state_input", "missing_kernel", "assumed_tie", "kept_weight", "unused_weight" or "unrounded_weights"
    kind: str
    text: str  #: about the first input, dimension or operator, and how many others there are
    count: int = 1


@dataclasses.dataclass(frozen=True)
class DrawnInput:
    """An input of the model in place of random numbers."""

    name: str
    distribution: str
    operator: str
    source: str


@dataclasses.dataclass(frozen=True)
class QuantizedWeight:
    """A weight that was rounded to integers."""

    name: str
    elements: int
    bytes: int  #: of the integers, scales and zero points
    largest_error: float  #: of an element
    relative_error: float  #: the Frobenius norm of the differences, divided by that of the weight


@dataclasses.dataclass(frozen=True)
class Report:
    """What an export wrote. Notebooks show it as a table.

    >>> report = Report(pathlib.Path("model.onnx"), 20, 2, 2, 60, 0, 0.001, (), (), None)
    >>> "<td>model.onnx</td>" in report._repr_html_()
    True
    """

    path: pathlib.Path
    opset: int
    nodes: int
    weights: int  #: how many weights and constants
    weight_bytes: int
    rewritten_bytes: int  #: the part of the weights that was laid out differently or computed
    seconds: float  #: that the command took, without torch.export
    warnings: tuple[Warned, ...]
    drawn_inputs: tuple[DrawnInput, ...]
    verification: _inspect.Verification | None  #: with verify=True
    quantized: tuple[QuantizedWeight, ...] = ()  #: with quantize
    unquantized: Mapping[str, str] = dataclasses.field(default_factory=dict)  #: why other weights of products stay, by name

    def _repr_html_(self) -> str:
        shown: dict[str, object] = {
            "file": self.path,
            "nodes": self.nodes,
            "opset": self.opset,
            "weights": f"{self.weights} ({self.weight_bytes:,} bytes)",
            "time": f"{self.seconds * 1e3:.1f} ms",
        }
        if self.verification is not None:
            shown["verified"] = self.verification.text
        rows = [*shown.items(), *(("warning", each.text) for each in self.warnings)]
        cells = (f"<tr><th>{name}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows)
        return f"<table>{''.join(cells)}</table>"


def export(
    model: Model,
    f: Path,
    *,
    args: tuple[Any, ...] | None = None,
    kwargs: dict[str, Any] | None = None,
    dynamic_shapes: Any = None,
    opset_version: int | None = None,
    weights: Literal["embed", "external", "reference"] = "embed",
    operators: Literal["standard", "aten", "aten-fallback", "keep"] = "standard",
    nan: Literal["fast", "exact"] = "fast",
    quantization: Literal["fused", "exact"] = "fused",
    target: str = "onnx",
    plugins: Sequence[Path] = (),
    inputs: Mapping[str, object] | None = None,
    dims: Mapping[tuple[str, int], str] | None = None,
    rename: Mapping[str, str] | None = None,
    optimize: bool = True,
    quantize: str | None = None,
    quantize_include: Sequence[str] = (),
    quantize_exclude: Sequence[str] = (),
    verify: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Report:
    """Writes a model to the ONNX file `f`.

    `model` is the path of a `.pt2` file, an exported program, or a module, for which torch.export.export is called with
    `args`, `kwargs` and `dynamic_shapes`. Arguments that torch.onnx.export has as well mean the same. `dims` names dynamic
    dimensions, `{("x", 0): "batch"}`; `rename` renames inputs and outputs; `plugins` are shared libraries with mappings,
    whose schemas must be those of the operators that torch has loaded.
    `model` may also be a TorchScript archive; `inputs` then says what its inputs are, `{"x": "float32[batch,3,224,224]"}`.
    A number is one of type `"int"`, `"float"` or `"bool"`, or has the same value in every call, `{"rate": 16000}`; a string
    that does is written with an equals sign, `{"mode": "=nearest"}`.
    `target` is a runtime whose own operators may be used, or whose limits hold: "onnxruntime", "onnxruntime-genai",
    "tensorrt", "tensorrt:10.1", "qnn", "webgpu" or "coreml". `nan="exact"` treats NaN in maxima, minima and sorts as ATen
    does; `quantization="exact"` gives torch's numbers for a program that is quantized, in floating point.
    `weights="reference"` is for a path, since the weights stay in that file. `quantize` rounds weights of products to
    integers: "int4:block=32", as `aton export --quantize`; `quantize_include` and `quantize_exclude` are names of weights,
    in which `*` is any text. With `verify`, the file is compared with the program (see `verify`), and a difference raises
    AtonError; the file stays.
    `progress` is called while the export runs in this process; what it raises, and Ctrl-C, cancel the export, and no file is
    written.

    Raises UnconvertibleError if operators cannot be converted, and AtonError for anything else that the command refuses;
    then no file is written.

    >>> report = export("tests/data/pt2/linear_relu_dynbatch.pt2", "/dev/shm/aton_onnx.onnx", opset_version=17)
    >>> report.nodes, report.opset, report.weights
    (2, 17, 2)
    >>> export("tests/data/plugin/custom_op.pt2", "/dev/shm/aton_onnx.onnx")
    Traceback (most recent call last):
    aton_onnx._errors.UnconvertibleError: tests/data/plugin/custom_op.pt2: 1 operator cannot be converted at opset 20: \
custom_ops::foo_forward (no mapping; at make_tiny.py:44 in forward)
    """
    if weights == "reference" and not isinstance(model, (str, os.PathLike)):
        raise TypeError('weights="reference" needs the path of a .pt2 file, in which the weights stay')
    output = file_argument(f)
    options = [f"--output={output}", "--format=json", f"--weights={weights}", f"--operators={operators}"]
    if opset_version is not None:
        options.append(f"--opset={opset_version}")
    options += [f"--nan={nan}", f"--quantization={quantization}", *plugin_arguments(plugins), *input_arguments(inputs)]
    if target != "onnx":
        options.append(f"--target={target}")
    options += [f"--dim={name}:{axis}={dim}" for (name, axis), dim in (dims or {}).items()]
    options += [f"--rename={old}={new}" for old, new in (rename or {}).items()]
    if not optimize:
        options.append("--no-optimize")
    if quantize is not None:
        options.append(f"--quantize={quantize}")
        if verify:
            raise TypeError("verify=True compares numbers, which quantize changes")
    for name, patterns in (("include", quantize_include), ("exclude", quantize_exclude)):
        if isinstance(patterns, str):
            raise TypeError(f"quantize_{name}: pass a list of names, not one name")
        options += [f"--quantize-{name}={each}" for each in patterns]
    check_schemas(plugins)
    with program_file(model, args, kwargs, dynamic_shapes) as program:
        text = run_or_raise("export", program, *options, progress=progress)
        if not text:
            raise AtonError(f"{output}: is not a regular file")
        verification = _inspect.verify(program, output) if verify else None
    if verification is not None and not verification.passed:
        raise AtonError(f"{output}: differs from the program: {verification.text}")
    got = json.loads(text)
    return Report(
        pathlib.Path(f),
        got["opset"],
        got["nodes"],
        got["weights"],
        got["weight_bytes"],
        got["rewritten_bytes"],
        got["seconds"],
        tuple(Warned(each["kind"], each["text"], each["count"]) for each in got["warnings"]),
        tuple(DrawnInput(*(each[key] for key in ("name", "distribution", "op", "place"))) for each in got["drawn_inputs"]),
        verification,
        tuple(QuantizedWeight(**each) for each in got["quantized_weights"]),
        {each["name"]: each["reason"] for each in got["unquantized_weights"]},
    )
