# SPDX-License-Identifier: MIT
"""Compares the schemas of plugins' rows with those that libraries have registered with torch."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _inspect
from ._errors import AtonError

if TYPE_CHECKING:
    from ._command import Path


#: Operators of torch itself, which another release may declare otherwise: their rows have Aton's own schemas.
_OF_TORCH = ("aten::", "prim::", "prims::", "quantized::")


def check_schemas(plugins: Sequence[Path]) -> None:
    """Raises AtonError for a row whose arguments differ from those of its operator: a `.pt2` omits arguments at their
    defaults, and its operator may have others. Operators that this process has not loaded are not compared."""
    torch = sys.modules.get("torch")
    if torch is None or not plugins:
        return
    for row in _inspect.ops(plugins=plugins):
        is_own = row.plugin is not None and not row.overload.startswith(_OF_TORCH)
        registered = _registered(torch, row.overload) if is_own else None
        if registered is None:
            continue
        difference = _difference(torch._C.parse_schema(row.schema), registered)
        if difference:
            raise AtonError(f"{row.plugin}: the schema of the row is not that of the library: {row.overload}: {difference}")


def _registered(torch: Any, overload: str) -> Any:
    """The schema of an overload, "my_ops::foo.Tensor"; None if torch does not know it."""
    name, _, variant = overload.partition(".")
    try:
        return torch._C._get_schema(name, variant)
    except RuntimeError:
        return None


def _difference(row: Any, library: Any) -> str:
    """What differs first, or nothing. Names of alias sets do not matter."""
    ours, theirs = ([a.name for a in schema.arguments] for schema in (row, library))
    if ours != theirs:
        return f"the row has the arguments ({', '.join(ours)}), the library ({', '.join(theirs)})"
    for a, b in zip(row.arguments, library.arguments, strict=True):
        for what, ours_, theirs_ in (
            ("the type", str(a.type), str(b.type)),
            ("the default", _default(a), _default(b)),
            ("being written to", _is_written(a), _is_written(b)),
            ("being keyword-only", a.kwarg_only, b.kwarg_only),
        ):
            if ours_ != theirs_:
                return f"argument {a.name} differs in {what}: {ours_} in the row, {theirs_} in the library"
    returned = [", ".join(str(r.type) for r in schema.returns) for schema in (row, library)]
    return "" if returned[0] == returned[1] else f"the row returns ({returned[0]}), the library ({returned[1]})"


def _default(argument: Any) -> str:
    return repr(argument.default_value) if argument.has_default_value() else "none"


def _is_written(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write
