# SPDX-License-Identifier: MIT
"""Runs the command in this process, through Aton's C interface (docs/c_api.md)."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import functools
import html
import os
import pathlib
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

from ._errors import AtonError

_ABI_VERSION = 1
_PACKAGED = pathlib.Path(__file__).resolve().parent / "lib" / f"libaton.so.{_ABI_VERSION}"
_UNITS = (None, "things", "bytes")


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far an export is. Notebooks show it as a bar.

    >>> Progress("model.pt2: writing", 3, 4, "bytes").fraction
    0.75
    """

    stage: str  #: what is being done: "model.pt2: reading"
    done: int = 0
    total: int = 0  #: 0: not known
    unit: str | None = None  #: "bytes", or what is counted, such as "nodes"; None: not known

    @property
    def fraction(self) -> float | None:
        """The part that is done, from 0 to 1; None: not known."""
        return self.done / self.total if self.total else None

    def _repr_html_(self) -> str:
        value = "" if self.fraction is None else f' value="{self.fraction:.4f}"'
        return f"<progress{value}></progress> {html.escape(self.stage)}"


class _Shown(ctypes.Structure):
    """aton_progress"""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("unit", ctypes.c_int32),
        ("stage", ctypes.c_char_p),
        ("what", ctypes.c_char_p),
        ("done", ctypes.c_uint64),
        ("total", ctypes.c_uint64),
    ]


_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(_Shown))
_TEXT = (ctypes.c_void_p, (ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)))
_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "aton_abi_version": (ctypes.c_uint32, ()),
    "aton_version": (ctypes.c_char_p, ()),
    "aton_task_new": (ctypes.c_void_p, (ctypes.c_char_p,)),
    "aton_task_free": (None, (ctypes.c_void_p,)),
    "aton_task_add_argument": (ctypes.c_int32, (ctypes.c_void_p, ctypes.c_char_p)),
    "aton_task_on_progress": (ctypes.c_int32, (ctypes.c_void_p, _FUNCTION, ctypes.c_void_p)),
    "aton_task_run": (ctypes.c_int32, (ctypes.c_void_p,)),
    "aton_task_exit_status": (ctypes.c_int32, (ctypes.c_void_p,)),
    "aton_task_output": _TEXT,
    "aton_task_messages": _TEXT,
}


class _Library:
    def __init__(self, path: pathlib.Path) -> None:
        self._library = ctypes.CDLL(os.fspath(path))
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments
        if self._library.aton_abi_version() != _ABI_VERSION:
            raise OSError(f"{path}: its interface has another version than this package")

    @property
    def version(self) -> str:
        version: bytes = self._library.aton_version()
        return version.decode()

    def run(self, words: Sequence[str], progress: Callable[[Progress], object] | None) -> subprocess.CompletedProcess[str]:
        """Runs the command, as subprocess.run would. Ctrl-C, and an exception of `progress`, cancel it."""
        encoded = [os.fsencode(each) for each in words]
        if any(b"\0" in each for each in encoded):
            raise ValueError("embedded null byte")
        raised: list[BaseException] = []
        with _postponed_interrupt() as is_interrupted:

            def watch(_: object, shown: Any) -> int:
                try:
                    if progress is not None and shown[0].stage:
                        progress(_progress_of(shown[0]))
                except BaseException as error:
                    raised.append(error)
                return 1 if raised or is_interrupted() else 0

            task = self._library.aton_task_new(encoded[0] if encoded else b"")
            if not task:
                raise MemoryError
            try:
                function = _FUNCTION(watch)
                self._library.aton_task_on_progress(task, function, None)
                for each in encoded[1:]:
                    self._library.aton_task_add_argument(task, each)
                self._library.aton_task_run(task)
                status = self._library.aton_task_exit_status(task)
                output, messages = (self._text(task, name) for name in ("aton_task_output", "aton_task_messages"))
            finally:
                self._library.aton_task_free(task)
        if raised:
            raise raised[0]
        return subprocess.CompletedProcess(["aton", *words], status, output, messages)

    def _text(self, task: Any, name: str) -> str:
        size = ctypes.c_size_t()
        start = getattr(self._library, name)(task, ctypes.byref(size))
        return ctypes.string_at(start, size.value).decode("utf-8", "replace")


def _progress_of(shown: Any) -> Progress:
    unit = _UNITS[shown.unit]
    return Progress(
        shown.stage.decode("utf-8", "replace"),
        shown.done if unit else 0,
        shown.total if unit else 0,
        shown.what.decode() if unit == "things" else unit,
    )


@contextlib.contextmanager
def _postponed_interrupt() -> Iterator[Callable[[], bool]]:
    """Handles Ctrl-C after the block; the result says whether it was pressed. An exception in a callback would be lost."""
    pressed: list[FrameType | None] = []
    handler = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not callable(handler):
        yield lambda: False
        return
    signal.signal(signal.SIGINT, lambda _, frame: pressed.append(frame))
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, handler)
        if pressed:
            handler(signal.SIGINT, pressed[0])


def load() -> _Library | None:
    """The library: the file that the environment variable ATON_LIBRARY names, or else the one in this package.

    None: there is none, or it cannot be loaded, or ATON_COMMAND names a command to run instead.

    Raises AtonError if ATON_LIBRARY names a file that cannot be loaded.
    """
    named = os.environ.get("ATON_LIBRARY")
    if not named and os.environ.get("ATON_COMMAND"):
        return None
    try:
        return _load(pathlib.Path(named).resolve() if named else _PACKAGED)
    except (OSError, AttributeError) as error:
        if named:
            raise AtonError(f"{named}: cannot be loaded: {error}") from error
        return None


@functools.cache
def _load(path: pathlib.Path) -> _Library:
    return _Library(path)
