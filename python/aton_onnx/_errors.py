# SPDX-License-Identifier: MIT
"""What the functions of this package raise."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Unconvertible:
    """An operator of a program that cannot be converted."""

    operator: str  #: "my_ops::foo"
    count: int  #: how many nodes of the program call it
    reason: str  #: of the first of them: no mapping, or what the mapping says
    nearest: str | None  #: the mapping with the most similar name
    sources: tuple[str, ...]  #: lines of the model, such as "model.py:12 in forward"

    @classmethod
    def _of(cls, fields: dict[str, Any]) -> Unconvertible:
        return cls(fields["op"], fields["count"], fields["reason"], fields["nearest"], tuple(fields["places"]))


class AtonError(Exception):
    """The command refused its input, or failed. The text is its one sentence, which names the file and the reason."""


class UnconvertibleError(AtonError):
    """Operators of a program cannot be converted. `operators` has all of them; the other fields describe the first.

    >>> foo = Unconvertible("my_ops::foo", 2, "no mapping", None, ("model.py:12 in forward",))
    >>> error = UnconvertibleError("1 operator cannot be converted", (foo,))
    >>> error.operator, error.reason, error.source
    ('my_ops::foo', 'no mapping', 'model.py:12 in forward')
    """

    def __init__(self, message: str, operators: tuple[Unconvertible, ...]) -> None:
        super().__init__(message, operators)
        self.operators = operators

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def operator(self) -> str:
        """The overload of the first operator."""
        return self.operators[0].operator

    @property
    def reason(self) -> str:
        """Why it cannot be converted."""
        return self.operators[0].reason

    @property
    def source(self) -> str | None:
        """The first line of the model that calls it, if the program has one."""
        return next(iter(self.operators[0].sources), None)
