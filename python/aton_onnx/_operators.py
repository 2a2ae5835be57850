# SPDX-License-Identifier: MIT
"""Finds operators that torch knows by names and patterns."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from ._errors import AtonError

if TYPE_CHECKING:
    import torch

    #: "my_ops", "my_ops::scale", "my_ops::scale.out", "my_ops::*", torch.ops.my_ops.scale, or several of these
    Operators: TypeAlias = str | torch._ops.OpOverload[Any, Any] | torch._ops.OpOverloadPacket[Any, Any] | Iterable[Any]


def select(operators: Operators) -> list[str]:
    """The names of the overloads that are meant, sorted, as "my_ops::scale.out" or, for the default, "my_ops::scale".

    Raises AtonError for one that nothing registered.
    """
    all_names = registered()
    found: set[str] = set()
    for pattern in _patterns(operators):
        chosen = [name for name in all_names if _matches(name, pattern)]
        if not chosen:
            raise AtonError(f"{pattern}: {unknown(pattern, all_names)}")
        found.update(chosen)
    if not found:
        raise AtonError("no operators are named")
    return sorted(found)


def registered() -> list[str]:
    """The overloads of all operators that torch knows."""
    torch = untyped_torch()
    return list(torch._C._dispatch_get_all_op_names())


def untyped_torch() -> Any:
    """torch, whose internals have no types."""
    import torch

    return torch


def unknown(name: str, all_names: Iterable[str]) -> str:
    """Why an operator is not found, and what to do."""
    near = difflib.get_close_matches(name, {each.partition(".")[0] for each in all_names}, n=1, cutoff=0.8)
    hint = f"; did you mean {near[0]}?" if near else "; load the library that registers it, and try again"
    return f"torch has no such operator{hint}"


def find_overload(name: str) -> Any:
    """The overload in torch.ops; None if nothing registered it."""
    torch = untyped_torch()
    namespace, _, rest = name.partition("::")
    packet, _, overload = rest.partition(".")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")
    except (AttributeError, RuntimeError):
        return None


def _patterns(operators: Any) -> Iterable[str]:
    torch = untyped_torch()
    if isinstance(operators, str):
        yield operators
    elif isinstance(operators, torch._ops.OpOverload):
        yield operators.name() if "." in operators.name() else f"{operators.name()}.default"
    elif isinstance(operators, torch._ops.OpOverloadPacket):
        yield operators._qualified_op_name
    elif isinstance(operators, torch._ops._OpNamespace):
        yield operators.name
    elif isinstance(getattr(operators, "_opoverload", None), torch._ops.OpOverload):  # of torch.library.custom_op
        yield from _patterns(operators._opoverload)
    elif isinstance(operators, Iterable):
        for each in operators:
            yield from _patterns(each)
    else:
        raise TypeError(f"expected the names of operators, not {type(operators).__name__}")


def _matches(name: str, pattern: str) -> bool:
    """Whether an overload is one of those that a pattern means."""
    if "::" not in pattern:
        return fnmatch.fnmatchcase(name.partition("::")[0], pattern)
    if any(character in pattern for character in "*?["):
        return fnmatch.fnmatchcase(name, pattern)
    operator, _, overload = name.partition(".")
    wanted, dot, wanted_overload = pattern.partition(".")
    return operator == wanted and (not dot or overload == wanted_overload.removeprefix("default"))
