# SPDX-License-Identifier: MIT
"""Writes rows to fill in, for operators without a mapping."""

from __future__ import annotations

import os
import pathlib
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._command import input_arguments, plugin_arguments, program_file, run_or_raise
from ._errors import AtonError
from ._operators import find_overload, registered, select, untyped_torch

if TYPE_CHECKING:
    from ._command import Path


def stub(
    source: Any,  # Model | Operators
    *,
    args: tuple[Any, ...] | None = None,
    kwargs: dict[str, Any] | None = None,
    dynamic_shapes: Any = None,
    plugins: Sequence[Path] = (),
    inputs: Mapping[str, str] | None = None,
    output: Path | None = None,
) -> str:
    """The text of a plugin in C++ with a row for each operator that has no mapping. It compiles as it is; each row has the
    C++ parameters of its schema and refuses its calls until its body is written.

    `source` is the path of a library that registers operators with torch, which is loaded: `stub("libmy_ops.so")`; the
    names of registered operators, as those of `record`: `stub("my_ops")`, `stub(["my_ops::scale", torch.ops.other.foo])`;
    or a model, as that of `export`, for the operators that it calls: their schemas are torch's if torch knows them, and
    are inferred from the model otherwise. Operators of `plugins` have a mapping. `output` is a file to write.

    Raises AtonError for a library that cannot be loaded or registers nothing, and for operators that torch does not know.
    """
    with tempfile.TemporaryDirectory(prefix="aton-") as folder:
        schemas = pathlib.Path(folder, os.path.basename(os.fspath(source)) if _is_library(source) else "torch")
        options = [f"--schemas={schemas}", *plugin_arguments(plugins), *input_arguments(inputs)]
        if _is_model(source):
            with program_file(source, args, kwargs, dynamic_shapes) as program:
                names = _known() if "torch" in sys.modules else []
                _write_schemas(schemas, names)
                text = run_or_raise("stub", program, *options)
        else:
            if args is not None or kwargs is not None or dynamic_shapes is not None or inputs is not None:
                raise TypeError("args, kwargs, dynamic_shapes and inputs are for models")
            _write_schemas(schemas, _load(os.fspath(source)) if _is_library(source) else select(source))
            text = run_or_raise("stub", *options)
    if output is not None:
        pathlib.Path(output).write_text(text, encoding="utf-8")
    return text


def _is_library(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike)) and pathlib.Path(source).suffix in (".so", ".pyd", ".dll", ".dylib")


def _is_model(source: Any) -> bool:
    if isinstance(source, (str, os.PathLike)):
        return pathlib.Path(source).suffix in (".pt2", ".pt", ".pth", ".ptl") or (
            os.path.isfile(source) and not _is_library(source)
        )
    if "torch" not in sys.modules:
        return False
    import torch

    return isinstance(source, (torch.export.ExportedProgram, torch.nn.Module))


def _known() -> list[str]:
    """The operators that libraries have registered, without those of torch."""
    own = ("aten::", "prims::", "prim::", "quantized::", "onednn::", "inductor::", "higher_order::", "_c10d_functional::")
    return [name for name in registered() if not name.startswith(own)]


def _load(library: str) -> list[str]:
    """Loads a library, and returns the operators that it registers."""
    path = os.path.abspath(library)
    before = set(registered())
    try:
        untyped_torch().ops.load_library(path)
    except OSError as error:
        raise AtonError(f"{library}: cannot be loaded: {str(error).splitlines()[0]}") from None
    found = sorted(set(registered()) - before)
    if not found:
        raise AtonError(f"{library}: registers no operators, or was loaded before; name its operators: stub('my_ops')")
    return found


def _write_schemas(path: pathlib.Path, names: Sequence[str]) -> None:
    overloads = (find_overload(name) for name in names)
    lines = [str(overload._schema) for overload in overloads if overload is not None]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
