# SPDX-License-Identifier: MIT
"""torch.onnx.export with Aton behind it."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import io
import os
import pathlib
import tempfile
import warnings
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from ._capture import captured
from ._errors import AtonError, UnconvertibleError
from ._export import Report, export

if TYPE_CHECKING:
    import torch

    from ._command import Path

    class ProgramOfAton(torch.onnx.ONNXProgram):
        """What `torch_export` returns: a torch.onnx.ONNXProgram with one more attribute."""

        aton_report: Report


# What a result may differ by: the limits beyond which torch.onnx.export(verify=True) logs a warning.
_MAX_ABSOLUTE, _MAX_RELATIVE = 5e-3, 1e-1


def torch_export(
    model: torch.nn.Module | torch.export.ExportedProgram,
    args: tuple[Any, ...] | torch.Tensor = (),
    f: Path | io.BytesIO | None = None,
    *,
    kwargs: dict[str, Any] | None = None,
    verbose: bool | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamo: bool = True,
    external_data: bool = True,
    dynamic_shapes: dict[str, Any] | tuple[Any, ...] | list[Any] | None = None,
    custom_translation_table: dict[Callable[..., Any], Callable[..., Any]] | None = None,
    report: bool = False,
    optimize: bool = True,
    verify: bool = False,
    profile: bool = False,
    dump_exported_program: bool = False,
    artifacts_dir: Path = ".",
    export_params: bool = True,
    keep_initializers_as_inputs: bool = False,
    dynamic_axes: Mapping[str, Mapping[int, str]] | Mapping[str, Sequence[int]] | None = None,
    training: Any = None,
    operator_export_type: Any = None,
    do_constant_folding: bool = True,
    custom_opsets: Mapping[str, int] | None = None,
    export_modules_as_functions: bool | Collection[type[torch.nn.Module]] = False,
    autograd_inlining: bool = True,
    plugins: Sequence[Path] = (),
    nan: Literal["fast", "exact"] = "fast",
) -> ProgramOfAton:
    """Exports a model with Aton; the arguments and the result are those of torch.onnx.export(dynamo=True).

    `plugins` and `nan` are those of `export`. The result is a torch.onnx.ONNXProgram, with the `Report` of the export as
    `aton_report`. It differs from torch.onnx.export in this:

    - `custom_translation_table` takes tables of `translation_table`, whose plugins are used; other functions are refused.
    - `dynamo=False`, `dynamic_axes` and TorchScript modules are refused.
    - `report` writes a page about Aton's export into `artifacts_dir`.
    - `profile` and the deprecated arguments are ignored, with a warning unless they have their defaults.
    - `verify` raises AtonError if ONNX Runtime's results differ, instead of logging a warning.
    - A model that cannot be exported is an AtonError or an UnconvertibleError, or what torch.export raises.
    """
    import torch

    _refuse_and_warn(
        dynamo=dynamo,
        dynamic_axes=dynamic_axes,
        profile=profile,
        training=training in (None, torch.onnx.TrainingMode.EVAL),
        operator_export_type=operator_export_type in (None, torch.onnx.OperatorExportTypes.ONNX),
        do_constant_folding=do_constant_folding,
        custom_opsets=custom_opsets,
        export_modules_as_functions=export_modules_as_functions,
        autograd_inlining=autograd_inlining,
    )
    if f is not None and not isinstance(f, (str, os.PathLike, io.BytesIO)):
        raise TypeError(f"f: expected a path, an io.BytesIO or None, not {type(f).__name__}")
    if isinstance(model, getattr(torch.onnx, "ExportableModule", ())) and not args and not kwargs:
        exportable: Any = model
        args, kwargs = exportable.example_arguments()
        input_names = exportable.input_names() if input_names is None else input_names
        output_names = exportable.output_names() if output_names is None else output_names
        dynamic_shapes = exportable.dynamic_shapes() if dynamic_shapes is None else dynamic_shapes
    for what, names in (("input_names", input_names), ("output_names", output_names)):
        if names is not None and len(set(names)) != len(names):
            raise ValueError(f"{what}: the names must differ")
    if both := {*(input_names or ())} & {*(output_names or ())}:
        raise ValueError(f"input_names, output_names: {min(both)!r} is in both; the names must differ")
    all_plugins = [*plugins, *_plugins_of(custom_translation_table)]
    program, axes = captured(model, args, kwargs, dynamic_shapes)
    page = os.path.join(artifacts_dir, f"onnx_export_{datetime.datetime.now().strftime('%Y-%m-%d_%H-%M-%S-%f')}")
    if dump_exported_program:
        torch.export.save(program, f"{page}.pt2")

    target = pathlib.Path(f) if isinstance(f, (str, os.PathLike)) else None
    plain = target is not None and export_params and not keep_initializers_as_inputs
    # Beside the file, so that it can be moved there at once; or where the weights of the result stay as long as it lives.
    folder = tempfile.TemporaryDirectory(prefix=".aton-", dir=target.parent if target and plain else None)
    try:
        written = pathlib.Path(folder.name, target.name if target else "model.onnx")
        try:
            result = export(
                program,
                written,
                opset_version=opset_version,
                weights="external" if external_data or not plain else "embed",
                plugins=all_plugins,
                optimize=optimize,
                nan=nan,
            )
        except UnconvertibleError as error:
            if report:
                _write_page(f"{page}.md", type(model).__name__, None, error)
            raise
        onnx_program: Any = torch.onnx.ONNXProgram(_load(written), program)
        _name(onnx_program, input_names, output_names, axes)
        onnx_program.aton_report = dataclasses.replace(result, path=target or written)
        if plain and target is not None:
            _put_in_place(onnx_program.model, written, target)
            onnx_program.model = _load(target)
            _hold_weights(onnx_program.model)
        else:
            _hold_weights(onnx_program.model)
            weakref.finalize(onnx_program, folder.cleanup)  # the weights are there
            if target is not None:
                onnx_program.save(
                    target,
                    include_initializers=export_params,
                    keep_initializers_as_inputs=keep_initializers_as_inputs,
                    external_data=external_data,
                )
            elif isinstance(f, io.BytesIO):
                f.write(onnx_program.model_proto.SerializeToString())
    except BaseException:
        folder.cleanup()
        raise
    if plain:
        folder.cleanup()
    if report:
        _write_page(f"{page}.md", type(model).__name__, onnx_program.aton_report, None)
    if verbose:
        _print(onnx_program.aton_report)
    if verify:
        _verify(torch, onnx_program)
    return cast("ProgramOfAton", onnx_program)


def _refuse_and_warn(*, dynamo: bool, dynamic_axes: Any, training: bool, operator_export_type: bool, **ignored: Any) -> None:
    """Refuses what Aton cannot do, and warns of what it ignores."""
    if not dynamo:
        raise ValueError("dynamo=False: that is TorchScript's exporter; call torch.onnx.export, or export an archive")
    if dynamic_axes is not None:
        raise ValueError('dynamic_axes: pass dynamic_shapes, which names the dimensions too, as {"x": {0: "batch"}}')
    given = [name for name, ok in (("training", training), ("operator_export_type", operator_export_type)) if not ok]
    defaults = {"do_constant_folding": True, "autograd_inlining": True}
    given += [name for name, value in ignored.items() if bool(value) != defaults.get(name, False)]
    for name in given:
        warnings.warn(f"torch_export ignores the argument {name}", UserWarning, stacklevel=3)


def _plugins_of(table: Mapping[Any, Any] | None) -> list[str]:
    """The plugins of the functions of a translation table."""
    found: list[str] = []
    for operator, function in (table or {}).items():
        translation = getattr(function, "aton", None)
        if translation is None:
            raise ValueError(
                f"custom_translation_table: the function of {operator} is Python; pass its mapping in C++ as a plugin"
            )
        found += [each for each in translation.plugins if each not in found]
    return found


def _load(path: pathlib.Path) -> Any:
    import onnx_ir

    return onnx_ir.load(path)


def _hold_weights(model: Any) -> None:
    """Makes weights that are in a file part of the model: they are read from the file whenever they are needed."""
    import onnx_ir

    for value in model.graph.initializers.values():
        stored = value.const_value
        if isinstance(stored, onnx_ir.ExternalTensor):
            value.const_value = onnx_ir.LazyTensor(
                functools.partial(_in_memory, stored), dtype=stored.dtype, shape=stored.shape, name=stored.name
            )


def _in_memory(stored: Any) -> Any:
    import onnx_ir

    return onnx_ir.Tensor(stored.numpy(), dtype=stored.dtype, shape=stored.shape, name=stored.name)


def _name(program: Any, inputs: Any, outputs: Any, axes: Sequence[dict[int, str]]) -> None:
    """Gives inputs, outputs and dimensions the names that the caller wants."""
    graph = program.model.graph
    wanted: dict[Any, str] = {}
    for what, names, values in (("input_names", inputs, graph.inputs), ("output_names", outputs, graph.outputs)):
        if names is not None and len(names) > len(values):
            warnings.warn(f"{what}: the model has only {len(values)}, not {len(names)}; the rest is ignored", stacklevel=3)
        wanted |= dict(zip(values, names or (), strict=False))
    _make_way(program.model, wanted)
    for value, name in wanted.items():
        value.name = name
    if axes and len(axes) != len(graph.inputs):
        warnings.warn("dynamic_shapes: the model has other inputs, so that its dimensions keep their names", stacklevel=3)
        return
    renamed: dict[str, str] = {}
    for value, names in zip(graph.inputs, axes, strict=False):
        for axis, name in names.items():
            dim = value.shape[axis]
            if not isinstance(dim, int) and dim.value is not None and dim.value.isidentifier():
                renamed.setdefault(dim.value, name)
    if renamed:
        program.rename_axes(renamed)


def _make_way(model: Any, wanted: Mapping[Any, str]) -> None:
    """Renames values that have a name which another value is to get."""
    import onnx_ir

    names = set(wanted.values())
    in_way = [value for name, value in model.graph.initializers.items() if name in names and value not in wanted]
    for value in in_way:
        del model.graph.initializers[value.name]
        value.name = f"{value.name}.inner"
        model.graph.initializers[value.name] = value
    results = (value for node in onnx_ir.traversal.RecursiveGraphIterator(model.graph) for value in node.outputs)
    for value in [*model.graph.inputs, *results]:
        if value.name in names and value not in wanted:
            value.name = f"{value.name}.inner"


def _put_in_place(model: Any, written: pathlib.Path, target: pathlib.Path) -> None:
    """Writes the graph with its names, and moves the files to where they belong."""
    import onnx_ir

    onnx_ir.save(model, written)
    data = written.with_name(f"{written.name}.data")
    if data.exists():
        os.replace(data, target.with_name(f"{target.name}.data"))
    os.replace(written, target)


def _verify(torch: Any, program: Any) -> None:
    """Compares the model in ONNX Runtime with the program on its example inputs."""
    file = program.aton_report.path
    if program.exported_program.example_inputs is None:
        raise AtonError(f"{file}: verify: the program has no example inputs")
    args, kwargs = program.exported_program.example_inputs
    results = program(*args, **kwargs)
    leaves = torch.utils._pytree.tree_leaves(program.exported_program.module()(*args, **kwargs))
    expected = [torch.as_tensor(each) for each in leaves if each is not None]
    # Further outputs of the model are new values of its buffers.
    for output, truth, result in zip(program.model.graph.outputs, expected, results, strict=False):
        truth = (torch.view_as_real(truth) if truth.is_complex() else truth).detach()
        what = f"{file}: output {output.name} differs from the program's: "
        if (result.dtype, result.shape) != (truth.dtype, truth.shape):
            raise AtonError(f"{what}{result.dtype} {list(result.shape)}, not {truth.dtype} {list(truth.shape)}")
        result, truth = result.double(), truth.double()
        if not torch.allclose(result, truth, rtol=_MAX_RELATIVE, atol=_MAX_ABSOLUTE, equal_nan=True):
            raise AtonError(f"{what}by up to {float((result - truth).abs().nan_to_num().max()):.3g}")
    program.release()


def _print(report: Report) -> None:
    size = f"{report.nodes} nodes, opset {report.opset}, {report.weights} weights"
    print(f"[aton] {report.path}: {size}, {report.seconds:.3f} s")
    for each in report.warnings:
        print(f"[aton] warning: {each.text}")


def _write_page(path: str, model: str, report: Report | None, error: UnconvertibleError | None) -> None:
    """The page of report=True, as Markdown."""
    lines = [f"# Export of {model} with Aton", ""]
    if report is not None:
        lines += ["| | |", "|---|---|", f"| file | {report.path} |", f"| opset | {report.opset} |"]
        lines += [f"| nodes | {report.nodes} |", f"| weights | {report.weights} ({report.weight_bytes:,} bytes) |"]
        lines += [f"| time | {report.seconds * 1e3:.1f} ms |"]
        if report.warnings:
            lines += ["", "## Warnings", "", *(f"- {each.text}" for each in report.warnings)]
    if error is not None:
        lines += [f"{error}", "", "| operator | calls | reason | at |", "|---|--:|---|---|"]
        for each in error.operators:
            lines.append(f"| {each.operator} | {each.count} | {each.reason} | {', '.join(each.sources)} |")
    pathlib.Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
