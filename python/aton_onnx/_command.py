# SPDX-License-Identifier: MIT
"""Finds the command, and runs it: in this process if the package has the library."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _library
from ._errors import AtonError, Unconvertible, UnconvertibleError

if TYPE_CHECKING:
    from typing import TypeAlias

    import torch

    Path: TypeAlias = str | os.PathLike[str]
    Model: TypeAlias = Path | torch.export.ExportedProgram | torch.nn.Module

_HERE = pathlib.Path(__file__).resolve().parent


def executable() -> pathlib.Path:
    """The command: the file that the environment variable ATON_COMMAND names, or else the one in this package.

    Raises AtonError if there is none.
    """
    named = os.environ.get("ATON_COMMAND")
    path = pathlib.Path(named) if named else _HERE / "bin" / "aton"
    if not path.is_file():
        raise AtonError(f"{path}: no such file; install the wheel of aton-onnx, or set ATON_COMMAND to a build of aton")
    return path


@functools.cache
def version() -> str:
    """The version of the command, such as "0.2.0"."""
    library = _library.load()
    return library.version if library is not None else run("--version").stdout.split()[-1]


def _packaged(name: str) -> pathlib.Path:
    path = _HERE / name
    if not path.is_dir():
        raise AtonError(f"{path}: no such folder; only the wheel of aton-onnx has it")
    return path


def include_dir() -> pathlib.Path:
    """The folder to pass to a compiler as -I for `<aton/aton.hpp>` and `<aton/plugin.hpp>`; they need Boost's headers."""
    return _packaged("include")


def cmake_dir() -> pathlib.Path:
    """The folder to pass to CMake as -Daton_DIR, for `find_package(aton)` and `aton_add_plugin`."""
    return _packaged("lib/cmake/aton")


def run(
    *arguments: Path, progress: Callable[[_library.Progress], object] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the command and returns its output, whatever its exit status. Raises AtonError if it cannot be started.

    In a process of its own, `progress` is not called. Plugins are run there if possible: a mapping that crashes does not end
    this process.
    """
    words = [os.fspath(each) for each in arguments]
    library = _library.load()
    if library is not None and not (any(each.startswith("--plugin") for each in words) and _has_command()):
        return library.run(words, progress)
    command = [os.fspath(executable()), *words]
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    except OSError as error:
        raise AtonError(f"{command[0]}: cannot be run: {error.strerror}") from error


def _has_command() -> bool:
    try:
        return executable().is_file()
    except AtonError:
        return False


def message(result: subprocess.CompletedProcess[str]) -> str:
    """The sentence with which the command failed."""
    if result.returncode < 0:
        return f"aton was stopped by signal {-result.returncode}"
    lines = result.stderr.strip().splitlines()
    return lines[-1].removeprefix("aton: ") if lines else f"aton failed with exit status {result.returncode}"


def run_or_raise(*arguments: Path, progress: Callable[[_library.Progress], object] | None = None) -> str:
    """The standard output of the command. Raises AtonError if it fails."""
    result = run(*arguments, progress=progress)
    if result.returncode == 0:
        return result.stdout
    failure: Any = None
    with contextlib.suppress(ValueError):
        failure = json.loads(result.stdout)
    if isinstance(failure, dict) and failure.get("unconvertible"):
        raise UnconvertibleError(failure["error"], tuple(map(Unconvertible._of, failure["unconvertible"])))
    raise AtonError(message(result))


def file_argument(path: Path) -> str:
    """A path as the command takes it: a name that starts with a dash is no option."""
    text = os.fspath(path)
    return os.path.join(os.curdir, text) if text.startswith("-") else text


def plugin_arguments(plugins: Sequence[Path]) -> list[str]:
    """The options that load plugins."""
    if isinstance(plugins, (str, os.PathLike)):
        raise TypeError("plugins: pass a list of paths, not one path")
    return [f"--plugin={os.fspath(each)}" for each in plugins]


def input_arguments(inputs: Mapping[str, object] | None) -> list[str]:
    """The options that give the inputs of a TorchScript archive types, or values that are no strings."""
    def argument(name: str, kind: object) -> str:
        if isinstance(kind, str) and not kind.startswith("="):
            return f"--input={name}:{kind}"
        return f"--input={name}={str(kind).removeprefix('=')}"

    return [argument(name, kind) for name, kind in (inputs or {}).items()]


@contextlib.contextmanager
def program_file(
    model: Model,
    args: tuple[Any, ...] | None = None,
    kwargs: dict[str, Any] | None = None,
    dynamic_shapes: Any = None,
) -> Iterator[str]:
    """The path of a .pt2 file with the model; a temporary file if it was not a path."""
    if isinstance(model, (str, os.PathLike)):
        if args is not None or kwargs is not None or dynamic_shapes is not None:
            raise TypeError("args, kwargs and dynamic_shapes are for modules; a .pt2 file has its own")
        yield file_argument(model)
        return
    if "torch" not in sys.modules:  # then it is neither a module nor a program
        raise TypeError(f"expected the path of a .pt2 file, not {type(model).__name__}")
    import torch

    if isinstance(model, torch.export.ExportedProgram):
        if args is not None or kwargs is not None or dynamic_shapes is not None:
            raise TypeError("args, kwargs and dynamic_shapes are for modules; an exported program has its own")
        program = model
    elif isinstance(model, torch.nn.Module):
        if args is None and kwargs is None:
            raise TypeError("a module needs example inputs: pass args=(...)")
        program = torch.export.export(model, args or (), kwargs, dynamic_shapes=dynamic_shapes)
    else:
        raise TypeError(f"expected a module, an exported program or the path of a .pt2 file, not {type(model).__name__}")
    with tempfile.TemporaryDirectory(prefix="aton-") as folder:
        path = os.path.join(folder, "model.pt2")
        torch.export.save(program, path)
        try:
            yield path
        except AtonError as error:  # nobody knows the temporary file
            error.args = (str(error).replace(path, type(model).__name__), *error.args[1:])
            raise
