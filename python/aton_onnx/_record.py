# SPDX-License-Identifier: MIT
"""Records calls of operators with their results, for `aton verify --calls`. docs/verify.md describes the file."""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from ._errors import AtonError
from ._operators import find_overload, select, untyped_torch

if TYPE_CHECKING:
    from ._command import Path
    from ._operators import Operators

#: What torch calls the types of a schema whose values are numbers, and how they are written.
_NUMBERS: dict[str, Any] = {
    "int": int, "SymInt": int, "float": float, "SymFloat": float, "bool": bool, "SymBool": bool,
}  # fmt: skip
_TAGS = ("Device", "Layout", "MemoryFormat", "ScalarType")


class _NotRecorded(Exception):
    """Why a call cannot be written."""


class Recording:
    """The calls that have been recorded so far."""

    def __init__(
        self, file: IO[str], selected: Sequence[str], constants: Mapping[str, Sequence[str]], max_calls: int | None
    ) -> None:
        self.calls: Counter[str] = Counter()  #: the number of recorded calls of each overload
        self.left_out: Counter[str] = Counter()  #: of those that cannot be written, and of those beyond `max_calls`
        self._file = file
        self._selected = frozenset(selected)
        self._constants = constants
        self._max_calls = max_calls
        self._warned: set[tuple[str, str]] = set()
        self._running: set[str] = set()  #: the overloads that are being called
        self._is_writing = False

    def _wants(self, overload: Any) -> bool:
        name = overload.name()
        return name in self._selected and name not in self._running and not self._is_writing

    def _call(self, overload: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Runs the operator, and writes a line."""
        name = overload.name()
        line: dict[str, Any] | None = None
        if self._max_calls is None or self.calls[name] < self._max_calls:
            with self._writing(name):
                line = describe_arguments(overload._schema, args, kwargs, self._constants.get(name, ()))
        self._running.add(name)
        try:
            results = overload(*args, **kwargs)
        finally:
            self._running.remove(name)
        text = ""
        if line is not None:
            with self._writing(name):
                add_results(line, overload, args, kwargs, results)
                text = json.dumps(line) + "\n"
        self._file.write(text)
        (self.calls if text else self.left_out)[name] += 1
        return results

    @contextlib.contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        """Warns, once for each operator and reason, of a call that cannot be written."""
        import torch

        self._is_writing = True
        try:
            with torch.no_grad():
                yield
        except _NotRecorded as reason:
            if (name, str(reason)) not in self._warned:
                self._warned.add((name, str(reason)))
                warnings.warn(f"{name}: a call is not recorded: {reason}", UserWarning, stacklevel=2)
        finally:
            self._is_writing = False


def describe_arguments(
    schema: Any, args: Sequence[Any], kwargs: Mapping[str, Any], constants: Sequence[str] = ()
) -> dict[str, Any]:
    """The line of a call, without its results. Arguments that have a default are written by name."""
    line: dict[str, Any] = {"schema": str(schema), "args": [], "kwargs": {}}
    for place, formal in enumerate(schema.arguments):
        if place >= len(args) and formal.name not in kwargs:
            continue
        given = args[place] if place < len(args) else kwargs[formal.name]
        written = _written(given, formal.real_type, f"the argument {formal.name}")
        if formal.kwarg_only or formal.has_default_value() or len(line["args"]) != place:
            line["kwargs"][formal.name] = written
        else:
            line["args"].append(written)
    if constants:
        line["constants"] = list(constants)
    return line


def add_results(line: dict[str, Any], overload: Any, args: Sequence[Any], kwargs: Mapping[str, Any], results: Any) -> None:
    """Adds the results, and the values after the call of the arguments that the operator writes to."""
    import torch

    schema = overload._schema
    count = len(schema.returns)
    each = [] if count == 0 else [results] if count == 1 else list(results)
    line["outputs"] = []
    for place, (formal, result) in enumerate(zip(schema.returns, each, strict=True)):
        kind = str(formal.real_type)
        if kind not in ("Tensor", "Optional[Tensor]", "List[Tensor]", "List[Optional[Tensor]]", "number", *_NUMBERS):
            raise _NotRecorded(f"result {place} is {kind}, which cannot be compared")
        line["outputs"].append(_written(result, formal.real_type, f"result {place}"))
    mutated: dict[str, Any] = {}
    for place, formal in enumerate(schema.arguments):
        if formal.alias_info is None or not formal.alias_info.is_write:
            continue
        given = args[place] if place < len(args) else kwargs.get(formal.name, formal.default_value)
        mutated[formal.name] = _written(given, formal.real_type, f"the argument {formal.name}")
    if mutated:
        line["mutated"] = mutated
    if torch.Tag.nondeterministic_seeded in overload.tags:
        line["compare"] = "types"


def _written(given: Any, of_type: Any, what: str) -> Any:
    """A value as the file has it. `of_type` is its type in torch's schema."""
    import torch

    kind = str(of_type)
    if given is None:
        return None
    if kind.startswith("Optional["):
        return _written(given, of_type.getElementType(), what)
    if kind.startswith("List["):
        element = of_type.getElementType()
        if isinstance(given, torch.Tensor) or not isinstance(given, Sequence) or isinstance(given, str):
            return _written(given, element, what)  # one number, for all
        return [_written(each, element, what) for each in given]
    if isinstance(given, torch.Tensor):
        return _tensor(given, what) if kind == "Tensor" else _written(given.item(), of_type, what)
    if kind in _TAGS:
        if isinstance(given, (torch.dtype, torch.device, torch.layout, torch.memory_format, str)):
            return str(given)
    elif kind == "str":
        if isinstance(given, str):
            return given
    elif kind in ("Tensor", "number", "complex", *_NUMBERS) and isinstance(given, (bool, int, float, complex)):
        return _number(given, kind)
    raise _NotRecorded(f"{what} is {_article(type(given).__name__)}, for {kind}")


def _number(given: Any, kind: str) -> Any:
    given = _NUMBERS.get(kind, lambda number: number)(given)
    return {"complex": [given.real, given.imag]} if isinstance(given, complex) else given


def _tensor(given: Any, what: str) -> dict[str, Any]:
    import torch
    from torch.utils._python_dispatch import is_traceable_wrapper_subclass

    if isinstance(given, torch._subclasses.FakeTensor) or given.device.type == "meta":
        raise _NotRecorded(f"{what} has no elements in memory, as while torch.export traces; call the module itself")
    if is_traceable_wrapper_subclass(given):
        raise _NotRecorded(f"{what} is {_article(type(given).__name__)}, not a plain tensor")
    if given.layout != torch.strided or given.is_quantized or given.is_nested:
        kind = "quantized" if given.is_quantized else "nested" if given.is_nested else str(given.layout)
        raise _NotRecorded(f"{what} is {kind}; only plain strided tensors can be written")
    dtype = str(given.dtype).removeprefix("torch.")
    if dtype not in _DTYPES:
        raise _NotRecorded(f"{what} has the dtype {dtype}, which ONNX does not have")
    stored = given.detach().resolve_conj().resolve_neg().cpu().contiguous()
    size = stored.numel() * stored.element_size()
    raw = ctypes.string_at(stored.data_ptr(), size) if size else b""
    return {"dtype": dtype, "shape": list(given.shape), "base64": base64.b64encode(raw).decode("ascii")}


#: Those that the command reads.
_DTYPES = {
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
}  # fmt: skip


def _article(name: str) -> str:
    return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"


def _constants(given: Mapping[str, Sequence[str]], selected: Sequence[str]) -> dict[str, Sequence[str]]:
    """The names of constant arguments for each overload. Raises AtonError for an argument that it does not have."""
    found: dict[str, Sequence[str]] = {}
    for pattern, names in given.items():
        if isinstance(names, str):
            raise TypeError(f"constants: {pattern}: pass a list of names, not one name")
        overloads = [each for each in select(pattern) if each in selected]
        if not overloads:
            raise AtonError(f"constants: {pattern} is not among the operators that are recorded")
        for overload in overloads:
            known = [formal.name for formal in find_overload(overload)._schema.arguments]
            missing = [name for name in names if name not in known]
            if missing:
                raise AtonError(f"constants: {overload} has no argument {missing[0]}, only {', '.join(known)}")
            found[overload] = names
    return found


@contextlib.contextmanager
def record(
    path: Path,
    operators: Operators,
    *,
    max_calls: int | None = None,
    constants: Mapping[str, Sequence[str]] | None = None,
    append: bool = False,
) -> Iterator[Recording]:
    """Records the calls that are made within the block, with their results, in a file for `aton verify --calls`.

        with aton_onnx.record("calls/my_ops.jsonl", operators=["my_ops::*"]):
            model(x)
            torch.ops.my_ops.rms_norm(y, None, 0.5)

    `operators` are names or patterns, `"my_ops::rms_norm"`, `"my_ops::scale.out"`, `"my_ops::*"`, or operators of torch.ops.
    All calls of these are recorded, from Python and from C++, until there are `max_calls` of an overload: arguments as they
    were before the call, results, and what the arguments that the operator writes to hold afterwards. What the kernel
    of an operator calls itself is not recorded: no program shows it.

    `constants={"my_ops::resample": ["sizes"]}` names arguments whose tensors are constants of a model: a mapping that needs
    to know their elements gets them.

    The file is written when the block ends, at once. With an exception, or if no call was made, the file stays as it was.
    `append` keeps the calls that are in it. Calls that cannot be written, such as those of sparse tensors or while
    torch.export traces, are left out with a warning; the result, a `Recording`, counts calls.

    Raises AtonError for an operator that torch does not know, and if no call was recorded.
    """
    target = os.path.abspath(os.fspath(path))
    if not target.endswith(".jsonl"):
        raise ValueError(f"{os.fspath(path)}: the name must end in .jsonl, which aton verify --calls looks for")
    if max_calls is not None and max_calls < 1:
        raise ValueError(f"max_calls: expected a positive number, not {max_calls}")
    selected = select(operators)
    named = _constants(constants or {}, selected)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".aton-", dir=os.path.dirname(target))
    try:
        with open(handle, "w", encoding="utf-8") as file:
            if append and os.path.exists(target):
                with open(target, encoding="utf-8") as before:
                    for line in before:
                        file.write(line if line.endswith("\n") else line + "\n")
            recording = Recording(file, selected, named, max_calls)
            with _modes(recording):
                yield recording
        if not recording.calls:
            raise AtonError(f"no call of {', '.join(sorted(selected))} was recorded; {os.fspath(path)} is not written")
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _modes(recording: Recording) -> contextlib.AbstractContextManager[Any]:
    """The modes of torch that pass calls to `recording`."""
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Dispatched(TorchDispatchMode):  # type: ignore[no-untyped-call]
        """Sees operators where the dispatcher calls them, also from C++, but not those that are only composed of others."""

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.ops.aten._local_scalar_dense.default and not isinstance(args[0], torch.Tensor):
                return args[0]  # a number, which TorchScript takes for a tensor
            wanted = isinstance(func, torch._ops.OpOverload) and recording._wants(func)
            return recording._call(func, args, kwargs or {}) if wanted else func(*args, **(kwargs or {}))

    class Composed(TorchFunctionMode):
        """Sees calls from Python of operators that are composed of others."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            overload = _composed(func, args, kwargs or {})
            if overload is None or not recording._wants(overload):
                return func(*args, **(kwargs or {}))
            return recording._call(overload, args, kwargs or {})

    stack = contextlib.ExitStack()
    stack.enter_context(Dispatched())  # type: ignore[no-untyped-call]
    stack.enter_context(Composed())
    return stack


def _composed(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The overload that is called, if its kernel is composed of other operators, which TorchDispatchMode does not show."""
    torch = untyped_torch()
    if isinstance(func, torch._ops.OpOverloadPacket):
        overloads = func.overloads()
        if len(overloads) != 1:  # torch chooses by the arguments
            with contextlib.suppress(RuntimeError, AttributeError, TypeError):
                chosen = torch._C._jit_resolve_packet(func._qualified_op_name, *args, **kwargs)
                overloads = [chosen or "default"]
        func = getattr(func, overloads[0]) if len(overloads) == 1 else None
    if not isinstance(func, torch._ops.OpOverload):
        return None
    key = "CompositeImplicitAutograd"
    return func if torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), key) else None
